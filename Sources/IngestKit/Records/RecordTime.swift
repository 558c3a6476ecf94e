/// When a record's measurement was taken, and how that is known (docs/records.md).
package struct RecordTime: Sendable, Equatable {
    package enum Source: String, Sendable, Codable {
        /// The device's clock.
        case device
        /// Whoever wrote the entry.
        case entered
        /// The program whose export it was in.
        case imported
        /// The moment of reception, for live readings.
        case received
        /// Nothing tells: the value, the moment of reception or the latest that it can have been, is an
        /// upper bound.
        case unknown
    }

    /// ISO 8601 with seconds and a numeric offset from UTC: `2026-11-20T09:15:00+00:00`.
    package var value: String
    package var source: Source
    /// The device's wall clock with its own offset applied.
    package var device: DeviceTime?
    /// By how much the device's clock was ahead of the gateway's, in seconds; nil where it could
    /// not be read.
    package var clockOffsetSeconds: Int?
    /// The moment of reception in UTC, ISO 8601 with seconds: `2026-11-20T09:15:04Z`.
    package var received: String

    package init(
        value: String, source: Source, device: DeviceTime?, clockOffsetSeconds: Int?, received: String
    ) {
        self.value = value
        self.source = source
        self.device = device
        self.clockOffsetSeconds = clockOffsetSeconds
        self.received = received
    }
}

/// Decides the time of a reading that has come.
package struct ReadingTime {
    /// How the reading came.
    enum Way {
        /// Sent when it was measured, or soon after.
        case live
        /// Reported from the device's memory.
        case stored
    }

    /// What was decided.
    struct Decision: Equatable {
        var time: RecordTime
        /// When it was measured by the device's clock, in seconds since 1970; nil where that is not
        /// known or not believed.
        var measured: Int64?
    }

    /// 2010-01-01T00:00:00Z: a clock that says less was never set (`DeviceTime.isOfNoSetClock`).
    package static let earliestBelieved: Int64 = 1_262_304_000
    /// How far ahead of ours a device's clock may be and still be believed.
    static let believedLead: Int64 = 5 * 60

    let zone: TimeZoneRules
    /// Seconds since 1970-01-01T00:00:00Z.
    let received: Int64
    /// Whether `received` is when it came; else it is the latest that it can have come.
    var isReceptionKnown = true

    /// - Parameter device: the device's wall clock with its own offset applied.
    /// - Parameter clock: the device's clock, where it was read on the same link. What is stored may be
    ///   from before the clock was last set, so its time is not corrected.
    /// - Parameter instant: the same moment in seconds since 1970, where it is known by other ways than
    ///   a wall clock in the gateway's zone.
    /// - Parameter isUTC: whether the device tells UTC alone.
    /// - Parameter deviceOffset: the offset from UTC that the device itself says, in seconds.
    /// - Parameter isDoubtful: whether the device itself says that its time may be wrong.
    /// - Parameter counted: when it was by the counter of a device that does not know the time, in seconds since 1970.
    func decide(
        device: DeviceTime?, way: Way, clock observed: ClockObservation?, instant: Int64? = nil,
        isUTC: Bool = false, deviceOffset: Int? = nil, isDoubtful: Bool = false, counted: Int64? = nil
    ) -> Decision {
        let clock = observed.map { inZone($0, ofReadings: deviceOffset, instant) }
        let dated = (isDoubtful ? nil : device).flatMap { device in
            if way == .live, deviceOffset != nil, let observed,
                observed.isSetInOurZone(device, received: received)
            {
                // The device does not know that its clock shows the wall time here now.
                return known(device.wallSeconds - Int64(observed.zoneOffsetSeconds), deviceOffset)
            }
            if way == .live, let clock, clock.dates(device, instant: instant, received: received),
                !isUTC || clock.judgesUTC
            {
                return corrected(device, instant, by: clock, deviceOffset)
            }
            return instant.map { known($0, deviceOffset) } ?? believed(device, way: way)
        }
        let isUnknown = device.map(\.isOfNoSetClock) ?? true
        let measured = dated ?? (isUnknown ? counted : nil).flatMap { known($0, nil) }
        let unmeasured: RecordTime.Source = way == .live && isReceptionKnown ? .received : .unknown
        let moment = measured?.instant ?? received
        let time = RecordTime(
            value: Self.text(moment, offset: measured?.offset ?? zone.offset(at: received)),
            source: measured == nil ? unmeasured : .device, device: device,
            clockOffsetSeconds: clock?.offsetSeconds, received: Self.text(received, offset: nil))
        return Decision(time: time, measured: measured?.instant)
    }

    /// The clock in the zone that the reading says. If the gateway's clocks were changed since the reading, the device's may
    /// have been, too, or not: it was where that shows it nearly right, to half of the change.
    private func inZone(
        _ observed: ClockObservation, ofReadings deviceOffset: Int?, _ instant: Int64?
    ) -> ClockObservation {
        let unchanged = observed.inZone(ofReadings: deviceOffset)
        guard let deviceOffset, let instant, isBelievable(instant) else { return unchanged }
        let change = zone.offset(at: received) - zone.offset(at: instant)
        let changed = observed.inZone(ofReadings: deviceOffset + change)
        return changed.offsetSeconds.magnitude < change.magnitude / 2 ? changed : unchanged
    }

    private func corrected(
        _ device: DeviceTime, _ instant: Int64?, by clock: ClockObservation, _ deviceOffset: Int?
    ) -> (instant: Int64, offset: Int)? {
        guard let corrected = instant.map({ $0 - Int64(clock.offsetSeconds) }) ?? clock.instant(of: device)
        else {
            return nil
        }
        return known(corrected, deviceOffset)
    }

    private func known(_ instant: Int64, _ deviceOffset: Int?) -> (instant: Int64, offset: Int)? {
        isBelievable(instant) ? (instant, deviceOffset ?? zone.offset(at: instant)) : nil
    }

    private func believed(_ device: DeviceTime, way: Way) -> (instant: Int64, offset: Int)? {
        let wall = device.wallSeconds
        let offset =
            switch zone.offset(atWall: wall) {
            case .only(let offset), .skipped(let offset): offset
            case .repeated(let first, let second):
                // A live reading was taken shortly before it came; of a stored one nothing is known,
                // and the earlier moment gives it to nobody rather than to the wrong person.
                way == .live && isReceptionKnown && isBelievable(wall - Int64(second)) ? second : first
            }
        let instant = wall - Int64(offset)
        return isBelievable(instant) ? (instant, offset) : nil
    }

    private func isBelievable(_ instant: Int64) -> Bool {
        // Later than a bound that leaves the device time enough already, no clock can be right.
        instant >= Self.earliestBelieved
            && instant <= received + (isReceptionKnown ? Self.believedLead : 0)
    }

    /// ISO 8601 of seconds since 1970: with an offset from UTC in seconds, or in UTC with `Z`.
    ///
    /// ISO 8601 has no seconds in offsets: one that has some is cut to whole minutes and the wall
    /// time follows it, so that the instant stays exact.
    package static func text(_ instant: Int64, offset: Int?) -> String {
        let minutes = (offset ?? 0) / 60
        // Nanoseconds in 64 bits reach from 1677 to 2262, so that only a driven clock of no known
        // time can fall outside of the calendar.
        let wall = DeviceTime(wallSeconds: instant + Int64(minutes * 60)) ?? .unixEpoch
        var text: [UInt8] = []
        text.reserveCapacity(longestText)
        wall.append(to: &text)
        if offset == nil {
            text.append(UInt8(ascii: "Z"))
        } else {
            text.append(offsetMinutes: minutes)
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// `2026-11-20T09:15:00+00:00`.
    private static let longestText = 25
}

extension DeviceTime {
    fileprivate static let unixEpoch = DeviceTime(
        year: 1970, month: 1, day: 1, hours: 0, minutes: 0, seconds: 0)
}
