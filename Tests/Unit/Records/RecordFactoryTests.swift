import FoundationEssentials
import TestSupport
import Testing

@testable import IngestCore
@testable import IngestRecords

@Suite struct RecordFactoryTests {
    private static func factory(zone: TimeZoneRules = .utc) -> RecordFactory {
        RecordFactory(
            gateway: "ward-3-box-1", zone: zone, bootID: "3b0f7c1e-8f0e-4c0a-9d37-5b1a6f0c2d11",
            isSimulated: false)
    }

    private static func london() throws -> TimeZoneRules {
        let rule = try #require(PosixTimeZone(Array("GMT0BST,M3.5.0/1,M10.5.0".utf8)))
        return TimeZoneRules(firstOffset: 0, transitions: [], later: rule)
    }

    /// A record of a SampleCuff.address's reading that came at `received`, in seconds since 1970.
    private func make(
        _ reading: Reading?, at received: Int64, zone: TimeZoneRules = .utc, clockOffset: Int? = nil,
        way: RecordFactory.Circumstances.Way = .live, base: DeviceTime? = nil,
        firstSeen: FirstSeen? = nil, entry: AllowedPeripheral = SampleCuff.entry()
    ) -> (record: Record, isIdentified: Bool) {
        let product = Self.factory(zone: zone).make(
            reading, raw: RawPayload(characteristic: 0x2A35, bytes: SampleCuff.dated),
            reception: .init(
                instant: MonotonicInstant(nanoseconds: 734_512_000_000),
                wallNanoseconds: received * 1_000_000_000 + 999_999_999),
            subjects: entry.subjects,
            device: DeviceBlock(
                peripheralID: 1001, address: SampleCuff.address, alias: "kitchen SampleCuff.address"),
            circumstances: RecordFactory.Circumstances(
                way: way,
                clock: clockOffset.map {
                    ClockObservation(
                        offsetSeconds: $0, zoneOffsetSeconds: 0,
                        saysZone: reading?.utcOffsetSeconds == nil ? nil : true)
                },
                base: base, firstSeen: firstSeen))
        return (product.record, product.isIdentified)
    }

    private func reading(at time: DeviceTime?, offset: Int? = nil) -> Reading {
        Reading(kind: .bloodPressure, deviceTime: time, timeOffsetMinutes: offset)
    }

    private func wall(_ seconds: Int64) throws -> DeviceTime {
        try #require(DeviceTime(wallSeconds: seconds))
    }

    /// Reception is at 2026-11-20T09:15:04Z, 1 795 166 104 s.
    @Test(
        arguments: [
            // seconds that the device is ahead, what is known of its clock, value, source
            (-7, nil, "2026-11-20T09:14:57+00:00", "device"),
            (-7, -3, "2026-11-20T09:15:00+00:00", "device"),
            (300, nil, "2026-11-20T09:20:04+00:00", "device"),
            (301, nil, "2026-11-20T09:15:04+00:00", "received"),
            // A clock that is known to be wrong is corrected, however wrong it is.
            (3590, 3600, "2026-11-20T09:14:54+00:00", "device"),
            (-800_000_010, -800_000_000, "2026-11-20T09:14:54+00:00", "device"),
            (-532_862_104, nil, "2010-01-01T00:00:00+00:00", "device"),
            (-532_862_105, nil, "2026-11-20T09:15:04+00:00", "received"),
            (0, Int.min, "2026-11-20T09:15:04+00:00", "received"),
            (0, Int.max, "2026-11-20T09:15:04+00:00", "received"),
        ] as [(Int64, Int?, String, String)])
    func aDeviceTimeIsCorrectedAndBelievedOrNot(
        lead: Int64, clockOffset: Int?, value: String, source: String
    ) throws {
        let device = try wall(1_795_166_104 + lead)
        let (record, isIdentified) = make(reading(at: device), at: 1_795_166_104, clockOffset: clockOffset)
        #expect(record.time.value == value)
        #expect(record.time.source.rawValue == source)
        #expect(record.time.device == device)
        #expect(record.time.clockOffsetSeconds == clockOffset)
        #expect(record.time.received == "2026-11-20T09:15:04Z")
        #expect(isIdentified)
    }

    @Test(
        arguments: [
            // device's wall time, seconds of reception, value
            ("gap", 1_774_747_800 as Int64, 1_774_747_860 as Int64, "2026-03-29T01:30:00+00:00"),
            ("summer", 1_782_867_600, 1_782_864_060, "2026-07-01T01:00:00+01:00"),
            ("first occurrence", 1_792_891_800, 1_792_888_260, "2026-10-25T01:30:00+01:00"),
            ("second occurrence", 1_792_891_800, 1_792_891_860, "2026-10-25T01:30:00+00:00"),
        ] as [(String, Int64, Int64, String)])
    func wallTimesAreReadInTheGatewaysZone(
        name: String, device: Int64, received: Int64, value: String
    ) throws {
        let (record, _) = make(reading(at: try wall(device)), at: received, zone: try Self.london())
        #expect(record.time.source == .device, "\(name)")
        #expect(record.time.value == value, "\(name)")
        #expect(record.flags == (name == "gap" ? ["device-time-skipped"] : []), "\(name)")
    }

    @Test(
        arguments: [RecordFactory.Circumstances.Way.live, .stored(isFirstTransfer: false)],
        [Reading.timeFaultFlag, Reading.notCurrentTimeFlag])
    func aTimeThatTheDeviceDoubtsNamesTheReadingAndDoesNotDateIt(
        way: RecordFactory.Circumstances.Way, flag: String
    ) throws {
        var reading = reading(at: try wall(1_795_166_000))
        reading.flags = [flag]
        let (record, isIdentified) = make(reading, at: 1_795_166_104, way: way)
        #expect(record.time.value == "2026-11-20T09:15:04+00:00")
        #expect(record.time.source == (way == .live ? .received : .unknown))
        #expect(try record.time.device == wall(1_795_166_000))
        #expect(isIdentified)
    }

    /// The gateway is in London. Reception is at 2026-11-20T09:15:04Z.
    @Test(
        arguments: [
            // the device's wall time, offset, flag of UTC alone, seconds that its clock is ahead; value
            ("UTC+8", "2026-11-20T17:14:57", 28_800, false, nil, "2026-11-20T17:14:57+08:00"),
            ("UTC-5", "2026-11-20T04:14:57", -18_000, false, nil, "2026-11-20T04:14:57-05:00"),
            ("corrected", "2026-11-20T18:14:57", 28_800, false, 3_600, "2026-11-20T17:14:57+08:00"),
            ("UTC", "2026-11-20T09:14:57", nil, true, nil, "2026-11-20T09:14:57+00:00"),
            ("summer", "2026-07-01T01:30:00", nil, true, nil, "2026-07-01T02:30:00+01:00"),
            // The hour that occurs twice: 00:30 and 01:30 UTC.
            ("first", "2026-10-25T00:30:00", nil, true, nil, "2026-10-25T01:30:00+01:00"),
            ("second", "2026-10-25T01:30:00", nil, true, nil, "2026-10-25T01:30:00+00:00"),
            // The hour that never occurs in London does elsewhere.
            ("gap", "2026-03-29T01:30:00", -18_000, false, nil, "2026-03-29T01:30:00-05:00"),
        ] as [(String, String, Int?, Bool, Int?, String)], [true, false])
    func theOffsetThatTheDeviceSaysDatesIt(
        sample: (name: String, device: String, offset: Int?, isUTC: Bool, lead: Int?, value: String),
        isStored: Bool
    ) throws {
        // What is stored is not corrected.
        if isStored, sample.lead != nil { return }
        let parts = sample.device.split { "-T:".contains($0) }.compactMap { Int($0) }
        let device = DeviceTime(
            year: parts[0], month: parts[1], day: parts[2], hours: parts[3], minutes: parts[4],
            seconds: parts[5])
        var reading = reading(at: device)
        reading.utcOffsetSeconds = sample.offset
        if sample.isUTC { reading.flags.append(Reading.utcTimeFlag) }
        let (record, _) = make(
            reading, at: 1_795_166_104, zone: try Self.london(), clockOffset: sample.lead,
            way: isStored ? .stored(isFirstTransfer: true) : .live)
        #expect(record.time.source == .device, "\(sample.name)")
        #expect(record.time.value == sample.value, "\(sample.name)")
        #expect(!record.flags.contains("device-time-skipped"), "\(sample.name)")
        if sample.offset != nil { #expect(record.time.device == device) }
    }

    /// The zone's file was replaced while the gateway runs.
    @Test func aRecordIsDatedByTheRulesThatTheDatabaseHasNow() async throws {
        try await withTemporaryDirectory { directory in
            let (file, clock) = (URL(fileURLWithPath: directory + "/zone"), DrivenClock())
            try Data(contentsOf: URL(fileURLWithPath: TimeZoneRules.database + "/Etc/GMT-1")).write(to: file)
            let factory = RecordFactory(
                gateway: "g", zone: LocalZone(.utc, file: file.path, now: { clock.now }), bootID: "boot",
                isSimulated: false)
            func value() -> String {
                factory.make(
                    reading(at: nil), raw: RawPayload(characteristic: 0x2A35, bytes: SampleCuff.dated),
                    reception: .init(instant: clock.now, wallNanoseconds: 1_795_166_104_000_000_000),
                    subjects: SampleCuff.entry().subjects,
                    device: DeviceBlock(peripheralID: 1001, address: SampleCuff.address, alias: nil)
                ).record.time.value
            }
            #expect(value() == "2026-11-20T10:15:04+01:00")
            try Data(contentsOf: URL(fileURLWithPath: TimeZoneRules.database + "/Etc/GMT-2"))
                .write(to: file, options: .atomic)
            clock.advance(by: .seconds(3_600))
            #expect(value() == "2026-11-20T11:15:04+02:00")
        }
    }

    @Test func receptionIsWrittenInTheGatewaysZone() throws {
        let (record, isIdentified) = make(reading(at: nil), at: 1_782_864_000, zone: try Self.london())
        #expect(
            record.time
                == RecordTime(
                    value: "2026-07-01T01:00:00+01:00", source: .received, device: nil,
                    clockOffsetSeconds: nil, received: "2026-07-01T00:00:00Z"))
        #expect(!isIdentified)
    }

    @Test(
        arguments: [
            (20_700, "2026-11-20T15:00:04+05:45"), (-12_600, "2026-11-20T05:45:04-03:30"),
            (-1, "2026-11-20T09:15:04+00:00"),
            // Seconds of an offset cannot be written; the instant stays exact.
            (3_659, "2026-11-20T10:15:04+01:00"),
        ] as [(Int, String)])
    func offsetsAreNumeric(offset: Int, value: String) {
        let zone = TimeZoneRules(firstOffset: offset, transitions: [], later: nil)
        #expect(make(reading(at: nil), at: 1_795_166_104, zone: zone).record.time.value == value)
    }

    @Test func theDevicesOwnOffsetIsApplied() throws {
        let base = try wall(1_795_166_100)
        let record = make(reading(at: base, offset: -5), at: 1_795_166_104).record
        #expect(record.time.device?.description == "2026-11-20T09:10:00")
        #expect(record.time.value == "2026-11-20T09:10:00+00:00")
    }

    /// The network set the device's clock right at the measurement; somebody has put it an hour ahead since.
    @Test func whatAClockShowsThatWasSetSinceDoesNotMoveTheTimeFromBefore() throws {
        var reading = reading(at: try wall(1_795_166_000))
        reading.isOfEarlierTimeline = true
        let time = make(reading, at: 1_795_166_104, clockOffset: 3_600).record.time
        #expect(time.value == "2026-11-20T09:13:20+00:00" && time.source == .device)
        #expect(time.clockOffsetSeconds == nil)
    }

    @Test(arguments: ["time-offset-overrun", "time-offset-underrun"])
    func anOffsetBeyondItsFieldLeavesTheMomentUnknownAndTheNameAsItIs(flag: String) throws {
        var reading = Reading(kind: .glucose, deviceTime: try wall(1_795_166_000), sequence: 7)
        reading.flags = [flag]
        let (record, isIdentified) = make(reading, at: 1_795_166_104, way: .stored(isFirstTransfer: false))
        #expect(record.time.source == .unknown && record.time.device == nil)
        // The base time still names it.
        #expect(isIdentified)
    }

    @Test func minutesOfASessionCountThroughAChangeOfTheClocks() throws {
        // London goes back to GMT on 2026-10-25. 8 880 min after 07:00Z on the 20th it is 11:00Z on the
        // 26th, and not what a wall clock that was never put back would show.
        let start = DeviceTime(year: 2026, month: 10, day: 20, hours: 8, minutes: 0, seconds: 0)
        let reading = Reading(kind: .continuousGlucose, deviceTime: start, timeOffsetMinutes: 8_880)
        // 2026-10-26T11:00:00Z.
        let (record, isIdentified) = make(
            reading, at: 1_793_012_400, zone: try Self.london(), way: .stored(isFirstTransfer: false),
            base: start)
        #expect(record.time.value == "2026-10-26T11:00:00+00:00")
        #expect(record.time.source == .device && isIdentified)
    }

    @Test(
        arguments: [
            (6_810, "2026-10-25T01:30:00+01:00"), (6_870, "2026-10-25T01:30:00+00:00"),
            (6_930, "2026-10-25T02:30:00+00:00"),
        ])
    func minutesOfASessionTellTheTwoPassesOfAnHourApart(minutes: Int, value: String) throws {
        let start = DeviceTime(year: 2026, month: 10, day: 20, hours: 8, minutes: 0, seconds: 0)
        let reading = Reading(kind: .continuousGlucose, deviceTime: start, timeOffsetMinutes: minutes)
        let (record, _) = make(
            reading, at: 1_793_012_400, zone: try Self.london(), way: .stored(isFirstTransfer: false),
            base: start)
        #expect(record.time.value == value)
    }

    @Test func aDeviceThatTellsUTCAndNoZoneGetsTheGateways() throws {
        var reading = reading(at: try wall(1_782_864_000))
        reading.flags = ["device-time-utc"]
        let (record, isIdentified) = make(reading, at: 1_782_864_004, zone: try Self.london())
        #expect(record.time.device?.description == "2026-07-01T01:00:00")
        #expect(record.time.value == "2026-07-01T01:00:00+01:00")
        #expect(record.time.source == .device && isIdentified)
    }

    @Test func undecodablePayloadsAreKeptRaw() {
        let entry = SampleCuff.entry(subject: "patient-17")
        let (record, isIdentified) = make(nil, at: 1_795_166_104, entry: entry)
        #expect(record.kind == .undecoded)
        #expect(record.measurements.isEmpty && record.subject == nil)
        #expect(record.time.source == .received)
        #expect(record.raw.bytes == SampleCuff.dated)
        #expect(!isIdentified)
    }

    @Test(
        arguments: [
            (SampleCuff.entry(subject: "patient-17"), nil, [], "patient-17"),
            (SampleCuff.entry(subject: "patient-17"), 2, [], "patient-17"),
            (SampleCuff.entry(subject: "patient-17"), nil, ["unknown-user"], nil),
            (SampleCuff.entry(users: [1: "patient-17", 2: "patient-18"]), 2, [], "patient-18"),
            (SampleCuff.entry(users: [1: "patient-17"]), 3, [], nil),
            (SampleCuff.entry(users: [1: "patient-17"]), nil, [], nil),
            (SampleCuff.entry(), 1, [], nil),
            // Without an address, or with another one, nobody is named.
            (SampleCuff.entry(address: nil, subject: "patient-17"), nil, [], nil),
            (SampleCuff.entry(address: BluetoothAddress(value: 1), subject: "patient-17"), nil, [], nil),
        ] as [(AllowedPeripheral, Int?, [String], String?)])
    func aReadingBelongsToItsSubjectOrToNobody(
        entry: AllowedPeripheral, user: Int?, flags: [String], subject: String?
    ) {
        let reading = Reading(kind: .bloodPressure, user: user, flags: flags)
        #expect(make(reading, at: 1_795_166_104, entry: entry).record.subject == subject)
    }

    @Test func theSameDatedPayloadHasTheSameNameWheneverItComes() throws {
        let reading = try Profiles.decode(characteristic: 0x2A35, bytes: SampleCuff.dated)
        #expect(make(reading, at: 1_795_166_104).record.id == make(reading, at: 1_795_252_504).record.id)
    }
}

/// Whose a reading is, and whether it is from before the gateway's time: what is stored in a device may
/// be of the person who had it before.
@Suite struct StoredReadingTests {
    private static let cuff = SampleCuff.address
    /// 2026-11-20T09:15:04Z.
    private static let received: Int64 = 1_795_166_104
    private static let hour: Int64 = 3_600

    /// - Parameter age: how long before its reception it was measured, in seconds; nil without a date.
    private func record(
        age: Int64?, way: RecordFactory.Circumstances.Way, known: Int64?, since: Int64?,
        subjectSince: String? = nil
    ) -> Record {
        var entry = SampleCuff.entry(subject: "patient-17")
        entry.subjectSince = subjectSince
        let factory = RecordFactory(gateway: "g", zone: .utc, bootID: "boot", isSimulated: false)
        let time = age.flatMap { DeviceTime(wallSeconds: Self.received - $0) }
        return factory.make(
            Reading(kind: .glucose, deviceTime: time, sequence: 7),
            raw: RawPayload(characteristic: 0x2A18, bytes: [0x00]),
            reception: .init(
                instant: MonotonicInstant(nanoseconds: 1), wallNanoseconds: Self.received * 1_000_000_000),
            subjects: entry.subjects,
            device: DeviceBlock(peripheralID: 1000, address: SampleCuff.address, alias: nil),
            circumstances: .init(
                way: way, firstSeen: FirstSeen(device: known, subjects: since.map { [nil: $0] } ?? [:]))
        ).record
    }

    @Test(
        arguments: [
            // age, first transfer, stage, has the subject; the device is known for two hours, its subject
            // has it for one
            (0, true, .live, true),
            (hour, true, .live, true),
            (hour + 1, true, .live, false),
            (2 * hour, false, .live, false),
            (2 * hour + 1, false, .historical, false),
            // five minutes ahead are believed, more are not
            (-300, false, .live, true),
            (-301, false, .live, false),
            (-301, true, .historical, false),
            (nil, true, .historical, false),
            (nil, false, .live, false),
        ] as [(Int64?, Bool, Record.Stage, Bool)])
    func aStoredReadingIsOfWhoHadTheDeviceThen(
        age: Int64?, isFirst: Bool, stage: Record.Stage, hasSubject: Bool
    ) {
        let record = record(
            age: age, way: .stored(isFirstTransfer: isFirst), known: Self.received - 2 * Self.hour,
            since: Self.received - Self.hour)
        #expect(record.stage == stage)
        #expect(record.subject == (hasSubject ? "patient-17" : nil))
    }

    @Test func aLiveReadingFromBeforeIsNobodysEither() {
        let since = Self.received - Self.hour
        #expect(record(age: Self.hour + 1, way: .live, known: since, since: since).subject == nil)
        #expect(record(age: Self.hour + 1, way: .live, known: since, since: since).stage == .historical)
        #expect(record(age: 10, way: .live, known: since, since: since).subject == "patient-17")
        // Without a date it was measured when it came.
        #expect(record(age: nil, way: .live, known: since, since: since).subject == "patient-17")
        #expect(record(age: nil, way: .live, known: since, since: since).stage == .live)
    }

    @Test func whereTheClockCannotTellNothingStoredIsAnybodys() {
        let stored = RecordFactory.Circumstances.Way.stored(isFirstTransfer: false)
        #expect(record(age: 10, way: stored, known: nil, since: nil).subject == nil)
        #expect(record(age: 10, way: stored, known: nil, since: nil).stage == .historical)
        #expect(record(age: nil, way: .live, known: nil, since: nil).subject == "patient-17")
    }

    @Test func theConfiguredDateHolds() {
        let stored = RecordFactory.Circumstances.Way.stored(isFirstTransfer: true)
        // Midnight is 33 304 s before the reception.
        #expect(
            record(age: 33_304, way: stored, known: nil, since: nil, subjectSince: "2026-11-20").subject
                == "patient-17")
        #expect(
            record(age: 33_305, way: stored, known: 0, since: 0, subjectSince: "2026-11-20").subject == nil)
    }

    @Test func aStoredTimeIsNotCorrectedAndAnUnbelievedOneIsAnUpperBound() {
        let reading = ReadingTime(zone: .utc, received: Self.received)
        let device = DeviceTime(wallSeconds: Self.received - 60)
        let clock = ClockObservation(offsetSeconds: 30, zoneOffsetSeconds: 0)
        let stored = reading.decide(device: device, way: .stored, clock: clock)
        #expect(stored.time.value == "2026-11-20T09:14:04+00:00")
        #expect(stored.time.source == .device)
        #expect(
            reading.decide(device: device, way: .live, clock: clock).time.value
                == "2026-11-20T09:13:34+00:00")
        let unknown = reading.decide(device: nil, way: .stored, clock: nil)
        #expect(unknown.time.source == .unknown)
        #expect(unknown.time.value == "2026-11-20T09:15:04+00:00")
    }
}
