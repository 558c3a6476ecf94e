/// Puts entries where others may read them: into the journal, or on standard output. It is no `EventSink`, so that
/// nothing reaches it but by way of a `TaggingSink`.
package protocol EntryOutput: Sendable {
    /// Writes one entry; returns when it is handed over. Never fails, as `EventSink.write`.
    func write(_ entry: JournalEntry)
}

/// The edge of the gateway's events: each is written with the record's tag in the place of its id. The outbox keeps
/// ids, so that what an earlier program has left there is tagged too.
package struct TaggingSink: EventSink {
    private let output: any EntryOutput
    private let key: TagKey

    package init(_ output: any EntryOutput, key: TagKey) {
        self.output = output
        self.key = key
    }

    package func write(_ entry: JournalEntry) { output.write(entry.tagged(by: key)) }
}

extension JournalEntry {
    /// The entry without its record's id, which an earlier program also wrote into a sentence.
    fileprivate func tagged(by key: TagKey) -> JournalEntry {
        guard let id = fields.first(where: { $0.0 == .recordID })?.1 else { return self }
        let tag = key.tag(ofRecord: id)
        func tagged(_ text: String) -> String {
            // What is shorter than an id may stand in any sentence.
            id.utf8.count == RecordID.length && text.contains(id) ? text.replacing(id, with: tag) : text
        }
        return JournalEntry(
            name: name, messageID: messageID, priority: priority, message: tagged(message),
            fields: fields.map { ($0.0, $0.0 == .recordID ? tag : tagged($0.1)) })
    }
}
