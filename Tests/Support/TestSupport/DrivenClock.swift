import Synchronization

/// A clock that stands until a test moves it, but for a tick with every look at it if that is wanted.
package final class DrivenClock: GatewayClock {
    private struct State {
        var now = MonotonicInstant(nanoseconds: 1_000_000_000_000)
        /// By which the wall clock is ahead of the monotonic one, in nanoseconds.
        var lead: Int64
        var nextID = 0
        var sleepers:
            [Int: (deadline: MonotonicInstant, continuation: CheckedContinuation<Void, any Error>)] = [:]
    }

    /// 2026-11-20T09:15:00Z, in nanoseconds since 1970.
    package static let morning: Int64 = 1_795_166_100_000_000_000

    private let state: Mutex<State>
    private let tick: UInt64

    /// - Parameters:
    ///   - wall: what the wall clock shows at first, in nanoseconds since 1970.
    ///   - tick: in nanoseconds.
    package init(wall: Int64 = 1_795_000_000_000_000_000, tick: UInt64 = 0) {
        state = Mutex(State(lead: wall - 1_000_000_000_000))
        self.tick = tick
    }

    package var now: MonotonicInstant {
        state.withLock { state in
            state.now = MonotonicInstant(nanoseconds: state.now.nanoseconds + tick)
            return state.now
        }
    }

    /// Stands at the end of its range, as the system's does.
    package var wallNanoseconds: Int64 {
        let (wall, overflow) = Int64(now.nanoseconds).addingReportingOverflow(state.withLock { $0.lead })
        return overflow ? .max : wall
    }

    /// How many sleep now.
    package var sleeperCount: Int { state.withLock { $0.sleepers.count } }

    /// When the first of those that sleep wakes up.
    package var nextDeadline: MonotonicInstant? {
        state.withLock { $0.sleepers.values.map(\.deadline).min() }
    }

    /// Whether somebody sleeps until this moment.
    package func isSlept(until deadline: MonotonicInstant) -> Bool {
        state.withLock { $0.sleepers.values.contains { $0.deadline == deadline } }
    }

    /// Sets the wall clock forward or back.
    package func step(by duration: Duration) {
        state.withLock { $0.lead += Int64(duration / .nanoseconds(1)) }
    }

    /// Sets the wall clock, in seconds since 1970.
    package func set(wall seconds: Int64) {
        state.withLock { $0.lead = seconds * 1_000_000_000 - Int64($0.now.nanoseconds) }
    }

    /// Begins another boot: the monotonic clock shows a minute, the wall clock this, in seconds since
    /// 1970. Nobody sleeps then.
    package func boot(wall seconds: Int64) {
        state.withLock { $0.now = MonotonicInstant(nanoseconds: 60_000_000_000) }
        set(wall: seconds)
    }

    /// Moves both clocks, and wakes those that have slept long enough.
    package func advance(by duration: Duration) {
        let due = state.withLock { state in
            state.now = state.now + duration
            let now = state.now
            let due = state.sleepers.filter { $0.value.deadline <= now }
            for id in due.keys { state.sleepers[id] = nil }
            return due.values.map(\.continuation)
        }
        for continuation in due { continuation.resume() }
    }

    package func sleep(until deadline: MonotonicInstant) async throws {
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
