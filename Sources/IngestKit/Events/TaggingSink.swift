/// Puts entries where others may read them: into the journal, or on standard output. It is no `EventSink`, so that
/// nothing reaches it but by way of a `TaggingSink`.
package protocol EntryOutput: Sendable {
    /// Writes one entry. May block for as long as its reader stands still: `EntryWriter` has a thread for that.
    /// - Returns: false if nobody has taken the entry; it is written again later.
    func write(_ entry: JournalEntry) -> Bool
}

/// The edge of the gateway's events: each is written with the record's tag in the place of its id. The outbox keeps
/// ids, so that what an earlier program has left there is tagged too.
package struct TaggingSink: EventSink {
    private let writer: EntryWriter
    private let key: TagKey

    package init(_ output: any EntryOutput, key: TagKey, clock: any GatewayClock) {
        writer = EntryWriter(output, clock: clock)
        self.key = key
    }

    /// How things stand with the output.
    package var standing: TellingStanding { writer.standing }

    package func write(_ entry: JournalEntry) { writer.write(entry.tagged(by: key)) }

    package func deliver(_ entries: [JournalEntry]) async -> Int {
        await writer.deliver(entries.map { $0.tagged(by: key) })
    }
}

extension JournalEntry {
    /// The entry without its record's id, which an earlier program also wrote into a sentence.
    fileprivate func tagged(by key: TagKey) -> JournalEntry {
        guard let id = fields.first(where: { $0.0 == .recordID })?.1 else { return self }
        let tag = key.tag(ofRecord: id)
        func tagged(_ text: String) -> String {
            // An id that is shorter than ours may stand in any sentence. A text that is shorter than an id holds none.
            guard id.utf8.count == RecordID.length, text.utf8.count >= RecordID.length, text.contains(id)
            else { return text }
            return text.replacing(id, with: tag)
        }
        return JournalEntry(
            name: name, messageID: messageID, priority: priority, message: tagged(message),
            fields: fields.map { ($0.0, $0.0 == .recordID ? tag : tagged($0.1)) })
    }
}
