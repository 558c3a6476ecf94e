import FoundationEssentials
import GRDB

/// What became of entries, and of the image of the last one.
package struct EntryOutcome: Sendable, Equatable {
    /// Whether each was new, in their order.
    package var news: [Bool]
    /// Nil where none came.
    package var image: ImageOutcome?
}

/// What became of the image that came with an entry.
package enum ImageOutcome: Sendable, Equatable {
    /// It goes along to these destinations, one at least, in the order of their names.
    case goes(to: [String])
    /// It is, or was, in the queue already.
    case known
    /// It goes nowhere.
    case refused(error: String)
}

/// Whether an image may come into the queue.
package enum ImageRoom: Sendable, Equatable {
    case ample
    /// What peripherals send has the last of the room.
    case queueIsHigh
    /// With it images that are not delivered would take more than so many bytes.
    case imagesAreMany(most: UInt64)

    /// Why it does not; nil where it may.
    var refusal: String? {
        switch self {
        case .ample: nil
        case .queueIsHigh: "the queue is nearly full of what is not delivered"
        case .imagesAreMany(let most):
            "images that are not delivered may take a quarter of queue.max_size, \(most >> 20) MiB, and with this one "
                + "would take more; see why a destination does not take them (ingestd failed list), or allow more"
        }
    }
}

/// Records of no peripheral. In the table they have the model 0 and an address of zeros; only images have a payload:
/// each has a row behind its entry's, with its bytes and the destinations that get it.
package struct EntryIntake: Sendable {
    let database: QueueDatabase
    let routings: DestinationRoutings
    let room: QueueRoom

    private static let noCharacteristic = "ENTRY"
    private static let notTaken = "the destination takes no images"
    private static let nobodyTakesIt = "no destination takes images"

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
        try self.room.check()
        // Also when there was no room for it.
        defer { self.room.growth.raise() }
        let arrival = Arrival(
            wallNanoseconds: database.clock.wallNanoseconds, now: database.clock.now,
            bootID: database.bootID)
        let routings = Array(routings.all.values)
        let outcome = try await database.write { db in
            var outcome = EntryOutcome(news: try records.map { try enter($0, arrival, db) })
            let imported = zip(records, outcome.news).count { $0.origin != .manual && $1 }
            if imported > 0 { try OutboxTable.append(.imported(count: imported), db) }
            if let image, let entry = records.last {
                let isNew = outcome.news.last ?? false
                outcome.image = try Self.add(image, of: entry, isNew: isNew, room, arrival, routings, db)
            }
            return outcome
        }
        self.routings.wakeAll()
        database.outboxWakeUp.raise()
        return outcome
    }

    /// Commits entries without an image.
    /// - Returns: whether each was new, in their order.
    package func enter(_ records: [EnteredRecord]) async throws -> [Bool] {
        try await enter(records, image: nil).news
    }

    private func enter(_ record: EnteredRecord, _ arrival: Arrival, _ db: Database) throws -> Bool {
        let isManual = record.origin == .manual
        guard try !RetainedTable.isKnown(record.id, db) else {
            if isManual {
                try OutboxTable.append(.duplicateIgnored(recordID: record.id, kind: record.kind, .entry), db)
            }
            return false
        }
        try Self.insert(
            EntryRow(id: record.id, kind: record.kind, body: record.body, isLive: isManual), arrival, db)
        if isManual {
            let event = Event.read(
                recordID: record.id, kind: record.kind, .entry,
                measurements: database.toldMeasurements(of: record.body))
            try OutboxTable.append(event, db)
        }
        return true
    }

    /// Gives it the next place in the order of delivery.
    static func insert(_ row: EntryRow, _ arrival: Arrival, _ db: Database) throws {
        let position = try CounterTable.next("position", db)
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
            RecordRow.checksum(
                id: row.id.text, kind: row.kind.rawValue, payload: row.payload, body: row.body,
                route: RecordRoute(peripheralID: 0, alias: nil, destinations: row.destinations)),
            row.isLive ? arrival.bootID : nil, row.isLive ? Int64(clamping: arrival.now.nanoseconds) : nil,
            position, Int64(clamping: arrival.now.nanoseconds),
        ])
    }

    // MARK: - Images

    /// Puts an image behind its entry, in the entry's transaction. If the entry is new, an event names each destination that
    /// gets the entry and not the image.
    /// - Parameter isNew: whether the entry is committed now, and not known from before.
    private static func add(
        _ image: EnteredImage, of entry: EnteredRecord, isNew: Bool, _ room: ImageRoom, _ arrival: Arrival,
        _ routings: [DestinationRouting], _ db: Database
    ) throws -> ImageOutcome {
        guard try !RetainedTable.isKnown(image.id, db) else { return .known }
        let meant = routings.filter { $0.accepts(entry.header) }.sorted { $0.name < $1.name }
        let takers = meant.filter(\.takesImages).map(\.name)
        let refusal = room.refusal
        for routing in meant where isNew {
            guard let error = routing.takesImages ? refusal : notTaken else { continue }
            try OutboxTable.append(
                .mediaFailed(
                    recordID: entry.id, kind: entry.kind, destination: routing.name, error: error), db)
        }
        guard !takers.isEmpty else { return .refused(error: nobodyTakesIt) }
        if let refusal { return .refused(error: refusal) }
        try insert(
            EntryRow(
                id: image.id, kind: .image, payload: image.bytes, body: image.body,
                destinations: takers.joined(separator: "\n"), isLive: entry.origin == .manual),
            arrival, db)
        return .goes(to: takers)
    }
}

extension EnteredRecord {
    fileprivate static let noAddress = BluetoothAddress(value: 0)

    /// As its row has it.
    var header: RecordHeader {
        RecordHeader(id: id, kind: kind, peripheralID: 0, address: Self.noAddress, alias: nil)
    }
}
