internal import Synchronization

/// Tasks that sleep until moments of one clock. Nothing is kept of a sleep that was cancelled.
///
/// The runtime keeps a cancelled sleep until its deadline, in 0.75 KB: most sleeps here are the bounds of waits, an hour
/// ahead at most, and each commit cancels some. So the runtime is asked for a wake-up only if none of those under way
/// comes early enough, and no wake-up is cancelled.
package final class SleepQueue: Sendable {
    private struct Sleeper {
        let deadline: MonotonicInstant
        let continuation: CheckedContinuation<Void, any Error>
    }

    private struct State {
        var lastID = 0
        var sleepers: [Int: Sleeper] = [:]
        /// When the wake-ups under way come.
        var wakeUps: [MonotonicInstant] = []

        /// The moment for which the runtime has to be asked for one more wake-up, noted as under way.
        mutating func missingWakeUp() -> MonotonicInstant? {
            guard let first = sleepers.values.lazy.map(\.deadline).min(), wakeUps.allSatisfy({ $0 > first })
            else { return nil }
            wakeUps.append(first)
            return first
        }
    }

    private let now: @Sendable () -> MonotonicInstant
    private let wait: @Sendable (MonotonicInstant) async -> Void
    private let state = Mutex(State())

    /// - Parameters:
    ///   - now: what the clock shows.
    ///   - wait: returns at this moment of the clock, or later.
    package init(
        now: @escaping @Sendable () -> MonotonicInstant,
        wait: @escaping @Sendable (MonotonicInstant) async -> Void
    ) {
        self.now = now
        self.wait = wait
    }

    /// How many sleep, and how many wake-ups the runtime has.
    package var counts: (sleepers: Int, wakeUps: Int) {
        state.withLock { ($0.sleepers.count, $0.wakeUps.count) }
    }

    /// Returns at `deadline` or later; throws `CancellationError` when the task is cancelled.
    package func sleep(until deadline: MonotonicInstant) async throws {
        let id = state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let now = now()
                let (result, wakeUp): (Result<Void, any Error>?, MonotonicInstant?) = state.withLock {
                    state in
                    // A cancellation that came first found no sleeper to wake.
                    if Task.isCancelled { return (.failure(CancellationError()), nil) }
                    if deadline <= now { return (.success(()), nil) }
                    state.sleepers[id] = Sleeper(deadline: deadline, continuation: continuation)
                    return (nil, state.missingWakeUp())
                }
                if let result { continuation.resume(with: result) }
                if let wakeUp { Task.detached { await self.wake(at: wakeUp) } }
            }
        } onCancel: {
            let sleeper = state.withLock { $0.sleepers.removeValue(forKey: id) }
            sleeper?.continuation.resume(throwing: CancellationError())
        }
    }

    /// Wakes those whose time has come, as long as the next one depends on it.
    private func wake(at moment: MonotonicInstant) async {
        var next: MonotonicInstant? = moment
        while let moment = next {
            await wait(moment)
            let now = now()
            let due = state.withLock { state in
                if let index = state.wakeUps.firstIndex(of: moment) { state.wakeUps.remove(at: index) }
                let due = state.sleepers.filter { $0.value.deadline <= now }
                for id in due.keys { state.sleepers[id] = nil }
                next = state.missingWakeUp()
                return due.values.map(\.continuation)
            }
            for continuation in due { continuation.resume() }
        }
    }
}
