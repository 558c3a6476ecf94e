import FoundationEssentials
import GRDB
import IngestCore
import IngestEvents
import IngestStorage

/// What is done about rows that are not what was written.
extension SQLiteRecordStore {
    /// Our words for it, in events and dead letters.
    private static let damage = "the record is damaged in the queue"

    /// Whether a row of the table `record` passes its checksum.
    static func isIntact(_ row: Row) -> Bool {
        guard let id: String = row.intact("id"), let kind: String = row.intact("kind"),
            let payload: Data = row.intact("payload"), let body: String = row.intact("body"),
            let found: Data = row.intact("checksum")
        else { return false }
        var route: RecordRoute?
        if found.count != checksumLengthWithoutRoute {
            guard let columns = RecordRoute(row) else { return false }
            route = columns
        }
        return found
            == checksum(
                id: id, kind: kind, payload: payload, body: body, undated: row.intact("undated"), route: route
            )
    }

    /// Whether a record fails its checksum, and how long its payload is.
    static func inspect(sequence: Int64, _ db: Database) throws -> (isDamaged: Bool, bytes: Int) {
        let row = try Row.fetchOne(
            try db.cachedStatement(sql: "SELECT * FROM record WHERE seq = ?"), arguments: [sequence])
        guard let row else { return (true, 0) }
        return (!isIntact(row), (row.intact("payload") as Data?)?.count ?? 0)
    }

    /// Sets a record aside for good where it was to go: it is kept, and neither delivered nor tried again.
    /// - Parameter sequence: its number; nil if it is not there any more.
    static func setAsideDamaged(sequence: Int64?, for destination: String, _ db: Database) throws {
        let row = try sequence.flatMap {
            try Row.fetchOne(db, sql: "SELECT * FROM record WHERE seq = ?", arguments: [$0])
        }
        guard let sequence, let row else {
            try append(.storeError(error: "a record for \(destination) is missing in the queue"), db)
            return
        }
        try db.execute(
            sql: """
                INSERT INTO dead_letter (destination, record_seq, attempt, error, failed_ns)
                VALUES (?, ?, 0, ?, 0)
                """,
            arguments: [destination, sequence, damage])
        guard let header = header(row) else {
            try append(.storeError(error: "\(damage), and set aside for \(destination)"), db)
            return
        }
        try append(
            .setAside(header, imageOf: imageOf(row), for: destination, attempt: 0, error: damage), db)
    }

    /// A row of the table `counter` that is there from a mending which could not read all destinations until the opening
    /// that follows.
    private static let lostDestinations = "lost_destinations"

    /// Has the next opening know that destinations which are not in the file may have been.
    static func markLostDestinations(_ db: Database) throws {
        try db.execute(
            sql: "INSERT OR IGNORE INTO counter (name, value) VALUES (?, 1)", arguments: [lostDestinations])
    }

    /// - Returns: whether the mark was there, which it is not any more.
    static func takeLostDestinationsMark(_ db: Database) throws -> Bool {
        try db.execute(sql: "DELETE FROM counter WHERE name = ?", arguments: [lostDestinations])
        return db.changesCount > 0
    }

    /// Makes sure that numbers which must not come again do not, whatever was lost.
    static func raiseCounters(_ db: Database, event: Int64? = nil, position: Int64? = nil) throws {
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

    /// Looks at what is kept of each destination and its batches, as delivery does.
    /// - Throws: `DatabaseError`, as for a damaged file.
    static func checkDeliveries(_ db: Database) throws {
        let destinations = try Row.fetchCursor(db, sql: "SELECT * FROM destination")
        while let row = try destinations.next() {
            _ = try Cursors(row)
            _ = try session(of: try row.sound("name"), db)
        }
        let batches = try Row.fetchCursor(db, sql: "SELECT * FROM batch")
        while let row = try batches.next() { _ = try BatchRow(row) }
        let images = try Row.fetchCursor(db, sql: "SELECT * FROM image_batch")
        while let row = try images.next() { _ = try ImageRow(row) }
    }

    // MARK: - A file that is gone

    /// Writes what is open anew, where the file was deleted or replaced; the next start puts that in its place.
    func rescue() async throws {
        let file = QueueFile(path: path)
        do {
            try await database.writeWithoutTransaction { db in
                guard !file.hasReplacement else { return }
                file.removeDraft()
                try db.execute(sql: "VACUUM INTO ?", arguments: [file.draft])
            }
            try await BlockingCall.run { try QueueOpening.sync(file) }
        } catch {
            throw StoreError.of(error, path: path)
        }
    }
}

extension RecordRoute {
    /// Nil when the row is not what was written.
    init?(_ row: Row) {
        guard let peripheralID: Int = row.intact("peripheral_id") else { return nil }
        self.init(
            peripheralID: peripheralID, alias: row.intact("alias"), destinations: row.intact("destinations"))
    }
}
