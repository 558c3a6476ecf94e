/// What decides when a reading was taken, whose it is and its stage, but for the gateway's clock. While
/// that is not known to be right it is kept with the record, and decided when it is.
package struct RecordDating: Sendable, Equatable, Codable {
    /// A reading of a device that does not know the time, and counts it all the same.
    package struct Count: Sendable, Equatable, Codable {
        /// When the device's counter was read.
        package var moment: NotedMoment
        /// How long before that the reading was, by the counter, in seconds; negative: after it.
        package var age: Int64

        package init(moment: NotedMoment, age: Int64) {
            self.moment = moment
            self.age = age
        }
    }

    /// What was decided.
    package struct Decision: Equatable {
        package var time: RecordTime
        package var stage: Record.Stage
        package var subject: String?
        /// When it was measured by the device's clock, in seconds since 1970; nil where that is not
        /// known or not believed.
        var measured: Int64?
    }

    /// When it came.
    package var reception: NotedMoment
    var way: RecordFactory.Circumstances.Way
    /// The device's wall clock with its own offset applied.
    package var device: DeviceTime?
    /// Whether the device itself says that its time may be wrong.
    var isDeviceDoubtful: Bool?
    /// The same moment in seconds since 1970, where it is known by other ways than a wall clock in the gateway's zone.
    var instant: Int64?
    /// Whether the device tells UTC alone; nil is no.
    var isUTC: Bool?
    /// By how much the device's wall time is ahead of UTC, in seconds; nil where the device does not say it.
    var deviceOffset: Int?
    /// When it was by the device's counter, where the device does not know the time.
    var count: Count?
    /// The device's clock, where it was compared with the gateway's on the same link.
    var clock: ClockObservation?
    /// The same, where it was read and could not be compared.
    var shownClock: DeviceClockReading?
    /// Since when the device is known; nil where that cannot be told.
    var deviceKnown: NotedMoment?
    /// Whom the allow-list names for it; nil is nobody.
    var subject: String?
    /// Since when the device, or the slot, is theirs; nil where that cannot be told.
    var subjectSince: NotedMoment?

    /// - Parameter time: of the boot in which it is decided.
    package func decide(by time: BootTime, in zone: TimeZoneRules) -> Decision {
        let isExact = time.isExact(reception)
        let counted = count.flatMap { time.isExact($0.moment) ? time.latest($0.moment) - $0.age : nil }
        let decided = ReadingTime(zone: zone, received: time.latest(reception), isReceptionKnown: isExact)
            .decide(
                device: device, way: way == .live ? .live : .stored,
                clock: clock ?? shownClock?.observation(by: time, in: zone), instant: instant,
                isUTC: isUTC ?? false, deviceOffset: deviceOffset, isDoubtful: isDeviceDoubtful ?? false,
                counted: counted)
        return Decision(
            time: decided.time, stage: stage(measured: decided.measured, by: time),
            subject: subject(measured: decided.measured, by: time), measured: decided.measured)
    }

    /// What was measured before the gateway knew the device is historical. A stored reading that
    /// nothing dates is so on the first transfer, and where it cannot be told since when it is known.
    private func stage(measured: Int64?, by time: BootTime) -> Record.Stage {
        switch (measured, deviceKnown.map(time.latest), way) {
        case (let measured?, let known?, _): measured < known ? .historical : .live
        case (_, _, .live): .live
        case (nil, _, .stored(let isFirstTransfer)): isFirstTransfer ? .historical : .live
        case (_, nil, .stored): .historical
        }
    }

    /// What was measured before this person had the device is not theirs, and neither is a stored
    /// reading whose time is not known.
    private func subject(measured: Int64?, by time: BootTime) -> String? {
        guard let measured else { return way == .live ? subject : nil }
        guard let since = subjectSince.map(time.latest) else { return nil }
        return measured >= since ? subject : nil
    }
}

extension RecordTime {
    /// Stands in a record whose time is not decided; it is delivered to nobody.
    static func undecided(device: DeviceTime?) -> RecordTime {
        RecordTime(
            value: "1970-01-01T00:00:00+00:00", source: .unknown, device: device, clockOffsetSeconds: nil,
            received: "1970-01-01T00:00:00Z")
    }
}
