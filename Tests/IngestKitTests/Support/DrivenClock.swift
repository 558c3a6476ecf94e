import Synchronization

@testable import IngestCore

/// A clock that stands still until a test moves it.
final class DrivenClock: GatewayClock {
    private struct State {
        var now = MonotonicInstant(nanoseconds: 1_000_000_000_000)
        var wall: Int64 = 1_795_000_000_000_000_000
        var nextID = 0
        var sleepers:
            [Int: (deadline: MonotonicInstant, continuation: CheckedContinuation<Void, any Error>)] = [:]
    }

    private let state = Mutex(State())

    var now: MonotonicInstant { state.withLock { $0.now } }
    var wallNanoseconds: Int64 { state.withLock { $0.wall } }
    /// How many sleep now.
    var sleeperCount: Int { state.withLock { $0.sleepers.count } }

    /// When the first of those that sleep wakes up.
    var nextDeadline: MonotonicInstant? { state.withLock { $0.sleepers.values.map(\.deadline).min() } }

    /// Sets the wall clock forward or back.
    func step(by duration: Duration) {
        state.withLock { $0.wall += Int64(duration / .nanoseconds(1)) }
    }

    func advance(by duration: Duration) {
        let due = state.withLock { state in
            state.now = state.now + duration
            let (seconds, attoseconds) = duration.components
            state.wall += seconds * 1_000_000_000 + attoseconds / 1_000_000_000
            let now = state.now
            let due = state.sleepers.filter { $0.value.deadline <= now }
            for id in due.keys { state.sleepers[id] = nil }
            return due.values.map(\.continuation)
        }
        for continuation in due { continuation.resume() }
    }

    func sleep(until deadline: MonotonicInstant) async throws {
        let id = state.withLock { state in
            state.nextID += 1
            return state.nextID
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let result: Result<Void, any Error>? = state.withLock { state in
                    if Task.isCancelled { return .failure(CancellationError()) }
                    if deadline <= state.now { return .success(()) }
                    state.sleepers[id] = (deadline, continuation)
                    return nil
                }
                if let result { continuation.resume(with: result) }
            }
        } onCancel: {
            let sleeper = state.withLock { $0.sleepers.removeValue(forKey: id) }
            sleeper?.continuation.resume(throwing: CancellationError())
        }
    }
}
