import PeripheralSimulator
import TestSupport
import Testing

@testable import IngestCore
@testable import IngestReading
@testable import IngestRecords

/// A cuff that has the characteristics of Blood Pressure Service 1.1.1 beside the plain one.
@Suite(.timeLimit(.minutes(10)))
struct EnhancedCuffTests {
    /// A reading of 138/85 and so many more, 09:00:00 and as many minutes, in both forms.
    static func reading(_ number: UInt8) -> (plain: [UInt8], enhanced: [UInt8]) {
        let pressures: [UInt8] = [138 + number, 0x00, 0x55, 0x00, 0x66, 0x00]
        // 2026-11-20T09:00:00 in seconds since 2000.
        let seconds = UInt32(848_480_400) + 60 * UInt32(number)
        return (
            [0x02] + pressures + [0xEA, 0x07, 11, 20, 9, number, 0],
            [0x42] + pressures + (0..<4).map { UInt8(truncatingIfNeeded: seconds >> (8 * $0)) }
        )
    }

    /// The same with what its display shows, 5 h 30 min ahead of its time stamp.
    static func inIndia(
        _ reading: (plain: [UInt8], enhanced: [UInt8]), ahead offset: UInt32 = 19_800, later: UInt32 = 0
    ) -> (plain: [UInt8], enhanced: [UInt8]) {
        var reading = reading
        reading.enhanced[0] |= 0x20
        let stamp = reading.enhanced[7...].enumerated().reduce(UInt32(0)) {
            $0 | UInt32($1.element) << (8 * $1.offset)
        }
        let bytes = { (seconds: UInt32) in (0..<4).map { UInt8(truncatingIfNeeded: seconds >> (8 * $0)) } }
        reading.enhanced = reading.enhanced[..<7] + bytes(stamp + later) + bytes(stamp + later + offset)
        return reading
    }

    private static func systolic(_ records: [Record]) -> [Int64] {
        records.compactMap { record in
            guard case .exact(let number)? = record.measurements.first?.value else { return nil }
            return number.coefficient
        }
    }

    private func run(_ cuff: EnhancedCuff, _ body: (GatewayBench) async throws -> Void) async throws {
        try await GatewayBench.run(sensor: cuff, as: "blood-pressure", body)
    }

    @Test func theFormThatSaysMoreIsTakenAndTheOtherLeftAlone() async throws {
        try await run(EnhancedCuff([Self.reading(0), Self.reading(1)])) { bench in
            try await bench.readOnce()
            let records = bench.noted.committed.all
            #expect(records.map(\.raw.characteristic) == [0x2B34, 0x2B34])
            #expect(Self.systolic(records) == [138, 139])
            #expect(records.map { $0.time.device?.minutes } == [0, 1])
            #expect(await bench.peripheral.sensor(EnhancedCuff.self).made.isEmpty)
        }
    }

    /// Its clocks are right, in India: Current Time shows the wall time there and does not say so. The gateway is in UTC.
    @Test func aClockWithoutAZoneIsComparedInTheReadingsZone() async throws {
        try await run(EnhancedCuff([Self.inIndia(Self.reading(0))])) { bench in
            let right = bench.clock.wallNanoseconds / 1_000_000_000
            await bench.peripheral.show(
                SimulatedClock(
                    0x2A2B, in: 0x1805,
                    lead: right + 19_800 - GatewayBench.deviceTime.wallSeconds))
            try await bench.readOnce()
            let time = try #require(bench.noted.releases.all.flatMap(\.records).first?.time)
            #expect(time.source == .device && time.value.hasPrefix("2026-11-20T14:3"))
            #expect(time.value.hasSuffix("+05:30"))
            #expect((-5...5).contains(try #require(time.clockOffsetSeconds)))
            #expect(bench.count(of: "clock-skew") == 0)
            // From now on the clock is read before the reading.
            await bench.peripheral.change(EnhancedCuff.self) { $0.measure(Self.inIndia(Self.reading(1))) }
            try await bench.readAgain()
            #expect(bench.noted.committed.all.count == 2)
            #expect(bench.count(of: "clock-skew") == 0)
        }
    }

    /// It was carried to India since its older readings.
    @Test func theNewestReadingOfALinkSaysTheZone() async throws {
        let cuff = EnhancedCuff(
            [Self.inIndia(Self.reading(5))],
            stored: [.init(0, Self.inIndia(Self.reading(0), ahead: 0).enhanced)])
        try await run(cuff) { bench in
            let right = bench.clock.wallNanoseconds / 1_000_000_000
            await bench.peripheral.show(
                SimulatedClock(
                    0x2A2B, in: 0x1805, lead: right + 19_800 - GatewayBench.deviceTime.wallSeconds))
            try await bench.readOnce()
            await bench.peripheral.change(EnhancedCuff.self) { $0.measure(Self.inIndia(Self.reading(6))) }
            try await bench.readAgain()
            #expect(bench.noted.committed.all.count == 3)
            #expect(bench.count(of: "clock-skew") == 0)
        }
    }

    /// The same with both readings live, the older one first, on the device's first link.
    @Test(arguments: [AllowedPeripheral.ClockPolicy.observe, .set])
    func anOlderReadingThatComesFirstDoesNotDecideTheZone(clock: AllowedPeripheral.ClockPolicy) async throws {
        try await GatewayBench.run(
            sensor: EnhancedCuff([Self.inIndia(Self.reading(0), ahead: 0), Self.inIndia(Self.reading(2))]),
            as: "blood-pressure", entry: .init(clock: clock)
        ) { bench in
            let lead =
                bench.clock.wallNanoseconds / 1_000_000_000 + 19_800 - GatewayBench.deviceTime.wallSeconds
            await bench.peripheral.show(SimulatedClock(0x2A2B, in: 0x1805, lead: lead))
            try await bench.readOnce()
            let times = bench.noted.releases.all.flatMap(\.records).map(\.time)
            #expect(times.map { String($0.value.prefix(15)) } == ["2026-11-20T09:0", "2026-11-20T14:3"])
            #expect(times.allSatisfy { (-5...5).contains($0.clockOffsetSeconds ?? .max) })
            #expect(bench.count(of: "clock-skew") == 0)
            let after = try #require(await bench.peripheral.shownClock?.lead)
            #expect((-60...60).contains(after - lead))
        }
    }

    /// Its confirmation was lost: what comes again is known, and says its zone all the same.
    @Test func aReadingThatComesAgainSaysTheZoneToo() async throws {
        let reading = Self.inIndia(Self.reading(0))
        try await run(EnhancedCuff([reading])) { bench in
            let right = bench.clock.wallNanoseconds / 1_000_000_000
            await bench.peripheral.show(
                SimulatedClock(
                    0x2A2B, in: 0x1805, lead: right + 19_800 - GatewayBench.deviceTime.wallSeconds))
            try await bench.readOnce()
            await bench.peripheral.change(EnhancedCuff.self) { $0.measure(reading) }
            try await bench.readAgain()
            #expect(Set(bench.noted.committed.all.map(\.id)).count == 1)
            #expect(bench.count(of: "clock-skew") == 0)
        }
    }

    /// The clock is right, and nothing is known of the device yet: it is not set before a reading says the zone.
    @Test func aRightClockOfAnUnknownDeviceIsLeftAlone() async throws {
        try await GatewayBench.run(
            sensor: EnhancedCuff([Self.inIndia(Self.reading(0))]), as: "blood-pressure",
            entry: .init(clock: .set)
        ) { bench in
            let lead =
                bench.clock.wallNanoseconds / 1_000_000_000 + 19_800 - GatewayBench.deviceTime.wallSeconds
            await bench.peripheral.show(SimulatedClock(0x2A2B, in: 0x1805, lead: lead))
            try await bench.readOnce()
            #expect(await bench.peripheral.shownClock?.timesSet == 0)
            #expect(bench.count(of: "clock-skew") == 0)
        }
    }

    /// It is three hours ahead, in India. The older reading, from before it was carried there, comes last.
    @Test func theNewestReadingIsFoundByAClockThatIsAheadToo() async throws {
        try await GatewayBench.run(
            sensor: EnhancedCuff([
                Self.inIndia(Self.reading(2), later: 10_800),
                Self.inIndia(Self.reading(0), ahead: 0, later: 5_400),
            ]),
            as: "blood-pressure"
        ) { bench in
            let lead =
                bench.clock.wallNanoseconds / 1_000_000_000 + 19_800 + 10_800
                - GatewayBench.deviceTime.wallSeconds
            await bench.peripheral.show(SimulatedClock(0x2A2B, in: 0x1805, lead: lead))
            try await bench.readOnce()
            let times = bench.noted.releases.all.flatMap(\.records).map(\.time)
            #expect(times.allSatisfy { (10_795...10_805).contains($0.clockOffsetSeconds ?? 0) })
            #expect(times.first?.value.hasPrefix("2026-11-20T14:3") == true)
            #expect(bench.count(of: "clock-skew") == 1)
        }
    }

    /// Its clock is so far behind that the reading of now looks old, or it lost its date and says no zone any more.
    @Test(arguments: [900, 800_000_000], [AllowedPeripheral.ClockPolicy.observe, .set])
    func aClockThatIsWrongIsToldOfWhateverItsReadingsSay(
        behind: Int64, clock: AllowedPeripheral.ClockPolicy
    ) async throws {
        try await GatewayBench.run(
            sensor: EnhancedCuff([Self.inIndia(Self.reading(0))]), as: "blood-pressure",
            entry: .init(clock: clock)
        ) { bench in
            func lead(behind: Int64) -> Int64 {
                bench.clock.wallNanoseconds / 1_000_000_000 + 19_800 - behind
                    - GatewayBench.deviceTime.wallSeconds
            }
            await bench.peripheral.show(SimulatedClock(0x2A2B, in: 0x1805, lead: lead(behind: 0)))
            try await bench.readOnce()
            #expect(bench.count(of: "clock-skew") == 0)
            let isLost = behind > 86_400
            let next = isLost ? Self.reading(1) : Self.inIndia(Self.reading(1))
            await bench.peripheral.show(SimulatedClock(0x2A2B, in: 0x1805, lead: lead(behind: behind)))
            await bench.peripheral.change(EnhancedCuff.self) { $0.measure(next) }
            try await bench.readAgain()
            #expect(bench.count(of: "clock-skew") == 1)
            let after = try #require(await bench.peripheral.shownClock?.lead)
            let isRight = (-60...60).contains(after - lead(behind: isLost ? 19_800 : 0))
            #expect(isRight == (clock == .set))
        }
    }

    /// It is set in the zone that its readings say, on its first link, too.
    @Test func aClockWithoutAZoneIsSetInTheReadingsZone() async throws {
        try await GatewayBench.run(
            sensor: EnhancedCuff([Self.inIndia(Self.reading(0))]), as: "blood-pressure",
            entry: .init(clock: .set)
        ) { bench in
            func expectRight() async throws {
                let right = bench.clock.wallNanoseconds / 1_000_000_000
                let lead = try #require(await bench.peripheral.shownClock?.lead)
                let shown = GatewayBench.deviceTime.wallSeconds + lead
                #expect((-900...900).contains(shown - right - 19_800))
            }
            await bench.peripheral.show(SimulatedClock(0x2A2B, in: 0x1805, lead: 0))
            try await bench.readOnce()
            try await expectRight()
            await bench.peripheral.show(SimulatedClock(0x2A2B, in: 0x1805, lead: 0))
            await bench.peripheral.change(EnhancedCuff.self) { $0.measure(Self.inIndia(Self.reading(1))) }
            try await bench.readAgain()
            try await expectRight()
            #expect(bench.noted.committed.all.count == 2)
        }
    }

    /// With segments of 20 bytes and of few: a reading that came live is the same when its record comes.
    @Test(arguments: [20, 9, 40])
    func storedReadingsAreReadAndThoseThatCameLiveKnown(segment: Int) async throws {
        var cuff = EnhancedCuff(
            [Self.reading(3)],
            stored: [
                .init(0, Self.reading(1).enhanced), .init(1, Self.reading(2).plain, of: 0x2A35),
                .init(0, Self.reading(3).enhanced),
            ])
        cuff.segment = segment
        try await run(cuff) { bench in
            try await bench.readOnce()
            let records = bench.noted.committed.all
            #expect(Set(records.map(\.id)).count == 3)
            #expect(Set(Self.systolic(records)) == [139, 140, 141])
            #expect(bench.count(of: "read-failed") == 0)
            // All is asked for each time, and nothing is new.
            await bench.pause()
            try await bench.readAgain()
            #expect(Set(bench.noted.committed.all.map(\.id)).count == 3)
            #expect(
                await bench.peripheral.sensor(EnhancedCuff.self).requests == [[0x01, 0x01], [0x01, 0x01]])
        }
    }

    @Test func anEmptyMemoryIsNoFailure() async throws {
        try await run(EnhancedCuff([Self.reading(0)], stored: [])) { bench in
            try await bench.readOnce()
            #expect(bench.kinds() == [.bloodPressure: 1])
            #expect(bench.count(of: "read-failed") == 0)
        }
    }
}
