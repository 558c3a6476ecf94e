import GRDB

/// Where each destination stands.
///
/// The queue knows some that the configuration does not: renamed ones, or such that are taken out for a while. What they
/// had not got is theirs still, up to the `fresh_position` that they had then.
package struct DestinationTable: Sendable {
    let database: QueueDatabase

    /// The row of a destination.
    struct Cursors {
        let position: Int64
        let freshPosition: Int64
        /// Up to here records were read in another's session.
        let accountSequence: Int64
        /// Up to here records were cleared.
        let clearedSequence: Int64

        init(_ row: Row) throws {
            position = try row.sound("position")
            freshPosition = try row.sound("fresh_position")
            accountSequence = try row.sound("account_seq")
            clearedSequence = try row.sound("cleared_seq")
        }
    }

    /// `absent` counts no further.
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

    /// The destinations that are not configured and are owed records which the queue holds, and how many: `countedOwed`
    /// at most.
    package func absent() async throws -> [(name: String, owed: Int)] {
        try await database.read { db in try Self.absent(db) }
    }

    static func absent(_ db: Database) throws -> [(name: String, owed: Int)] {
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
            try db.execute(sql: "UPDATE destination SET state = ? WHERE name = ?", arguments: [absent, name])
        }
    }

    /// Whether a destination of this name is, or was, delivered to from this queue.
    package func knows(_ destination: String) async throws -> Bool {
        try await database.read { db in try Self.knows(destination, db) }
    }

    static func knows(_ destination: String, _ db: Database) throws -> Bool {
        try Bool.fetchOne(
            db, sql: "SELECT EXISTS (SELECT 1 FROM destination WHERE name = ?)", arguments: [destination])
            ?? false
    }

    // MARK: - Opening

    /// Those of the configuration, at the opening.
    static func register(_ destinations: [DestinationRouting], _ db: Database) throws {
        let known = try Set(String.fetchAll(db, sql: "SELECT name FROM destination"))
        // One that is not there any more is not new: it gets everything, if it has sessions after a sign-in.
        let areLost = try takeLostDestinationsMark(db)
        for destination in destinations where !known.contains(destination.name) {
            try db.execute(
                sql: """
                    INSERT OR IGNORE INTO destination (name, position, state, signed_out)
                    SELECT ?, CASE WHEN ? THEN 0 ELSE value END, ?, ? FROM counter WHERE name = 'position'
                    """,
                arguments: [
                    destination.name, known.isEmpty || areLost, DestinationState.up.rawValue, areLost,
                ])
        }
        try noteConfigured(Set(destinations.map(\.name)), db)
    }

    /// Has the next opening know that destinations which are not in the file may have been.
    static func markLostDestinations(_ db: Database) throws {
        try db.execute(sql: "UPDATE mending SET has_lost_destinations = 1")
    }

    /// - Returns: whether the mark was there, which it is not any more.
    static func takeLostDestinationsMark(_ db: Database) throws -> Bool {
        try db.execute(sql: "UPDATE mending SET has_lost_destinations = 0 WHERE has_lost_destinations")
        return db.changesCount > 0
    }

    /// Looks at what is kept of each destination and its batches, as delivery does.
    /// - Throws: `DatabaseError`, as for a damaged file.
    static func checkDeliveries(_ db: Database) throws {
        let destinations = try Row.fetchCursor(db, sql: "SELECT * FROM destination")
        while let row = try destinations.next() {
            _ = try Cursors(row)
            _ = try SessionTable.session(of: try row.sound("name"), db)
        }
        let batches = try Row.fetchCursor(db, sql: "SELECT * FROM batch")
        while let row = try batches.next() { _ = try BatchTable.BatchRow(row) }
        let images = try Row.fetchCursor(db, sql: "SELECT * FROM image_batch")
        while let row = try images.next() { _ = try BatchTable.ImageRow(row) }
    }
}
