import Synchronization

/// Since when each access to the queue waits for its end.
final class DiskWaits: Sendable {
    private struct State {
        var nextID = 0
        var begun: [Int: MonotonicInstant] = [:]
    }

    private let clock: any GatewayClock
    private let state = Mutex(State())
    /// Raised when an access begins. One waiter.
    let begun = WakeUp()
    /// Raised when an access has ended. One waiter.
    let ended = WakeUp()

    init(clock: any GatewayClock) {
        self.clock = clock
    }

    /// When the oldest access that has not ended began.
    var oldest: MonotonicInstant? { state.withLock { $0.begun.values.min() } }

    func during<Value: Sendable>(_ access: () async throws -> Value) async throws -> Value {
        let now = clock.now
        let id = state.withLock { state in
            state.nextID += 1
            state.begun[state.nextID] = now
            return state.nextID
        }
        begun.raise()
        defer {
            state.withLock { _ = $0.begun.removeValue(forKey: id) }
            ended.raise()
        }
        return try await access()
    }
}
