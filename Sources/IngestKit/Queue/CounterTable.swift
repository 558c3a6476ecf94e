import GRDB

/// The numbers of events and of places in the order of delivery, which never come again. (`StrangerTable` counts in the
/// same table what it dropped.)
enum CounterTable {
    /// The next number, or the last of so many.
    static func next(_ counter: String, count: Int = 1, _ db: Database) throws -> Int64 {
        let value = try Int64.fetchOne(
            try db.cachedStatement(
                sql: "UPDATE counter SET value = value + ? WHERE name = ? RETURNING value"),
            arguments: [count, counter])
        // The row is made with the schema.
        guard let value else { throw DatabaseError(resultCode: .SQLITE_CORRUPT) }
        return value
    }

    /// The last number given.
    static func last(_ counter: String, _ db: Database) throws -> Int64 {
        try Int64.fetchOne(
            try db.cachedStatement(sql: "SELECT value FROM counter WHERE name = ?"), arguments: [counter])
            ?? 0
    }

    /// Makes sure that numbers which must not come again do not, whatever was lost.
    static func raise(_ db: Database, event: Int64? = nil, position: Int64? = nil) throws {
        let seenEvent = try Int64.fetchOne(db, sql: "SELECT max(sequence) FROM outbox")
        let seenPosition = try Int64.fetchOne(
            db,
            sql: """
                SELECT max(value) FROM (
                    SELECT max(position) AS value FROM record
                    UNION ALL SELECT max(position) FROM destination
                    UNION ALL SELECT max(fresh_position) FROM destination
                    UNION ALL SELECT max(last) FROM ahead)
                """)
        for (name, values) in [("event", [event, seenEvent]), ("position", [position, seenPosition])] {
            try db.execute(
                sql: """
                    INSERT INTO counter (name, value) VALUES (?, ?)
                    ON CONFLICT DO UPDATE SET value = excluded.value WHERE excluded.value > value
                    """,
                arguments: [name, values.compactMap { $0 }.max() ?? 0])
        }
    }
}
