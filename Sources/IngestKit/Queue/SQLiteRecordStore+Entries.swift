import FoundationEssentials
import GRDB
import IngestCore
import IngestEvents
package import IngestRecords
import IngestStorage

/// What became of entries, and of the image of the last one.
package struct EntryOutcome: Sendable, Equatable {
    /// Whether each was new, in their order.
    package var news: [Bool]
    /// Nil where none came.
    package var image: ImageOutcome?
}

/// Records of no peripheral. In the table they have the model 0 and an address of zeros; only images have a payload.
extension SQLiteRecordStore {
    private static let noCharacteristic = "ENTRY"

    /// When entries came.
    struct Arrival: Sendable {
        let wallNanoseconds: Int64
        let now: MonotonicInstant
        let bootID: String
    }

    /// What the table says of a record of no peripheral.
    struct EntryRow {
        let id: RecordID
        let kind: RecordKind
        var payload = Data()
        let body: String
        /// Names, a line each; nil is all.
        var destinations: String?
        /// Whether it is fresh, and not backlog.
        let isLive: Bool
    }

    /// Commits entries and releases them for delivery, synced to disk, all or none. Those that are there already, or
    /// were, change nothing. What somebody wrote is told by an event each; it is fresh. An import is backlog, and those of a
    /// commit are told by one event, which the commit writes itself: its count is what came into the queue.
    /// - Parameters:
    ///   - image: of the last one, which has its place behind it. That the entry is there already is no obstacle.
    ///   - room: where there is none for the image, it goes nowhere, which is told.
    package func enter(
        _ records: [EnteredRecord], image: EnteredImage?, room: ImageRoom = .ample
    ) async throws -> EntryOutcome {
        try checkRoom()
        // Also when there was no room for it.
        defer { growth.raise() }
        let arrival = Arrival(wallNanoseconds: clock.wallNanoseconds, now: clock.now, bootID: bootID)
        let routings = Array(routings.values)
        let outcome = try await write { db in
            var outcome = EntryOutcome(news: try records.map { try Self.enter($0, arrival, db) })
            let imported = zip(records, outcome.news).count { $0.origin != .manual && $1 }
            if imported > 0 { try Self.append(.imported(count: imported), db) }
            if let image, let entry = records.last {
                let isNew = outcome.news.last ?? false
                outcome.image = try Self.add(image, of: entry, isNew: isNew, room, arrival, routings, db)
            }
            return outcome
        }
        announceRecords()
        outboxWakeUp.raise()
        return outcome
    }

    /// Commits entries without an image.
    /// - Returns: whether each was new, in their order.
    package func enter(_ records: [EnteredRecord]) async throws -> [Bool] {
        try await enter(records, image: nil).news
    }

    private static func enter(_ record: EnteredRecord, _ arrival: Arrival, _ db: Database) throws -> Bool {
        let isManual = record.origin == .manual
        guard try !isKnown(record.id, db) else {
            if isManual { try append(.duplicateIgnored(recordID: record.id, kind: record.kind, .entry), db) }
            return false
        }
        try insert(
            EntryRow(id: record.id, kind: record.kind, body: record.body, isLive: isManual), arrival, db)
        if isManual { try append(.read(recordID: record.id, kind: record.kind, .entry), db) }
        return true
    }

    /// Whether a record is there, or was.
    static func isKnown(_ id: RecordID, _ db: Database) throws -> Bool {
        try Bool.fetchOne(
            try db.cachedStatement(
                sql: """
                    SELECT EXISTS (SELECT 1 FROM record WHERE id = :id)
                        OR EXISTS (SELECT 1 FROM retired WHERE id = :id)
                    """), arguments: ["id": id.text]) ?? false
    }

    /// Gives it the next place in the order of delivery.
    static func insert(_ row: EntryRow, _ arrival: Arrival, _ db: Database) throws {
        let position = try next("position", db)
        let sql = """
            INSERT INTO record (id, kind, peripheral_id, address, characteristic, payload, body,
                destinations, committed_ns, checksum, boot_id, received_ns, frozen, position, available_ns)
            VALUES (?, ?, 0, ?, ?, ?, ?, ?, ?, ?, ?, ?, 1, ?, ?)
            """
        // One that is kept would keep the image.
        let statement = try row.payload.isEmpty ? db.cachedStatement(sql: sql) : db.makeStatement(sql: sql)
        try statement.execute(arguments: [
            row.id.text, row.kind.rawValue, EnteredRecord.noAddress.description, noCharacteristic,
            row.payload, row.body, row.destinations, arrival.wallNanoseconds,
            checksum(
                id: row.id.text, kind: row.kind.rawValue, payload: row.payload, body: row.body,
                route: RecordRoute(peripheralID: 0, alias: nil, destinations: row.destinations)),
            row.isLive ? arrival.bootID : nil, row.isLive ? Int64(clamping: arrival.now.nanoseconds) : nil,
            position, Int64(clamping: arrival.now.nanoseconds),
        ])
    }
}

extension EnteredRecord {
    fileprivate static let noAddress = BluetoothAddress(value: 0)

    /// As its row has it.
    var header: RecordHeader {
        RecordHeader(id: id, kind: kind, peripheralID: 0, address: Self.noAddress, alias: nil)
    }
}
