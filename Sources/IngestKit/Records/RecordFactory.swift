/// Makes records of what live links bring: identity, time and subject (docs/records.md). Pure; the
/// clocks are the caller's.
public struct RecordFactory: Sendable {
    /// When a payload came.
    public struct Reception: Sendable, Equatable {
        public var instant: MonotonicInstant
        /// The gateway's wall clock at that moment, in nanoseconds since 1970-01-01T00:00:00Z.
        public var wallNanoseconds: Int64

        public init(instant: MonotonicInstant, wallNanoseconds: Int64) {
            self.instant = instant
            self.wallNanoseconds = wallNanoseconds
        }
    }

    public let gateway: String
    public let zone: TimeZoneRules
    /// As /proc/sys/kernel/random/boot_id writes it: lower case with dashes.
    public let bootID: String
    public let isSimulated: Bool

    public init(gateway: String, zone: TimeZoneRules, bootID: String, isSimulated: Bool) {
        self.gateway = gateway
        self.zone = zone
        self.bootID = bootID
        self.isSimulated = isSimulated
    }

    /// A live record of one payload.
    /// - Parameter reading: what the payload says; nil for one that could not be decoded, which
    ///   becomes a record of kind `undecoded`.
    /// - Parameter device: with the device's identity address.
    /// - Parameter clockOffsetSeconds: how far the device's clock is ahead of ours, where it was
    ///   read on this link.
    /// - Returns: The record, and whether its payload holds a full date, so that the id alone
    ///   decides whether two are the same.
    public func make(
        _ reading: Reading?, raw: RawPayload, reception: Reception, entry: AllowedPeripheral,
        device: DeviceBlock, clockOffsetSeconds: Int? = nil
    ) -> (record: Record, isIdentified: Bool) {
        let deviceTime = reading?.localDeviceTime
        let isIdentified = deviceTime != nil
        let id = RecordIdentity.id(
            address: device.address, raw: raw,
            distinction: isIdentified
                ? .dateInPayload : .reception(bootID: bootID, reception.instant))
        let time = LiveTime(zone: zone, received: reception.wallSeconds)
            .recordTime(device: deviceTime, clockOffsetSeconds: clockOffsetSeconds)
        let record = Record(
            id: id, kind: reading?.kind ?? .undecoded, stage: .live, time: time,
            measurements: reading?.measurements ?? [], flags: reading?.flags ?? [],
            sequence: reading?.sequence, user: reading?.user,
            subject: reading.flatMap { subject(of: $0, entry: entry, device: device) },
            device: device, gateway: gateway, raw: raw, isSimulated: isSimulated)
        return (record, isIdentified)
    }

    /// Whom a reading belongs to; nil is nobody. An entry without an address stands for any device
    /// of its model, and so for no person.
    private func subject(
        of reading: Reading, entry: AllowedPeripheral, device: DeviceBlock
    ) -> String? {
        guard entry.address == device.address, !reading.flags.contains(Reading.unknownUserFlag) else {
            return nil
        }
        if let subject = entry.subject { return subject }
        return reading.user.flatMap { entry.users[$0] }
    }
}

extension RecordFactory.Reception {
    /// Whole seconds, rounded down.
    fileprivate var wallSeconds: Int64 {
        let seconds = wallNanoseconds / 1_000_000_000
        return wallNanoseconds % 1_000_000_000 < 0 ? seconds - 1 : seconds
    }
}

extension Reading {
    /// The device's wall clock with its own offset applied; nil when there is no full date, or the
    /// offset leads out of the calendar.
    fileprivate var localDeviceTime: DeviceTime? {
        guard let deviceTime, deviceTime.isPossible else { return nil }
        // The Time Offset field is a signed 16-bit number of minutes.
        let offset = Int64(Int16(clamping: timeOffsetMinutes ?? 0)) * 60
        return DeviceTime(wallSeconds: deviceTime.wallSeconds + offset)
    }
}
