import TestSupport
import Testing

@testable import IngestCore
@testable import IngestRecords

/// The table of docs/records.md, "How the time is decided": what each kind of device clock makes of a
/// cuff's reading, sent live or out of its memory, its clock read on the link or not, in London.
@Suite struct DeviceClockTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        /// Year, month, day, hours, minutes, seconds, as sent.
        let date: [Int]
        /// Seconds since 1970.
        let received: Int64
        let live: String
        let stored: String
        /// What stands in `time.device`.
        let device: String?
        var isInvalid = false
    }

    /// 2026-11-20T09:15:04Z.
    private static let november: Int64 = 1_795_166_104
    private static let unbelieved = (
        live: "2026-11-20T09:15:04+00:00 received", stored: "2026-11-20T09:15:04+00:00 unknown"
    )

    @Test(arguments: [
        Case(
            testDescription: "right", date: [2026, 11, 20, 9, 14, 57], received: november,
            live: "2026-11-20T09:14:57+00:00 device", stored: "2026-11-20T09:14:57+00:00 device",
            device: "2026-11-20T09:14:57"),
        Case(
            testDescription: "5 min ahead", date: [2026, 11, 20, 9, 20, 4], received: november,
            live: "2026-11-20T09:20:04+00:00 device", stored: "2026-11-20T09:20:04+00:00 device",
            device: "2026-11-20T09:20:04"),
        Case(
            testDescription: "a second more", date: [2026, 11, 20, 9, 20, 5], received: november,
            live: unbelieved.live, stored: unbelieved.stored, device: "2026-11-20T09:20:05"),
        Case(
            testDescription: "never set: 2000", date: [2000, 1, 1, 0, 3, 12], received: november,
            live: unbelieved.live, stored: unbelieved.stored, device: "2000-01-01T00:03:12"),
        Case(
            testDescription: "the last second of 2009", date: [2009, 12, 31, 23, 59, 59], received: november,
            live: unbelieved.live, stored: unbelieved.stored, device: "2009-12-31T23:59:59"),
        Case(
            testDescription: "the first of 2010", date: [2010, 1, 1, 0, 0, 0], received: november,
            live: "2010-01-01T00:00:00+00:00 device", stored: "2010-01-01T00:00:00+00:00 device",
            device: "2010-01-01T00:00:00"),
        Case(
            testDescription: "year unknown", date: [0, 11, 20, 9, 14, 57], received: november,
            live: unbelieved.live, stored: unbelieved.stored, device: nil),
        Case(
            testDescription: "month unknown", date: [2026, 0, 20, 9, 14, 57], received: november,
            live: unbelieved.live, stored: unbelieved.stored, device: nil),
        Case(
            testDescription: "day unknown", date: [2026, 11, 0, 9, 14, 57], received: november,
            live: unbelieved.live, stored: unbelieved.stored, device: nil),
        Case(
            testDescription: "31 April", date: [2026, 4, 31, 9, 14, 57], received: november,
            live: unbelieved.live, stored: unbelieved.stored, device: nil, isInvalid: true),
        Case(
            testDescription: "29 February of no leap year", date: [2027, 2, 29, 9, 14, 57],
            received: november, live: unbelieved.live, stored: unbelieved.stored, device: nil,
            isInvalid: true),
        Case(
            testDescription: "hour 24", date: [2026, 11, 19, 24, 0, 0], received: november,
            live: unbelieved.live, stored: unbelieved.stored, device: nil, isInvalid: true),
        Case(
            testDescription: "29 February 2028", date: [2028, 2, 29, 12, 0, 0], received: 1_835_438_410,
            live: "2028-02-29T12:00:00+00:00 device", stored: "2028-02-29T12:00:00+00:00 device",
            device: "2028-02-29T12:00:00"),
        Case(
            testDescription: "an hour that occurs twice, after the second", date: [2026, 10, 25, 1, 30, 0],
            received: 1_792_891_860, live: "2026-10-25T01:30:00+00:00 device",
            stored: "2026-10-25T01:30:00+01:00 device", device: "2026-10-25T01:30:00"),
        Case(
            testDescription: "an hour that occurs twice, after the first", date: [2026, 10, 25, 1, 30, 0],
            received: 1_792_888_260, live: "2026-10-25T01:30:00+01:00 device",
            stored: "2026-10-25T01:30:00+01:00 device", device: "2026-10-25T01:30:00"),
        Case(
            testDescription: "an hour that never occurs", date: [2026, 3, 29, 1, 30, 0],
            received: 1_774_747_860, live: "2026-03-29T01:30:00+00:00 device",
            stored: "2026-03-29T01:30:00+00:00 device", device: "2026-03-29T01:30:00"),
    ])
    func eachClockHasADefinedResult(_ example: Case) throws {
        let rule = try #require(PosixTimeZone(Array("GMT0BST,M3.5.0/1,M10.5.0".utf8)))
        let factory = RecordFactory(
            gateway: "g", zone: TimeZoneRules(firstOffset: 0, transitions: [], later: rule), bootID: "boot",
            isSimulated: false)
        let year = UInt16(example.date[0])
        let bytes: [UInt8] =
            // Time stamp present; 128, 82, 97 mmHg.
            [0x02, 128, 0, 82, 0, 97, 0, UInt8(year & 0xFF), UInt8(year >> 8)]
            + example.date.dropFirst().map { UInt8($0) }
        let reading = try Profiles.decode(characteristic: 0x2A35, bytes: bytes)
        #expect(reading.flags == (example.isInvalid ? ["device-time-invalid"] : []))
        // It was measured 7 s before it came, and before the clock was read.
        let shown = reading.localDeviceTime(in: factory.zone).flatMap {
            DeviceTime(wallSeconds: $0.wallSeconds + 7)
        }
        let clock = shown.map { ClockObservation($0, at: example.received, in: factory.zone) }
        let measured = example.received - 7
        let corrected = "\(ReadingTime.text(measured, offset: factory.zone.offset(at: measured))) device"
        for (way, clock, expected) in [
            (RecordFactory.Circumstances.Way.live, nil, example.live),
            (.live, clock, clock == nil ? example.live : corrected),
            (.stored(isFirstTransfer: false), nil, example.stored),
            (.stored(isFirstTransfer: false), clock, example.stored),
        ] {
            let time = factory.make(
                reading, raw: RawPayload(characteristic: 0x2A35, bytes: bytes),
                reception: .init(
                    instant: MonotonicInstant(nanoseconds: 1),
                    wallNanoseconds: example.received * 1_000_000_000),
                subjects: SampleCuff.entry().subjects,
                device: DeviceBlock(peripheralID: 1001, address: SampleCuff.address, alias: nil),
                circumstances: .init(way: way, clock: clock)
            ).record.time
            #expect("\(time.value) \(time.source.rawValue)" == expected)
            #expect(time.device?.description == example.device)
            #expect(time.clockOffsetSeconds == clock?.offsetSeconds)
        }
    }
}
