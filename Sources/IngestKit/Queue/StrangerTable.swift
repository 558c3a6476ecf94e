import FoundationEssentials
import GRDB
import Synchronization

/// What unpinned devices hold, and what of it is dropped.
struct StrangerTable: Sendable {
    let database: QueueDatabase
    let routings: DestinationRoutings
    let room: QueueRoom

    /// Records and ids that are looked at in one transaction.
    private static let lookedAtOnce = 500

    // MARK: - Commits

    /// What each of these devices holds, and all.
    static func sums(of devices: Set<BluetoothAddress>, _ db: Database) throws -> [String: Int64] {
        guard !devices.isEmpty else { return [:] }
        var sums = ["": try bytes(of: "", db)]
        for device in devices {
            sums[device.description] = try bytes(of: device.description, db)
        }
        return sums
    }

    /// - Throws: `StoreError` when what was added takes more than the share.
    func checkSums(of devices: Set<BluetoothAddress>, before: [String: Int64], _ db: Database) throws {
        guard !devices.isEmpty, let share = room.strangers.withLock({ $0.share }) else { return }
        var isRefused = false
        for (address, bytes) in try Self.sums(of: devices, db) {
            let added = bytes - (before[address] ?? 0)
            guard added > 0, bytes > (address.isEmpty ? share.all : share.device) else { continue }
            room.strangers.withLock { $0.refuse(address, needs: added) }
            isRefused = true
        }
        if isRefused { throw StoreError(.strangersFull, path: database.path) }
        room.strangers.withLock { $0.isChanged = true }
    }

    /// What a device holds; all of them, where it has no address.
    static func bytes(of address: String, _ db: Database) throws -> Int64 {
        try Int64.fetchOne(
            try db.cachedStatement(sql: "SELECT bytes FROM stranger WHERE address = ?"), arguments: [address])
            ?? 0
    }

    // MARK: - Standing

    /// Where the devices stand, as far as it has to be looked at.
    struct Standing: Sendable, Equatable {
        /// Of all.
        var bytes: Int64 = 0
        /// Those that hold most of what one may, and those that were refused.
        var crowded: [String: Int64] = [:]
        /// Changes when a destination has taken something, or has set something aside.
        var progress: [Int64] = []
    }

    func standing(_ share: StrangerShare) async throws -> Standing {
        let refused = room.strangers.withLock { $0.needs.keys.filter { !$0.isEmpty } }
        return try await database.read { db in
            var standing = Standing(bytes: try Self.bytes(of: "", db))
            guard standing.bytes > 0 else { return standing }
            let rows = try Row.fetchAll(
                db, sql: "SELECT address, bytes FROM stranger WHERE bytes >= ? AND address <> ''",
                arguments: [StrangerShare.high(share.device)])
            for row in rows { standing.crowded[row["address"]] = row["bytes"] }
            for address in refused { standing.crowded[address] = try Self.bytes(of: address, db) }
            let progress = try Row.fetchOne(
                db,
                sql: """
                    SELECT coalesce(sum(position), 0) AS position, coalesce(sum(delivered), 0) AS delivered,
                        (SELECT coalesce(max(number), 0) FROM dead_letter) AS number
                    FROM destination
                    """)
            standing.progress = ["position", "delivered", "number"].map { progress?[$0] ?? 0 }
            return standing
        }
    }

    // MARK: - Dropping

    /// One course of dropping, as far as it has come.
    struct Drop: Sendable {
        enum Phase: Sendable {
            /// Records that every destination has; their ids stay.
            case delivered
            /// Ids of records that are gone.
            case ids
            /// Records that no destination takes.
            case untaken
            /// Records for which only destinations wait that drop the oldest; their ids stay.
            case backlog
        }

        /// Of this device; nil: of all, from the one that holds the most.
        let device: String?
        /// In bytes, of the device or of all.
        let target: Int64
        /// A device's turn ends when it holds this many bytes less than the one that holds the next most.
        let step: Int64
        var phase = Phase.delivered
        var isDone = false

        /// The device at hand, what it holds when its turn ends, and up to where it was looked at.
        fileprivate var current: (address: String, floor: Int64)?
        fileprivate var after: Int64 = 0
        /// The last one's place in the order of what they hold.
        fileprivate var last: (bytes: Int64, address: String) = (.max, "")

        init(of device: String?, downTo target: Int64, step: Int64) {
            self.device = device
            self.target = target
            self.step = step
        }

        fileprivate mutating func goToNextPhase() {
            (current, after, last) = (nil, 0, (.max, ""))
            switch phase {
            case .delivered: phase = .ids
            case .ids: phase = .untaken
            case .untaken: phase = .backlog
            case .backlog: isDone = true
            }
        }
    }

    /// Looks at the next records and ids of a course, and drops what may go.
    func drop(_ course: Drop, lookingAt limit: Int = lookedAtOnce) async throws -> Drop {
        let routings = routings.all
        defer { database.outboxWakeUp.raise() }
        return try await database.write { db in
            var course = course
            let waiting = try Waiting(routings, db)
            var (looked, untaken) = (0, 0)
            var missed: [String: Int] = [:]
            while looked < limit, !course.isDone {
                guard try Self.bytes(of: course.device ?? "", db) > course.target else {
                    course.isDone = true
                    break
                }
                looked += 1
                guard let device = try Self.device(of: &course, db) else {
                    course.goToNextPhase()
                    continue
                }
                switch course.phase {
                case .ids:
                    looked += try Self.dropIDs(of: device, &course, lookingAt: limit - looked + 1, db)
                case .delivered, .untaken, .backlog:
                    let phase = course.phase
                    let (seen, dropped) = try Self.dropRecords(
                        of: device, &course, waiting, lookingAt: limit - looked + 1, missed: &missed, db)
                    looked += seen
                    if phase == .untaken { untaken += dropped }
                }
            }
            try OutboxTable(database: database).tell(
                missed.sorted { $0.key < $1.key }.map {
                    .backlogDropped(destination: $0.key, count: $0.value)
                }, db)
            if untaken > 0 {
                try db.execute(
                    sql: """
                        INSERT INTO counter (name, value) VALUES (?, ?)
                        ON CONFLICT DO UPDATE SET value = value + excluded.value
                        """,
                    arguments: [Self.droppedCount, untaken])
            }
            return course
        }
    }

    /// A row of the table `counter`: dropped records that no event has reported yet.
    private static let droppedCount = "stranger_dropped"

    /// Tells how many records were dropped that no destination took, if any.
    func tellDropped() async throws {
        let isTold = try await database.write { db in
            let count = try Int.fetchOne(
                db, sql: "DELETE FROM counter WHERE name = ? RETURNING value", arguments: [Self.droppedCount])
            guard let count, count > 0 else { return false }
            try OutboxTable(database: database).tell([.strangerDropped(count: count)], db)
            return true
        }
        if isTold { database.outboxWakeUp.raise() }
    }

    /// Whether records were dropped that no event has reported.
    func hasDropped() async throws -> Bool {
        try await database.read { db in
            try Bool.fetchOne(
                db, sql: "SELECT EXISTS (SELECT 1 FROM counter WHERE name = ?)",
                arguments: [Self.droppedCount]) ?? false
        }
    }

    /// The device whose turn it is; nil when all had theirs in this phase.
    private static func device(of course: inout Drop, _ db: Database) throws -> String? {
        if let current = course.current { return current.address }
        if let device = course.device {
            // Its only turn.
            guard course.last.bytes == .max else { return nil }
            course.last = (0, device)
            course.current = (device, course.target)
            return device
        }
        let rows = try Row.fetchAll(
            try db.cachedStatement(
                sql: """
                    SELECT address, bytes FROM stranger WHERE (bytes, address) < (?, ?) AND address <> ''
                    ORDER BY bytes DESC, address DESC LIMIT 2
                    """),
            arguments: [course.last.bytes, course.last.address])
        guard let first = rows.first else { return nil }
        let next: Int64 = rows.count > 1 ? rows[1]["bytes"] : 0
        course.last = (first["bytes"], first["address"])
        course.current = (first["address"], max(0, next - course.step))
        return course.last.address
    }

    /// Whether the turn of the device at hand is over, because there is room or another one holds more.
    private static func isTurnOver(_ course: Drop, _ db: Database) throws -> Bool {
        guard let (address, floor) = course.current else { return true }
        if try bytes(of: address, db) <= floor { return true }
        return try course.device == nil && bytes(of: "", db) <= course.target
    }

    private static func dropRecords(
        of device: String, _ course: inout Drop, _ waiting: Waiting, lookingAt limit: Int,
        missed: inout [String: Int], _ db: Database
    ) throws -> (seen: Int, dropped: Int) {
        let rows = try Row.fetchAll(
            try db.cachedStatement(
                sql: """
                    SELECT seq, id, kind, peripheral_id, address, alias, destinations, position, frozen, released,
                        EXISTS (SELECT 1 FROM dead_letter WHERE record_seq = record.seq) AS is_set_aside
                    FROM record WHERE stranger = 1 AND address = ? AND seq > ? ORDER BY seq LIMIT ?
                    """),
            arguments: [device, course.after, limit])
        var (seen, dropped) = (0, 0)
        for row in rows {
            seen += 1
            course.after = row["seq"]
            guard let verdict = try waiting.verdict(on: row, db), verdict.phase == course.phase else {
                continue
            }
            for destination in verdict.waiting { missed[destination, default: 0] += 1 }
            if row["is_set_aside"] {
                try db.execute(sql: "DELETE FROM dead_letter WHERE record_seq = ?", arguments: [course.after])
            }
            try RecordTable.retire(course.after, db)
            dropped += 1
            if try isTurnOver(course, db) {
                endTurn(&course)
                return (seen, dropped)
            }
        }
        if rows.count < limit { endTurn(&course) }
        return (seen, dropped)
    }

    /// Forgets a device's ids, the oldest first. Those of readings without a date go together, once no such record is
    /// left: it is their number that tells which of several equal readings is known.
    private static func dropIDs(
        of device: String, _ course: inout Drop, lookingAt limit: Int, _ db: Database
    ) throws -> Int {
        let rows = try Row.fetchAll(
            try db.cachedStatement(
                sql: """
                    SELECT id FROM retained WHERE address = ? AND stranger_seq IS NOT NULL AND undated IS NULL
                    ORDER BY stranger_seq LIMIT ?
                    """),
            arguments: [device, limit])
        var seen = 0
        for row in rows {
            seen += 1
            try db.cachedStatement(sql: "DELETE FROM retained WHERE id = ?").execute(
                arguments: [row["id"] as Data])
            if try isTurnOver(course, db) {
                endTurn(&course)
                return seen
            }
        }
        guard rows.count < limit else { return seen }
        if try !RetainedTable.hasUndatedRecords(device, db) {
            try RetainedTable.forgetUndated(of: device, db)
        }
        endTurn(&course)
        return seen
    }

    private static func endTurn(_ course: inout Drop) {
        (course.current, course.after) = (nil, 0)
    }

    // MARK: - Devices that are pinned now

    /// What these devices gave counts as strangers' no more: the allow-list names them by address now.
    func adopt(_ devices: [BluetoothAddress]) async throws {
        let known = try await database.read { db in
            try devices.map(\.description).filter { try Self.bytes(of: $0, db) > 0 }
        }
        for device in known {
            var isDone = false
            while !isDone {
                isDone = try await database.write { db in
                    try db.execute(
                        sql: """
                            UPDATE record SET stranger = 0 WHERE seq IN (
                                SELECT seq FROM record WHERE stranger = 1 AND address = ? LIMIT ?)
                            """,
                        arguments: [device, Self.lookedAtOnce])
                    let records = db.changesCount
                    try db.execute(
                        sql: """
                            UPDATE retained SET stranger_seq = NULL, address = iif(undated IS NULL, NULL, address)
                            WHERE id IN (
                                SELECT id FROM retained WHERE address = ? AND stranger_seq IS NOT NULL LIMIT ?)
                            """,
                        arguments: [device, Self.lookedAtOnce])
                    return records + db.changesCount == 0
                }
            }
        }
        guard !known.isEmpty else { return }
        room.strangers.withLock { limits in
            for device in known { limits.admit(device) }
            limits.isChanged = true
        }
        room.growth.raise()
    }
}

/// What the configured destinations have not taken yet.
private struct Waiting {
    private struct Destination {
        let routing: DestinationRouting
        /// Up to here the backlog is dealt with.
        let position: Int64
        let clearedThrough: Int64
    }

    private let destinations: [Destination]
    /// Positions in requests that are stored, also of destinations that are not configured any more.
    private let batched: Set<Int64>

    init(_ routings: [String: DestinationRouting], _ db: Database) throws {
        destinations = try routings.values.map { routing in
            let row = try Row.fetchOne(
                try db.cachedStatement(sql: "SELECT position, cleared_seq FROM destination WHERE name = ?"),
                arguments: [routing.name])
            return Destination(
                routing: routing, position: try row?.sound("position") ?? 0,
                clearedThrough: try row?.sound("cleared_seq") ?? 0)
        }
        let positions = try String.fetchAll(db, sql: "SELECT positions FROM \(BatchTable.all)")
        batched = Set(positions.flatMap(BatchTable.positions))
    }

    /// When a record may be dropped, and which destinations have to go without it; nil while it waits for something.
    func verdict(on row: Row, _ db: Database) throws -> (phase: StrangerTable.Drop.Phase, waiting: [String])?
    {
        guard let header = RecordRow.header(row), let frozen: Int = row.intact("frozen"),
            let released: Int = row.intact("released")
        else { return nil }
        // It may wait for its time, which is of no use to it.
        if header.kind == .undecoded { return frozen == 1 || released > 0 ? (.untaken, []) : nil }
        guard let position: Int64 = row.intact("position") else { return nil }
        // The first destination gets what is held.
        guard !destinations.isEmpty, !batched.contains(position) else { return nil }
        var isWanted = false
        var waiting: [String] = []
        for destination in destinations where destination.routing.accepts(header) {
            isWanted = true
            guard position > destination.position, (row["seq"] as Int64) > destination.clearedThrough else {
                continue
            }
            if try isAhead(position, of: destination.routing.name, db) { continue }
            guard destination.routing.whenFull == .dropOldest else { return nil }
            waiting.append(destination.routing.name)
        }
        if !waiting.isEmpty { return (.backlog, waiting) }
        return (isWanted && !(row["is_set_aside"] as Bool) ? .delivered : .untaken, [])
    }

    /// Whether the fresh lane took it before the backlog came to it.
    private func isAhead(_ position: Int64, of destination: String, _ db: Database) throws -> Bool {
        let last = try Int64.fetchOne(
            try db.cachedStatement(
                sql: "SELECT last FROM ahead WHERE destination = ? AND first <= ? ORDER BY first DESC LIMIT 1"
            ),
            arguments: [destination, position])
        return last.map { $0 >= position } ?? false
    }
}
