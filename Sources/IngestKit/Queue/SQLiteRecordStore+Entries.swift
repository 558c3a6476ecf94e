import FoundationEssentials
import GRDB

/// Records of no peripheral. In the table they have the model 0 and an address of zeros, and no payload.
extension SQLiteRecordStore {
    private static let noAddress = "00:00:00:00:00:00"
    private static let noCharacteristic = "ENTRY"

    /// Commits entries and releases them for delivery, synced to disk, all or none. Those that are there already, or
    /// were, change nothing. What somebody wrote is told by an event each; it is fresh, and an import is backlog.
    /// - Returns: whether each was new, in their order.
    public func enter(_ records: [EnteredRecord]) async throws -> [Bool] {
        try checkRoom()
        // Also when there was no room for it.
        defer { growth.raise() }
        let (wall, now, bootID) = (clock.wallNanoseconds, clock.now, bootID)
        let news = try await write { db in
            try records.map { try Self.enter($0, wallNanoseconds: wall, now: now, bootID: bootID, db) }
        }
        announceRecords()
        outboxWakeUp.raise()
        return news
    }

    /// Tells that an entry's image goes to none of the destinations that the entry is for.
    public func refuseImage(of record: EnteredRecord) async throws {
        let routings = routings.values.sorted { $0.name < $1.name }
        try await write { db in
            let row = try Row.fetchOne(
                db, sql: "SELECT * FROM record WHERE id = ?", arguments: [record.id.text])
            guard let header = row.flatMap(Self.header) else { return }
            for routing in routings where routing.accepts(header) {
                try Self.append(
                    .mediaFailed(
                        recordID: record.id, kind: record.kind, destination: routing.name,
                        error: "the destination takes no images"), db)
            }
        }
        outboxWakeUp.raise()
    }

    /// Tells of an import that has ended.
    public func tellImported(count: Int) async throws {
        try await write { db in try Self.append(.imported(count: count), db) }
        outboxWakeUp.raise()
    }

    private static func enter(
        _ record: EnteredRecord, wallNanoseconds: Int64, now: MonotonicInstant, bootID: String,
        _ db: Database
    ) throws -> Bool {
        let isManual = record.origin == .manual
        let known = try Bool.fetchOne(
            try db.cachedStatement(
                sql: """
                    SELECT EXISTS (SELECT 1 FROM record WHERE id = :id)
                        OR EXISTS (SELECT 1 FROM retired WHERE id = :id)
                    """), arguments: ["id": record.id.text])
        if known == true {
            if isManual { try append(.duplicateIgnored(recordID: record.id, kind: record.kind, .entry), db) }
            return false
        }
        let position = try next("position", db)
        try db.cachedStatement(
            sql: """
                INSERT INTO record (id, kind, peripheral_id, address, characteristic, payload, body,
                    committed_ns, checksum, boot_id, received_ns, frozen, position, available_ns)
                VALUES (?, ?, 0, ?, ?, ?, ?, ?, ?, ?, ?, 1, ?, ?)
                """
        ).execute(arguments: [
            record.id.text, record.kind.rawValue, noAddress, noCharacteristic, Data(), record.body,
            wallNanoseconds,
            checksum(
                id: record.id.text, kind: record.kind.rawValue, payload: Data(), body: record.body,
                route: RecordRoute(peripheralID: 0, alias: nil, destinations: nil)),
            isManual ? bootID : nil, isManual ? Int64(clamping: now.nanoseconds) : nil, position,
            Int64(clamping: now.nanoseconds),
        ])
        if isManual { try append(.read(recordID: record.id, kind: record.kind, .entry), db) }
        return true
    }
}
