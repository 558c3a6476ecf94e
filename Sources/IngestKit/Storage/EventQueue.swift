package import IngestEvents

/// The queue's port for the journal: events that were committed and are not known to be written.
package protocol EventQueue: Sendable {
    /// Raised when an event was committed. One waiter.
    var outboxWakeUp: WakeUp { get }

    /// The next events, at most `limit`, in the order of their numbers.
    func untoldEvents(limit: Int) async throws -> [OutboxItem]
    /// The journal has the events up to this number.
    func markOutbox(through sequence: Int64) async throws
}

/// An event that the journal does not have yet, as far as is known.
package struct OutboxItem: Sendable {
    /// Without gaps.
    package let sequence: Int64
    package let entry: JournalEntry

    package init(sequence: Int64, entry: JournalEntry) {
        self.sequence = sequence
        self.entry = entry
    }
}
