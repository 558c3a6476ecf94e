import FoundationEssentials
import GRDB
import IngestCore
package import IngestEvents
import IngestRecords
package import IngestStorage

/// What one destination asks of the store. Each is one transaction, with the events that tell of it.
extension SQLiteRecordStore: DeliveryQueue {
    /// Of a server's words, this many characters are kept.
    private static let replyLimit = 2000

    /// The batch to send now on this lane: the stored one if there is one, else a new one.
    package func nextBatch(
        for destination: String, lane: DeliveryLane = .backlog, settings: BatchSettings, gateway: String
    ) async throws -> NextBatch {
        let request = Composition(
            destination: destination, lane: lane, settings: settings, gateway: gateway, now: clock.now)
        return try await write { db in try self.next(request, db) }
    }

    /// The destination took the whole batch; composes the next of its lane in the same transaction.
    package func acknowledge(
        _ batch: StoredBatch, httpStatus: Int?, attempt: Int, settings: BatchSettings, gateway: String
    ) async throws -> NextBatch {
        let request = Composition(
            destination: batch.destination, lane: batch.lane, settings: settings, gateway: gateway,
            now: clock.now)
        let next = try await write { db in
            guard try Self.remove(batch, db) else { return try self.next(request, db) }
            try db.cachedStatement(sql: "UPDATE destination SET delivered = delivered + ? WHERE name = ?")
                .execute(arguments: [batch.items.count, batch.destination])
            let events = batch.items.map { item in
                Event.taken(item, by: batch.destination, httpStatus: httpStatus, attempt: attempt)
            }
            try self.tell(events, db)
            return try self.next(request, db)
        }
        outboxWakeUp.raise()
        return next
    }

    /// Replaces a batch of two or more by its halves; the first of them is next.
    package func split(_ batch: StoredBatch, settings: BatchSettings, gateway: String) async throws
        -> NextBatch
    {
        let request = Composition(
            destination: batch.destination, lane: batch.lane, settings: settings, gateway: gateway,
            now: clock.now)
        return try await write { db in
            guard try Self.remove(batch, db) else { return try self.next(request, db) }
            let middle = (batch.items.count + 1) / 2
            for half in [batch.items.prefix(middle), batch.items.dropFirst(middle)] where !half.isEmpty {
                try Self.insert(
                    positions: half.map(\.position), destination: batch.destination, lane: batch.lane,
                    gateway: batch.gateway, db)
            }
            return try self.next(request, db)
        }
    }

    /// Sets the only record of a batch aside as a dead letter; composes the next.
    /// - Parameters:
    ///   - reply: the server's words, kept for the operator alone.
    ///   - submission: what `failed` says beside what it always says.
    package func setAside(
        _ batch: StoredBatch, httpStatus: Int?, attempt: Int, error: String, reply: String?,
        submission: FailedSubmission? = nil,
        settings: BatchSettings, gateway: String
    ) async throws -> NextBatch {
        let request = Composition(
            destination: batch.destination, lane: batch.lane, settings: settings, gateway: gateway,
            now: clock.now)
        let wall = clock.wallNanoseconds
        let next = try await write { db in
            guard try Self.remove(batch, db) else { return try self.next(request, db) }
            for item in batch.items {
                try db.execute(
                    sql: """
                        INSERT INTO dead_letter
                            (destination, record_seq, http_status, attempt, error, reply, failed_ns)
                        SELECT ?, seq, ?, ?, ?, ?, ? FROM record WHERE position = ?
                        """,
                    arguments: [
                        batch.destination, httpStatus, attempt, error,
                        reply.map { String($0.prefix(Self.replyLimit)) }, wall, item.position,
                    ])
                try Self.append(
                    .setAside(
                        item.header, imageOf: item.imageOf, for: batch.destination, httpStatus: httpStatus,
                        attempt: attempt, error: error, submission: submission), db)
            }
            return try self.next(request, db)
        }
        outboxWakeUp.raise()
        return next
    }

    /// Notes how a destination fares: `change` is told if this is another state than before,
    /// `event` always; `attempts` made for the batch are kept with it.
    /// - Parameters:
    ///   - state: nil is the same as before.
    ///   - batch: what the event tells of.
    ///   - leavesLane: whether the batch is the backlog's from now on.
    package func note(
        _ state: DestinationState?, of destination: String, change: Event, event: Event? = nil,
        batch: StoredBatch? = nil, attempts: Int = 0, leavesLane: Bool = false
    ) async throws {
        try await write { db in
            let before = try String.fetchOne(
                db, sql: "SELECT state FROM destination WHERE name = ?", arguments: [destination])
            if let state, before != state.rawValue {
                try db.execute(
                    sql: "UPDATE destination SET state = ? WHERE name = ?",
                    arguments: [state.rawValue, destination])
                try Self.forgetEnd(of: destination, db)
                try Self.append(change, db)
            }
            if let event { try Self.append(event, db) }
            if let batch, event != nil {
                try db.execute(
                    sql: """
                        UPDATE \(batch.table) SET attempts = ? WHERE destination = ? AND first_position = ?
                        """,
                    arguments: [attempts, destination, batch.firstPosition])
            }
            if let batch, leavesLane {
                try db.execute(
                    sql: "UPDATE batch SET lane = ? WHERE destination = ? AND first_position = ?",
                    arguments: [DeliveryLane.backlog.rawValue, destination, batch.firstPosition])
            }
        }
        outboxWakeUp.raise()
    }

    /// How a destination fared last, in this run or an earlier one.
    package func state(of destination: String) async throws -> DestinationState {
        let text = try await read { db in
            try String.fetchOne(
                db, sql: "SELECT state FROM destination WHERE name = ?", arguments: [destination])
        }
        return text.flatMap(DestinationState.init(rawValue:)) ?? .up
    }

    // MARK: - Within a transaction

    /// - Returns: whether it was there: a session that ended meanwhile has taken it away.
    private static func remove(_ batch: StoredBatch, _ db: Database) throws -> Bool {
        try db.cachedStatement(
            sql: "DELETE FROM \(batch.table) WHERE destination = ? AND first_position = ?"
        ).execute(arguments: [batch.destination, batch.firstPosition])
        return db.changesCount > 0
    }

    static func insert(
        positions: [Int64], destination: String, lane: DeliveryLane, gateway: String, _ db: Database
    ) throws {
        guard let first = positions.first else { return }
        try db.cachedStatement(
            sql: """
                INSERT INTO batch (destination, first_position, positions, gateway, lane)
                VALUES (?, ?, ?, ?, ?)
                """
        ).execute(arguments: [
            destination, first, positions.map(String.init).joined(separator: " "), gateway, lane.rawValue,
        ])
    }

    /// A row of the table `batch`.
    struct BatchRow {
        /// One at least.
        let positions: [Int64]
        let gateway: String
        let attempts: Int
        let lane: DeliveryLane

        /// - Throws: `DatabaseError`, as for a damaged file, when the row is not what was written.
        init(_ row: Row) throws {
            let text: String = try row.sound("positions")
            let first: Int64 = try row.sound("first_position")
            let parts = text.split(separator: " ")
            positions = parts.compactMap { Int64($0) }
            guard positions.count == parts.count, positions.first == first else {
                throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: "column positions")
            }
            gateway = try row.sound("gateway")
            attempts = try row.sound("attempts")
            lane = DeliveryLane(rawValue: try row.sound("lane")) ?? .backlog
        }
    }

    private func next(_ request: Composition, _ db: Database) throws -> NextBatch {
        if request.lane == .image {
            return try storedImage(for: request, db).map(NextBatch.batch) ?? .nothing
        }
        if let stored = try stored(for: request, db) { return .batch(stored) }
        guard let positions = try compose(request, db) else { return .nothing }
        switch positions {
        case .waiting(let until): return .waiting(until: until)
        case .more: return .more
        case .batch: return try stored(for: request, db).map(NextBatch.batch) ?? .nothing
        }
    }

    /// The first stored batch of a lane, with its records as they were frozen. Where there is one lane it sends what
    /// an earlier configuration left on the other too.
    private func stored(for request: Composition, _ db: Database) throws -> StoredBatch? {
        let isOnlyLane = routings[request.destination]?.order.lanes.count == 1
        let row = try Row.fetchOne(
            try db.cachedStatement(
                sql: """
                    SELECT * FROM batch WHERE destination = ? AND ((lane = ?) = ? OR ?)
                    ORDER BY first_position LIMIT 1
                    """),
            arguments: [
                request.destination, DeliveryLane.fresh.rawValue, request.lane == .fresh, isOnlyLane,
            ])
        guard let stored = try row.map(BatchRow.init) else { return nil }
        let positions = stored.positions
        let (items, damaged) = try Self.items(at: positions, for: request.destination, db)
        for sequence in damaged {
            try Self.setAsideDamaged(sequence: sequence, for: request.destination, db)
        }
        var batch = StoredBatch(
            destination: request.destination, lane: request.lane, gateway: stored.gateway, items: items,
            attempts: stored.attempts)
        guard items.count < positions.count else { return batch }
        outboxWakeUp.raise()
        // What is left is another request.
        batch.attempts = 0
        try db.execute(
            sql: "DELETE FROM batch WHERE destination = ? AND first_position = ?",
            arguments: [request.destination, positions[0]])
        try Self.insert(
            positions: items.map(\.position), destination: request.destination, lane: stored.lane,
            gateway: batch.gateway, db)
        return items.isEmpty ? try self.stored(for: request, db) : batch
    }

    /// What `item` and its checksum look at. By ranges, because a row costs a third of what it does by itself.
    private static let recordsOfBatch = """
        SELECT id, kind, body, payload, checksum, undated, peripheral_id, alias, destinations, address, seq, position,
            (SELECT subject FROM assignment WHERE record_seq = record.seq AND destination = ?) AS assigned
        FROM record WHERE position >= ? AND position <= ? ORDER BY position
        """

    /// The records at these positions, in ascending order.
    /// - Returns: those that are what was written, and the numbers of the others; nil for what is not there any more.
    static func items(
        at positions: [Int64], for destination: String, _ db: Database
    ) throws -> (intact: [StoredBatch.Item], damaged: [Int64?]) {
        var intact: [StoredBatch.Item] = []
        var damaged: [Int64?] = []
        for run in runs(of: positions) {
            let rows = try Row.fetchCursor(
                try db.cachedStatement(sql: recordsOfBatch),
                arguments: [destination, run.lowerBound, run.upperBound])
            while let row = try rows.next() {
                if let item = item(row) {
                    intact.append(item)
                } else {
                    damaged.append(row["seq"])
                }
            }
        }
        let missing = positions.count - intact.count - damaged.count
        return (intact, damaged + [Int64?](repeating: nil, count: missing))
    }

    /// Positions that follow one another, together.
    private static func runs(of positions: [Int64]) -> [ClosedRange<Int64>] {
        var runs: [ClosedRange<Int64>] = []
        for position in positions {
            if let last = runs.last, last.upperBound == position - 1 {
                runs[runs.count - 1] = last.lowerBound...position
            } else {
                runs.append(position...position)
            }
        }
        return runs
    }

    /// A record of a batch, with the subject that it was given for the destination; nil when the row is not what was
    /// written.
    private static func item(_ row: Row) -> StoredBatch.Item? {
        guard isIntact(row), let header = header(row), let body: String = row.intact("body"),
            let position: Int64 = row.intact("position")
        else { return nil }
        let subject: String? = row.intact("assigned")
        return StoredBatch.Item(
            header: header, position: position,
            body: subject.map { RecordContent.assigning($0, to: body) } ?? body, imageOf: imageOf(row))
    }

    /// Nil when the row is not what was written.
    static func header(_ row: Row) -> RecordHeader? {
        guard let id: String = row.intact("id"), let kind: String = row.intact("kind"),
            let kind = RecordKind(rawValue: kind), let peripheralID: Int = row.intact("peripheral_id"),
            let text: String = row.intact("address"), let address = BluetoothAddress(text)
        else { return nil }
        let destinations: String? = row.intact("destinations")
        return RecordHeader(
            id: RecordID(text: id), kind: kind, peripheralID: peripheralID, address: address,
            alias: row.intact("alias"),
            destinations: destinations.map { Set($0.split(separator: "\n").map(String.init)) })
    }
}
