import Dispatch
import GRDB
import Synchronization

/// Gathers the writes to a database: those that arrive while a commit is under way share the next one, and its
/// sync to the disk.
///
/// A write that fails takes no other with it: then each of its group is carried out alone. After an error of the disk
/// nothing is written any more, because a second sync that succeeds says nothing of what the first one lost
/// (fsync(2), "EIO").
final class GroupCommit: Sendable {
    /// Writes that share a commit.
    private static let limit = 64

    private struct Write: Sendable {
        /// Carries it out within a transaction; what is returned tells the caller of the commit.
        let carryOut: @Sendable (Database) throws -> @Sendable () -> Void
        let fail: @Sendable (any Error) -> Void
    }

    private struct State {
        var waiting: [Write] = []
        var isScheduled = false
        var failure: StoreError?
    }

    private let database: DatabaseQueue
    private let path: String
    private let state = Mutex(State())
    /// Raised by the error after which nothing is written. One waiter.
    let failed = WakeUp()

    init(_ database: DatabaseQueue, path: String) {
        self.database = database
        self.path = path
    }

    /// The error after which nothing is written.
    var failure: StoreError? { state.withLock { $0.failure } }

    /// Writes that no transaction has taken up.
    var waitingCount: Int { state.withLock { $0.waiting.count } }

    /// Returns when the disk has it; after a throw nothing of it happened. It may be carried out twice, the first time
    /// without effect. A task that is cancelled already writes nothing; later it is too late.
    func callAsFunction<Value: Sendable>(
        _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws -> Value {
        try Task.checkCancellation()
        return try await withCheckedThrowingContinuation { continuation in
            let write = Write(
                carryOut: { db in
                    let value = try body(db)
                    return { continuation.resume(returning: value) }
                },
                fail: { continuation.resume(throwing: $0) })
            let isFirst = state.withLock { state in
                state.waiting.append(write)
                defer { state.isScheduled = true }
                return !state.isScheduled
            }
            if isFirst { database.asyncWriteWithoutTransaction { self.drain($0) } }
        }
    }

    private func drain(_ db: Database) {
        while true {
            let group = state.withLock { state in
                let group = Array(state.waiting.prefix(Self.limit))
                state.waiting.removeFirst(group.count)
                state.isScheduled = !group.isEmpty
                return group
            }
            if group.isEmpty { return }
            commit(group, db)
        }
    }

    private func commit(_ group: [Write], _ db: Database) {
        do {
            if let failure { throw failure }
            var committed: [@Sendable () -> Void] = []
            try db.inTransaction(.immediate) {
                committed = try group.map { try $0.carryOut(db) }
                return .commit
            }
            for tell in committed { tell() }
        } catch {
            let error = StoreError.of(error, path: path)
            if let store = error as? StoreError, store.isFatal {
                giveUp(store)
            } else if group.count > 1 {
                for write in group { commit([write], db) }
                return
            }
            for write in group { write.fail(error) }
        }
    }

    /// Nothing is written after this.
    func giveUp(_ error: StoreError) {
        state.withLock { $0.failure = $0.failure ?? error }
        failed.raise()
    }
}
