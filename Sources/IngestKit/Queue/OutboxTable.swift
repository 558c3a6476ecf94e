import GRDB

/// Events that the journal does not have yet, as far as is known.
package struct OutboxTable: EventQueue {
    let database: QueueDatabase

    package var outboxWakeUp: WakeUp { database.outboxWakeUp }

    /// Puts an event into the outbox, under the next number, in the transaction that it tells of.
    static func append(_ event: Event, _ db: Database) throws {
        try append([event], db)
    }

    /// Puts events into the outbox, in their order.
    @discardableResult
    static func append(_ events: [Event], _ db: Database) throws -> [OutboxItem] {
        guard !events.isEmpty else { return [] }
        let first = try CounterTable.next("event", count: events.count, db) - Int64(events.count) + 1
        let statement = try db.cachedStatement(sql: "INSERT INTO outbox (sequence, entry) VALUES (?, ?)")
        return try zip(first..., events).map { sequence, event in
            let item = OutboxItem(sequence: sequence, entry: event.entry(sequence: sequence))
            try statement.execute(arguments: [sequence, item.entry.stored])
            return item
        }
    }

    /// Puts events into the outbox, in a transaction of `write`, and keeps them at hand once they are committed, for
    /// whoever takes them out.
    func tell(_ events: [Event], _ db: Database) throws {
        let items = try OutboxTable.append(events, db)
        if !items.isEmpty { database.recentEvents.add(items) }
    }

    /// What the journal is to get next, at most `limit` entries in the order of their numbers: what is at hand, else out
    /// of the outbox.
    package func untoldEvents(limit: Int) async throws -> [OutboxItem] {
        let recent = database.recentEvents.next(limit)
        return recent.isEmpty ? try await outboxEntries(limit: limit) : recent
    }

    /// The first entries of the outbox, in the order of their numbers.
    func outboxEntries(limit: Int) async throws -> [OutboxItem] {
        try await database.read { db in
            let rows = try Row.fetchAll(
                db, sql: "SELECT sequence, entry FROM outbox ORDER BY sequence LIMIT ?", arguments: [limit])
            return rows.map { row in
                let sequence: Int64 = row["sequence"]
                // Its number must not be missing in the journal.
                let entry =
                    row.intact("entry").flatMap(JournalEntry.init(stored:))
                    ?? Event.storeError(error: "an event is damaged in the queue").entry(sequence: sequence)
                return OutboxItem(sequence: sequence, entry: entry)
            }
        }
    }

    /// Marks the entries up to this number as written.
    package func markOutbox(through sequence: Int64) async throws {
        try await database.write { db in
            try db.cachedStatement(sql: "DELETE FROM outbox WHERE sequence <= ?").execute(arguments: [
                sequence
            ])
        }
        database.recentEvents.mark(through: sequence)
    }
}
