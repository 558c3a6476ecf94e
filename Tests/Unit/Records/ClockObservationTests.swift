import Testing

@testable import IngestCore
@testable import IngestProfiles
@testable import IngestRecords

@Suite struct ClockObservationTests {
    private static func london() throws -> TimeZoneRules {
        let rule = try #require(PosixTimeZone(Array("GMT0BST,M3.5.0/1,M10.5.0".utf8)))
        return TimeZoneRules(firstOffset: 0, transitions: [], later: rule)
    }

    private static func seconds(
        _ month: Int, _ day: Int, _ hours: Int, _ minutes: Int, year: Int = 2026
    ) -> Int64 {
        DeviceTime(year: year, month: month, day: day, hours: hours, minutes: minutes, seconds: 0).wallSeconds
    }

    /// 17:15 at UTC+8 is no eight hours ahead of 09:14 in London.
    @Test func aClockThatSaysItsOffsetIsComparedByIt() throws {
        let shown = try #require(DeviceTime(wallSeconds: Self.seconds(11, 20, 17, 15)))
        let clock = ClockObservation(
            shown, utcOffsetSeconds: 8 * 3_600, at: Self.seconds(11, 20, 9, 14), in: try Self.london())
        #expect(clock == ClockObservation(offsetSeconds: 60, zoneOffsetSeconds: 8 * 3_600, saysZone: true))
        #expect(clock.instant(of: shown) == Self.seconds(11, 20, 9, 14))
    }

    /// A cuff's clock runs on through the changes to and from daylight-saving time, and sends at 09:00
    /// what it measured in the night.
    @Test(
        arguments: [
            // What it showed at the measurement and shows at the link, the link in UTC, the value.
            (
                "spring, not put forward", seconds(3, 29, 0, 30), seconds(3, 29, 8, 0), seconds(3, 29, 8, 0),
                -3_600, "2026-03-29T00:30:00+00:00"
            ),
            (
                "spring, in the hour that is left out", seconds(3, 29, 1, 30), seconds(3, 29, 8, 0),
                seconds(3, 29, 8, 0), -3_600, "2026-03-29T02:30:00+01:00"
            ),
            (
                "autumn, not put back: the first occurrence", seconds(10, 25, 1, 30), seconds(10, 25, 10, 0),
                seconds(10, 25, 9, 0), 3_600, "2026-10-25T01:30:00+01:00"
            ),
            (
                "autumn, not put back: the second occurrence", seconds(10, 25, 2, 30), seconds(10, 25, 10, 0),
                seconds(10, 25, 9, 0), 3_600, "2026-10-25T01:30:00+00:00"
            ),
            (
                "a leap day", seconds(2, 29, 23, 59, year: 2028), seconds(3, 1, 9, 0, year: 2028),
                seconds(3, 1, 9, 0, year: 2028), 0, "2028-02-29T23:59:00+00:00"
            ),
            (
                "a clock that began at 2000-01-01 with its battery", seconds(1, 1, 0, 5, year: 2000),
                seconds(1, 1, 0, 6, year: 2000), seconds(11, 20, 9, 15), -848_480_940,
                "2026-11-20T09:14:00+00:00"
            ),
        ] as [(String, Int64, Int64, Int64, Int, String)])
    func aLiveReadingIsDatedByTheDistanceOfTheClocks(
        name: String, measured: Int64, shown: Int64, link: Int64, offset: Int, value: String
    ) throws {
        let zone = try Self.london()
        let clock = ClockObservation(try #require(DeviceTime(wallSeconds: shown)), at: link, in: zone)
        #expect(clock.offsetSeconds == offset, "\(name)")
        let decision = ReadingTime(zone: zone, received: link).decide(
            device: DeviceTime(wallSeconds: measured), way: .live, clock: clock)
        #expect(decision.time.value == value, "\(name)")
        #expect(decision.time.source == .device, "\(name)")
        #expect(decision.time.clockOffsetSeconds == offset, "\(name)")
    }

    /// The clock was an hour ahead when it was set at 1 000 000 s after 2026-01-01; the reading came 10 s
    /// later.
    @Test(
        arguments: [
            // The device's time and the moment of the measurement, in seconds from the setting.
            (3_600 - 5, -5), (3_600 - 60, -60), (4, 4), (-2, -2), (12, 12),
            // By the new clock it would have been measured before that was set.
            (-3, -3_603), (13, -3_587),
        ] as [(Int64, Int64)])
    func aReadingAfterTheSettingIsDatedByTheNewClock(device: Int64, measured: Int64) {
        let set = Self.seconds(1, 1, 0, 0) + 1_000_000
        let clock = ClockObservation(offsetSeconds: 3_600, zoneOffsetSeconds: 0, wasSet: set)
        let decision = ReadingTime(zone: .utc, received: set + 10).decide(
            device: DeviceTime(wallSeconds: set + device), way: .live, clock: clock)
        #expect(decision.measured == set + measured)
    }

    @Test(
        arguments: [
            (0x2A2B, [0xEA, 0x07, 11, 21, 20, 15, 9, 6, 128, 2]), (0x2A08, [0xEA, 0x07, 11, 21, 20, 15, 9]),
            (0x2BF2, nil),
        ] as [(UInt16, [UInt8]?)])
    func aClockIsSetWithItsOwnForm(characteristic: UInt16, bytes: [UInt8]?) {
        // A Saturday.
        let time = DeviceTime(year: 2026, month: 11, day: 21, hours: 20, minutes: 15, seconds: 9)
        #expect(
            DeviceClock.setting(BluetoothUUID(characteristic), to: time, nanoseconds: 500_000_000) == bytes)
    }

    @Test func whatIsWrittenIsWhatIsRead() throws {
        let time = DeviceTime(year: 2028, month: 2, day: 29, hours: 23, minutes: 59, seconds: 59)
        for characteristic in [CurrentTime.characteristic, CurrentTime.dateTime] {
            let bytes = try #require(DeviceClock.setting(characteristic, to: time, nanoseconds: 0))
            #expect(try Profiles.decode(characteristic: characteristic, bytes: bytes).deviceTime == time)
        }
    }

    // MARK: A device in another zone than the gateway's

    /// A cuff in India (+05:30) that says its offset, at a gateway in London or in UTC.
    private static let india = 19_800
    /// 2026-11-28T13:52:33Z.
    private static let measured: Int64 = 1_795_873_953

    private static func decide(
        shown lead: Int64 = 0, ahead: Int64 = 0, offset: Int? = india, isUTC: Bool = false,
        wasSet: Int64? = nil, in zone: TimeZoneRules = .utc
    ) throws -> RecordTime {
        let wall = measured + Int64(offset ?? zone.offset(at: measured))
        // The clock is looked at 20 s after the measurement: it shows no zone.
        let looked = measured + 20
        var clock = ClockObservation(
            try #require(DeviceTime(wallSeconds: looked + Int64(india) + lead)), at: looked, in: zone)
        clock.wasSet = wasSet
        return ReadingTime(zone: zone, received: measured + 10).decide(
            device: DeviceTime(wallSeconds: wall + ahead), way: .live, clock: clock,
            instant: measured + ahead, isUTC: isUTC, deviceOffset: offset
        ).time
    }

    @Test func aClockWithoutAZoneIsInTheZoneThatTheReadingSays() throws {
        let right = try Self.decide()
        #expect(right.value == "2026-11-28T19:22:33+05:30" && right.source == .device)
        #expect(right.clockOffsetSeconds == 0)
        // Both are 90 s ahead.
        let ahead = try Self.decide(shown: 90, ahead: 90)
        #expect(ahead.value == right.value && ahead.clockOffsetSeconds == 90)
        let rule = try #require(PosixTimeZone(Array("CET-1CEST,M3.5.0,M10.5.0/3".utf8)))
        let berlin = try Self.decide(in: TimeZoneRules(firstOffset: 3_600, transitions: [], later: rule))
        #expect(berlin.value == right.value && berlin.clockOffsetSeconds == 0)
    }

    /// Of Berlin's clocks, which were put back or forward in the night between reading and link, the device's may or may not
    /// have been. It was measured at 18:00Z, and is read at 09:00Z.
    @Test(
        arguments: [
            // The day of the link, what the reading says, what the clock shows, both in seconds ahead of UTC; the value.
            (10, 25, 7_200, 3_600, "2026-10-24T20:00:00+02:00"),
            (10, 25, 7_200, 7_200, "2026-10-24T20:00:00+02:00"),
            (10, 25, 3_600, 3_600, "2026-10-24T19:00:00+01:00"),
            (10, 25, 19_800, 19_800, "2026-10-24T23:30:00+05:30"),
            (3, 29, 3_600, 7_200, "2026-03-28T19:00:00+01:00"),
            (3, 29, 3_600, 3_600, "2026-03-28T19:00:00+01:00"),
            (3, 29, 19_800, 19_800, "2026-03-28T23:30:00+05:30"),
        ] as [(Int, Int, Int64, Int64, String)], [0, 200] as [Int64])
    func aReadingFromBeforeAChangeOfTheClocksIsNotMovedByIt(
        sample: (month: Int, day: Int, offset: Int64, shown: Int64, value: String), lead: Int64
    ) throws {
        let rule = try #require(PosixTimeZone(Array("CET-1CEST,M3.5.0,M10.5.0/3".utf8)))
        let zone = TimeZoneRules(firstOffset: 3_600, transitions: [], later: rule)
        let now = Self.seconds(sample.month, sample.day, 9, 0)
        let measured = now - 15 * 3_600
        let clock = ClockObservation(
            try #require(DeviceTime(wallSeconds: now + sample.shown + lead)), at: now, in: zone)
        let time = ReadingTime(zone: zone, received: now).decide(
            device: DeviceTime(wallSeconds: measured + sample.offset + lead), way: .live, clock: clock,
            instant: measured + lead, deviceOffset: Int(sample.offset)
        ).time
        #expect(time.value == sample.value && time.clockOffsetSeconds == Int(lead))
    }

    /// Berlin's clocks were changed between what the clock shows and now, and that says nothing.
    @Test(arguments: [-200, 150, -2_000] as [Int64])
    func aClockThatIsDaysOffIsInTheZoneOfItsReadings(days: Int64) throws {
        let rule = try #require(PosixTimeZone(Array("CET-1CEST,M3.5.0,M10.5.0/3".utf8)))
        let zone = TimeZoneRules(firstOffset: 3_600, transitions: [], later: rule)
        let (now, lead) = (Self.seconds(11, 29, 4, 0), days * 86_400)
        let clock = ClockObservation(
            try #require(DeviceTime(wallSeconds: now + 3_600 + lead)), at: now, in: zone)
        let time = ReadingTime(zone: zone, received: now).decide(
            device: DeviceTime(wallSeconds: now - 60 + 3_600 + lead), way: .live, clock: clock,
            instant: now - 60 + lead, deviceOffset: 3_600
        ).time
        #expect(time.value == "2026-11-29T04:59:00+01:00" && time.clockOffsetSeconds == Int(lead))
    }

    /// It may be in any zone, so that its distance of hours says nothing of the device's UTC.
    @Test func aClockWithoutAZoneJudgesUTCOnlyWhereItIsNear() throws {
        let far = try Self.decide(offset: nil, isUTC: true)
        #expect(far.value == "2026-11-28T13:52:33+00:00")
        let near = try Self.decide(shown: 30 - Int64(Self.india), ahead: 30, offset: nil, isUTC: true)
        #expect(near.value == "2026-11-28T13:52:33+00:00" && near.clockOffsetSeconds == 30)
    }

    /// It shows the wall time here from then on, whatever offset the device goes on saying.
    @Test func aClockThatTheGatewaySetIsInTheGatewaysZone() throws {
        let set = Self.measured - 5
        let device = DeviceTime(wallSeconds: Self.measured)
        var clock = ClockObservation(
            try #require(DeviceTime(wallSeconds: set + Int64(Self.india))), at: set, in: .utc)
        clock.wasSet = set
        let time = ReadingTime(zone: .utc, received: Self.measured + 10).decide(
            device: device, way: .live, clock: clock, instant: Self.measured - Int64(Self.india),
            deviceOffset: Self.india
        ).time
        #expect(time.value == "2026-11-28T19:22:33+05:30")
    }
}
