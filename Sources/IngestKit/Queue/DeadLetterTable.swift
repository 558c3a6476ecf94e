import GRDB

/// Records that are set aside: those that a destination did not take, and those that could not be decoded. What the
/// operator does with them is one transaction each.
package struct DeadLetterTable: Sendable {
    let database: QueueDatabase
    let routings: DestinationRoutings
    let room: QueueRoom

    /// Our words for it, in events and dead letters.
    private static let damage = "the record is damaged in the queue"

    /// At most so many are dealt with in one transaction, fewer where there are images among them.
    private static let atOnce = 500

    /// Sends what is selected to its destinations again, under its ids and in the order in which it was read, each record
    /// in a request of its own. A part of it, where all is selected: call again with `next`.
    /// - Parameters:
    ///   - subject: whose the records are from now on at these destinations, of those that were set aside as unassigned;
    ///     no others are taken then. With a record that is named go its images.
    ///   - after: where the former part ended.
    /// - Throws: `DeadLetterRefusal` where records are named, and one is not there or has to stay.
    package func retry(
        _ selection: DeadLetterSelection, subject: String? = nil, gateway: String, after: Int64 = 0
    ) async throws -> RetryOutcome {
        let routings = routings.all
        let outcome = try await database.write { db in
            var outcome = RetryOutcome()
            let request = Retry(subject: subject, gateway: gateway, destinations: Set(routings.keys))
            guard selection.records.isEmpty else {
                let entries = try Self.namedLetters(selection, db).flatMap { try Self.retry($0, request, db) }
                outcome.released = entries.count
                // After those that are named: an image may be among them.
                if subject != nil {
                    for entry in entries {
                        outcome.released += try Self.retry(imagesOf: entry, request, db)
                    }
                }
                return outcome
            }
            let condition = "number > ? AND (? IS NULL OR is_unassigned OR assigned IS NOT NULL)"
            let letters = try Self.letters(
                selection, and: condition, [after, subject], order: "number",
                limit: Self.atOnce, db)
            var bytes = 0
            for letter in letters {
                if let obstacle = try request.obstacle(letter, db) {
                    outcome.left[obstacle, default: 0] += 1
                } else {
                    try request.release(letter, db)
                    outcome.released += 1
                }
                bytes += letter["image_bytes"]
                if bytes >= LaneComposer.imageBytesAtOnce {
                    outcome.next = letter["number"]
                    return outcome
                }
            }
            if letters.count == Self.atOnce { outcome.next = letters.last?["number"] }
            return outcome
        }
        for name in routings.keys { self.routings.wakeUp(for: name).raise() }
        return outcome
    }

    /// Gives up what is selected: it goes nowhere any more, and leaves the queue in its time. A reading that comes again
    /// stays known.
    /// - Returns: how many were given up; where all is selected a part, and 0 when there are no more.
    /// - Throws: `DeadLetterRefusal` where a record is named that is not there.
    package func drop(_ selection: DeadLetterSelection) async throws -> Int {
        defer { room.noteOrder() }
        return try await database.write { db in
            var letters: [Row] = []
            if selection.records.isEmpty {
                letters = try Self.letters(selection, limit: Self.atOnce, db)
            } else {
                letters = try Self.namedLetters(selection, db).flatMap(\.self)
            }
            for letter in letters {
                if let number = letter["number"] as Int64? {
                    try db.execute(sql: "DELETE FROM dead_letter WHERE number = ?", arguments: [number])
                } else {
                    try RecordTable.retire(letter["record_seq"], db)
                }
            }
            return letters.count
        }
    }

    // MARK: - Setting aside

    /// Sets a record aside for good where it was to go: it is kept, and neither delivered nor tried again.
    /// - Parameter sequence: its number; nil if it is not there any more.
    static func setAsideDamaged(sequence: Int64?, for destination: String, _ db: Database) throws {
        let row = try sequence.flatMap {
            try Row.fetchOne(db, sql: "SELECT * FROM record WHERE seq = ?", arguments: [$0])
        }
        guard let sequence, let row else {
            try OutboxTable.append(
                .storeError(error: "a record for \(destination) is missing in the queue"), db)
            return
        }
        try insert(sequence, for: destination, error: damage, at: 0, db)
        guard let header = RecordRow.header(row) else {
            try OutboxTable.append(.storeError(error: "\(damage), and set aside for \(destination)"), db)
            return
        }
        try OutboxTable.append(
            .setAside(header, imageOf: RecordRow.imageOf(row), for: destination, attempt: 0, error: damage),
            db)
    }

    /// Sets a record aside that was read in another person's session.
    /// - Parameter wall: in nanoseconds since 1970.
    static func setAside(
        readForAnother sequence: Int64, for destination: String, at wall: Int64, _ db: Database
    ) throws {
        let row = try Row.fetchOne(db, sql: "SELECT * FROM record WHERE seq = ?", arguments: [sequence])
        guard let row, let header = RecordRow.header(row) else {
            return try setAsideDamaged(sequence: sequence, for: destination, db)
        }
        let error = "was read while the gateway was signed in for another person"
        try insert(sequence, for: destination, error: error, at: wall, db)
        try OutboxTable.append(
            .setAside(header, imageOf: RecordRow.imageOf(row), for: destination, attempt: 0, error: error), db
        )
    }

    /// Without an attempt to send it.
    private static func insert(
        _ sequence: Int64, for destination: String, error: String, at wall: Int64, _ db: Database
    ) throws {
        try db.execute(
            sql: """
                INSERT INTO dead_letter (destination, record_seq, attempt, error, failed_ns)
                VALUES (?, ?, 0, ?, ?)
                """,
            arguments: [destination, sequence, error, wall])
    }

    // MARK: - Selecting

    /// What is set aside: dead letters with their records, and records that could not be decoded. Without the payloads,
    /// of which those of images are large.
    private static let letters = """
        SELECT \(recordColumns), record.seq AS record_seq, number, destination, http_status, attempt, error, is_unassigned, reply, failed_ns,
            (SELECT subject FROM assignment WHERE assignment.record_seq = dead_letter.record_seq
                AND assignment.destination = dead_letter.destination) AS assigned
        FROM dead_letter JOIN record ON record.seq = dead_letter.record_seq
        UNION ALL
        SELECT \(recordColumns), seq, NULL, NULL, NULL, 0, 'could not be decoded', 0, NULL, committed_ns, NULL
        FROM record WHERE kind = 'undecoded'
        """

    private static let recordColumns = """
        record.id, record.kind, record.peripheral_id, record.address, record.alias, record.body, record.position,
            iif(record.kind = 'image', length(record.payload), 0) AS image_bytes
        """

    /// In the order in which the records were read.
    static func letters(
        _ selection: DeadLetterSelection, and condition: String = "TRUE",
        _ arguments: [(any DatabaseValueConvertible)?] = [], order: String = "record_seq, number",
        limit: Int = -1, _ db: Database
    ) throws -> [Row] {
        let query = query(selection, and: condition, arguments, order: order, limit: limit)
        return try Row.fetchAll(db, sql: query.sql, arguments: query.arguments)
    }

    static func query(
        _ selection: DeadLetterSelection, and condition: String = "TRUE",
        _ further: [(any DatabaseValueConvertible)?] = [], order: String = "record_seq, number",
        limit: Int = -1
    ) -> (sql: String, arguments: StatementArguments) {
        var conditions = ["(\(condition))"]
        var arguments = further
        if let destination = selection.destination {
            conditions.append("destination = ?")
            arguments.append(destination)
        }
        if let peripheral = selection.peripheral {
            conditions.append(RecordRow.isOfDevice)
            arguments += RecordRow.arguments(ofDevice: peripheral)
        }
        let sql = """
            SELECT * FROM (\(letters)) WHERE \(conditions.joined(separator: " AND ")) ORDER BY \(order)
            LIMIT \(limit)
            """
        return (sql, StatementArguments(arguments))
    }

    /// Those of the records that are named, one element a record. Several names may stand for one.
    /// - Throws: `DeadLetterRefusal`.
    static func namedLetters(_ selection: DeadLetterSelection, _ db: Database) throws -> [[Row]] {
        var ids: Set<String> = []
        return try selection.records.map { try letters(named: $0, of: selection, db) }.filter { letters in
            ids.insert(letters.compactMap { $0.intact("id") }[0]).inserted
        }
    }

    /// Those of the one record whose id is, or begins with, `name`: one at least.
    /// - Throws: `DeadLetterRefusal`.
    private static func letters(
        named name: String, of selection: DeadLetterSelection, _ db: Database
    ) throws -> [Row] {
        // g follows on all digits of an id.
        let found = try letters(selection, and: "id >= ? AND id < ?", [name, name + "g"], db)
        let ids = Set(found.compactMap { $0.intact("id") as String? })
        guard !ids.isEmpty else { throw DeadLetterRefusal.unknown(name) }
        guard ids.count == 1 else { throw DeadLetterRefusal.ambiguous(name) }
        return found
    }

    // MARK: - Within a transaction

    /// Tries again what is set aside of one record.
    /// - Returns: what is tried again, one for each destination.
    private static func retry(_ letters: [Row], _ request: Retry, _ db: Database) throws -> [Row] {
        var released: [Row] = []
        var first: DeadLetterRefusal?
        for letter in letters {
            if let obstacle = try request.obstacle(letter, db) {
                first = first ?? .stays(RecordID(text: letter["id"]), obstacle)
            } else {
                try request.release(letter, db)
                released.append(letter)
            }
        }
        if released.isEmpty, let first { throw first }
        return released
    }

    /// Tries the images of an entry again that are set aside where it was. Those that wait there still are its person's too.
    /// - Returns: how many these are.
    private static func retry(imagesOf entry: Row, _ request: Retry, _ db: Database) throws -> Int {
        let id: String = entry["id"]
        let images = try letters(
            DeadLetterSelection(destination: entry["destination"]),
            and: "kind = 'image' AND instr(body, ?) > 0", [id], db)
        var count = 0
        for image in images where RecordContent(json: image["body"])?.imageOf?.id.text == id {
            guard try request.obstacle(image, db) == nil else { continue }
            try request.release(image, db)
            count += 1
        }
        let waiting = try Row.fetchAll(
            db, sql: Self.waitingImages, arguments: ["id": id, "destination": entry["destination"] as String])
        for image in waiting where RecordContent(json: image["body"])?.imageOf?.id.text == id {
            try request.assign(image["seq"], at: entry["destination"], db)
        }
        return count
    }

    /// That a destination has not taken, and that may be of an entry.
    private static let waitingImages = """
        SELECT seq, body FROM record
        WHERE kind = 'image' AND instr(body, :id) > 0 AND (
            EXISTS (SELECT 1 FROM image_batch WHERE destination = :destination AND first_position = record.position)
            OR position > (SELECT position FROM destination WHERE name = :destination))
        """
}

/// How records are tried again.
private struct Retry {
    let subject: String?
    let gateway: String
    /// Those that are configured.
    let destinations: Set<String>

    /// Why a letter has to stay; nil where it may go.
    func obstacle(_ letter: Row, _ db: Database) throws -> DeadLetterObstacle? {
        guard let destination = letter["destination"] as String? else { return .undecoded }
        guard destinations.contains(destination) else { return .notConfigured }
        let isDamaged = try RecordRow.inspect(sequence: letter["record_seq"], db).isDamaged
        guard !isDamaged, (letter["position"] as Int64?) != nil else { return .damaged }
        let session = try Row.fetchOne(
            db, sql: "SELECT account, account_seq FROM destination WHERE name = ?", arguments: [destination])
        let account: String? = session?["account"]
        let assigned: String? = letter["assigned"]
        let isUnassigned: Bool = letter.intact("is_unassigned") ?? false
        guard let subject else {
            if isUnassigned, assigned == nil { return .unassigned }
            // Whoever is signed in now is not who was when it was read.
            let isOfAnother = (letter["record_seq"] as Int64) <= (session?["account_seq"] as Int64? ?? 0)
            return isOfAnother && assigned != account ? .anotherPerson : nil
        }
        guard isUnassigned || assigned != nil else { return .notUnassigned }
        let content = RecordContent(json: letter["body"])
        if content?.isControlSolution ?? true { return .controlSolution }
        // What the gateway sends there is filed under the person of the session, whatever the record says.
        return account.map { $0 == subject } ?? true ? nil : .anotherSession
    }

    func release(_ letter: Row, _ db: Database) throws {
        let (destination, sequence, position): (String, Int64, Int64) =
            (letter["destination"], letter["record_seq"], letter["position"])
        try db.execute(
            sql: "DELETE FROM dead_letter WHERE destination = ? AND record_seq = ?",
            arguments: [destination, sequence])
        try assign(sequence, at: destination, db)
        if letter["kind"] == RecordKind.image.rawValue {
            return try BatchTable.insert(images: [position], destination: destination, gateway: gateway, db)
        }
        let isOnItsWay = try Bool.fetchOne(
            db, sql: "SELECT EXISTS (SELECT 1 FROM batch WHERE destination = ? AND first_position = ?)",
            arguments: [destination, position])
        if isOnItsWay == true { return }
        try BatchTable.insert(
            positions: [position], destination: destination, lane: .backlog, gateway: gateway, db)
    }

    /// Notes whose a record is there, where that is said.
    func assign(_ sequence: Int64, at destination: String, _ db: Database) throws {
        guard let subject else { return }
        try db.execute(
            sql: "INSERT OR REPLACE INTO assignment (destination, record_seq, subject) VALUES (?, ?, ?)",
            arguments: [destination, sequence, subject])
    }
}
