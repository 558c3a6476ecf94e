import FoundationEssentials
import TestSupport
import Testing

@testable import IngestCore
@testable import IngestRecords

/// Records that came while the gateway's clock was not known to be right, decided when it is.
@Suite struct RecordDatingTests {
    private static let boot = "3b0f7c1e-8f0e-4c0a-9d37-5b1a6f0c2d11"
    /// 2026-11-20T09:15:04Z, when the reading came; an hour after the boot.
    private static let received: Int64 = 1_795_166_104
    private static let start = received - 3_600
    private static let hour: Int64 = 3_600
    private static let zone = TimeZoneRules(firstOffset: 3_600, transitions: [], later: nil)

    private static func instant(_ seconds: Int64) -> MonotonicInstant {
        MonotonicInstant(nanoseconds: UInt64(seconds) * 1_000_000_000)
    }

    private static func record(
        _ reading: Reading?, way: RecordFactory.Circumstances.Way, known: Int64?, since: Int64?,
        wall: Int64?
    ) -> Record {
        let factory = RecordFactory(gateway: "g", zone: zone, bootID: boot, isSimulated: false)
        return factory.make(
            reading, raw: RawPayload(characteristic: 0x2A35, bytes: SampleCuff.dated),
            reception: .init(instant: instant(hour), wallNanoseconds: wall.map { $0 * 1_000_000_000 }),
            subjects: SampleCuff.entry(subject: "patient-17").subjects,
            device: DeviceBlock(peripheralID: 1001, address: SampleCuff.address, alias: nil),
            circumstances: .init(
                way: way, firstSeen: FirstSeen(device: known, subjects: since.map { [nil: $0] } ?? [:]))
        ).record
    }

    /// - Parameter age: seconds by the device's clock, which shows the gateway's zone.
    private static func reading(age: Int64?) -> Reading? {
        let time = age.flatMap { DeviceTime(wallSeconds: received + hour - $0) }
        return Reading(kind: .bloodPressure, deviceTime: time)
    }

    private static let readings: [Reading?] = [
        nil, reading(age: nil), reading(age: 0), reading(age: 7_200), reading(age: -300), reading(age: -301),
        reading(age: 900_000_000),
    ]

    @Test(arguments: [
        RecordFactory.Circumstances.Way.live, .stored(isFirstTransfer: true), .stored(isFirstTransfer: false),
    ])
    func inTheSameBootARecordIsAsIfTheClockHadBeenRightThen(way: RecordFactory.Circumstances.Way) throws {
        for reading in Self.readings {
            for (known, since) in [(nil, nil), (Self.received - Self.hour, Self.received - 60)] {
                let expected = Self.record(reading, way: way, known: known, since: since, wall: Self.received)
                let waiting = Self.record(reading, way: way, known: known, since: since, wall: nil)
                #expect(waiting.id == expected.id && expected.dating == nil)
                #expect(waiting.subject == nil && waiting.time.source == .unknown)
                let dating = try #require(waiting.dating)
                // Noticed 90 s later.
                let time = BootTime(
                    bootID: Self.boot, wallNanoseconds: (Self.received + 90) * 1_000_000_000,
                    at: Self.instant(Self.hour + 90))
                let decision = dating.decide(by: time, in: Self.zone)
                #expect(decision.time == expected.time)
                #expect(decision.stage == expected.stage && decision.subject == expected.subject)
                #expect(
                    waiting.text.filled(stage: decision.stage, time: decision.time, subject: decision.subject)
                        == expected.json)
            }
        }
    }

    /// The device's clock was read 5 s after the reading came, while nothing said that the gateway's is
    /// right.
    @Test(
        arguments: [
            // By how much it is ahead of the wall time in the gateway's zone, in seconds.
            0, 3_600, -172_800, -848_480_940, 400 * 86_400,
        ] as [Int64])
    func aClockThatWasShownMeanwhileIsComparedWhenTheTimeIsKnown(lead: Int64) throws {
        let read = Self.received + 5
        let shown = try #require(DeviceTime(wallSeconds: read + Self.hour + lead))
        let device = try #require(DeviceTime(wallSeconds: Self.received + Self.hour + lead - 600))
        let compared = ReadingTime(zone: Self.zone, received: Self.received).decide(
            device: device, way: .live, clock: ClockObservation(shown, at: read, in: Self.zone))
        #expect(compared.time.clockOffsetSeconds == Int(lead))
        #expect(compared.measured == Self.received - 600)
        var dating = try #require(
            Self.record(Self.reading(age: nil), way: .live, known: nil, since: nil, wall: nil).dating)
        dating.device = device
        dating.shownClock = DeviceClockReading(
            time: shown, moment: .boot(id: Self.boot, instant: Self.instant(Self.hour + 5)))
        // Noticed 90 s later, by a process that was started meanwhile.
        let stored = try JSONDecoder().decode(RecordDating.self, from: try JSONEncoder().encode(dating))
        let time = BootTime(
            bootID: Self.boot, wallNanoseconds: (Self.received + 90) * 1_000_000_000,
            at: Self.instant(Self.hour + 90))
        #expect(stored.decide(by: time, in: Self.zone).time == compared.time)
        // After another boot nothing tells when the clock was read.
        let later = BootTime(
            bootID: "another", wallNanoseconds: (Self.received + 90_000) * 1_000_000_000,
            at: Self.instant(60))
        #expect(stored.decide(by: later, in: Self.zone).time.clockOffsetSeconds == nil)
    }

    /// By the counter of a device that does not know the time, which was read 5 s after the reading came.
    @Test(arguments: [(0, 5), (300, -295), (-60, 65), (200_000, -199_995)] as [(Int64, Int64)])
    func aCounterDatesInItsOwnBootAlone(age: Int64, distance: Int64) throws {
        var dating = try #require(
            Self.record(
                Self.reading(age: nil), way: .stored(isFirstTransfer: false), known: nil, since: nil,
                wall: nil
            )
            .dating)
        #expect(dating.device == nil)
        dating.count = .init(moment: .boot(id: Self.boot, instant: Self.instant(Self.hour + 5)), age: age)
        let stored = try JSONDecoder().decode(RecordDating.self, from: try JSONEncoder().encode(dating))
        let time = BootTime(
            bootID: Self.boot, wallNanoseconds: (Self.received + 90) * 1_000_000_000,
            at: Self.instant(Self.hour + 90))
        let decision = stored.decide(by: time, in: Self.zone)
        #expect(decision.time.source == .device && decision.measured == Self.received + distance)
        let later = BootTime(
            bootID: "another", wallNanoseconds: (Self.received + 90_000) * 1_000_000_000, at: Self.instant(60)
        )
        #expect(stored.decide(by: later, in: Self.zone).time.source == .unknown)
    }

    @Test func whatAnEarlierVersionKeptIsUnderstood() throws {
        let stored = #"""
            {"clock":{"offsetSeconds":3600,"zoneOffsetSeconds":0},
             "device":{"day":20,"hours":10,"minutes":14,"month":11,"seconds":57,"year":2026},
             "deviceKnown":{"wall":{"_0":1795000000}},
             "reception":{"boot":{"id":"boot-1","instant":{"nanoseconds":1000000000000}}},
             "subject":"patient-17","way":{"live":{}}}
            """#
        let dating = try JSONDecoder().decode(RecordDating.self, from: Data(stored.utf8))
        #expect(dating.shownClock == nil)
        #expect(dating.clock == ClockObservation(offsetSeconds: 3_600, zoneOffsetSeconds: 0))
        #expect(dating.reception == .boot(id: "boot-1", instant: Self.instant(1_000)))
        #expect(dating.subject == "patient-17" && dating.way == .live)
    }

    struct Earlier: Sendable, CustomTestStringConvertible {
        let testDescription: String
        /// By the device's clock, in seconds before the boot that knows the time.
        var age: Int64?
        var way = RecordFactory.Circumstances.Way.live
        var since: NotedMoment? = .wall(received - 1_000_000)
        let value: String
        let source: RecordTime.Source
        let subject: String?
        var stage = Record.Stage.live
    }

    /// The boot that knows the time began at 2026-11-20T08:15:04Z.
    @Test(arguments: [
        // It was measured when it came, under the allow-list of that time.
        Earlier(
            testDescription: "live without a date", value: "2026-11-20T09:15:04+01:00", source: .unknown,
            subject: "patient-17"),
        Earlier(
            testDescription: "live, dated", age: 600, value: "2026-11-20T09:05:04+01:00", source: .device,
            subject: "patient-17"),
        Earlier(
            testDescription: "dated to the last second before", age: 0,
            value: "2026-11-20T09:15:04+01:00", source: .device, subject: "patient-17"),
        Earlier(
            testDescription: "dated to later than it can have come", age: -1,
            value: "2026-11-20T09:15:04+01:00", source: .unknown, subject: "patient-17"),
        Earlier(
            testDescription: "stored, without a date", way: .stored(isFirstTransfer: false),
            value: "2026-11-20T09:15:04+01:00", source: .unknown, subject: nil),
        Earlier(
            testDescription: "stored, dated", age: 600, way: .stored(isFirstTransfer: false),
            value: "2026-11-20T09:05:04+01:00", source: .device, subject: "patient-17"),
        // Since when the device is this person's is known as little.
        Earlier(
            testDescription: "dated, of a person who came in the same boot", age: 600,
            since: .boot(id: boot, instant: instant(1)), value: "2026-11-20T09:05:04+01:00", source: .device,
            subject: nil, stage: .historical),
        Earlier(
            testDescription: "from before the person had the device", age: 2_000_000,
            value: "2026-10-28T05:41:44+01:00", source: .device, subject: nil, stage: .historical),
    ])
    func ofAnEarlierBootTheReceptionIsAnUpperBound(_ example: Earlier) throws {
        let base = Self.start + Self.hour
        var dating = try #require(
            Self.record(Self.reading(age: nil), way: example.way, known: nil, since: nil, wall: nil).dating)
        dating.device = example.age.flatMap { DeviceTime(wallSeconds: Self.start + Self.hour - $0) }
        dating.deviceKnown = example.since
        dating.subjectSince = example.since
        dating.subject = "patient-17"
        let time = BootTime(
            bootID: "another", wallNanoseconds: base * 1_000_000_000, at: Self.instant(Self.hour))
        let decision = dating.decide(by: time, in: Self.zone)
        #expect(decision.time.value == example.value)
        #expect(decision.time.source == example.source)
        #expect(decision.time.received == "2026-11-20T08:15:04Z")
        #expect(decision.subject == example.subject)
        #expect(decision.stage == example.stage)
    }
}
