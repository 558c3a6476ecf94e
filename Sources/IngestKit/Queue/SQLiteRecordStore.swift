import Crypto
import Dispatch
import FoundationEssentials
import GRDB
package import IngestCore
package import IngestRecords
package import IngestStorage
import Synchronization

/// GRDB has a type of this name too.
package typealias Record = IngestRecords.Record

/// The queue on SQLite: every record once, in the order of the commits, with what each destination
/// has taken of them.
///
/// One connection reads, writes and checkpoints (SQLite before 3.51.3 can damage a WAL that two
/// connections write or checkpoint at once), in WAL mode with `synchronous=FULL`, so that a
/// returned commit has been synced. SQLite runs on GRDB's own dispatch queue, never on the
/// cooperative pool.
package final class SQLiteRecordStore: Sendable {
    /// Raised by every commit that put an event into the outbox.
    package let outboxWakeUp = WakeUp()
    /// Raised by every commit of records, and by one that found no room. One waiter.
    package let growth = WakeUp()
    /// Raised when a released record waits for its time. One waiter.
    package let undatedWakeUp = WakeUp()

    let database: DatabaseQueue
    let commits: GroupCommit
    let recentEvents = RecentEvents()
    let path: String
    /// The kernel's name of this boot.
    package let bootID: String
    let clock: any GatewayClock
    /// Those in force; the names are always the same.
    private let routingsInForce: Mutex<[String: DestinationRouting]>
    /// The last position given before this run: what is up to it waits for no company.
    let positionAtOpening: Int64
    private let isClosed = Atomic(false)
    private let wakeUps: [String: WakeUp]
    /// The users of the allow-list that is in force, by their keys; nil before the first. Looked at and
    /// replaced within transactions, which come one after the other.
    let listed = Mutex<[String: String]?>(nil)

    /// Whether a destination is sending an image.
    let isImageUnderWay = Atomic(false)
    /// Whether an image was taken by a destination since this was asked last.
    private let isImageDelivered = Atomic(false)

    /// Why no records are taken; nil while they are.
    private let refusal = Mutex<StoreError?>(nil)

    /// What unpinned devices may hold, and which were refused.
    let strangers = Mutex(StrangerLimits())

    /// Opens the queue, or makes a new one, and takes it over from an earlier run: records whose
    /// device block that run did not complete are frozen as they are, once their time is decided.
    ///
    /// A destination that the file does not know starts with the oldest record held if no
    /// destination was known before, else with what is read from now on.
    /// - Parameters:
    ///   - path: the database file; its directory exists.
    ///   - bootID: the kernel's name of this boot (/proc/sys/kernel/random/boot_id).
    /// - Throws: `StoreError`.
    package static func open(
        path: String, bootID: String, clock: any GatewayClock, destinations: [DestinationRouting]
    ) async throws -> SQLiteRecordStore {
        let file = QueueFile(path: path)
        do {
            // Opening blocks: it goes to a thread of its own, as every later access does.
            let (database, position) = try await BlockingCall.run {
                try QueueOpening.open(file) { db in
                    try Self.raiseCounters(db)
                    try Self.freezeLeftovers(db)
                    try Self.register(destinations, db)
                    return try Int64.fetchOne(
                        db, sql: "SELECT value FROM counter WHERE name = 'position'") ?? 0
                }
            }
            return SQLiteRecordStore(
                database: database, path: path, bootID: bootID, clock: clock,
                destinations: destinations, positionAtOpening: position)
        } catch let error as DatabaseError {
            throw StoreError(error, path: path)
        }
    }

    private init(
        database: DatabaseQueue, path: String, bootID: String, clock: any GatewayClock,
        destinations: [DestinationRouting], positionAtOpening: Int64
    ) {
        self.database = database
        self.commits = GroupCommit(database, file: QueueFile(path: path), events: recentEvents)
        self.path = path
        self.bootID = bootID
        self.clock = clock
        self.routingsInForce = Mutex(
            Dictionary(destinations.map { ($0.name, $0) }, uniquingKeysWith: { $1 }))
        self.positionAtOpening = positionAtOpening
        self.wakeUps = Dictionary(destinations.map { ($0.name, WakeUp()) }, uniquingKeysWith: { $1 })
    }

    /// Takes no records from now on, or does again with nil.
    func refuseRecords(_ level: QueueLevel?) {
        refusal.withLock { $0 = level.map { StoreError(.noRoom($0), path: path) } }
    }

    func checkRoom() throws {
        if let refusal = refusal.withLock({ $0 }) { throw refusal }
    }

    var routings: [String: DestinationRouting] { routingsInForce.withLock { $0 } }

    /// From now on these records are for the destinations. What is in a request already goes out; what waits otherwise
    /// follows the new rules. The order of a destination, and which there are, stay as they were at the opening.
    package func route(_ destinations: [DestinationRouting]) {
        routingsInForce.withLock { inForce in
            for new in destinations {
                guard let old = inForce[new.name] else { continue }
                inForce[new.name] = DestinationRouting(
                    name: new.name, kinds: new.kinds, forms: new.forms, peripherals: new.peripherals,
                    order: old.order, takesImages: new.takesImages)
            }
        }
        noteOrder()
        announceRecords()
    }

    /// In which order a destination gets its records.
    package func order(of destination: String) -> DeliveryOrder {
        routings[destination]?.order ?? .strict
    }

    /// Raised when there may be records for a destination. One waiter.
    package func wakeUp(for destination: String) -> WakeUp {
        wakeUps[destination] ?? WakeUp()
    }

    /// A destination has taken an image: it may be that none waits for it any more.
    package func noteImageDelivered() { isImageDelivered.store(true, ordering: .relaxed) }

    /// - Returns: whether that was since it was asked last.
    func takeImageDelivered() -> Bool { isImageDelivered.exchange(false, ordering: .relaxed) }

    /// Closes the file, with a checkpoint; nothing may be asked of the store after it.
    package func close() async throws {
        guard !isClosed.exchange(true, ordering: .relaxed) else { return }
        // Closing would remove the log of the file that has come in its place.
        guard commits.isInPlace else { return try await rescue() }
        let database = database
        try await BlockingCall.run { try database.close() }
    }

    // MARK: - Opening

    private static func register(_ destinations: [DestinationRouting], _ db: Database) throws {
        let known = try Set(String.fetchAll(db, sql: "SELECT name FROM destination"))
        // One that is not there any more is not new: it gets everything, if it has sessions after a sign-in.
        let areLost = try takeLostDestinationsMark(db)
        for destination in destinations where !known.contains(destination.name) {
            try db.execute(
                sql: """
                    INSERT OR IGNORE INTO destination (name, position, state, signed_out)
                    SELECT ?, CASE WHEN ? THEN 0 ELSE value END, ?, ? FROM counter WHERE name = 'position'
                    """,
                arguments: [
                    destination.name, known.isEmpty || areLost, DestinationState.up.rawValue, areLost,
                ])
        }
        try noteConfigured(Set(destinations.map(\.name)), db)
    }

    /// Records that an earlier run did not release, but for those that wait for their time.
    static let leftRecords = """
        SELECT seq FROM record WHERE frozen = 0 AND released = 0 AND undated IS NULL ORDER BY seq
        """

    private static func freezeLeftovers(_ db: Database) throws {
        // Those that were set aside too: this version may read what another could not. Those that wait already are
        // not written again, for they may be all that the queue holds.
        try db.execute(
            sql: """
                UPDATE record SET released = ? WHERE frozen = 0 AND released IN (?, ?) AND undated IS NOT NULL
                """,
            arguments: [Release.waiting.rawValue, Release.open.rawValue, Release.setAside.rawValue])
        let leftovers = try Int64.fetchAll(db, sql: leftRecords)
        for sequence in leftovers {
            try freeze(sequence: sequence, availableAt: MonotonicInstant(nanoseconds: 0), db)
        }
    }

    // MARK: - Access

    /// One transaction, which others may share. Any throw means that nothing of it happened. The body may be carried
    /// out twice, the first time without effect.
    func write<Value: Sendable>(_ body: @escaping @Sendable (Database) throws -> Value) async throws -> Value
    {
        try await commits(body)
    }

    func read<Value: Sendable>(_ body: @Sendable (Database) throws -> Value) async throws -> Value {
        do {
            return try await database.read(body)
        } catch {
            let error = StoreError.of(error, path: path)
            if let store = error as? StoreError, store.isFatal { commits.note(store) }
            throw error
        }
    }

    /// The next number of a counter that never goes back, or the last of so many.
    static func next(_ counter: String, count: Int = 1, _ db: Database) throws -> Int64 {
        let value = try Int64.fetchOne(
            try db.cachedStatement(
                sql: "UPDATE counter SET value = value + ? WHERE name = ? RETURNING value"),
            arguments: [count, counter])
        // The row is made with the schema.
        guard let value else { throw DatabaseError(resultCode: .SQLITE_CORRUPT) }
        return value
    }

    /// Raises what waits for records.
    func announceRecords() {
        for wakeUp in wakeUps.values { wakeUp.raise() }
    }

    /// The first bytes of the SHA-256 of what must not change unseen.
    /// - Parameters:
    ///   - undated: what decides its time, while that is not decided.
    ///   - route: what decides where it goes. Nil is for rows that earlier versions wrote, without it; they are told
    ///     by the length.
    static func checksum(
        id: String, kind: String, payload: Data, body: String, undated: String? = nil,
        route: RecordRoute? = nil
    ) -> Data {
        var hash = SHA256()
        // All but the payload, which may be an image, in two pieces: each by itself takes more than its hash.
        var bytes: [UInt8] = []
        bytes.reserveCapacity(body.utf8.count + (undated?.utf8.count ?? 0) + 200)
        bytes += id.utf8
        bytes.append(0)
        bytes += kind.utf8
        bytes.append(0)
        hash.update(data: bytes)
        hash.update(data: payload)
        bytes.removeAll(keepingCapacity: true)
        bytes.append(0)
        bytes += body.utf8
        if let undated {
            bytes.append(0)
            bytes += undated.utf8
        }
        if let route {
            for part in [String(route.peripheralID), route.alias, route.destinations] {
                // What is absent is not the same as what is empty.
                bytes.append(0)
                bytes.append(part == nil ? 0 : 1)
                bytes += (part ?? "").utf8
            }
        }
        hash.update(data: bytes)
        return Data(hash.finalize().prefix(route == nil ? checksumLengthWithoutRoute : 20))
    }

    /// In bytes.
    static let checksumLengthWithoutRoute = 16
}
