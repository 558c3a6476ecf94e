import PeripheralSimulator
import QueueTestSupport
import Testing

@testable import IngestCore
@testable import IngestEvents
@testable import IngestOperator
@testable import IngestQueue
@testable import IngestReading
@testable import IngestRecords
@testable import TestSupport

/// Peripherals that send a value each second, through the whole gateway.
@Suite(.timeLimit(.minutes(15)))
struct StreamTests {
    /// Worn on, and never silent.
    private static let worn = SimulatedPeripheral.Rhythm(patience: nil, staysAwake: true)

    /// Lets time pass in steps in which the gateway sees each value.
    private static func pass(_ duration: Duration, _ bench: GatewayBench) async throws {
        let end = bench.clock.now + duration
        while bench.clock.now < end {
            try Task.checkCancellation()
            await bench.clock.advance(by: .milliseconds(500), bench.loop)
            _ = try await bench.store.counts()
            _ = await bench.gateway.listeningAdapters
        }
    }

    private static func receptions(_ bench: GatewayBench) -> [String] {
        bench.noted.committed.all.map { String($0.time.received.suffix(9)) }
    }

    // MARK: Heart rate

    @Test func heartRateMakesOneRecordOfEachIntervalAndTheLinkEndsAfterItsTime() async throws {
        try await GatewayBench.run(sensor: HeartRateStrap(), as: "heart-rate", rhythm: Self.worn) { bench in
            let start = bench.clock.now
            try await bench.readOnce()
            let ended = try #require(bench.events.all.first { $0.entry.name == "disconnected" })
            let held = ended.instant.since(start)
            #expect(held >= .seconds(600))
            #expect(held < .seconds(605))
            #expect(bench.kinds() == [.heartRate: 10])
            #expect(try await bench.outbox() == [String](repeating: "read", count: 10))
            #expect(bench.count(of: "read-failed") == 0)
            #expect(await bench.peripheral.sensor(HeartRateStrap.self).valuesSent > 590)
            let minutes = Self.receptions(bench).map { $0.dropLast(3) }
            #expect(Set(minutes).count == 10)
        }
    }

    /// The record is delivered while the link is up, with the serial number that the link has brought.
    @Test func aRecordOfAStreamIsReleasedWithinFiveSecondsOfItsCommit() async throws {
        try await GatewayBench.run(sensor: HeartRateStrap(), as: "heart-rate", rhythm: Self.worn) { bench in
            await bench.peripheral.wakeUp()
            for count in 1...3 {
                while bench.noted.committed.all.count < count { try await Self.pass(.seconds(1), bench) }
                try await Self.pass(.seconds(4), bench)
                #expect(bench.noted.releases.all.flatMap(\.records).count == count)
            }
            #expect(bench.noted.releases.all.flatMap(\.records).allSatisfy { $0.device.serial == "H-0001" })
            #expect(bench.count(of: "disconnected") == 0)
        }
    }

    @Test func intervalAndLongestStreamAreThoseOfTheConfiguration() async throws {
        let timing = PassiveTiming(streamInterval: .seconds(10), streamMaximum: .seconds(35))
        try await GatewayBench.run(
            sensor: HeartRateStrap(), as: "heart-rate", rhythm: Self.worn, timing: timing
        ) { bench in
            try await bench.readOnce()
            #expect(bench.kinds() == [.heartRate: 4])
        }
    }

    /// More records than are taken of a device that gives single measurements.
    @Test func streamLastsAsLongAsTheConfigurationSays() async throws {
        let timing = PassiveTiming(streamInterval: .seconds(1), streamMaximum: .seconds(1_300))
        try await GatewayBench.run(
            sensor: HeartRateStrap(), as: "heart-rate", rhythm: Self.worn, timing: timing
        ) { bench in
            try await bench.readOnce()
            #expect(bench.noted.committed.all.count > 1_200)
        }
    }

    @Test func strapThatNeverStopsAdvertisingIsReadAgainWhenItsModelSaysSo() async throws {
        let timing = PassiveTiming(streamInterval: .seconds(10), streamMaximum: .seconds(20))
        for rearm in [Duration.seconds(60), nil] {
            try await GatewayBench.run(
                sensor: HeartRateStrap(), as: "heart-rate", rhythm: Self.worn, timing: timing, rearm: rearm
            ) { bench in
                try await bench.readOnce()
                try await Self.pass(.seconds(55), bench)
                #expect(bench.count(of: "connected") == 1)
                try await Self.pass(.seconds(10), bench)
                #expect(bench.count(of: "connected") == (rearm == nil ? 1 : 2))
            }
        }
    }

    @Test func strapThatIsTakenOffEndsTheStreamAndIsNoFailure() async throws {
        try await GatewayBench.run(sensor: HeartRateStrap(), as: "heart-rate") { bench in
            await bench.peripheral.wakeUp()
            await bench.told("connected")
            try await Self.pass(.seconds(130), bench)
            #expect(bench.kinds() == [.heartRate: 3])
            await bench.peripheral.change(HeartRateStrap.self) { $0.isWorn = false }
            try await bench.advance(until: "disconnected")
            #expect(bench.kinds() == [.heartRate: 3])
            #expect(bench.count(of: "read-failed") == 0)
        }
    }

    @Test func strapThatNobodyWearsIsAFailure() async throws {
        var strap = HeartRateStrap()
        strap.isWorn = false
        try await GatewayBench.run(sensor: strap, as: "heart-rate") { bench in
            try await bench.readOnce()
            await bench.told("read-failed")
            #expect(bench.kinds() == [:])
        }
    }

    /// It goes on sending, with the last rate or 0, and intervals of an earlier second.
    @Test(arguments: [
        HeartRateStrap.Value(0), .init(0, hasContact: false), .init(72, hasContact: false),
        .init(0, intervals: [853]), .init(72, intervals: [853, 848], energy: 3, hasContact: false),
    ])
    func strapThatTouchesNobodyMakesNoRecordAndIsNoFailure(value: HeartRateStrap.Value) async throws {
        let timing = PassiveTiming(streamInterval: .seconds(5), streamMaximum: .seconds(15))
        try await GatewayBench.run(
            sensor: HeartRateStrap(values: [value]), as: "heart-rate", rhythm: Self.worn, timing: timing
        ) { bench in
            try await bench.readOnce()
            #expect(bench.kinds() == [:])
            #expect(bench.count(of: "read-failed") == 0)
            #expect(await bench.peripheral.sensor(HeartRateStrap.self).valuesSent > 10)
        }
    }

    @Test func samplesWithoutContactLeaveTheIntervalToTheNextOnes() async throws {
        let timing = PassiveTiming(streamInterval: .seconds(5), streamMaximum: .seconds(16))
        let values = [0, 0, 61, 62, 63, 64, 0].map { HeartRateStrap.Value(UInt16($0), hasContact: $0 > 0) }
        try await GatewayBench.run(
            sensor: HeartRateStrap(values: values), as: "heart-rate", rhythm: Self.worn, timing: timing
        ) { bench in
            try await bench.readOnce()
            let rates = bench.noted.committed.all.flatMap(\.measurements).map(\.value)
            #expect(rates.count >= 2)
            #expect(!rates.contains(.absent(.notMeasured)))
            #expect(rates.first == .exact(ExactDecimal(coefficient: 61, exponent: 0)))
        }
    }

    @Test func equalValuesOfAStreamAreRecordsOfTheirOwn() async throws {
        let timing = PassiveTiming(streamInterval: .seconds(1), streamMaximum: .seconds(10))
        try await GatewayBench.run(
            sensor: HeartRateStrap(values: [.init(60)]), as: "heart-rate", rhythm: Self.worn, timing: timing
        ) { bench in
            try await bench.readOnce()
            #expect(bench.noted.committed.all.count >= 9)
            #expect(Set(bench.noted.committed.all.map(\.id)).count == bench.noted.committed.all.count)
        }
    }

    @Test func gatewayThatStopsEndsTheStream() async throws {
        try await GatewayBench.run(sensor: HeartRateStrap(), as: "heart-rate", rhythm: Self.worn) { bench in
            await bench.peripheral.wakeUp()
            await bench.told("connected")
            try await Self.pass(.seconds(5), bench)
            try await bench.stop()
            #expect(bench.kinds() == [.heartRate: 1])
            #expect(await bench.peripheral.traces.allSatisfy(\.hasEnded))
        }
    }

    // MARK: Pulse oximeter

    @Test func continuousOximetryMakesOneRecordOfEachInterval() async throws {
        let oximeter = PulseOximeter(values: [.init(97, 61), .init(98, 62)])
        try await GatewayBench.run(sensor: oximeter, as: "pulse-oximeter", rhythm: Self.worn) { bench in
            try await bench.readOnce()
            #expect(bench.kinds() == [.pulseOximetry: 10])
            #expect(bench.count(of: "read-failed") == 0)
        }
    }

    @Test func spotCheckIsARecordEachAndConfirmed() async throws {
        let oximeter = PulseOximeter(spotChecks: [
            .init(.init(97, 61), at: GatewayBench.deviceTime), .init(.init(97, 61)), .init(.init(96, 70)),
        ])
        try await GatewayBench.run(sensor: oximeter, as: "pulse-oximeter") { bench in
            try await bench.readOnce()
            #expect(bench.kinds() == [.pulseOximetry: 3])
            #expect(await bench.radio.report().confirmed == 3)
            #expect(bench.count(of: "read-failed") == 0)
        }
    }

    @Test func streamIsKeptApartFromTheStoredSpotChecks() async throws {
        // Two of them are equal, and nothing dates them.
        let stored = [97, 97, 96].map { PulseOximeter.SpotCheck(.init($0, 61)) }
        let oximeter = PulseOximeter(values: [.init(98, 62)], stored: stored)
        try await GatewayBench.run(sensor: oximeter, as: "pulse-oximeter", rhythm: Self.worn) { bench in
            func count(_ source: RecordTime.Source) -> Int {
                bench.noted.committed.all.count { $0.time.source == source }
            }
            try await bench.readOnce()
            #expect(count(.unknown) == 3)
            #expect(count(.received) == 10)
            try await bench.readAgain()
            #expect(count(.unknown) == 3)
            #expect(count(.received) == 20)
            #expect(bench.count(of: "read-failed") == 0)
        }
    }

    @Test func aLargeMemoryTakesNothingFromTheStream() async throws {
        let stored = (0..<1_000).map { _ in PulseOximeter.SpotCheck(.init(97, 61)) }
        let oximeter = PulseOximeter(values: [.init(98, 62)], stored: stored)
        try await GatewayBench.run(sensor: oximeter, as: "pulse-oximeter", rhythm: Self.worn) { bench in
            try await bench.readOnce()
            #expect(bench.noted.committed.all.count > 1_000)
        }
    }

    /// They come with nothing to ask for, or before anything was asked for; then some come with the answer, too.
    @Test(arguments: [[], nil] as [[PulseOximeter.SpotCheck]?])
    func aLinkTakesAThousandSingleMeasurements(stored: [PulseOximeter.SpotCheck]?) async throws {
        let given = (0..<1_100).map { _ in PulseOximeter.SpotCheck(.init(97, 61)) }
        let oximeter = PulseOximeter(spotChecks: given, stored: stored)
        try await GatewayBench.run(sensor: oximeter, as: "pulse-oximeter") { bench in
            try await bench.readOnce()
            let count = try #require(bench.kinds()[.pulseOximetry])
            #expect(stored == nil ? count == 1_000 : (1_000..<1_050).contains(count))
        }
    }

    /// The clock stands while they arrive, as a coarse one does.
    @Test func equalSpotChecksOfOneMomentAreRecordsOfTheirOwn() async throws {
        let stored = [97, 97, 97].map { PulseOximeter.SpotCheck(.init($0, 61)) }
        try await GatewayBench.run(sensor: PulseOximeter(stored: stored), as: "pulse-oximeter") { bench in
            await bench.peripheral.wakeUp()
            while await bench.peripheral.sensor(PulseOximeter.self).tally.offered < 3 {
                try Task.checkCancellation()
                _ = try await bench.store.counts()
            }
            try await bench.advance(until: "disconnected")
            #expect(bench.kinds() == [.pulseOximetry: 3])
        }
    }

    @Test func storedSpotChecksAreReadAllAndTheKnownOnesOnce() async throws {
        let stored = (0..<20).map {
            PulseOximeter.SpotCheck(.init(97, 61), at: StoredRecordsTests.time($0))
        }
        try await GatewayBench.run(sensor: PulseOximeter(stored: stored), as: "pulse-oximeter") { bench in
            try await bench.readOnce()
            #expect(bench.kinds() == [.pulseOximetry: 20])
            #expect(bench.noted.releases.all.last?.records.last?.device.serial == "O-0001")
            await bench.peripheral.change(PulseOximeter.self) {
                $0.store(.init(.init(95, 64), at: GatewayBench.deviceTime))
            }
            try await bench.readAgain()
            #expect(bench.kinds() == [.pulseOximetry: 21])
            let oximeter = await bench.peripheral.sensor(PulseOximeter.self)
            #expect(oximeter.requests == [StoredRecordsTests.all, StoredRecordsTests.all])
            #expect(try await bench.outbox() == [String](repeating: "read", count: 21))
            #expect(bench.count(of: "read-failed") == 0)
        }
    }

    /// It gives what it has just measured, and then its memory, in which that is too. Its clock stands.
    @Test func dateOfADeviceWhoseMemoryIsReadNamesItsReadingWhateverItSays() async throws {
        let date = DeviceTime(year: 2000, month: 1, day: 1, hours: 0, minutes: 0, seconds: 0)
        let checks = [97, 95].map { PulseOximeter.SpotCheck(.init($0, 61), at: date) }
        let oximeter = PulseOximeter(spotChecks: checks, stored: checks)
        try await GatewayBench.run(sensor: oximeter, as: "pulse-oximeter") { bench in
            try await bench.readOnce()
            try await bench.readAgain()
            #expect(bench.kinds() == [.pulseOximetry: 2])
            #expect(bench.count(of: "read-failed") == 0)
        }
    }

    // MARK: Intermediate values

    @Test(arguments: [false, true])
    func intermediateValuesMakeNoRecord(areUnasked: Bool) async throws {
        var cuff = IntermediateValues.cuff(pressures: [60, 90, 120, 150])
        cuff.areUnasked = areUnasked
        try await GatewayBench.run(
            sensor: cuff, as: "blood-pressure", readings: [GatewayBench.Kind.cuff.reading]
        ) { bench in
            try await bench.readOnce()
            #expect(bench.kinds() == [.bloodPressure: 1])
            #expect(try await bench.outbox() == ["read"])
        }
        var thermometer = IntermediateValues.thermometer(temperatures: [351, 358, 362])
        thermometer.areUnasked = areUnasked
        try await GatewayBench.run(
            sensor: thermometer, as: "thermometer", readings: [GatewayBench.Kind.datedThermometer.reading]
        ) { bench in
            try await bench.readOnce()
            #expect(bench.kinds() == [.bodyTemperature: 1])
            #expect(try await bench.outbox() == ["read"])
        }
    }
}
