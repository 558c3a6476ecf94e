import BlueZBridge
import PeripheralSimulator
import Testing

@testable import IngestEvents

/// When the gateway tells that a measurement can be taken.
@Suite(.timeLimit(.minutes(15)))
struct ReadyToReadTests {
    @Test func aModelThatAdvertisesBeforeTheMeasurementIsToldAtEachWakeUp() async throws {
        let reading = GatewayBench.Kind.undatedThermometer.reading
        try await GatewayBench.run(readings: [reading, reading], isReadyBeforeMeasurement: true) { bench in
            try await bench.readOnce()
            await bench.pause()
            try await bench.readOnce()
            let names = bench.events.all.map(\.entry.name)
            #expect(names.filter { $0 == "ready-to-read" }.count == 2)
            let first = try #require(names.firstIndex(of: "ready-to-read"))
            #expect(names[first - 1] == "discovered")
            #expect(try first < #require(names.firstIndex(of: "connected")))
            let event = try #require(bench.events.all.first { $0.entry.name == "ready-to-read" })
            #expect(event.value(.peripheralID) == "1")
        }
    }

    @Test func anyOtherModelIsNot() async throws {
        try await GatewayBench.run { bench in
            try await bench.readOnce()
            #expect(bench.count(of: "discovered") == 1)
            #expect(bench.count(of: "ready-to-read") == 0)
        }
    }
}
