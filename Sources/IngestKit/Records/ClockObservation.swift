/// What a device's clock showed on a link while nothing said that the gateway's own is right, so that
/// the two are compared later.
package struct DeviceClockReading: Sendable, Equatable, Codable {
    /// The wall time that it showed.
    package var time: DeviceTime
    /// By how much that is ahead of UTC, in seconds, where the device says it.
    package var utcOffsetSeconds: Int?
    /// Whether the device shows UTC; nil is no.
    package var isUTC: Bool?
    /// When it did.
    package var moment: NotedMoment

    package init(
        time: DeviceTime, utcOffsetSeconds: Int? = nil, isUTC: Bool? = nil, moment: NotedMoment
    ) {
        self.time = time
        self.isUTC = isUTC
        self.utcOffsetSeconds = utcOffsetSeconds
        self.moment = moment
    }

    /// The comparison, by the gateway's clock as it is known to be now; nil where nothing tells when
    /// the clock was read, since that was in another boot.
    package func observation(by time: BootTime, in zone: TimeZoneRules) -> ClockObservation? {
        guard time.isExact(moment) else { return nil }
        return ClockObservation(
            self.time, utcOffsetSeconds: utcOffsetSeconds, isUTC: isUTC ?? false, at: time.latest(moment),
            in: zone)
    }
}

/// What a device's clock showed on a link, beside the gateway's.
package struct ClockObservation: Sendable, Equatable, Codable {
    /// How far the device's clock was ahead of the wall time in its zone, in seconds.
    package var offsetSeconds: Int
    /// The offset of its zone from UTC at that moment, in seconds: the one that it says, or the gateway's.
    package var zoneOffsetSeconds: Int
    /// Whether the clock itself says how far it is from UTC. Most do not, and may be in another zone than the gateway:
    /// nil.
    package var saysZone: Bool?
    /// When the gateway then set the device's clock, in seconds since 1970; nil if it did not.
    package var wasSet: Int64?

    package init(offsetSeconds: Int, zoneOffsetSeconds: Int, saysZone: Bool? = nil, wasSet: Int64? = nil) {
        self.saysZone = saysZone
        self.offsetSeconds = offsetSeconds
        self.zoneOffsetSeconds = zoneOffsetSeconds
        self.wasSet = wasSet
    }

    /// - Parameters:
    ///   - device: what the device's clock showed.
    ///   - utcOffsetSeconds: by how much that is ahead of UTC, where the device says it.
    ///   - isUTC: whether the device shows UTC, which was moved into the gateway's zone.
    ///   - seconds: the gateway's clock at the same moment, in seconds since 1970.
    package init(
        _ device: DeviceTime, utcOffsetSeconds: Int? = nil, isUTC: Bool = false, at seconds: Int64,
        in zone: TimeZoneRules
    ) {
        let offset = utcOffsetSeconds ?? zone.offset(at: seconds)
        self.init(
            offsetSeconds: Int(device.wallSeconds - seconds - Int64(offset)), zoneOffsetSeconds: offset,
            saysZone: utcOffsetSeconds != nil || isUTC ? true : nil)
    }

    /// The same for a device whose readings say by how much its wall time is ahead of UTC: a clock that does not say it
    /// shows that wall time.
    package func inZone(ofReadings offset: Int?) -> Self {
        guard saysZone != true, let offset else { return self }
        let (distance, overflow) = offsetSeconds.addingReportingOverflow(zoneOffsetSeconds - offset)
        guard !overflow else { return self }
        return Self(offsetSeconds: distance, zoneOffsetSeconds: offset, saysZone: true, wasSet: wasSet)
    }

    /// Zones are at least so far apart, in seconds.
    private static let leastZoneDifference = 900

    /// Whether it says how far the device's UTC is out of step. A clock that does not say its zone may be in another one,
    /// and then its distance from ours says nothing.
    var judgesUTC: Bool { saysZone == true || abs(offsetSeconds) < Self.leastZoneDifference }

    /// How far a clock may be out of step before it is set: many show no seconds.
    package static let toleratedSeconds = 60
    /// From where on an operator is told.
    package static let noticedSeconds = 300

    /// When the clock showed this, in seconds since 1970; nil outside of what can be counted.
    ///
    /// The clock ran on through changes to and from daylight-saving time, as clocks on devices do,
    /// so it is its distance from UTC that counts and not that from the wall time here.
    func instant(of device: DeviceTime) -> Int64? {
        let distance = Int64(offsetSeconds).addingReportingOverflow(Int64(zoneOffsetSeconds))
        let instant = device.wallSeconds.subtractingReportingOverflow(distance.partialValue)
        return distance.overflow || instant.overflow ? nil : instant.partialValue
    }

    /// Whether the reading was dated by a clock that does not say its zone, as the gateway had set it.
    func isSetInOurZone(_ device: DeviceTime, received: Int64) -> Bool {
        saysZone != true && wasSet != nil && !dates(device, received: received)
    }

    /// Whether a reading that came at `received` was dated by the clock as the gateway had set it: its
    /// time, taken as right, lies between the setting and its reception, give or take two seconds.
    /// - Parameter instant: when the reading was by its own words, in seconds since 1970; nil: in the gateway's zone.
    func dates(_ device: DeviceTime, instant: Int64? = nil, received: Int64) -> Bool {
        guard let wasSet else { return true }
        let instant = instant ?? device.wallSeconds - Int64(zoneOffsetSeconds)
        return !(wasSet - 2...max(wasSet, received) + 2).contains(instant)
    }
}
