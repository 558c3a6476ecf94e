import Dispatch
import GRDB
import Synchronization

/// The queue's file while it is open.
///
/// One connection reads, writes and checkpoints (SQLite before 3.51.3 can damage a WAL that two connections write or
/// checkpoint at once), in WAL mode with `synchronous=FULL`, so that a returned commit has been synced. SQLite runs on
/// GRDB's own dispatch queue, never on the cooperative pool.
final class QueueDatabase: Sendable {
    let path: String
    /// The kernel's name of this boot.
    let bootID: String
    let clock: any GatewayClock
    /// Raised by every commit that put an event into the outbox.
    let outboxWakeUp = WakeUp()
    let connection: DatabaseQueue
    let commits: GroupCommit
    let recentEvents = RecentEvents()
    let waits: DiskWaits
    private let reserve: EventReserve
    /// Whether events about records hold their measurements.
    let tellsMeasurements = Atomic(false)
    private let isClosed = Atomic(false)

    init(
        _ connection: DatabaseQueue, path: String, bootID: String, clock: any GatewayClock,
        reserve: EventReserve
    ) {
        self.connection = connection
        self.path = path
        self.bootID = bootID
        self.clock = clock
        waits = DiskWaits(clock: clock)
        self.reserve = reserve
        commits = GroupCommit(connection, file: QueueFile(path: path), events: recentEvents, reserve: reserve)
    }

    deinit {
        // Who opened it had to give up; GRDB closes the connection.
        if !isClosed.load(ordering: .relaxed) { reserve.close() }
    }

    /// What an event about a record of this JSON holds of it.
    func toldMeasurements(of json: String) -> String? {
        tellsMeasurements.load(ordering: .relaxed) ? RecordContent.measurements(of: json) : nil
    }

    /// One transaction, which others may share. Any throw means that nothing of it happened. The body may be carried
    /// out twice, the first time without effect.
    func write<Value: Sendable>(_ body: @escaping @Sendable (Database) throws -> Value) async throws -> Value
    {
        try await waits.during { try await commits(body) }
    }

    func read<Value: Sendable>(_ body: @Sendable (Database) throws -> Value) async throws -> Value {
        do {
            return try await waits.during { try await connection.read(body) }
        } catch {
            let error = StoreError.of(error, path: path)
            if let store = error as? StoreError, store.isFatal { commits.note(store) }
            throw error
        }
    }

    /// Closes the file, with a checkpoint; nothing may be asked of it afterwards.
    func close() async throws {
        guard !isClosed.exchange(true, ordering: .relaxed) else { return }
        // Closing would remove the log of the file that has come in its place.
        guard commits.isInPlace else { return try await rescue() }
        commits.close()
        try await BlockingCall.run { [connection, reserve] in
            // First: SQLite removes the log when it closes, and a kill may come between the two.
            reserve.close()
            try connection.close()
        }
    }

    /// Writes what is open anew, where the file was deleted or replaced; the next start puts that in its place.
    func rescue() async throws {
        let file = QueueFile(path: path)
        do {
            try await connection.writeWithoutTransaction { db in
                guard !file.hasReplacement else { return }
                file.removeDraft()
                try db.execute(sql: "VACUUM INTO ?", arguments: [file.draft])
            }
            try await BlockingCall.run { try QueueOpening.sync(file) }
        } catch {
            throw StoreError.of(error, path: path)
        }
    }
}
