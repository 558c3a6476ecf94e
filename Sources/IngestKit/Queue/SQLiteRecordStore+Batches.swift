import FoundationEssentials
import GRDB

/// What one destination asks of the store. Each is one transaction, with the events that tell of it.
extension SQLiteRecordStore {
    /// At most this many records are looked at in one transaction.
    private static let scanLimit = 5000
    /// Of a server's words, this many characters are kept.
    private static let replyLimit = 2000

    /// The batch to send now: the stored one if there is one, else a new one.
    public func nextBatch(
        for destination: String, settings: BatchSettings, gateway: String
    ) async throws -> NextBatch {
        let request = Composition(
            destination: destination, settings: settings, gateway: gateway, now: clock.now)
        return try await write { db in try self.next(request, db) }
    }

    /// The destination took the whole batch; composes the next in the same transaction.
    public func acknowledge(
        _ batch: StoredBatch, httpStatus: Int, attempt: Int, settings: BatchSettings, gateway: String
    ) async throws -> NextBatch {
        let request = Composition(
            destination: batch.destination, settings: settings, gateway: gateway, now: clock.now)
        let next = try await write { db in
            try Self.remove(batch, db)
            try db.execute(
                sql: "UPDATE destination SET delivered = delivered + ? WHERE name = ?",
                arguments: [batch.items.count, batch.destination])
            for item in batch.items {
                try Self.append(
                    .submitted(
                        recordID: item.header.id, kind: item.header.kind, item.header.peripheral,
                        destination: batch.destination, httpStatus: httpStatus, attempt: attempt), db)
            }
            return try self.next(request, db)
        }
        outboxWakeUp.raise()
        return next
    }

    /// Replaces a batch of two or more by its halves; the first of them is next.
    public func split(_ batch: StoredBatch, settings: BatchSettings, gateway: String) async throws
        -> NextBatch
    {
        let request = Composition(
            destination: batch.destination, settings: settings, gateway: gateway, now: clock.now)
        return try await write { db in
            try Self.remove(batch, db)
            let middle = (batch.items.count + 1) / 2
            for half in [batch.items.prefix(middle), batch.items.dropFirst(middle)] where !half.isEmpty {
                try Self.insert(
                    positions: half.map(\.position), destination: batch.destination, gateway: batch.gateway,
                    db)
            }
            return try self.next(request, db)
        }
    }

    /// Sets the only record of a batch aside as a dead letter; composes the next.
    /// - Parameter reply: the server's words, kept for the operator alone.
    public func setAside(
        _ batch: StoredBatch, httpStatus: Int?, attempt: Int, error: String, reply: String?,
        settings: BatchSettings, gateway: String
    ) async throws -> NextBatch {
        let request = Composition(
            destination: batch.destination, settings: settings, gateway: gateway, now: clock.now)
        let wall = clock.wallNanoseconds
        let next = try await write { db in
            try Self.remove(batch, db)
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
                    .failed(
                        recordID: item.header.id, kind: item.header.kind, item.header.peripheral,
                        destination: batch.destination, httpStatus: httpStatus, attempt: attempt,
                        error: error), db)
            }
            return try self.next(request, db)
        }
        outboxWakeUp.raise()
        return next
    }

    /// Notes how a destination fares: `change` is told if this is another state than before,
    /// `event` always; `attempts` made for the batch are kept with it.
    /// - Parameter state: nil is the same as before.
    public func note(
        _ state: DestinationState?, of destination: String, change: Event, event: Event? = nil,
        batch: StoredBatch? = nil, attempts: Int = 0
    ) async throws {
        try await write { db in
            let before = try String.fetchOne(
                db, sql: "SELECT state FROM destination WHERE name = ?", arguments: [destination])
            if let state, before != state.rawValue {
                try db.execute(
                    sql: "UPDATE destination SET state = ? WHERE name = ?",
                    arguments: [state.rawValue, destination])
                try Self.append(change, db)
            }
            if let event { try Self.append(event, db) }
            if let batch, event != nil {
                try db.execute(
                    sql: "UPDATE batch SET attempts = ? WHERE destination = ? AND first_position = ?",
                    arguments: [attempts, destination, batch.firstPosition])
            }
        }
        outboxWakeUp.raise()
    }

    /// How a destination fared last, in this run or an earlier one.
    public func state(of destination: String) async throws -> DestinationState {
        let text = try await read { db in
            try String.fetchOne(
                db, sql: "SELECT state FROM destination WHERE name = ?", arguments: [destination])
        }
        return text.flatMap(DestinationState.init(rawValue:)) ?? .up
    }

    // MARK: - Within a transaction

    private struct Composition: Sendable {
        let destination: String
        let settings: BatchSettings
        let gateway: String
        let now: MonotonicInstant
    }

    private static func remove(_ batch: StoredBatch, _ db: Database) throws {
        try db.execute(
            sql: "DELETE FROM batch WHERE destination = ? AND first_position = ?",
            arguments: [batch.destination, batch.firstPosition])
    }

    private static func insert(
        positions: [Int64], destination: String, gateway: String, _ db: Database
    ) throws {
        guard let first = positions.first else { return }
        try db.execute(
            sql: "INSERT INTO batch (destination, first_position, positions, gateway) VALUES (?, ?, ?, ?)",
            arguments: [destination, first, positions.map(String.init).joined(separator: " "), gateway])
    }

    private func next(_ request: Composition, _ db: Database) throws -> NextBatch {
        if let stored = try stored(for: request.destination, db) { return .batch(stored) }
        return try compose(request, db)
    }

    /// The first stored batch of a destination, with its records as they were frozen.
    private func stored(for destination: String, _ db: Database) throws -> StoredBatch? {
        let row = try Row.fetchOne(
            db, sql: "SELECT * FROM batch WHERE destination = ? ORDER BY first_position LIMIT 1",
            arguments: [destination])
        guard let row else { return nil }
        let positions = (row["positions"] as String).split(separator: " ").compactMap { Int64($0) }
        let items = try positions.map { position in
            let record = try Row.fetchOne(
                db, sql: "SELECT * FROM record WHERE position = ?", arguments: [position])
            guard let record, let item = Self.item(record) else { throw StoreError(.corrupt, path: path) }
            return item
        }
        return StoredBatch(
            destination: destination, gateway: row["gateway"], items: items, attempts: row["attempts"])
    }

    private func compose(_ request: Composition, _ db: Database) throws -> NextBatch {
        guard let routing = routings[request.destination],
            let start = try Int64.fetchOne(
                db, sql: "SELECT position FROM destination WHERE name = ?", arguments: [request.destination])
        else { return .nothing }

        var chosen: [Int64] = []
        var firstAvailable = MonotonicInstant(nanoseconds: 0)
        var end = start
        var scanned = 0
        let rows = try Row.fetchCursor(
            db,
            sql: """
                SELECT id, kind, peripheral_id, address, alias, destinations, position, available_ns
                FROM record WHERE position > ? ORDER BY position LIMIT ?
                """,
            arguments: [start, Self.scanLimit])
        while chosen.count < request.settings.maxRecords, let row = try rows.next() {
            scanned += 1
            end = row["position"]
            guard let header = Self.header(row) else { throw StoreError(.corrupt, path: path) }
            guard routing.accepts(header) else { continue }
            if chosen.isEmpty, end > positionAtOpening {
                firstAvailable = MonotonicInstant(nanoseconds: UInt64(clamping: row["available_ns"] as Int64))
            }
            chosen.append(end)
        }
        let sawEverything = chosen.count < request.settings.maxRecords && scanned < Self.scanLimit

        if chosen.isEmpty {
            // What is not for it is passed for good: a later change of the routing must not send
            // old records elsewhere.
            if scanned > 0 { try Self.move(request.destination, to: end, db) }
            return sawEverything ? .nothing : .more
        }
        let due = firstAvailable + request.settings.maxWait
        if sawEverything, request.now < due { return .waiting(until: due) }

        try Self.insert(
            positions: chosen, destination: request.destination, gateway: request.gateway, db)
        try Self.move(request.destination, to: end, db)
        return try stored(for: request.destination, db).map(NextBatch.batch) ?? .nothing
    }

    private static func move(_ destination: String, to position: Int64, _ db: Database) throws {
        try db.execute(
            sql: "UPDATE destination SET position = ? WHERE name = ?", arguments: [position, destination])
    }

    /// A record of a batch; nil when the row is not what was written.
    private static func item(_ row: Row) -> StoredBatch.Item? {
        let body: String = row["body"]
        let expected = checksum(id: row["id"], kind: row["kind"], payload: row["payload"], body: body)
        guard row["checksum"] == expected, let header = header(row) else { return nil }
        return StoredBatch.Item(header: header, position: row["position"], body: body)
    }

    static func header(_ row: Row) -> RecordHeader? {
        guard let kind = RecordKind(rawValue: row["kind"]),
            let address = BluetoothAddress(row["address"] as String)
        else { return nil }
        return RecordHeader(
            id: RecordID(text: row["id"]), kind: kind, peripheralID: row["peripheral_id"],
            address: address, alias: row["alias"],
            destinations: (row["destinations"] as String?).map { names in
                Set(names.split(separator: "\n").map(String.init))
            })
    }
}
