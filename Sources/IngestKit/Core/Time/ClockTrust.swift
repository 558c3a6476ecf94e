/// Why the system's wall clock is taken as right.
package enum ClockTrust: String, Sendable, Hashable {
    /// `gateway.trust_clock` says so.
    case configured
    /// It is synchronised over the network.
    case synchronized
    /// It was found right in this boot, and was not set since.
    case unchanged
    /// A real-time clock kept the time.
    case realTimeClock
}

/// What speaks for the system's wall clock, and against it, at one moment. All times in seconds since
/// 1970-01-01T00:00:00Z.
package struct ClockEvidence: Sendable, Equatable {
    /// How far the system's clock and a real-time clock may differ: the latter may keep any zone's time
    /// (14 h), and is read in whole seconds. One without a battery is out by years.
    static let realTimeClockTolerance: Int64 = 15 * 3_600

    /// What the clock shows.
    package var wall: Int64
    /// Whether `gateway.trust_clock` is set.
    package var isConfigured: Bool
    /// The answer of timedate1's NTPSynchronized; nil where there is none.
    package var isSynchronized: Bool?
    /// Whether it was found right in this boot, by other than its configuration, and was not set since.
    package var isUnchanged: Bool
    /// What each real-time clock shows.
    package var realTimeClocks: [Int64]
    /// When this version was released: no clock that is right shows less.
    package var released: Int64
    /// When the newest record was committed under a clock that was taken as right.
    package var newestRecord: Int64?

    package init(
        wall: Int64, isConfigured: Bool = false, isSynchronized: Bool? = nil, isUnchanged: Bool = false,
        realTimeClocks: [Int64] = [], released: Int64, newestRecord: Int64? = nil
    ) {
        self.wall = wall
        self.isConfigured = isConfigured
        self.isSynchronized = isSynchronized
        self.isUnchanged = isUnchanged
        self.realTimeClocks = realTimeClocks
        self.released = released
        self.newestRecord = newestRecord
    }

    /// The strongest reason to take the clock as right; nil if there is none.
    ///
    /// A real-time clock alone is believed only if the system's clock follows it: systemd sets a clock
    /// that is behind to the last time it knows of, which lies before a power cut.
    package var trust: ClockTrust? {
        if isConfigured { return .configured }
        if isSynchronized == true { return .synchronized }
        if isUnchanged { return .unchanged }
        guard wall > released, wall > newestRecord ?? .min else { return nil }
        let isFollowed = realTimeClocks.contains { time in
            let (difference, overflow) = time.subtractingReportingOverflow(wall)
            return !overflow && difference.magnitude <= Self.realTimeClockTolerance
        }
        return isFollowed ? .realTimeClock : nil
    }
}
