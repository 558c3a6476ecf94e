/// Makes records of what devices send: identity, time and subject (docs/records.md). Pure; the clocks
/// are the caller's.
package struct RecordFactory: Sendable {
    /// When a payload came.
    package struct Reception: Sendable, Equatable {
        package var instant: MonotonicInstant
        /// The gateway's wall clock at that moment, in nanoseconds since 1970-01-01T00:00:00Z; nil while
        /// it is not known to be right.
        package var wallNanoseconds: Int64?

        package init(instant: MonotonicInstant, wallNanoseconds: Int64?) {
            self.instant = instant
            self.wallNanoseconds = wallNanoseconds
        }
    }

    package let gateway: String
    private let localZone: LocalZone
    /// As /proc/sys/kernel/random/boot_id writes it: lower case with dashes.
    package let bootID: String
    package let isSimulated: Bool

    package init(gateway: String, zone: LocalZone, bootID: String, isSimulated: Bool) {
        self.gateway = gateway
        localZone = zone
        self.bootID = bootID
        self.isSimulated = isSimulated
    }

    package init(gateway: String, zone: TimeZoneRules, bootID: String, isSimulated: Bool) {
        self.init(gateway: gateway, zone: LocalZone(zone), bootID: bootID, isSimulated: isSimulated)
    }

    /// The gateway's zone, as its rules are now.
    package var zone: TimeZoneRules { localZone.rules }

    /// How a reading came, and what is known around it.
    package struct Circumstances: Sendable, Equatable {
        /// How it came.
        package enum Way: Sendable, Equatable, Codable {
            /// By itself, when it was measured or soon after.
            case live
            /// Reported from the device's memory.
            /// - Parameter isFirstTransfer: whether that memory was never read to its end before.
            case stored(isFirstTransfer: Bool)
        }

        package var way: Way
        /// The device's clock, where it was compared with the gateway's on this link.
        package var clock: ClockObservation?
        /// The same, where it was read and could not be compared.
        package var shownClock: DeviceClockReading?
        /// The wall time that the payload counts from and does not hold.
        package var base: DeviceTime?
        /// When it was by the device's counter, where the device does not know that wall time.
        package var count: RecordDating.Count?
        /// Since when device and users are known. Nil: always.
        package var firstSeen: FirstSeen?
        /// Whether the payload's date, if it has one, names the reading. Its time follows from the date all the same.
        package var dateNames: Bool
        /// The payload that names a reading with a date; nil: the one that came.
        package var named: RawPayload?

        package init(
            way: Way = .live, clock: ClockObservation? = nil, shownClock: DeviceClockReading? = nil,
            base: DeviceTime? = nil, count: RecordDating.Count? = nil, firstSeen: FirstSeen? = nil,
            dateNames: Bool = true,
            named: RawPayload? = nil
        ) {
            self.way = way
            self.clock = clock
            self.shownClock = shownClock
            self.base = base
            self.count = count
            self.firstSeen = firstSeen
            self.dateNames = dateNames
            self.named = named
        }
    }

    /// What a record is made of, so that it can be made again when more is known.
    package struct Basis: Sendable {
        package var reading: Reading?
        package var raw: RawPayload
        package var reception: Reception
        package var circumstances: Circumstances

        package init(
            reading: Reading?, raw: RawPayload, reception: Reception, circumstances: Circumstances
        ) {
            self.reading = reading
            self.raw = raw
            self.reception = reception
            self.circumstances = circumstances
        }

        package func product(
            by factory: RecordFactory, subjects: AssignedSubjects, device: DeviceBlock
        ) -> Product {
            factory.make(
                reading, raw: raw, reception: reception, subjects: subjects, device: device,
                circumstances: circumstances)
        }
    }

    /// A record, and what decides whether it is kept.
    package struct Product: Sendable {
        package var record: Record
        /// Whether the payload names its moment, so that the id alone decides whether two are the
        /// same.
        package var isIdentified: Bool
        /// When it was measured by the device's clock, in seconds since 1970; nil where that is not
        /// known or not believed.
        package var measured: Int64?
        /// Whether it is from before the gateway knew the device.
        package var isHistorical: Bool { record.stage == .historical }
    }

    /// The record of one payload. Without the wall time of its reception, what that decides stays open
    /// (`Record.dating`).
    /// - Parameter reading: what the payload says; nil for one that could not be decoded, which
    ///   becomes a record of kind `undecoded`.
    /// - Parameter device: with the device's identity address.
    package func make(
        _ reading: Reading?, raw: RawPayload, reception: Reception, subjects: AssignedSubjects,
        device: DeviceBlock, circumstances: Circumstances = Circumstances()
    ) -> Product {
        let dating = dating(of: reading, reception.instant, circumstances, subjects: subjects, device: device)
        let decision = reception.wallNanoseconds.map { wall in
            let time = BootTime(bootID: bootID, wallNanoseconds: wall, at: reception.instant)
            return dating.decide(by: time, in: zone)
        }
        let distinction: RecordIdentity.Distinction =
            if let base = circumstances.base, reading != nil {
                .base(base)
            } else if reading?.hasDate == true, circumstances.dateNames {
                .dateInPayload
            } else {
                .reception(bootID: bootID, reception.instant)
            }
        let isIdentified =
            if case .reception = distinction { false } else { true }
        let record = Record(
            id: RecordIdentity.id(
                address: device.address,
                raw: distinction == .dateInPayload ? circumstances.named ?? raw : raw,
                distinction: distinction),
            kind: reading?.kind ?? .undecoded,
            stage: decision?.stage ?? .live, time: decision?.time ?? .undecided(device: dating.device),
            measurements: reading?.measurements ?? [],
            flags: (reading?.flags ?? []) + (isSkipped(dating) ? [Reading.skippedTimeFlag] : []),
            sequence: reading?.sequence, user: reading?.user, subject: decision?.subject,
            device: device, gateway: gateway, raw: raw, isSimulated: isSimulated,
            dating: decision == nil ? dating : nil)
        return Product(record: record, isIdentified: isIdentified, measured: decision?.measured)
    }

    /// What decides the record's time but for the gateway's clock.
    private func dating(
        of reading: Reading?, _ instant: MonotonicInstant, _ circumstances: Circumstances,
        subjects: AssignedSubjects, device: DeviceBlock
    ) -> RecordDating {
        let firstSeen = circumstances.firstSeen ?? .always(subjects)
        let assignment = reading.flatMap { self.assignment(of: $0, subjects, device: device) }
        let isComparable = reading?.isOfEarlierTimeline != true
        return RecordDating(
            reception: .boot(id: bootID, instant: instant), way: circumstances.way,
            device: reading?.localDeviceTime(in: zone),
            isDeviceDoubtful: reading?.isTimeDoubtful == true
                ? true : nil,
            instant: reading?.instant(in: zone),
            isUTC: reading?.isUTC == true ? true : nil, deviceOffset: reading?.utcOffsetSeconds,
            count: circumstances.count, clock: isComparable ? circumstances.clock : nil,
            shownClock: isComparable ? circumstances.shownClock : nil,
            deviceKnown: firstSeen.device, subject: assignment?.subject,
            subjectSince: assignment.flatMap { assignment in
                subjects.since.flatMap(midnight).map(NotedMoment.wall)
                    ?? firstSeen.subjects[assignment.slot]
            })
    }

    /// Whether the clocks of the gateway's zone were put forward over this wall time.
    private func isSkipped(_ dating: RecordDating) -> Bool {
        guard let device = dating.device, dating.instant == nil,
            case .skipped = zone.offset(atWall: device.wallSeconds)
        else { return false }
        return true
    }

    /// Whom the allow-list names for a reading; nil is nobody. An entry without an address stands for
    /// any device of its model, and so for no person.
    private func assignment(
        of reading: Reading, _ subjects: AssignedSubjects, device: DeviceBlock
    ) -> (slot: Int?, subject: String)? {
        guard subjects.address == device.address, !reading.isOfNobody else { return nil }
        return subjects.assignment(of: reading)
    }

    /// When a day begins in the gateway's zone, in seconds since 1970.
    private func midnight(_ date: String) -> Int64? {
        let parts = date.split(separator: "-").compactMap { Int($0) }
        guard parts.count == 3 else { return nil }
        let time = DeviceTime(
            year: parts[0], month: parts[1], day: parts[2], hours: 0, minutes: 0, seconds: 0)
        guard time.isPossible else { return nil }
        let wall = time.wallSeconds
        return switch zone.offset(atWall: wall) {
        case .only(let offset), .skipped(let offset): wall - Int64(offset)
        // The later midnight leaves an hour to nobody rather than to the wrong person.
        case .repeated(_, let second): wall - Int64(second)
        }
    }
}

extension Reading {
    /// Whether the payload holds a date that exists, and so a moment of its own.
    package var hasDate: Bool { deviceTime?.isPossible ?? false }

    /// The device's wall clock with its own offset applied, or the gateway's zone where the device
    /// tells UTC alone; nil when there is no full date, when the offset leads out of the calendar, or is
    /// more than its field can say.
    package func localDeviceTime(in zone: TimeZoneRules) -> DeviceTime? {
        guard let deviceTime, deviceTime.isPossible, !flags.contains(where: Self.unknownOffsetFlags.contains)
        else { return nil }
        guard let instant = instant(in: zone) else {
            return DeviceTime(wallSeconds: deviceTime.wallSeconds + Int64(boundedOffsetMinutes) * 60)
        }
        return DeviceTime(wallSeconds: instant + Int64(utcOffsetSeconds ?? zone.offset(at: instant)))
    }

    /// When it was, in seconds since 1970, where that does not depend on what the gateway's zone makes of the device's wall
    /// time: the device tells UTC, or its own offset from it. For continuous glucose, so many minutes after the session's
    /// start, whatever the clocks were set to in between.
    package func instant(in zone: TimeZoneRules) -> Int64? {
        guard let deviceTime, deviceTime.isPossible else { return nil }
        let wall = deviceTime.wallSeconds
        let base: Int64
        if let utcOffsetSeconds {
            base = wall - Int64(utcOffsetSeconds)
        } else if flags.contains(Self.utcTimeFlag) {
            base = wall
        } else if kind == .continuousGlucose {
            switch zone.offset(atWall: wall) {
            case .only(let offset), .skipped(let offset), .repeated(let offset, _):
                base = wall - Int64(offset)
            }
        } else {
            return nil
        }
        return base + Int64(kind == .continuousGlucose ? max(boundedOffsetMinutes, 0) : boundedOffsetMinutes)
            * 60
    }

    /// The widest offset is that of continuous glucose, an unsigned 16-bit number of minutes.
    private var boundedOffsetMinutes: Int { min(max(timeOffsetMinutes ?? 0, -32_768), 65_535) }
}
