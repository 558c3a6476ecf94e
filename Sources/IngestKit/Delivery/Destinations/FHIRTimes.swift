import IngestRecords

/// When a record's values were measured, and what the device's clock showed, in FHIR's terms.
struct FHIRTimes {
    enum Effective: Equatable {
        case moment(String)
        /// Without a beginning: it was measured then or earlier.
        case period(start: String?, end: String)
    }

    /// What the gateway's clock and the device's showed at one moment.
    struct Clock: Equatable {
        let gateway: String
        /// Nil where it is not known, or makes no sense.
        let device: String?
    }

    let effective: Effective
    private let start: (time: Int64, offset: Int)
    /// Where a time that the device gave was corrected or not believed.
    let clock: Clock?
    /// Seconds from 2000-01-01T00:00:00 on the device's clock, where the device gave them and they count.
    let deviceSeconds: Int64?

    init(_ record: RecordContent) {
        let offset = Self.offset(record.utcOffsetSeconds)
        effective = Self.effective(record)
        start = (record.time, offset)
        deviceSeconds = Self.deviceSeconds(record)
        guard let device = record.deviceTime,
            record.timeSource != .device
                || record.clockOffsetSeconds != nil && device.wallSeconds != record.time + Int64(offset)
        else {
            clock = nil
            return
        }
        clock = Clock(
            gateway: ReadingTime.text(record.receivedSeconds, offset: offset),
            device: record.clockOffsetSeconds.map {
                ReadingTime.text(record.receivedSeconds + Int64($0), offset: offset)
            })
    }

    /// The period of what began at the record's time and took so long; nil where that is not known, or it took none.
    func effective(lasting seconds: Int64) -> Effective? {
        guard case .moment(let moment) = effective, (1...31_622_400).contains(seconds) else { return nil }
        return .period(start: moment, end: ReadingTime.text(start.time + seconds, offset: start.offset))
    }

    /// FHIR's dateTime has no zone beyond 14 h from UTC; the clock of a device can say one. Its moments are in UTC then.
    private static func offset(_ seconds: Int) -> Int {
        (-50_400...50_400).contains(seconds) ? seconds : 0
    }

    private static func effective(_ record: RecordContent) -> Effective {
        let offset = Self.offset(record.utcOffsetSeconds)
        let moment = ReadingTime.text(record.time, offset: offset)
        if record.timeSource == .unknown { return .period(start: nil, end: moment) }
        if let end = record.end {
            return .period(
                start: moment,
                end: ReadingTime.text(
                    end, offset: Self.offset(record.endUTCOffsetSeconds ?? record.utcOffsetSeconds)))
        }
        guard let duration = record.values.first(where: { $0.type == "measurement-duration" })?.number,
            let (seconds, fraction) = parts(duration), seconds > 0 || !fraction.isEmpty
        else { return .moment(moment) }
        if record.timeSource == .device {
            let end = ReadingTime.text(record.time + seconds, offset: offset)
            // Behind the seconds.
            let parted = fraction.isEmpty ? end : end.prefix(19) + "." + fraction + end.dropFirst(19)
            return .period(start: moment, end: parted)
        }
        // It came when it ended, which is known to the second.
        let start = record.time - seconds - (fraction.isEmpty ? 0 : 1)
        return .period(start: ReadingTime.text(start, offset: offset), end: moment)
    }

    /// Whole seconds, up to a year, and the digits of a fraction that is not zero.
    private static func parts(_ duration: String) -> (seconds: Int64, fraction: String)? {
        let parts = duration.split(separator: ".", maxSplits: 1)
        guard let whole = parts.first, let seconds = Int64(whole), (0...31_622_400).contains(seconds) else {
            return nil
        }
        let fraction = parts.count == 2 ? String(parts[1]) : ""
        return (seconds, fraction.allSatisfy { $0 == "0" } ? "" : fraction)
    }

    /// 2000-01-01T00:00:00 in seconds since 1970.
    private static let guideEpoch: Int64 = 946_684_800
    /// Characteristics whose times a record does not have as they were sent: the resolution and the zone of a health
    /// sensor's are left out, and those of continuous glucose are computed.
    private static let withoutRawTime: Set = ["2B8B", "2BDD", "2AA7"]

    private static func deviceSeconds(_ record: RecordContent) -> Int64? {
        // A Time Stamp in UTC is shown in the gateway's zone, and would be another at another gateway.
        guard record.timeSource == .device, !withoutRawTime.contains(record.characteristic),
            !record.flags.contains(Reading.utcTimeFlag)
        else { return nil }
        return record.deviceTime.map { $0.wallSeconds - guideEpoch }
    }
}
