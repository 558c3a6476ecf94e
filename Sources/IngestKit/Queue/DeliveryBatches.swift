package import FoundationEssentials
import GRDB

/// The queue's side of delivery. Each call that changes a batch is one transaction, which also commits its events.
package struct DeliveryBatches: DeliveryQueue {
    let database: QueueDatabase
    let routings: DestinationRoutings
    let sessions: SessionTable
    let outbox: OutboxTable
    let lanes: LaneComposer
    let images: ImageTurns

    /// Of a server's words, this many characters are kept.
    private static let replyLimit = 2000

    /// The batch to send now on this lane: the stored one if there is one, else a new one.
    package func nextBatch(
        for destination: String, lane: DeliveryLane = .backlog, settings: BatchSettings, gateway: String
    ) async throws -> NextBatch {
        let request = LaneComposer.Request(
            destination: destination, lane: lane, settings: settings, gateway: gateway,
            now: database.clock.now)
        return try await database.write { db in try self.next(request, db) }
    }

    /// What follows a batch that is on its way: it is composed now, so that the next request need not wait until this one
    /// is noted.
    package func batch(after sent: StoredBatch, settings: BatchSettings, gateway: String) async throws
        -> StoredBatch?
    {
        let request = LaneComposer.Request(
            destination: sent.destination, lane: sent.lane, settings: settings, gateway: gateway,
            now: database.clock.now)
        return try await database.write { db in try self.following(sent, request, db) }
    }

    /// The destination took the whole batch, so it is up; composes the next of its lane in the same transaction.
    /// - Parameter location: what the destination calls an image.
    package func acknowledge(
        _ batch: StoredBatch, httpStatus: Int?, location: String? = nil, attempt: Int,
        settings: BatchSettings, gateway: String
    ) async throws -> NextBatch {
        let request = LaneComposer.Request(
            destination: batch.destination, lane: batch.lane, settings: settings, gateway: gateway,
            now: database.clock.now)
        let next = try await database.write { db in
            try self.noteTaken(batch, httpStatus: httpStatus, location: location, attempt: attempt, db)
            return try self.next(request, db)
        }
        database.outboxWakeUp.raise()
        return next
    }

    /// The same, while the next batch of the lane is on its way already.
    /// - Returns: what follows that one.
    package func acknowledge(
        _ batch: StoredBatch, httpStatus: Int?, attempt: Int, whileSending sent: StoredBatch,
        settings: BatchSettings, gateway: String
    ) async throws -> StoredBatch? {
        let request = LaneComposer.Request(
            destination: batch.destination, lane: batch.lane, settings: settings, gateway: gateway,
            now: database.clock.now)
        let next = try await database.write { db in
            try self.noteTaken(batch, httpStatus: httpStatus, location: nil, attempt: attempt, db)
            return try self.following(sent, request, db)
        }
        database.outboxWakeUp.raise()
        return next
    }

    private func noteTaken(
        _ batch: StoredBatch, httpStatus: Int?, location: String?, attempt: Int, _ db: Database
    ) throws {
        try note(.up, of: batch.destination, change: .destinationUp(destination: batch.destination), db)
        // A session that has ended meanwhile has taken it away.
        guard try BatchTable.remove(batch, db) else { return }
        try db.cachedStatement(sql: "UPDATE destination SET delivered = delivered + ? WHERE name = ?")
            .execute(arguments: [batch.items.count, batch.destination])
        let events = Event.taken(
            batch.items, by: batch.destination, httpStatus: httpStatus, location: location,
            attempt: attempt, measurements: database.toldMeasurements)
        try outbox.tell(events, db)
    }

    /// Replaces a batch of two or more by its halves; the first of them is next.
    package func split(_ batch: StoredBatch, settings: BatchSettings, gateway: String) async throws
        -> NextBatch
    {
        let request = LaneComposer.Request(
            destination: batch.destination, lane: batch.lane, settings: settings, gateway: gateway,
            now: database.clock.now)
        return try await database.write { db in
            guard try BatchTable.remove(batch, db) else { return try self.next(request, db) }
            let middle = (batch.items.count + 1) / 2
            for half in [batch.items.prefix(middle), batch.items.dropFirst(middle)] where !half.isEmpty {
                try BatchTable.insert(
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
        _ batch: StoredBatch, httpStatus: Int?, attempt: Int, reason: SetAsideReason, reply: String?,
        submission: FailedSubmission? = nil,
        settings: BatchSettings, gateway: String
    ) async throws -> NextBatch {
        let request = LaneComposer.Request(
            destination: batch.destination, lane: batch.lane, settings: settings, gateway: gateway,
            now: database.clock.now)
        let wall = database.clock.wallNanoseconds
        let next = try await database.write { db in
            guard try BatchTable.remove(batch, db) else { return try self.next(request, db) }
            for item in batch.items {
                try db.execute(
                    sql: """
                        INSERT INTO dead_letter
                            (destination, record_seq, http_status, attempt, error, is_unassigned, reply, failed_ns)
                        SELECT ?, seq, ?, ?, ?, ?, ?, ? FROM record WHERE position = ?
                        """,
                    arguments: [
                        batch.destination, httpStatus, attempt, reason.text, reason == .unassigned,
                        reply.map { String($0.prefix(Self.replyLimit)) }, wall, item.position,
                    ])
                try OutboxTable.append(
                    .setAside(
                        item.header, imageOf: item.imageOf, for: batch.destination, httpStatus: httpStatus,
                        attempt: attempt, error: reason.text, submission: submission), db)
            }
            return try self.next(request, db)
        }
        database.outboxWakeUp.raise()
        return next
    }

    /// Notes how a destination fares: `change` is told if this is another state than before,
    /// `event` always; `attempts` made for the batch are kept with it.
    /// - Parameters:
    ///   - state: nil is the same as before.
    ///   - batch: the batch that `event` reports.
    ///   - leavesLane: whether the batch is the backlog's from now on.
    package func note(
        _ state: DestinationState?, of destination: String, change: Event, event: Event? = nil,
        batch: StoredBatch? = nil, attempts: Int = 0, leavesLane: Bool = false
    ) async throws {
        try await database.write { db in
            if let state { try note(state, of: destination, change: change, db) }
            if let event { try OutboxTable.append(event, db) }
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
        database.outboxWakeUp.raise()
    }

    private func note(_ state: DestinationState, of destination: String, change: Event, _ db: Database) throws
    {
        let before = try String.fetchOne(
            try db.cachedStatement(sql: "SELECT state FROM destination WHERE name = ?"),
            arguments: [destination])
        guard before != state.rawValue else { return }
        try db.execute(
            sql: "UPDATE destination SET state = ?, is_end_told = 0 WHERE name = ?",
            arguments: [state.rawValue, destination])
        try OutboxTable.append(change, db)
    }

    /// How a destination fared last, in this run or an earlier one.
    package func state(of destination: String) async throws -> DestinationState {
        let text = try await database.read { db in
            try String.fetchOne(
                db, sql: "SELECT state FROM destination WHERE name = ?", arguments: [destination])
        }
        return text.flatMap(DestinationState.init(rawValue:)) ?? .up
    }

    package func order(of destination: String) -> DeliveryOrder { routings.order(of: destination) }
    package func wakeUp(for destination: String) -> WakeUp { routings.wakeUp(for: destination) }

    package func session(of destination: String) async throws -> SessionState {
        try await sessions.session(of: destination)
    }

    package func noteSessionEnd(of destination: String, httpStatus: Int) async throws {
        try await sessions.noteEnd(of: destination, httpStatus: httpStatus)
    }

    // MARK: - Images

    package func beginImage() -> Bool { images.begin() }
    package func endImage() { images.end() }
    package func noteImageDelivered() { images.noteDelivered() }

    /// The bytes of the image that a batch is; nil where that is not there any more, or not what was written.
    package func image(of batch: StoredBatch) async throws -> Data? {
        let position = batch.firstPosition
        return try await database.read { db in
            let row = try Row.fetchOne(
                db, sql: "SELECT * FROM record WHERE position = ?", arguments: [position])
            return row.flatMap { RecordRow.isIntact($0) ? $0.intact("payload") : nil }
        }
    }

    // MARK: - Within a transaction

    private func next(_ request: LaneComposer.Request, _ db: Database) throws -> NextBatch {
        if request.lane == .image {
            return try storedImage(for: request, db).map(NextBatch.batch) ?? .nothing
        }
        if let stored = try stored(for: request, db) { return .batch(stored) }
        guard let positions = try lanes.compose(request, db) else { return .nothing }
        switch positions {
        case .waiting(let until): return .waiting(until: until)
        case .more: return .more
        case .batch: return try stored(for: request, db).map(NextBatch.batch) ?? .nothing
        }
    }

    /// What goes out after a batch that is on its way, and stored until its answer is noted.
    private func following(
        _ sent: StoredBatch, _ request: LaneComposer.Request, _ db: Database
    ) throws -> StoredBatch? {
        var next = try stored(for: request, beside: sent.firstPosition, db)
        if next == nil, case .batch = try lanes.compose(request, db) {
            next = try stored(for: request, beside: sent.firstPosition, db)
        }
        // Records that are tried or sent again go first: whoever asks without a batch on its way gets them.
        return next.flatMap { $0.firstPosition > sent.firstPosition ? $0 : nil }
    }

    /// The first stored batch of a lane, with its records as they were frozen. Where there is one lane it sends what
    /// an earlier configuration left on the other too.
    /// - Parameter position: of the first record of a batch that does not count.
    private func stored(
        for request: LaneComposer.Request, beside position: Int64? = nil, _ db: Database
    ) throws -> StoredBatch? {
        let isOnlyLane = routings.order(of: request.destination).lanes.count == 1
        let row = try Row.fetchOne(
            try db.cachedStatement(
                sql: """
                    SELECT * FROM batch WHERE destination = ? AND ((lane = ?) = ? OR ?) AND first_position IS NOT ?
                    ORDER BY first_position LIMIT 1
                    """),
            arguments: [
                request.destination, DeliveryLane.fresh.rawValue, request.lane == .fresh, isOnlyLane,
                position,
            ])
        guard let stored = try row.map(BatchTable.BatchRow.init) else { return nil }
        let positions = stored.positions
        let (items, damaged) = try BatchTable.items(at: positions, for: request.destination, db)
        for sequence in damaged {
            try DeadLetterTable.setAsideDamaged(sequence: sequence, for: request.destination, db)
        }
        var batch = StoredBatch(
            destination: request.destination, lane: request.lane, gateway: stored.gateway, items: items,
            attempts: stored.attempts)
        guard items.count < positions.count else { return batch }
        database.outboxWakeUp.raise()
        // What is left is another request.
        batch.attempts = 0
        try db.execute(
            sql: "DELETE FROM batch WHERE destination = ? AND first_position = ?",
            arguments: [request.destination, positions[0]])
        try BatchTable.insert(
            positions: items.map(\.position), destination: request.destination, lane: stored.lane,
            gateway: batch.gateway, db)
        return items.isEmpty ? try self.stored(for: request, beside: position, db) : batch
    }

    /// The first image whose entry was dealt with: it does not wait, nor is it on its way, for the first time or again,
    /// as no reading is.
    private func storedImage(for request: LaneComposer.Request, _ db: Database) throws -> StoredBatch? {
        let name = request.destination
        guard try Bool.fetchOne(db, sql: BatchTable.hasReadings, arguments: [name]) == false else {
            return nil
        }
        while let row = try Row.fetchOne(db, sql: BatchTable.firstImage, arguments: ["destination": name]) {
            let image = try BatchTable.ImageRow(row)
            let (intact, damaged) = try BatchTable.items(at: [image.position], for: name, db)
            if !intact.isEmpty {
                return StoredBatch(
                    destination: name, lane: .image, gateway: image.gateway, items: intact,
                    attempts: image.attempts)
            }
            for sequence in damaged { try DeadLetterTable.setAsideDamaged(sequence: sequence, for: name, db) }
            try db.execute(
                sql: "DELETE FROM image_batch WHERE destination = ? AND first_position = ?",
                arguments: [name, image.position])
            database.outboxWakeUp.raise()
        }
        return nil
    }
}
