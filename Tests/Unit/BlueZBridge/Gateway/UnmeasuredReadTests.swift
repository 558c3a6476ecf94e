import PeripheralSimulator
import Testing

@testable import IngestCore
@testable import IngestProfiles
@testable import IngestReading
@testable import IngestRecords

/// Values that say that nothing was measured, through the whole gateway: no record, and no failure.
@Suite(.timeLimit(.minutes(10)))
struct UnmeasuredReadTests {
    private static let time = DeviceTime(year: 2026, month: 11, day: 20, hours: 9, minutes: 0, seconds: 0)

    @Test func aMeterCountsThemInItsTransferAndTellsNothing() async throws {
        var meter = GlucoseMeter()
        for value in [102, 0, -3, 110] as [Int16] {
            meter.measure(.milligramsPerDecilitre(value), at: Self.time)
        }
        try await StoredRecordsTests.run(meter) { bench in
            try await bench.readOnce()
            #expect(bench.noted.committed.all.map(\.sequence) == [0, 3])
            #expect(bench.count(of: "history-skipped") == 0)
            #expect(bench.count(of: "read-failed") == 0)
            await bench.measure(1) { $0.measure(.milligramsPerDecilitre(0), at: Self.time) }
            try await bench.readAgain()
            #expect(bench.noted.committed.all.map(\.sequence) == [0, 3, 5])
            // The one of which nothing was measured is not the last of the next transfer either.
            await bench.peripheral.change(GlucoseMeter.self) {
                _ = $0.measure(.milligramsPerDecilitre(0), at: Self.time)
            }
            try await bench.readAgain()
            try await bench.readAgain()
            #expect(bench.kinds() == [.glucose: 3])
            #expect(await bench.meter.requests.count { $0 == StoredRecordsTests.all } == 1)
        }
    }

    @Test func aCuffsReadingOfZerosIsConfirmed() async throws {
        let readings = [SimulatedReading.bloodPressure(systolic: 0, diastolic: 0, mean: 0, pulse: 0)]
        try await GatewayBench.run(.cuff, readings: readings) { bench in
            try await bench.readOnce()
            #expect(bench.kinds() == [:])
            #expect(bench.count(of: "read-failed") == 0)
            #expect(await bench.peripheral.waiting == 0)
        }
    }

    @Test func anOximeterOffTheFingerIsNoFailure() async throws {
        var oximeter = PulseOximeter(values: [.init(0, 0)])
        oximeter.make(.init(.init(0, 0), at: Self.time))
        let timing = PassiveTiming(streamInterval: .seconds(5), streamMaximum: .seconds(15))
        try await GatewayBench.run(sensor: oximeter, as: "pulse-oximeter", timing: timing) { bench in
            try await bench.readOnce()
            #expect(bench.kinds() == [:])
            #expect(bench.count(of: "read-failed") == 0)
            #expect(await bench.peripheral.sensor(PulseOximeter.self).spotChecks.isEmpty)
        }
    }

    @Test func aScaleGivesTheWeightWithoutAComposition() async throws {
        let weighing = Scale.Weighing(.init(14_500, at: Self.time), .init(fat: 0, at: Self.time))
        try await GatewayBench.run(sensor: Scale([weighing]), as: "body-composition") { bench in
            try await bench.readOnce()
            #expect(bench.kinds() == [.weight: 1])
            #expect(await bench.peripheral.sensor(Scale.self).weighings.isEmpty)
        }
    }
}
