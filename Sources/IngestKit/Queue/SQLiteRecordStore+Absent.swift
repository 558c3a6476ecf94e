import GRDB
import IngestStorage

/// Destinations that the queue knows and the configuration does not: renamed ones, or such that are taken out for a
/// while. What they had not got is theirs still, up to the `fresh_position` that they had then.
extension SQLiteRecordStore {
    /// Counting ends there.
    package static let countedOwed = 10_000

    /// The condition that a row of `record` is owed to such a destination, as far as is known: its own filters are not.
    static let isOwedToAbsent = """
        EXISTS (
            SELECT 1 FROM destination AS absent
            WHERE absent.state = 'not-configured' AND record.seq > absent.cleared_seq
                AND record.position <= absent.fresh_position
                AND record.position >= min(absent.position + 1, coalesce(
                    (SELECT min(first_position) FROM batch WHERE destination = absent.name),
                    absent.position + 1))
                AND (record.destinations IS NULL OR instr(
                    char(10) || record.destinations || char(10), char(10) || absent.name || char(10)) > 0))
        """

    /// Those that are owed records which the queue holds, and how many, `countedOwed` at most.
    package func absentDestinations() async throws -> [(name: String, owed: Int)] {
        try await read { db in try Self.absentDestinations(db) }
    }

    static func absentDestinations(_ db: Database) throws -> [(name: String, owed: Int)] {
        let rows = try Row.fetchAll(
            db,
            sql: """
                SELECT name, fresh_position, min(position + 1, coalesce(
                    (SELECT min(first_position) FROM batch WHERE destination = name), position + 1)) AS first
                FROM destination WHERE state = ? ORDER BY name
                """,
            arguments: [DestinationState.notConfigured.rawValue])
        return try rows.compactMap { row in
            let name: String = try row.sound("name")
            let owed = try Int.fetchOne(
                db,
                sql: """
                    SELECT count(*) FROM (
                        SELECT 1 FROM record WHERE position BETWEEN :first AND :last AND \(isOwedToAbsent)
                        UNION ALL
                        SELECT 1 FROM image_batch WHERE destination = :name AND first_position < :first
                        LIMIT \(countedOwed))
                    """,
                arguments: [
                    "first": try row.sound("first") as Int64,
                    "last": try row.sound("fresh_position") as Int64, "name": name,
                ])
            guard let owed, owed > 0 else { return nil }
            return (name, owed)
        }
    }

    /// Takes away their batches that begin up to a position: records of these are dropped for want of room. An image that
    /// stays, because somebody else waits for it, is owed to them still.
    static func giveUpBatchesOfAbsent(through position: Int64, _ db: Database) throws {
        let isDropped = "NOT EXISTS (SELECT 1 FROM record WHERE position = first_position)"
        for (table, condition) in [("batch", "TRUE"), ("image_batch", isDropped)] {
            try db.execute(
                sql: """
                    DELETE FROM \(table) WHERE first_position <= ? AND \(condition)
                        AND destination IN (SELECT name FROM destination WHERE state = ?)
                    """,
                arguments: [position, DestinationState.notConfigured.rawValue])
        }
    }

    /// Notes at the opening which destinations are configured.
    static func noteConfigured(_ names: Set<String>, _ db: Database) throws {
        let absent = DestinationState.notConfigured.rawValue
        for name in names {
            try db.execute(
                sql: "UPDATE destination SET state = ? WHERE name = ? AND state = ?",
                arguments: [DestinationState.up.rawValue, name, absent])
        }
        // What is there already is backlog. Of one that is absent this is what is owed to it, and stays so.
        try db.execute(
            sql: """
                UPDATE destination SET fresh_position = value FROM counter
                WHERE counter.name = 'position' AND fresh_position < value AND state <> ?
                """,
            arguments: [absent])
        for name in try String.fetchAll(db, sql: "SELECT name FROM destination")
        where !names.contains(name) {
            try db.execute(
                sql: "UPDATE destination SET state = ? WHERE name = ?", arguments: [absent, name])
        }
    }
}
