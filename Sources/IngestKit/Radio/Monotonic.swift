/// A moment on the clock that no step of the system time moves and that goes on in suspend
/// (CLOCK_BOOTTIME), in nanoseconds since the boot. Comparable within one boot only.
public struct MonotonicInstant: Hashable, Comparable, Sendable, Codable {
    public let nanoseconds: UInt64

    public init(nanoseconds: UInt64) {
        self.nanoseconds = nanoseconds
    }

    public static func < (left: Self, right: Self) -> Bool {
        left.nanoseconds < right.nanoseconds
    }

    /// Later by `duration`; a result before the boot or past the range is held at the end of it.
    public static func + (instant: Self, duration: Duration) -> Self {
        let (seconds, attoseconds) = duration.components
        let (whole, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        let step = overflow ? (seconds < 0 ? .min : .max) : whole
        let sum = Int64(clamping: instant.nanoseconds)
            .addingReportingOverflow(step.addingReportingOverflow(attoseconds / 1_000_000_000).partialValue)
        if sum.overflow { return Self(nanoseconds: step < 0 ? 0 : UInt64(Int64.max)) }
        return Self(nanoseconds: UInt64(max(0, sum.partialValue)))
    }

    /// How long after `other` this is; negative if it is before it.
    public func since(_ other: Self) -> Duration {
        .nanoseconds(Int64(clamping: nanoseconds) - Int64(clamping: other.nanoseconds))
    }
}

/// The time that the domain lives by: the real clocks in the daemon, a driven one in tests.
public protocol GatewayClock: Sendable {
    /// The monotonic time now.
    var now: MonotonicInstant { get }
    /// The system's wall clock now, in nanoseconds since 1970-01-01T00:00:00Z. It may step, and may
    /// never have been set.
    var wallNanoseconds: Int64 { get }
    /// The same while it is known to be right; nil otherwise. A clock that nobody judges is right.
    var trustedWallNanoseconds: Int64? { get }
    /// Returns at `deadline` or later; throws `CancellationError` when the task is cancelled.
    func sleep(until deadline: MonotonicInstant) async throws
}

extension GatewayClock {
    public var trustedWallNanoseconds: Int64? { wallNanoseconds }

    /// What the wall clock showed, or would have shown, at `instant` of this boot, in nanoseconds since
    /// 1970; nil while it is not known to be right.
    public func trustedWallNanoseconds(at instant: MonotonicInstant) -> Int64? {
        trustedWallNanoseconds.map { $0 - Int64(now.since(instant) / .nanoseconds(1)) }
    }

    /// Returns when `duration` has passed.
    public func sleep(for duration: Duration) async throws {
        try await sleep(until: now + duration)
    }
}
