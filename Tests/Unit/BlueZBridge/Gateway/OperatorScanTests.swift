import PeripheralSimulator
import Testing

@testable import IngestCore
@testable import IngestEvents
@testable import IngestOperator
@testable import IngestReading
@testable import IngestRecords
@testable import TestSupport

/// Scans of an operator through the whole gateway.
@Suite(.timeLimit(.minutes(15)))
struct OperatorScanTests {
    @Test func aScanTellsWhatIsInTheAirAndReadingWaits() async throws {
        try await GatewayBench.run(
            SimulatedBonding(isRequired: false, isInPairingMode: false), isRequired: false
        ) {
            bench in
            let start = bench.clock.now
            let steps = try await bench.follow(.scan(.seconds(5))) { step, _ in
                if step.step == .scanning { await bench.peripheral.wakeUp() }
            }
            #expect(Set(steps.map(\.step)) == [.scanning, .done])
            let devices = try #require(steps.last?.devices)
            #expect(devices.map(\.address) == [RadioBench.pinned])
            #expect(devices.first?.listed?.id == 1)
            #expect(devices.first?.isBonded == false)
            #expect(steps.contains { $0.found == 1 && ($0.seconds ?? 0) > 0 })
            #expect(await !bench.scansActively())
            // It was heard all the time, and is read now.
            try await bench.advance(until: "disconnected")
            let connected = bench.events.all.first { $0.entry.name == "connected" }
            #expect(try #require(connected).instant.since(start) >= .seconds(5))
            #expect(bench.kinds() == [.bloodPressure: 1])
        }
    }

    enum End: CaseIterable {
        case cancelled
        case operatorGone
        case serviceStopped
    }

    @Test(arguments: End.allCases)
    func aScanEndsWhateverHappens(end: End) async throws {
        try await GatewayBench.run(
            SimulatedBonding(isRequired: false, isInPairingMode: false), isRequired: false
        ) {
            bench in
            let id = try await bench.orders.begin(.scan(.seconds(120)))
            while await !bench.scansActively() { try await bench.spend(.milliseconds(250)) }
            switch end {
            case .cancelled:
                try await bench.orders.cancel(id)
                #expect(try await bench.orders.steps(of: id, after: 0).last?.reason == .cancelled)
            case .operatorGone: try await bench.spend(OperatorOrders.lease + .seconds(2))
            case .serviceStopped:
                try await bench.stop()
                return
            }
            #expect(await !bench.scansActively())
            await bench.peripheral.wakeUp()
            try await bench.advance(until: "disconnected")
            #expect(bench.kinds() == [.bloodPressure: 1])
        }
    }

    @Test func aReadUnderWayEndsFirst() async throws {
        try await GatewayBench.run(.cuff) { bench in
            await bench.peripheral.wakeUp()
            await bench.told("connected")
            let steps = try await bench.follow(.scan(.seconds(2)))
            #expect(steps.first?.step == .readingUnderWay)
            #expect(steps.last?.step == .done)
            #expect(bench.kinds() == [.bloodPressure: 1])
        }
    }

    @Test func silenceIsNotToldWhileAScanFiltersAdverts() async throws {
        let readings = [SimulatedReading.bloodPressure(systolic: 120, diastolic: 80, mean: 90, pulse: 60)]
        try await GatewayBench.run(.cuff, readings: readings + readings) { bench in
            try await bench.readOnce()
            // Longer than quiet period and cooldown, and nothing of it counts.
            _ = try await bench.follow(.scan(.seconds(30)))
            await bench.peripheral.wakeUp()
            try await bench.spend(.seconds(1))
            #expect(bench.count(of: "connected") == 1)
        }
    }

    @Test func aRadioThatDoesNotScanSaysWhy() async throws {
        try await GatewayBench.run(.cuff) { bench in
            // One that is only off is powered on again.
            await bench.radio.kernel.unplug(0)
            await bench.told("adapter-lost")
            let steps = try await bench.follow(.scan(.seconds(2)))
            #expect(steps.last?.reason == .noAdapter)
        }
    }
}
