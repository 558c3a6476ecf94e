import Synchronization

/// Whether each delivery loop turns, and the disk has not hung for too long.
package final class Pulse: Sendable {
    /// What a loop does until its next beat.
    package enum Beat: Sendable {
        /// Waits, or sends a request.
        case turning
        /// Waits for the queue, where others may be at work on much.
        case asking

        /// A loop that is silent for so long hangs.
        package var bound: Duration {
            switch self {
            // Longer than the longest request with its time-outs.
            case .turning: .seconds(150)
            // Longer than a gibibyte takes to be written anew on a slow card (1 MB/s and more).
            case .asking: .seconds(30 * 60)
            }
        }
    }

    private let clock: any GatewayClock
    private let isDiskAlive: @Sendable () -> Bool
    /// By when each is to be heard again.
    private let deadlines = Mutex<[String: MonotonicInstant]>([:])

    package init(clock: any GatewayClock, isDiskAlive: @escaping @Sendable () -> Bool = { true }) {
        self.clock = clock
        self.isDiskAlive = isDiskAlive
    }

    /// Expects beats under this name from now on.
    package func register(_ name: String) -> @Sendable (Beat) -> Void {
        beat(name, .turning)
        return { [self] in beat(name, $0) }
    }

    private func beat(_ name: String, _ beat: Beat) {
        let deadline = clock.now + beat.bound
        deadlines.withLock { $0[name] = deadline }
    }

    /// Whether every loop was heard in time, and the disk is not given up.
    package var isAlive: Bool {
        guard isDiskAlive() else { return false }
        let now = clock.now
        return deadlines.withLock { $0.values.allSatisfy { now < $0 } }
    }
}
