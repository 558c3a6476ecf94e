import FoundationEssentials
import GRDB

/// The records that peripherals gave, from the commit to their place in the order of delivery.
package struct RecordTable: RecordStore {
    let database: QueueDatabase
    let routings: DestinationRoutings
    let room: QueueRoom
    let strangers: StrangerTable
    let outbox: OutboxTable
    let undated: UndatedRecords

    /// How long after an indication without a date equal bytes are taken for a repetition.
    private static let repetitionWindow = Duration.seconds(600)
    /// A record is released 30 s after its commit at most; one that is not after 10 min was forgotten.
    private static let longestUnreleased = Duration.seconds(600)
    /// By the index `record_unfrozen`, so that those that wait for their time are not looked at.
    static let forgottenRecords = """
        SELECT seq, undated IS NOT NULL AS waits FROM record
        WHERE frozen = 0 AND released = 0 AND received_ns < ? ORDER BY seq
        """

    package func commit(_ transaction: QueueTransaction) async throws -> [CommitOutcome] {
        let wall = database.clock.wallNanoseconds
        let now = database.clock.now
        let bootID = database.bootID
        if !transaction.submissions.isEmpty { try room.check() }
        let strangers = Set(transaction.submissions.filter(\.isStranger).map(\.record.device.address))
        try room.checkShare(of: strangers)
        // Also when there was no room for it.
        defer { room.growth.raise() }
        let outcomes = try await database.write { db in
            var events: [Event] = []
            let before = try StrangerTable.sums(of: strangers, db)
            let outcomes = try transaction.submissions.map { submission in
                try commit(submission, wallNanoseconds: wall, at: database.clock.now, &events, db)
            }
            try self.strangers.checkSums(of: strangers, before: before, db)
            try outbox.tell(events, db)
            if let (device, memory) = transaction.memory { try DeviceTable.remember(memory, of: device, db) }
            if let pending = transaction.pending {
                try DeviceTable.replace(pending, bootID: bootID, db)
                try DeviceTable.dropPacketsOfStrangers(bootID: bootID, at: now, db)
            }
            return outcomes
        }
        database.outboxWakeUp.raise()
        return outcomes
    }

    package func markConfirmed(_ id: RecordID) async throws {
        try await database.write { db in
            try db.execute(sql: "DELETE FROM unconfirmed WHERE record_id = ?", arguments: [id.text])
        }
    }

    package func freeze(_ records: [Record]) async throws {
        let now = database.clock.now
        let forgotten = now + (.zero - Self.longestUnreleased)
        let waits = try await database.write { db in
            var waits = false
            for record in records {
                // A record that is frozen already may be on its way: it stays as it is.
                let row = try Row.fetchOne(
                    try db.cachedStatement(
                        sql: "SELECT * FROM record WHERE id = ? AND frozen = 0 AND NOT released"),
                    arguments: [record.id.text])
                guard let row else { continue }
                let body = record.json
                let undated = try UndatedRecords.Undated(record)?.stored
                let checksum = RecordRow.checksum(
                    id: record.id.text, kind: record.kind.rawValue, payload: Data(record.raw.bytes),
                    body: body, undated: undated, route: RecordRoute(row))
                try db.cachedStatement(
                    sql: "UPDATE record SET body = ?, checksum = ?, undated = ?, released = ? WHERE seq = ?"
                ).execute(arguments: [
                    body, checksum, undated,
                    (undated == nil ? UndatedRecords.Release.open : .waiting).rawValue,
                    row["seq"] as Int64,
                ])
                if undated == nil {
                    try Self.freeze(sequence: row["seq"], availableAt: now, db)
                } else {
                    waits = true
                }
            }
            // Those whose own release failed are released as they are: no link takes so long. What an
            // earlier boot left was released when the queue was opened.
            let stuck = try Row.fetchAll(
                db, sql: Self.forgottenRecords, arguments: [Int64(clamping: forgotten.nanoseconds)])
            for row in stuck {
                let sequence: Int64 = row["seq"]
                guard row["waits"] else {
                    try Self.freeze(sequence: sequence, availableAt: now, db)
                    continue
                }
                try db.execute(
                    sql: "UPDATE record SET released = ? WHERE seq = ?",
                    arguments: [UndatedRecords.Release.waiting.rawValue, sequence])
                waits = true
            }
            return waits
        }
        routings.wakeAll()
        if waits { undated.undatedWakeUp.raise() }
    }

    package func record(
        numbered sequence: Int, kind: RecordKind, of device: BluetoothAddress
    ) async throws -> StoredPayload? {
        try await database.read { db in
            let row = try Row.fetchOne(
                db,
                sql: """
                    SELECT id, payload FROM record WHERE address = ? AND device_sequence = ? AND kind = ?
                    ORDER BY seq DESC LIMIT 1
                    """,
                arguments: [device.description, sequence, kind.rawValue])
            return row.map {
                StoredPayload(id: RecordID(text: $0["id"]), bytes: Array($0["payload"] as Data))
            }
        }
    }

    // MARK: - Within a transaction

    private func commit(
        _ submission: RecordSubmission, wallNanoseconds: Int64, at now: MonotonicInstant,
        _ events: inout [Event], _ db: Database
    ) throws -> CommitOutcome {
        if let known = try Self.repeated(submission, bootID: database.bootID, db) {
            switch submission.repetition {
            case .stored, .storedUndated: return .duplicate(known)
            default: break
            }
            let record = submission.record
            events.append(.duplicateIgnored(recordID: known, kind: record.kind, record.device.reference))
            return .duplicate(known)
        }
        events.append(
            try insert(submission, wallNanoseconds: wallNanoseconds, at: now, db))
        return .committed(submission.record.id)
    }

    /// The record that this submission repeats, if it repeats one.
    private static func repeated(
        _ submission: RecordSubmission, bootID: String, _ db: Database
    ) throws -> RecordID? {
        let record = submission.record
        if try RetainedTable.isKnown(record.id, db) { return record.id }
        if case .storedUndated(let ordinal) = submission.repetition {
            return try RetainedTable.undatedRecord(
                of: record.device.address, record.raw, ordinal: ordinal, db)
        }
        guard submission.repetition == .undatedIndication(isFirstOnLink: true) else { return nil }
        let row = try Row.fetchOne(
            try db.cachedStatement(sql: "SELECT * FROM unconfirmed WHERE address = ?"),
            arguments: [record.device.address.description])
        guard let row, row["boot_id"] == bootID, row["payload"] == Data(record.raw.bytes),
            row["characteristic"] == record.raw.characteristicText
        else { return nil }
        let first = MonotonicInstant(nanoseconds: UInt64(clamping: row["received_ns"] as Int64))
        guard submission.received.since(first) <= repetitionWindow else { return nil }
        return RecordID(text: row["record_id"])
    }

    /// - Parameter now: when the disk takes it, which may have hung since the reading came.
    /// - Returns: the event that tells of it.
    private func insert(
        _ submission: RecordSubmission, wallNanoseconds: Int64, at now: MonotonicInstant, _ db: Database
    ) throws -> Event {
        let bootID = database.bootID
        let record = submission.record
        let payload = Data(record.raw.bytes)
        let body = record.json
        let undated = try UndatedRecords.Undated(record)?.stored
        let route = RecordRoute(
            peripheralID: record.device.peripheralID, alias: record.device.alias,
            destinations: submission.destinations?.joined(separator: "\n"))
        try db.cachedStatement(
            sql: """
                INSERT INTO record (id, kind, peripheral_id, address, alias, characteristic, payload,
                    body, destinations, committed_ns, checksum, device_sequence, undated_payload,
                    boot_id, received_ns, undated, is_singular, stranger)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                """
        ).execute(arguments: [
            record.id.text, record.kind.rawValue, route.peripheralID,
            record.device.address.description, route.alias,
            record.raw.characteristicText, payload, body, route.destinations, wallNanoseconds,
            RecordRow.checksum(
                id: record.id.text, kind: record.kind.rawValue, payload: payload, body: body,
                undated: undated, route: route),
            record.sequence, submission.repetition.isStoredUndated ? payload : nil,
            bootID, Int64(clamping: submission.received.nanoseconds), undated,
            submission.repetition.isSingular, submission.isStranger,
        ])
        if case .undatedIndication = submission.repetition {
            // What is older can repeat nothing any more. Addresses can be invented, so none of it stays.
            let oldest = now + (.zero - Self.repetitionWindow * 2)
            try db.cachedStatement(sql: "DELETE FROM unconfirmed WHERE boot_id <> ? OR received_ns < ?")
                .execute(arguments: [bootID, Int64(clamping: oldest.nanoseconds)])
            try db.cachedStatement(
                sql: """
                    INSERT OR REPLACE INTO unconfirmed
                        (address, record_id, characteristic, payload, boot_id, received_ns)
                    VALUES (?, ?, ?, ?, ?, ?)
                    """
            ).execute(arguments: [
                record.device.address.description, record.id.text, record.raw.characteristicText,
                payload, bootID, Int64(clamping: now.nanoseconds),
            ])
        }
        guard record.kind == .undecoded else {
            return .read(
                recordID: record.id, kind: record.kind, record.device.reference,
                measurements: database.toldMeasurements(of: body))
        }
        return .decodeError(
            recordID: record.id, record.device.reference,
            error: submission.decodeError ?? "no reason given")
    }

    /// Gives a record its place in the order of delivery, if it is to be delivered at all.
    static func freeze(sequence: Int64, availableAt: MonotonicInstant, _ db: Database) throws {
        let kind = try String.fetchOne(
            try db.cachedStatement(sql: "SELECT kind FROM record WHERE seq = ?"), arguments: [sequence])
        let position: Int64? =
            kind == RecordKind.undecoded.rawValue ? nil : try CounterTable.next("position", db)
        try db.cachedStatement(
            sql: "UPDATE record SET frozen = 1, position = ?, available_ns = ? WHERE seq = ?"
        ).execute(arguments: [position, Int64(clamping: availableAt.nanoseconds), sequence])
    }

    /// Drops one record; its id stays.
    static func retire(_ sequence: Int64, _ db: Database) throws {
        try RetainedTable.keep(recordNumbered: sequence, db)
        try db.cachedStatement(sql: "DELETE FROM record WHERE seq = ?").execute(arguments: [sequence])
    }

    // MARK: - Opening

    /// Records that an earlier run did not release, but for those that wait for their time.
    static let leftRecords = """
        SELECT seq FROM record WHERE frozen = 0 AND released = 0 AND undated IS NULL ORDER BY seq
        """

    /// Releases them as they are.
    static func freezeLeftovers(_ db: Database) throws {
        // Those that were set aside too: this version may read what another could not. Those that wait already are
        // not written again, for they may be all that the queue holds.
        try db.execute(
            sql: """
                UPDATE record SET released = ? WHERE frozen = 0 AND released IN (?, ?) AND undated IS NOT NULL
                """,
            arguments: [
                UndatedRecords.Release.waiting.rawValue, UndatedRecords.Release.open.rawValue,
                UndatedRecords.Release.setAside.rawValue,
            ])
        let leftovers = try Int64.fetchAll(db, sql: leftRecords)
        for sequence in leftovers {
            try freeze(sequence: sequence, availableAt: MonotonicInstant(nanoseconds: 0), db)
        }
    }
}

extension DeviceBlock {
    /// How events name the device.
    var reference: PeripheralReference {
        PeripheralReference(peripheralID: peripheralID, alias: alias)
    }
}

extension RecordSubmission.Repetition {
    /// Whether no other reading can have the record's id.
    fileprivate var isSingular: Bool {
        switch self {
        case .undatedIndication, .undatedNotification: true
        case .identified, .stored, .storedUndated: false
        }
    }

    fileprivate var isStoredUndated: Bool {
        if case .storedUndated = self { true } else { false }
    }
}
