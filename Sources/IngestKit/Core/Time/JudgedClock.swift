internal import Synchronization

/// The gateway's clocks, of which the wall clock is doubted until it was judged, and again from when it
/// was set, unless the configuration takes it as right.
///
/// That it was set is seen whenever it is asked for: on Linux the distance between it and the monotonic
/// clock changes with nothing else (time protocols that slew move both). So no timer has to look.
package final class JudgedClock: GatewayClock {
    private enum State {
        case doubted
        /// Right whatever is done to it.
        case configured
        /// Right while it is so far ahead of the monotonic clock, in nanoseconds.
        case found(lead: Int64)
    }

    /// By how much the distance may change: more than a leap second, less than would matter in a record.
    static let tolerance: Int64 = 2_000_000_000

    /// How often a clock that is not known to be right is looked at.
    package static let interval = Duration.seconds(30)

    /// Raised when it is seen that the clock was set.
    package let doubts = WakeUp()
    private let base: any GatewayClock
    private let state: Mutex<State>

    /// - Parameter isConfigured: whether the configuration takes it as right, before anything was asked.
    package init(_ base: any GatewayClock, isConfigured: Bool = false) {
        self.base = base
        state = Mutex(isConfigured ? .configured : .doubted)
    }

    package var now: MonotonicInstant { base.now }
    package var wallNanoseconds: Int64 { base.wallNanoseconds }

    package func sleep(until deadline: MonotonicInstant) async throws {
        try await base.sleep(until: deadline)
    }

    package var reading: ClockReading { base.reading }

    package var trustedReading: ClockReading? {
        let reading = base.reading
        let (isRight, wasSet) = state.withLock { state in
            switch state {
            case .doubted: return (false, false)
            case .configured: return (true, false)
            case .found(let found):
                if Self.isSame(reading.lead, found) { return (true, false) }
                state = .doubted
                return (false, true)
            }
        }
        if wasSet { doubts.raise() }
        return isRight ? reading : nil
    }

    /// Notes how the clock was judged.
    /// - Parameter lead: how far it was ahead of the monotonic clock when it was.
    package func judge(_ trust: ClockTrust?, lead: Int64) {
        state.withLock { state in
            state =
                switch trust {
                case nil: .doubted
                case .configured: .configured
                case .synchronized, .unchanged, .realTimeClock: .found(lead: lead)
                }
        }
    }

    /// Whether two leads differ by no more than a leap second.
    package static func isSame(_ left: Int64, _ right: Int64) -> Bool {
        let (difference, overflow) = left.subtractingReportingOverflow(right)
        return !overflow && difference.magnitude <= UInt64(tolerance)
    }
}
