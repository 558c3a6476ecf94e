import Synchronization

/// A flag that one task waits for and any other raises. Raising it twice is raising it once.
///
/// Not an `AsyncStream`: a cancelled wait (one that lost against a time-out) would end the stream
/// for good.
package final class WakeUp: Sendable {
    private struct State {
        var isRaised = false
        var waiter: CheckedContinuation<Void, Never>?
    }

    private let state = Mutex(State())

    package init() {}

    package func raise() {
        let waiter = state.withLock { state in
            state.isRaised = true
            defer { state.waiter = nil }
            return state.waiter
        }
        waiter?.resume()
    }

    /// Whether it is raised; leaves it so.
    package var isRaised: Bool { state.withLock(\.isRaised) }

    /// Whether it was raised; lowers it.
    package func consume() -> Bool {
        state.withLock { state in
            defer { state.isRaised = false }
            return state.isRaised
        }
    }

    /// Returns when it is raised, and leaves it so; also when the task is cancelled. One waiter at
    /// a time.
    package func wait() async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let resumesNow = state.withLock { state in
                    // A cancellation that came first found no waiter to resume.
                    if state.isRaised || Task.isCancelled { return true }
                    precondition(state.waiter == nil, "a WakeUp has one waiter")
                    state.waiter = continuation
                    return false
                }
                if resumesNow { continuation.resume() }
            }
        } onCancel: {
            let waiter = state.withLock { state in
                defer { state.waiter = nil }
                return state.waiter
            }
            waiter?.resume()
        }
    }
}
