import Dispatch
import FoundationEssentials
import GRDB

/// Copies what can be read of a damaged queue into a new one.
///
/// Of records that is what passes its checksum. Everything else has none: what SQLite can read is taken.
struct QueueSalvage {
    /// What was found.
    struct Found: Sendable, Equatable {
        var records: Int
        /// Records that were in it and could not be taken; nil if that cannot be told.
        var lost: Int?
        /// Whether it is known which records were delivered. If not, all are delivered again.
        var isDeliveryKnown: Bool
    }

    /// Numbers that are left out where the number of the last event is not known.
    private static let numbersLeftOut: Int64 = 1000

    /// Nil where SQLite cannot open it.
    private let source: Database?
    private let target: Database
    private let isLogDamaged: Bool
    private var records = 0
    private var damagedCount = 0
    private var isWhole = false

    /// - Parameters:
    ///   - file: the damaged one. Only read.
    ///   - target: the new one, with its tables, in a transaction.
    ///   - isLogDamaged: whether commits are in the log that SQLite does not find.
    /// - Throws: `DatabaseError` of the new file.
    static func copy(
        from file: QueueFile, to target: Database, isLogDamaged: Bool = false
    ) throws -> Found {
        var configuration = GRDB.Configuration()
        configuration.readonly = true
        configuration.qos = .default
        // SQLite would empty a log that has no file.
        guard !file.hasStrayLog,
            let damaged = try? DatabaseQueue(path: file.path, configuration: configuration)
        else {
            var salvage = QueueSalvage(nil, target, isLogDamaged)
            return try salvage.run(file)
        }
        defer { try? damaged.close() }
        return try damaged.unsafeRead { source in
            var salvage = QueueSalvage(source, target, isLogDamaged)
            return try salvage.run(file)
        }
    }

    private init(_ source: Database?, _ target: Database, _ isLogDamaged: Bool) {
        self.source = source
        self.target = target
        self.isLogDamaged = isLogDamaged
    }

    private mutating func run(_ file: QueueFile) throws -> Found {
        let destinations = try copyDestinations()
        try copyRecords(file)
        let batches = try copy("batch", by: "destination, first_position")
        let deadLetters = try copy("dead_letter", by: "number")
        let images = try copyImageBatches()
        try copy("ahead", by: "destination, first")
        for table in QueueTable.allCases {
            guard case .copied(let columns) = table.salvage else { continue }
            try copy(table.rawValue, by: columns)
        }
        try takeOverOlderIDs()
        try giveTypesToPackets()
        if let source, sharedColumns("device", source)?.contains("is_stranger") == false {
            try target.execute(sql: QueueSchema.strangersAmongDevices)
        }
        if let source, sharedColumns("dead_letter", source)?.contains("is_unassigned") == false {
            try target.execute(sql: QueueSchema.unassignedLetters)
        }
        // A record whose dead letter is not there counts as delivered.
        let isDeliveryKnown =
            destinations && batches && images && deadLetters
            && (try? DestinationTable.checkDeliveries(target)) != nil
        let delivered = try Int64.fetchOne(target, sql: "SELECT sum(delivered) FROM destination") ?? 0
        if !destinations { try DestinationTable.markLostDestinations(target) }
        if !isDeliveryKnown { try forgetDeliveries() }
        try restoreCounters(delivered: delivered)
        return Found(records: records, lost: try lostCount(), isDeliveryKnown: isDeliveryKnown)
    }

    // MARK: - Records

    /// From the front as far as it can be read, then from the back, then page by page.
    private mutating func copyRecords(_ file: QueueFile) throws {
        if let source, let columns = sharedColumns("record", source) {
            isWhole = try copyRecords("SELECT * FROM record ORDER BY seq", columns)
            if !isWhole { _ = try copyRecords("SELECT * FROM record ORDER BY seq DESC", columns) }
        }
        if !isWhole || isLogDamaged { try copyRecordsByPage(file) }
    }

    /// - Returns: whether all could be read.
    private mutating func copyRecords(_ query: String, _ columns: [String]) throws -> Bool {
        do {
            guard let rows = try source.map({ try Row.fetchCursor($0, sql: query) }) else { return false }
            while let row = try rows.next() { try takeRecord(row, columns) }
            return true
        } catch let error as Refusal {
            throw error.reason
        } catch is DatabaseError {
            return false
        }
    }

    /// A row is one of a record if it passes the checksum of one. What SQLite has read is newer or the same.
    private mutating func copyRecordsByPage(_ file: QueueFile) throws {
        let columns = try target.columns(in: "record").map(\.name)
        guard file.mayBeMapped else { return }
        file.setMark(.mapping)
        try DatabasePages(path: file.path, log: file.log).forEachRow { number, values in
            // A row that an earlier version has written is shorter.
            guard values.count > 2, values.count <= columns.count else { return }
            let names = columns.prefix(values.count)
            var content: [String: (any DatabaseValueConvertible)?] = ["seq": number]
            for (name, value) in zip(names, values).dropFirst() { content[name] = value }
            let row = Row(content)
            guard RecordRow.isIntact(row) else { return }
            do {
                if try insert(row, into: "record", Array(names)) == .taken { records += 1 }
            } catch let error as Refusal {
                throw error.reason
            }
        }
        file.setMark(.damaged)
    }

    private mutating func takeRecord(_ row: Row, _ columns: [String]) throws {
        guard RecordRow.isIntact(row) else {
            damagedCount += 1
            return
        }
        switch try insert(row, into: "record", columns) {
        case .taken: records += 1
        case .left: break
        case .refused: damagedCount += 1
        }
    }

    private func lostCount() throws -> Int? {
        // Nobody knows what the log held.
        if isLogDamaged { return nil }
        if isWhole { return damagedCount }
        // SQLite counts in an index, which may be whole.
        let count = read { try Int.fetchOne($0, sql: "SELECT count(*) FROM record") }
        return count.map { max($0 - records, 0) }
    }

    // MARK: - Other tables

    /// - Parameter refused: called with each row that the table cannot hold.
    /// - Returns: whether all of it could be read and taken.
    @discardableResult
    private func copy(
        _ table: String, by key: String, refused: (Row) throws -> Void = { _ in }
    ) throws -> Bool {
        guard let source, let columns = sharedColumns(table, source) else { return false }
        var isWhole = true
        func take(_ row: Row) throws {
            guard try insert(row, into: table, columns) == .refused else { return }
            isWhole = false
            try refused(row)
        }
        if try forEachRow("SELECT * FROM \(table) ORDER BY \(key)", take) { return isWhole }
        let backwards = key.split(separator: ",").map { "\($0) DESC" }.joined(separator: ",")
        _ = try forEachRow("SELECT * FROM \(table) ORDER BY \(backwards)", take)
        return false
    }

    /// - Returns: whether all could be read.
    private func forEachRow(_ query: String, _ take: (Row) throws -> Void) throws -> Bool {
        do {
            guard let rows = try source.map({ try Row.fetchCursor($0, sql: query) }) else { return false }
            while let row = try rows.next() { try take(row) }
            return true
        } catch let error as Refusal {
            throw error.reason
        } catch is DatabaseError {
            return false
        }
    }

    /// Where they stand. Of a row that does not say so, whose session it has.
    private func copyDestinations() throws -> Bool {
        let isWhole = try copy("destination", by: "name", refused: takeSession)
        // A session is somebody's. More may wait now than was told at its end.
        try target.execute(
            sql: """
                UPDATE destination SET is_end_told = 0;
                UPDATE destination SET signed_out = 1 WHERE account IS NULL AND session > 0
                """)
        return isWhole
    }

    /// Those of an earlier version are among the others.
    private func copyImageBatches() throws -> Bool {
        let isThere = read { try $0.tableExists("image_batch") } ?? true
        let isWhole = try !isThere || copy("image_batch", by: "destination, first_position")
        try target.execute(sql: QueueSchema.imagesToTheirLane)
        return isWhole
    }

    /// Earlier versions kept the ids of delivered records in another table. What cannot be read of it is left.
    private func takeOverOlderIDs() throws {
        guard let source, sharedColumns("retained", source) == nil else { return }
        _ = try forEachRow("SELECT * FROM retired") { row in
            do {
                try RetainedTable.takeOver(row, target)
            } catch let error as DatabaseError {
                throw Refusal(reason: error)
            }
        }
    }

    /// Packets of an earlier version have no address type.
    private func giveTypesToPackets() throws {
        guard let source, let columns = sharedColumns("pending_packet", source),
            !columns.contains("address_type")
        else { return }
        try target.execute(sql: "UPDATE pending_packet SET address_type = \(QueueSchema.typeOfOlderPackets)")
    }

    private func takeSession(_ row: Row) throws {
        guard let name: String = row.intact("name"), let accountSequence: Int64 = row.intact("account_seq"),
            let clearedSequence: Int64 = row.intact("cleared_seq"),
            let session: Int64 = row.intact("session"), let isSignedOut: Int64 = row.intact("signed_out")
        else { return }
        try target.execute(
            sql: """
                INSERT OR IGNORE INTO destination
                    (name, position, state, account, account_seq, cleared_seq, session, signed_out)
                VALUES (?, 0, ?, ?, ?, ?, ?, ?)
                """,
            arguments: [
                name, DestinationState.up.rawValue, row.intact("account") as String?, accountSequence,
                clearedSequence, session, isSignedOut,
            ])
    }

    /// All records are delivered again, but whose session each destination's is stays: what belongs to another person,
    /// or was given up with a session, is not for the next one because the file was damaged.
    private func forgetDeliveries() throws {
        for table in ["batch", "image_batch", "ahead", "dead_letter"] {
            try target.execute(sql: "DELETE FROM \(table)")
        }
        try target.execute(
            sql: """
                UPDATE destination SET position = 0, delivered = 0,
                    fresh_position = iif(state = ?, fresh_position, 0)
                """,
            arguments: [DestinationState.notConfigured.rawValue])
    }

    /// Numbers go on beyond everything that is seen of them.
    private func restoreCounters(delivered: Int64) throws {
        try restoreRecordNumbers()
        let rows = read { try Row.fetchAll($0, sql: "SELECT name, value FROM counter") } ?? []
        var found: [String: Int64] = [:]
        for row in rows {
            if let name: String = row.intact("name") { found[name] = row.intact("value") }
        }
        try CounterTable.raise(target, event: found["event"], position: found["position"])
        guard found["event"] == nil else { return }
        // A record has at least one event, and one more for each destination.
        let newest = try Int64.fetchOne(target, sql: "SELECT max(seq) FROM record") ?? 0
        try CounterTable.raise(target, event: 2 * (newest + delivered) + Self.numbersLeftOut)
    }

    /// The numbers of records go on too: by them is known what was read in another person's session, and which ids were not
    /// met for long.
    private func restoreRecordNumbers() throws {
        let last = read { db in
            try Int64.fetchOne(db, sql: "SELECT seq FROM sqlite_sequence WHERE name = 'record'")
        }
        let seen = try Int64.fetchOne(
            target,
            sql: """
                SELECT max(number) FROM (
                    SELECT max(seq) AS number FROM record
                    UNION ALL SELECT max(account_seq) FROM destination
                    UNION ALL SELECT max(cleared_seq) FROM destination
                    UNION ALL SELECT max(met) FROM retained
                    UNION ALL SELECT max(stranger_seq) FROM retained)
                """)
        let number = max(last ?? 0, seen ?? 0)
        // SQLite makes the row with the first record.
        try target.execute(sql: "DELETE FROM sqlite_sequence WHERE name = 'record'")
        try target.execute(
            sql: "INSERT INTO sqlite_sequence (name, seq) VALUES ('record', ?)", arguments: [number])
    }

    // MARK: - Rows

    /// The new file does not take it: an end to the whole, and not to reading.
    private struct Refusal: Error {
        let reason: DatabaseError
    }

    private enum Outcome {
        case taken
        /// It is there already, or what it belongs to is not.
        case left
        /// The table cannot hold it: it is not what was written.
        case refused
    }

    private func insert(_ row: Row, into table: String, _ columns: [String]) throws -> Outcome {
        let marks = Array(repeating: "?", count: columns.count).joined(separator: ", ")
        do {
            let statement = try target.cachedStatement(
                sql: """
                    INSERT INTO \(table) (\(columns.joined(separator: ", "))) VALUES (\(marks))
                    ON CONFLICT DO NOTHING
                    """)
            try statement.execute(
                arguments: StatementArguments(columns.map { row[$0] as DatabaseValue }))
            return target.changesCount > 0 ? .taken : .left
        } catch let error as DatabaseError where error.resultCode == .SQLITE_CONSTRAINT {
            return error.extendedResultCode == .SQLITE_CONSTRAINT_FOREIGNKEY ? .left : .refused
        } catch let error as DatabaseError where error.resultCode == .SQLITE_MISMATCH {
            return .refused
        } catch let error as DatabaseError {
            throw Refusal(reason: error)
        }
    }

    /// The columns that both files have; nil where the table cannot be looked at.
    private func sharedColumns(_ table: String, _ source: Database) -> [String]? {
        guard let there = try? source.columns(in: table).map(\.name),
            let here = try? target.columns(in: table).map(\.name)
        else { return nil }
        return here.filter(there.contains)
    }

    /// What can be read of the damaged file.
    private func read<Value>(_ body: (Database) throws -> Value?) -> Value? {
        guard let source else { return nil }
        return try? body(source)
    }
}

extension Row {
    /// A value of a row that may not be what was written; nil where it is of another type, or missing.
    func intact<Value: DatabaseValueConvertible>(_ column: String) -> Value? {
        // One look for the name, which GRDB compares with those of all columns.
        guard let value = self[column] as (any DatabaseValueConvertible)? else { return nil }
        return Value.fromDatabaseValue(value.databaseValue)
    }

    /// A value that every row of the table has.
    /// - Throws: `DatabaseError`, as for a damaged file.
    func sound<Value: DatabaseValueConvertible>(_ column: String) throws -> Value {
        guard let value: Value = intact(column) else {
            throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: "column \(column)")
        }
        return value
    }
}
