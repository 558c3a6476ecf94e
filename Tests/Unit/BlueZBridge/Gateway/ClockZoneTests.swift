import PeripheralSimulator
import QueueTestSupport
import TestSupport
import Testing

@testable import IngestCore
@testable import IngestPeripherals
@testable import IngestReading
@testable import IngestRecords

/// Clocks that do not say their zone, of devices whose readings may. Whatever comes on a link, and in whatever order, a
/// right clock stays right and a wrong one is reported. The gateway is in UTC.
@Suite(.timeLimit(.minutes(10)))
struct ClockZoneTests {
    private static let inIndia: Int64 = 19_800
    /// Write Request (Core Specification Vol 3 Part F 3.4.5.1) of Current Time.
    private static func setsClock(_ pdu: LinkTrace.PDU) -> Bool {
        pdu.isFromGateway && pdu.bytes.first == 0x12 && pdu.bytes.count == 3 + 10
    }

    private func withCuff(
        _ readings: [(plain: [UInt8], enhanced: [UInt8])], ahead: Int64 = inIndia,
        clock policy: AllowedPeripheral.ClockPolicy = .set, quirks: [PeripheralModel.Quirk] = [],
        _ body: (GatewayBench) async throws -> Void
    ) async throws {
        var setup = GatewayBench.Setup(
            peripheral: { loop, _ in
                SimulatedPeripheral(
                    device: DeviceAddress(RadioBench.pinned, .random), sensor: EnhancedCuff(readings),
                    loop: loop, time: { GatewayBench.deviceTime })
            }, profile: "blood-pressure")
        setup.entry.clock = policy
        setup.quirks = quirks
        try await GatewayBench.run(setup) { bench in
            await show(ahead: ahead, bench)
            try await body(bench)
        }
    }

    /// The device's clock is so many seconds ahead of UTC.
    private func show(ahead: Int64, _ bench: GatewayBench) async {
        let right = bench.clock.wallNanoseconds / 1_000_000_000
        await bench.peripheral.show(
            SimulatedClock(0x2A2B, in: 0x1805, lead: right + ahead - GatewayBench.deviceTime.wallSeconds))
    }

    /// By how much the device's clock is ahead of UTC, in seconds.
    private func ahead(_ bench: GatewayBench) async throws -> Int64 {
        let lead = try #require(await bench.peripheral.shownClock?.lead)
        return GatewayBench.deviceTime.wallSeconds + lead - bench.clock.wallNanoseconds / 1_000_000_000
    }

    private func isAhead(_ seconds: Int64, _ bench: GatewayBench) async throws -> Bool {
        (-60...60).contains(try await ahead(bench) - seconds)
    }

    // MARK: What comes first says no zone

    enum Opening: CaseIterable {
        case cutOff, withoutZone, withoutNumber

        var reading: (plain: [UInt8], enhanced: [UInt8]) {
            var reading = EnhancedCuffTests.inIndia(EnhancedCuffTests.reading(3))
            switch self {
            case .cutOff: reading.enhanced = Array(reading.enhanced.prefix(5))
            case .withoutZone: reading = EnhancedCuffTests.reading(3)
            // NaN (IEEE 11073-20601 SFLOAT), three times.
            case .withoutNumber:
                reading.enhanced.replaceSubrange(1..<7, with: [0xFF, 0x07, 0xFF, 0x07, 0xFF, 0x07])
            }
            return reading
        }
    }

    @Test(arguments: Opening.allCases, [true, false])
    func aClockIsRightInItsOwnZoneWhateverCameBefore(opening: Opening, isOnOneLink: Bool) async throws {
        let good = EnhancedCuffTests.inIndia(EnhancedCuffTests.reading(4))
        try await withCuff(isOnOneLink ? [opening.reading, good] : [opening.reading]) { bench in
            try await bench.readOnce()
            if !isOnOneLink {
                await bench.peripheral.change(EnhancedCuff.self) { $0.measure(good) }
                try await bench.readAgain()
            }
            #expect(try await isAhead(Self.inIndia, bench))
            guard isOnOneLink else { return }
            // 09:04 UTC, as it says itself.
            let time = try #require(bench.noted.releases.all.flatMap(\.records).last?.time)
            #expect(time.source == .device)
            #expect(time.value.hasPrefix("2026-11-20T14:3"))
            #expect(time.value.hasSuffix("+05:30"))
        }
    }

    /// Its right clock was about to be set in the gateway's zone when it hung up.
    @Test func aRightClockIsNotToldOfBecauseTheLinkBrokeAsItWasSet() async throws {
        var write: Int?
        // The first run tells where the clock is set; in the second that ends the link.
        for isDropped in [false, true] {
            try await withCuff([EnhancedCuffTests.reading(3)]) { bench in
                guard isDropped else {
                    try await bench.readOnce()
                    let trace = try #require(await bench.peripheral.traces.first)
                    write = trace.pdus.firstIndex(where: Self.setsClock)
                    return
                }
                await bench.peripheral.script([.dropping(after: try #require(write) + 1)])
                await bench.readUntilDropped()
                await bench.pause()
                #expect(bench.count(of: "clock-skew") == 0)
            }
        }
    }

    // MARK: Not between the commit and the confirmation

    /// A link that ended there would bring the reading again, and nothing would tell that it is the same.
    @Test func theClockIsNotSoughtBeforeTheConfirmationOfAReadingWithoutADate() async throws {
        let dated = EnhancedCuffTests.reading(3)
        let undated = [0x00] + dated.enhanced[1..<7]
        try await withCuff([(dated.plain, undated)], clock: .observe) { bench in
            try await bench.readOnce()
            try await expectConfirmationAtOnce(bench)
        }
    }

    /// Another value with a date that was there before: the clock stands, 20 min behind, and the date names nothing.
    @Test func theClockIsNotSetBeforeTheConfirmationOfAReadingWithADateThatStands() async throws {
        let first = EnhancedCuffTests.inIndia(EnhancedCuffTests.reading(3))
        try await withCuff([first]) { bench in
            try await bench.readOnce()
            var next = first
            next.enhanced[1] += 1
            await show(ahead: Self.inIndia - 1_200, bench)
            await bench.peripheral.change(EnhancedCuff.self) { [next] in $0.measure(next) }
            try await bench.readAgain()
            try await expectConfirmationAtOnce(bench)
            #expect(await bench.peripheral.shownClock?.timesSet == 1)
        }
    }

    private func expectConfirmationAtOnce(_ bench: GatewayBench) async throws {
        let trace = try #require(await bench.peripheral.traces.last)
        let confirmation = try #require(trace.pdusToConfirmation)
        let before = trace.pdus[confirmation - 2]
        // Handle Value Indication (Core Specification Vol 3 Part F 3.4.7.2).
        #expect(!before.isFromGateway && before.bytes.first == 0x1D)
    }

    // MARK: Readings of two zones on a link

    /// A wrong clock, and readings of before and after the device was carried into the gateway's zone.
    struct Journey: CustomTestStringConvertible {
        let testDescription: String
        /// By how much the clock's UTC is ahead, in seconds.
        let skew: Int64
        /// How long ago they were measured, and in which zone, in seconds.
        let readings: [(ago: Int64, offset: Int64)]
        var clock = AllowedPeripheral.ClockPolicy.observe
    }

    @Test(arguments: [
        Journey(
            testDescription: "a year ahead", skew: 31_536_000, readings: [(86_400, -3_600), (60, 0)]),
        Journey(
            testDescription: "a year ahead, the newest first", skew: 31_536_000,
            readings: [(60, 0), (86_400, -3_600)]),
        Journey(
            testDescription: "a year ahead, to be set", skew: 31_536_000,
            readings: [(86_400, -3_600), (60, 0)],
            clock: .set),
        Journey(
            testDescription: "three hours ahead", skew: 10_800, readings: [(7_200, 3_600), (60, 0)]),
        Journey(
            testDescription: "three hours behind", skew: -10_800, readings: [(7_200, 3_600), (60, 0)]),
        Journey(
            testDescription: "two hours ahead, to be set", skew: 7_200, readings: [(3_000, 3_600), (60, 0)],
            clock: .set),
        Journey(
            testDescription: "two hours ahead, to be set, the newest first", skew: 7_200,
            readings: [(60, 0), (3_000, 3_600)], clock: .set),
    ])
    func theNewestReadingSaysTheZoneOfAWrongClock(_ journey: Journey) async throws {
        try await withCuff([], ahead: journey.skew, clock: journey.clock) { bench in
            let now = bench.clock.wallNanoseconds / 1_000_000_000
            for (place, said) in journey.readings.enumerated() {
                var reading = EnhancedCuffTests.inIndia(EnhancedCuffTests.reading(UInt8(place)))
                let bytes = { (seconds: Int64) in
                    (0..<4).map { UInt8(truncatingIfNeeded: seconds >> (8 * $0)) }
                }
                let stamp = now - said.ago + journey.skew - 946_684_800
                reading.enhanced.replaceSubrange(7..., with: bytes(stamp) + bytes(stamp + said.offset))
                await bench.peripheral.change(EnhancedCuff.self) { [reading] in $0.measure(reading) }
            }
            try await bench.readOnce()
            let records = bench.noted.releases.all.flatMap(\.records)
            try #require(records.count == journey.readings.count)
            for (record, said) in zip(records, journey.readings) {
                let content = try #require(RecordContent(json: record.json))
                #expect(content.timeSource == .device)
                #expect((-5...5).contains(content.time - (now - said.ago)), "\(record.time.value)")
                #expect(content.utcOffsetSeconds == Int(said.offset))
            }
            #expect(try await isAhead(journey.clock == .set ? 0 : journey.skew, bench))
            #expect(bench.count(of: "clock-skew") == 1)
        }
    }

    // MARK: Times that are not believed

    /// At 09:14:00 UTC.
    private static func observation(
        flags: UInt8, source: UInt8 = 6, quartersAhead: UInt8, value: Int32 = 97
    ) -> HealthSensor.Observation {
        let seconds = UInt64(1_795_166_040 - 946_684_800)
        var observation = HealthSensor.Observation.numeric(
            type: 150_456, unit: 544, value: value, seconds: seconds)
        observation.body[9] = flags
        observation.body[16] = source
        observation.body[17] = quartersAhead
        return observation
    }

    /// UTC with an offset, in seconds, of a clock that was set since: by hand, eight hours ahead.
    private static let notCurrent = observation(flags: 0x12, source: 4, quartersAhead: 32)

    private func withSensor(
        _ observations: [HealthSensor.Observation], ahead: Int64, _ body: (GatewayBench) async throws -> Void
    ) async throws {
        try await GatewayBench.run(sensor: HealthSensor(observations), as: "generic-health-sensor") { bench in
            await show(ahead: ahead, bench)
            try await body(bench)
        }
    }

    @Test func aTimeThatIsNotBelievedDoesNotSayTheZone() async throws {
        try await withSensor([Self.notCurrent], ahead: 0) { bench in
            try await bench.readOnce()
            let record = try #require(bench.noted.releases.all.flatMap(\.records).first)
            #expect(record.flags.contains(Reading.notCurrentTimeFlag))
            #expect(bench.count(of: "clock-skew") == 0)
        }
    }

    /// A sensor whose believed times say none need not be waited for.
    @Test func aTimeThatIsNotBelievedDoesNotShowThatReadingsSayTheirZone() async throws {
        try await withSensor([Self.notCurrent], ahead: 1_800) { bench in
            try await bench.readOnce()
            // Local time on the current timeline, without an offset.
            let next = Self.observation(flags: 0x20, quartersAhead: 0)
            await bench.peripheral.change(HealthSensor.self) { $0.add(next) }
            try await bench.readAgain()
            #expect(bench.noted.committed.all.count == 2)
            #expect(bench.count(of: "clock-skew") == 1)
        }
    }

    // MARK: Models that expect their clock to be set

    /// Its second link breaks between the clock, which is read first then, and the reading.
    @Test func aModelThatExpectsItsClockAndIsOnlyObservedIsNotToldOfWithoutAReading() async throws {
        let reading = EnhancedCuffTests.inIndia(EnhancedCuffTests.reading(3))
        try await withCuff([reading], clock: .observe, quirks: [.expectsClock]) { bench in
            try await bench.readOnce()
            let next = EnhancedCuffTests.inIndia(EnhancedCuffTests.reading(4))
            await bench.peripheral.change(EnhancedCuff.self) { $0.measure(next) }
            // Clock and its value, subscription and its answer.
            await bench.peripheral.script([.dropping(after: 4)])
            await bench.pause()
            await bench.readUntilDropped()
            #expect(bench.noted.committed.all.count == 1)
            #expect(bench.count(of: "clock-skew") == 0)
        }
    }

    /// It measures after that, and takes the gateway's wall time for that of its own zone.
    @Test func whatAModelMeasuresAfterItsClockWasSetIsDatedByThat() async throws {
        try await withCuff([], quirks: [.expectsClock]) { bench in
            let now = bench.clock.wallNanoseconds / 1_000_000_000
            var reading = EnhancedCuffTests.inIndia(EnhancedCuffTests.reading(3))
            let stamp = { (seconds: Int64) in (0..<4).map { UInt8(truncatingIfNeeded: seconds >> (8 * $0)) } }
            let shown = now - 946_684_800
            reading.enhanced.replaceSubrange(7..., with: stamp(shown - Self.inIndia) + stamp(shown))
            await bench.peripheral.change(EnhancedCuff.self) { [reading] in $0.measure(reading) }
            try await bench.readOnce()
            let time = try #require(bench.noted.releases.all.flatMap(\.records).first?.time)
            #expect(time.source == .device)
            #expect(time.value.hasPrefix("2026-11-20T14:45:0"))
            #expect(time.value.hasSuffix("+05:30"))
        }
    }
}
