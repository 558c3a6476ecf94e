import BlueZBridge
import Synchronization

@testable import IngestCore

/// A clock that stands until it is moved, but for a tick with every look at it where that is wanted.
final class DrivenClock: GatewayClock {
    private struct State {
        var nanoseconds: UInt64 = 1_000_000_000_000
        /// By which the wall clock is ahead: 2026-11-20T09:15:00Z at the start.
        var lead: Int64 = 1_795_166_100_000_000_000 - 1_000_000_000_000
        var lastSleeper = 0
        var sleepers:
            [Int: (deadline: MonotonicInstant, continuation: CheckedContinuation<Void, any Error>)] =
                [:]
    }

    private let state = Mutex(State())
    private let tick: UInt64

    /// - Parameter tick: in nanoseconds.
    init(tick: UInt64 = 0) {
        self.tick = tick
    }

    var now: MonotonicInstant {
        let nanoseconds = state.withLock { state in
            state.nanoseconds += tick
            return state.nanoseconds
        }
        return MonotonicInstant(nanoseconds: nanoseconds)
    }

    /// 2026-11-20T09:15:00Z at the start.
    var wallNanoseconds: Int64 {
        Int64(now.nanoseconds) + state.withLock { $0.lead }
    }

    /// Sets the wall clock, in seconds since 1970.
    func set(wall seconds: Int64) {
        state.withLock { $0.lead = seconds * 1_000_000_000 - Int64($0.nanoseconds) }
    }

    /// Begins another boot: the monotonic clock shows a minute, the wall clock this, in seconds since
    /// 1970. Nobody sleeps then.
    func boot(wall seconds: Int64) {
        state.withLock { $0.nanoseconds = 60_000_000_000 }
        set(wall: seconds)
    }

    func sleep(until deadline: MonotonicInstant) async throws {
        let number = state.withLock { state in
            state.lastSleeper += 1
            return state.lastSleeper
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let isDue = state.withLock { state in
                    guard state.nanoseconds < deadline.nanoseconds, !Task.isCancelled else { return true }
                    state.sleepers[number] = (deadline, continuation)
                    return false
                }
                if isDue { continuation.resume() }
            }
        } onCancel: {
            let sleeper = state.withLock { $0.sleepers.removeValue(forKey: number) }
            sleeper?.continuation.resume(throwing: CancellationError())
        }
        try Task.checkCancellation()
    }

    /// Whether somebody sleeps until this moment.
    func isSlept(until deadline: MonotonicInstant) -> Bool {
        state.withLock { $0.sleepers.values.contains { $0.deadline == deadline } }
    }

    /// Moves the clock, and has the loop look at it.
    func advance(by duration: Duration, _ loop: RadioLoop) async {
        // What the test waited for was told in the middle of a turn: the deadline that the same turn sets is one from
        // before the move.
        await loop.turned()
        let due = state.withLock { state in
            let now = MonotonicInstant(nanoseconds: state.nanoseconds) + duration
            state.nanoseconds = now.nanoseconds
            let due = state.sleepers.filter { $0.value.deadline <= now }
            for number in due.keys { state.sleepers[number] = nil }
            return due.values.map(\.continuation)
        }
        for continuation in due { continuation.resume() }
        // Deadlines are looked at after the work at hand; with the second turn they are done.
        await loop.turned()
        await loop.turned()
    }
}
