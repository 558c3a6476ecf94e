import Dispatch
import GRDB
import Synchronization

/// Gathers the writes to a database: those that arrive while a commit is under way share the next one, and its
/// sync to the disk.
///
/// A write that fails takes no other with it: then each of its group is carried out alone. After an error of the disk
/// nothing is written any more, because a second sync that succeeds says nothing of what the first one lost
/// (fsync(2), "EIO"); nor after the file was deleted or replaced, because what is written then is in no file that the
/// next start opens. While that is being written anew writers wait: an error would end the process, and with it the
/// only copy.
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
        /// What was in the way of the last commit, and may pass.
        var trouble: StoreError?
        var isTroubleTaken = false
        /// Whether somebody writes a file that was deleted or replaced anew.
        var isRescued = false
        /// Writes that wait for that, to fail afterwards.
        var held: [Write] = []
        /// Whether the database is closed, or will be at once.
        var isClosed = false
    }

    private let database: DatabaseQueue
    private let events: RecentEvents
    private let file: QueueFile
    private let identity: QueueFile.Identity
    private let reserve: EventReserve
    private let state = Mutex(State())
    /// Raised by the error after which nothing is written. One waiter.
    let failed = WakeUp()
    /// Raised by that error, and by the first of a row of errors that may pass. One waiter.
    let troubled = WakeUp()

    /// - Parameters:
    ///   - file: those of the open database.
    ///   - events: told of each transaction.
    ///   - reserve: of the numbers of events.
    init(_ database: DatabaseQueue, file: QueueFile, events: RecentEvents, reserve: EventReserve) {
        self.reserve = reserve
        self.database = database
        self.events = events
        self.file = file
        identity = file.identity
    }

    /// The error after which nothing is written.
    var failure: StoreError? { state.withLock { $0.failure } }

    /// Whether the file's names still stand for what is open.
    var isInPlace: Bool { file.identity == identity }

    /// What is in the way of commits since it was asked last, if it was not told yet.
    func takeTrouble() -> StoreError? {
        state.withLock { state in
            defer { state.isTroubleTaken = true }
            return state.isTroubleTaken ? nil : state.trouble
        }
    }

    /// While somebody is there who writes a file that was deleted or replaced anew, writers are told of it only when
    /// that is over.
    func setRescued(_ isRescued: Bool) {
        let (held, failure) = state.withLock { state in
            state.isRescued = isRescued
            defer { if !isRescued { state.held = [] } }
            return (isRescued ? [] : state.held, state.failure)
        }
        for write in held { write.fail(failure ?? StoreError(.replaced, path: file.path)) }
    }

    /// From now on a write fails with `CancellationError`: the database is about to be closed.
    func close() {
        state.withLock { $0.isClosed = true }
    }

    /// Writes that wait until the file is written anew.
    var heldCount: Int { state.withLock { $0.held.count } }

    /// Writes that no transaction has taken up.
    var waitingCount: Int { state.withLock { $0.waiting.count } }

    /// Returns when the disk has it; after a throw nothing of it happened, unless the error is fatal: then the next start
    /// may find it. It may be carried out twice, the first time without effect. A task that is cancelled already writes nothing; later it is too late.
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
            let (group, isClosed) = state.withLock { state in
                let group = Array(state.waiting.prefix(Self.limit))
                state.waiting.removeFirst(group.count)
                state.isScheduled = !group.isEmpty
                return (group, state.isClosed)
            }
            if group.isEmpty { return }
            if isClosed {
                // A closed connection must not be asked for anything.
                for write in group { write.fail(CancellationError()) }
            } else {
                commit(group, db)
            }
        }
    }

    private func commit(_ group: [Write], _ db: Database) {
        do {
            if let failure { throw failure }
            var committed: [@Sendable () -> Void] = []
            let before = db.totalChangesCount
            events.begin()
            try db.inTransaction(.immediate) {
                committed = try group.map { try $0.carryOut(db) }
                try reserve.cover(CounterTable.last("event", db))
                return .commit
            }
            guard isInPlace else { throw StoreError(.replaced, path: file.path) }
            reserve.commit()
            events.commit()
            // What changed nothing says nothing of the disk.
            if db.totalChangesCount != before { noteSuccess() }
            for tell in committed { tell() }
        } catch {
            var error = StoreError.of(error, path: file.path)
            // On a full disk no commit comes to pass after which the file is looked for.
            if (error as? StoreError)?.isPassing == true, !isInPlace {
                error = StoreError(.replaced, path: file.path)
            }
            if let store = error as? StoreError, store.isWatched {
                note(store)
            } else if group.count > 1 {
                for write in group { commit([write], db) }
                return
            }
            let isHeld = state.withLock { state in
                guard state.isRescued, (error as? StoreError)?.kind == .replaced else { return false }
                state.held += group
                return true
            }
            if isHeld { return }
            for write in group { write.fail(error) }
        }
    }

    /// Notes an error that concerns all writes. After one that is fatal nothing is written.
    func note(_ error: StoreError) {
        guard failure == nil else { return }
        // A disk that failed may have left anything.
        if error.kind == .corrupt || error.kind == .ioError { file.setMark() }
        let isNew = state.withLock { state in
            if error.isFatal {
                defer { state.failure = state.failure ?? error }
                return state.failure == nil
            }
            guard state.trouble == nil else { return false }
            state.trouble = error
            state.isTroubleTaken = false
            return true
        }
        guard isNew else { return }
        if error.isFatal { failed.raise() }
        troubled.raise()
    }

    private func noteSuccess() {
        state.withLock { $0.trouble = nil }
    }
}
