/// A moment on the clock that no step of the system time moves and that goes on in suspend
/// (CLOCK_BOOTTIME), in nanoseconds since the boot. Comparable within one boot only.
package struct MonotonicInstant: Hashable, Comparable, Sendable, Codable {
    package let nanoseconds: UInt64

    package init(nanoseconds: UInt64) {
        self.nanoseconds = nanoseconds
    }

    package static func < (left: Self, right: Self) -> Bool {
        left.nanoseconds < right.nanoseconds
    }

    /// Later by `duration`; a result before the boot or past the range is held at the end of it.
    package static func + (instant: Self, duration: Duration) -> Self {
        let (seconds, attoseconds) = duration.components
        let (whole, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        let step = overflow ? (seconds < 0 ? .min : .max) : whole
        let sum = Int64(clamping: instant.nanoseconds)
            .addingReportingOverflow(step.addingReportingOverflow(attoseconds / 1_000_000_000).partialValue)
        if sum.overflow { return Self(nanoseconds: step < 0 ? 0 : UInt64(Int64.max)) }
        return Self(nanoseconds: UInt64(max(0, sum.partialValue)))
    }

    /// How long after `other` this is; negative if it is before it.
    package func since(_ other: Self) -> Duration {
        .nanoseconds(nanoseconds(since: other))
    }

    fileprivate func nanoseconds(since other: Self) -> Int64 {
        Int64(clamping: nanoseconds) - Int64(clamping: other.nanoseconds)
    }
}

/// Moments of the wall clock in nanoseconds since 1970. They reach from 1677-09-21 to 2262-04-11. A moment beyond that is
/// held at the end of the range.
extension Int64 {
    package init(nanosecondsOfSeconds seconds: Double) {
        let nanoseconds = seconds * 1_000_000_000
        // 2^63 is the first number that is too large.
        self = nanoseconds >= 0x1p63 ? .max : nanoseconds < -0x1p63 ? .min : Int64(nanoseconds)
    }

    package init(nanosecondsOfSeconds seconds: Int64) {
        let (product, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        self = overflow ? (seconds < 0 ? .min : .max) : product
    }

    package func heldMinus(_ other: Int64) -> Int64 {
        let (difference, overflow) = subtractingReportingOverflow(other)
        return overflow ? (self < 0 ? .min : .max) : difference
    }
}

/// What both clocks showed at one moment.
package struct ClockReading: Sendable, Equatable {
    /// A thread that was stopped for longer between its looks looks again.
    private static let longestGap = Duration.milliseconds(1)
    /// Of so many looks the best counts, on a machine that stops the thread each time.
    private static let mostLooks = 10

    package var instant: MonotonicInstant
    /// In nanoseconds since 1970-01-01T00:00:00Z.
    package var wallNanoseconds: Int64

    package init(instant: MonotonicInstant, wallNanoseconds: Int64) {
        self.instant = instant
        self.wallNanoseconds = wallNanoseconds
    }

    /// Looks at the monotonic clock before and after the wall clock, because a busy machine may stop the thread for
    /// seconds between two looks, and a record's time would be wrong by as much.
    package init(monotonic: () -> MonotonicInstant, wall: () -> Int64) {
        var best: (reading: Self, gap: Duration)?
        for _ in 0..<Self.mostLooks {
            let before = monotonic()
            let wall = wall()
            let gap = monotonic().since(before)
            if gap < best?.gap ?? .seconds(Int64.max) {
                best = (Self(instant: before, wallNanoseconds: wall), gap)
            }
            if gap <= Self.longestGap { break }
        }
        self = best?.reading ?? Self(instant: monotonic(), wallNanoseconds: wall())
    }

    /// What the wall clock showed, or would have shown, at `instant` of this boot, in nanoseconds since 1970.
    package func wallNanoseconds(at instant: MonotonicInstant) -> Int64 {
        wallNanoseconds.heldMinus(self.instant.nanoseconds(since: instant))
    }

    /// How far the wall clock is ahead of the monotonic clock, in nanoseconds.
    package var lead: Int64 {
        let (lead, overflow) = wallNanoseconds.subtractingReportingOverflow(
            Int64(clamping: instant.nanoseconds))
        return overflow ? .min : lead
    }
}

/// The time that the domain lives by: the real clocks in the daemon, a driven one in tests.
package protocol GatewayClock: Sendable {
    /// The monotonic time now.
    var now: MonotonicInstant { get }
    /// The system's wall clock now, in nanoseconds since 1970-01-01T00:00:00Z. It may step, and may
    /// never have been set.
    var wallNanoseconds: Int64 { get }
    /// Both clocks at one moment.
    var reading: ClockReading { get }
    /// The same while the wall clock is known to be right; nil otherwise. A clock that nobody judges is right.
    var trustedReading: ClockReading? { get }
    /// Returns at `deadline` or later; throws `CancellationError` when the task is cancelled.
    func sleep(until deadline: MonotonicInstant) async throws
}

extension GatewayClock {
    package var reading: ClockReading { ClockReading(instant: now, wallNanoseconds: wallNanoseconds) }
    package var trustedReading: ClockReading? { reading }

    /// The wall clock while it is known to be right, in nanoseconds since 1970; nil otherwise.
    package var trustedWallNanoseconds: Int64? { trustedReading?.wallNanoseconds }

    /// What the wall clock showed, or would have shown, at `instant` of this boot, in nanoseconds since
    /// 1970; nil while it is not known to be right.
    package func trustedWallNanoseconds(at instant: MonotonicInstant) -> Int64? {
        trustedReading?.wallNanoseconds(at: instant)
    }

    /// Returns when `duration` has passed.
    package func sleep(for duration: Duration) async throws {
        try await sleep(until: now + duration)
    }
}
