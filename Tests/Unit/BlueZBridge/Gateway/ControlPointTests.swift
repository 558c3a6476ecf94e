import PeripheralSimulator
import Testing

@testable import IngestCore
@testable import IngestEvents
@testable import IngestPeripherals
@testable import IngestRecords

/// Peripherals that give their readings when they are told to, each by a protocol of its own, through
/// the whole gateway.
@Suite(.timeLimit(.minutes(15)))
struct ControlPointTests {
    // MARK: Generic health sensor

    /// 2026-11-20T09:14:00Z in seconds since 2000-01-01.
    private static let observed: UInt64 = 1_795_166_040 - 946_684_800

    /// The numbers of what was decoded, in the order of the commits.
    private static func values(_ bench: GatewayBench) -> [String] {
        bench.noted.committed.all.flatMap(\.measurements).compactMap { measurement in
            if case .exact(let number) = measurement.value { number.description } else { nil }
        }
    }

    private static func observation(_ value: Int32) -> HealthSensor.Observation {
        .numeric(type: 150_456, unit: 544, value: value, seconds: observed + UInt64(value))
    }

    @Test(arguments: [1, 4, 19, 200])
    func liveObservationsAreSwitchedOnAndJoinedFromTheirSegments(segmentLength: Int) async throws {
        var sensor = HealthSensor((95...98).map(Self.observation))
        sensor.segmentLength = segmentLength
        try await GatewayBench.run(sensor: sensor, as: "generic-health-sensor") { bench in
            try await bench.readOnce()
            #expect(await bench.peripheral.sensor(HealthSensor.self).observations.isEmpty)
            #expect(bench.kinds() == [.pulseOximetry: 4])
            #expect(Self.values(bench) == ["95", "96", "97", "98"])
            #expect(bench.noted.committed.all.allSatisfy { $0.time.source == .device })
            #expect(bench.count(of: "read-failed") == 0)
        }
    }

    @Test func observationThatWasBrokenOffComesWholeOnTheNextLink() async throws {
        var sensor = HealthSensor((95...98).map(Self.observation))
        sensor.breaksAfter = 3
        try await GatewayBench.run(sensor: sensor, as: "generic-health-sensor") { bench in
            await bench.readUntilDropped()
            try await bench.readAgain()
            #expect(await bench.peripheral.sensor(HealthSensor.self).observations.isEmpty)
            #expect(bench.kinds()[.pulseOximetry] == 4)
            #expect(Self.values(bench) == ["95", "96", "97", "98"])
        }
    }

    // MARK: OneTouch Verio

    /// 2026-11-19T00:00:00.
    private static let day: Int64 = 1_795_046_400

    private static func meter(_ count: Int = 20) -> OneTouchMeter {
        OneTouchMeter(
            (0..<count).map { .init(at: day + Int64($0) * 60, 100 + Int16($0)) },
            wallSeconds: 1_795_166_097)
    }

    private static func run(
        _ meter: OneTouchMeter, entry: GatewayBench.Entry = .init(),
        _ body: (GatewayBench) async throws -> Void
    ) async throws {
        try await GatewayBench.run(sensor: meter, as: "onetouch-verio", entry: entry) { bench in
            try await body(bench)
            let meter = await bench.peripheral.sensor(OneTouchMeter.self)
            #expect(meter.faults == 0)
        }
    }

    @Test func oneTouchMeterIsReadWholeAndThenWhatIsNew() async throws {
        try await Self.run(Self.meter()) { bench in
            try await bench.readOnce()
            #expect(bench.kinds() == [.glucose: 20])
            let times = bench.noted.committed.all.compactMap { $0.time.device?.description }
            #expect(times.first == "2026-11-19T00:00:00")
            #expect(times.last == "2026-11-19T00:19:00")
            await bench.peripheral.change(OneTouchMeter.self) { $0.add(.init(at: Self.day + 3_600, 140)) }
            try await bench.readAgain()
            #expect(bench.kinds() == [.glucose: 21])
            #expect(try await bench.outbox() == [String](repeating: "read", count: 21))
            #expect(bench.count(of: "read-failed") == 0)
            let meter = await bench.peripheral.sensor(OneTouchMeter.self)
            // Each answer of the two exchanges.
            #expect(meter.acknowledged == meter.commands.count)
        }
    }

    @Test func oneTouchMeterThatWasClearedIsReadFromItsNewBeginning() async throws {
        try await Self.run(Self.meter(5)) { bench in
            try await bench.readOnce()
            await bench.peripheral.change(OneTouchMeter.self) { meter in
                meter.clear()
                for minute in 100..<107 { meter.add(.init(at: Self.day + Int64(minute) * 60, 90)) }
            }
            try await bench.readAgain()
            #expect(bench.kinds() == [.glucose: 12])
            try await bench.readAgain()
            #expect(try await bench.outbox() == [String](repeating: "read", count: 12))
        }
    }

    @Test func linkToAOneTouchMeterBrokenInTheMiddleLosesNothing() async throws {
        var meter = Self.meter()
        meter.breaksAtNumber = 11
        try await Self.run(meter) { bench in
            await bench.readUntilDropped()
            await bench.told("read-failed")
            #expect(bench.kinds() == [.glucose: 10])
            try await bench.readAgain()
            #expect(bench.kinds() == [.glucose: 20])
            #expect(try await bench.outbox() == [String](repeating: "read", count: 20))
        }
    }

    @Test func answerWithAWrongChecksumIsAFailureAndReadAgain() async throws {
        var meter = Self.meter(3)
        meter.sendsWrongChecksum = true
        try await Self.run(meter) { bench in
            try await bench.readOnce()
            await bench.told("read-failed")
            try await bench.readAgain()
            #expect(bench.kinds() == [.glucose: 3])
        }
    }

    @Test func historyOfAOneTouchMeterIsLeftAndToldOfOnce() async throws {
        try await Self.run(Self.meter(), entry: .init(history: .none)) { bench in
            try await bench.readOnce()
            try await bench.readAgain()
            #expect(bench.kinds() == [:])
            let skipped = bench.events.all.filter { $0.entry.name == "history-skipped" }
            #expect(skipped.map { $0.value(.count) } == ["20"])
        }
    }
}
