import PeripheralSimulator
import Testing

@testable import IngestBluetooth
@testable import IngestCore
@testable import IngestOperator
@testable import IngestQueue
@testable import IngestReading
@testable import IngestRecords
@testable import TestSupport

/// Reads of an operator through the whole gateway.
@Suite(.timeLimit(.minutes(15)))
struct OperatorReadTests {
    typealias Kind = OperatorStep.Kind

    @Test func aReadingIsShownBeforeItIsQueuedAndConfirmed() async throws {
        try await GatewayBench.run(.datedThermometer) { bench in
            let queued = Notes<Int>()
            let steps = try await bench.readByOperator { step in
                if step.step == .record { queued.add(bench.noted.committed.all.count) }
            }
            #expect(steps.map(\.step) == [.waiting, .reading, .record, .done])
            // The operator's side had it, and the queue had it not.
            #expect(queued.all == [0])
            let record = try #require(bench.noted.committed.all.first)
            #expect(steps[2].record.flatMap { RecordSummary(json: $0) }?.id == record.id.text)
            #expect(steps.last?.text == "Queued: 1 new, 0 known already.")
            #expect(await bench.peripheral.waiting == 0)
            #expect(bench.count(of: "connected") == 1)
        }
    }

    @Test func whoDoesNotLookHoldsNothingUp() async throws {
        try await GatewayBench.run(.datedThermometer) { bench in
            let read = OperatorRead(target: .model(1), timeout: .seconds(60), isDryRun: false)
            _ = try await bench.orders.begin(.read(read))
            await bench.peripheral.wakeUp()
            try await bench.advance(until: "disconnected")
            #expect(bench.kinds() == [.bodyTemperature: 1])
            #expect(await bench.peripheral.waiting == 0)
        }
    }

    @Test func aDeviceIsReadInItsDebounceToo() async throws {
        let readings = [
            GatewayBench.Kind.datedThermometer.reading,
            .temperature(mantissa: 371, exponent: -1, isDated: false),
        ]
        try await GatewayBench.run(.datedThermometer, readings: readings) { bench in
            try await bench.readOnce()
            // At once it is not a new wake-up for passive reading.
            await bench.peripheral.wakeUp()
            try await bench.spend(.seconds(1))
            #expect(bench.kinds() == [.bodyTemperature: 1])
            let steps = try await bench.readByOperator()
            #expect(steps.last?.step == .done)
            #expect(bench.kinds() == [.bodyTemperature: 2])
        }
    }

    @Test(arguments: GatewayBench.Kind.allCases)
    func aDryRunLeavesEverythingAsItWas(kind: GatewayBench.Kind) async throws {
        try await GatewayBench.run(kind) { bench in
            let steps = try await bench.readByOperator(isDryRun: true)
            #expect(steps.map(\.step) == [.waiting, .reading, .record, .done])
            #expect(bench.noted.committed.all.isEmpty)
            #expect(try await bench.store.devices.recall(bench.peripheral.device) == nil)
            #expect(try await bench.outbox().isEmpty)
            let trace = try #require(await bench.peripheral.traces.first)
            #expect(trace.indications == 1)
            #expect(
                !trace.pdus.contains { $0.isFromGateway && $0.bytes.first == LinkTrace.confirmationOpcode })
            #expect(await bench.peripheral.waiting == 1)
            // Passive reading has it afterwards.
            try await bench.readOnce()
            #expect(bench.noted.committed.all.count == 1)
            #expect(await bench.peripheral.waiting == 0)
        }
    }

    @Test func aDryRunOfAMemoryShowsItAndMovesNoMark() async throws {
        var meter = GlucoseMeter(serial: "G-1")
        for minutes in 1...3 {
            meter.measure(
                .milligramsPerDecilitre(100 + Int16(minutes)),
                at: DeviceTime(year: 2026, month: 11, day: 20, hours: 8, minutes: minutes, seconds: 0))
        }
        try await GatewayBench.run(sensor: meter, as: "glucose") { bench in
            let steps = try await bench.readByOperator(.device(RadioBench.pinned), isDryRun: true)
            #expect(steps.filter { $0.step == .record }.count == 3)
            #expect(steps.last?.step == .done)
            #expect(try await bench.store.devices.recall(bench.peripheral.device) == nil)
            #expect(bench.noted.committed.all.isEmpty)
            let again = try await bench.readByOperator(.device(RadioBench.pinned))
            #expect(again.last?.text == "Queued: 3 new, 0 known already.")
        }
    }

    @Test func whatIsGivenOnceIsNotReadInADryRun() async throws {
        var setup = Self.cuff(.init(), readings: 2)
        setup.quirks = [.subscribeOnlyToRead]
        try await GatewayBench.run(setup) { bench in
            // In its debounce there is no passive read, which may follow the refusal at once.
            try await bench.readOnce()
            await bench.peripheral.wakeUp()
            try await bench.spend(.seconds(1))
            let steps = try await bench.readByOperator(isDryRun: true)
            #expect(steps.map(\.step) == [.waiting, .failed])
            #expect(steps.last?.reason == .givenOnce)
            #expect(await bench.peripheral.traces.count == 1)
            #expect(await bench.peripheral.waiting == 1)
        }
    }

    @Test func aDryRunSetsNoClock() async throws {
        let entry = GatewayBench.Entry(clock: .set)
        var setup = Self.cuff(entry)
        setup.quirks = [.expectsClock]
        try await GatewayBench.run(setup) { bench in
            await bench.peripheral.show(SimulatedClock(0x2A2B, in: 0x1805, lead: -86_400))
            _ = try await bench.readByOperator(isDryRun: true)
            let writeRequest: UInt8 = 0x12
            let written = await bench.peripheral.traces.flatMap(\.pdus)
                .filter { $0.isFromGateway && $0.bytes.first == writeRequest }
            // The subscription alone, two octets.
            #expect(written.allSatisfy { $0.bytes.count == 5 })
        }
    }

    private static func cuff(_ entry: GatewayBench.Entry, readings: Int = 1) -> GatewayBench.Setup {
        GatewayBench.Setup(
            peripheral: { loop, _ in
                SimulatedPeripheral(
                    device: DeviceAddress(RadioBench.pinned, .random), advert: .cuffAdvert,
                    services: SimulatedService.cuff(serial: "B-1"),
                    readings: (0..<readings).map {
                        .bloodPressure(systolic: 120 + UInt16($0), diastolic: 80, mean: 93, pulse: 60)
                    },
                    rhythm: .init(patience: nil), loop: loop, time: { GatewayBench.deviceTime })
            }, profile: "blood-pressure", service: 0x1810, entry: entry)
    }

    @Test func stoppedWhileItIsShownAReadingStaysInTheDevice() async throws {
        try await GatewayBench.run(.datedThermometer) { bench in
            let read = OperatorRead(target: .model(1), timeout: .seconds(60), isDryRun: false)
            let id = try await bench.orders.begin(.read(read))
            let shown = Notes<Bool>()
            let following = Task {
                var last = 0
                while true {
                    for step in try await bench.orders.steps(of: id, after: last) {
                        last = step.number
                        if step.step == .waiting { await bench.peripheral.wakeUp() }
                        if step.step == .record {
                            // It is not asked on, so that it counts as not shown yet.
                            try await bench.orders.cancel(id)
                            return shown.add(true)
                        }
                    }
                }
            }
            while shown.all.isEmpty { try await bench.spend(.milliseconds(250)) }
            try await following.value
            #expect(bench.noted.committed.all.isEmpty)
            #expect(await bench.peripheral.waiting == 1)
            // Passive reading goes on.
            await bench.pause(.seconds(40))
            try await bench.readOnce()
            #expect(bench.noted.committed.all.count == 1)
        }
    }

    @Test func whatDoesNotShowItselfIsNotSeenAndReadingGoesOn() async throws {
        try await GatewayBench.run(.datedThermometer) { bench in
            let start = bench.clock.now
            let read = OperatorRead(target: .model(1), timeout: .seconds(30), isDryRun: false)
            let steps = try await bench.follow(.read(read))
            #expect(steps.map(\.step) == [.waiting, .failed])
            #expect(steps.last?.reason == .notSeen)
            #expect(bench.clock.now.since(start) >= .seconds(30))
            #expect(bench.clock.now.since(start) < .seconds(35))
            try await bench.readOnce()
            #expect(bench.noted.committed.all.count == 1)
        }
    }

    @Test func whoseOperatorHasGoneIsStoppedAndReadingGoesOn() async throws {
        try await GatewayBench.run(.datedThermometer) { bench in
            let read = OperatorRead(target: .model(1), timeout: .seconds(600), isDryRun: false)
            _ = try await bench.orders.begin(.read(read))
            try await bench.spend(OperatorOrders.lease + .seconds(2))
            _ = try await bench.orders.begin(.scan(.seconds(1)))
            try await bench.spend(.seconds(3))
            try await bench.readOnce()
            #expect(bench.noted.committed.all.count == 1)
        }
    }

    @Test func aLinkThatFailsIsTriedAgainAndThenGivenUp() async throws {
        var setup = Self.cuff(.init())
        setup.timing = PassiveTiming()
        try await GatewayBench.run(setup) { bench in
            var refusal = LinkBehaviour()
            refusal.connectionError = .refused(errno: 111)
            await bench.peripheral.script([refusal])
            let steps = try await bench.readByOperator()
            #expect(steps.map(\.step) == [.waiting, .reading, .waiting, .reading, .record, .done])
        }
    }

    @Test func whatIsNotListedIsRefusedAndSoAreTwoAtOnce() async throws {
        try await GatewayBench.run(.datedThermometer) { bench in
            func order(_ target: PairingTarget) -> OperatorOrders.Order {
                .read(OperatorRead(target: target, timeout: .seconds(60), isDryRun: false))
            }
            await #expect(throws: OrderRefusal.notAllowed(.model(7))) {
                _ = try await bench.orders.begin(order(.model(7)))
            }
            let id = try await bench.orders.begin(order(.model(1)))
            await #expect(throws: OrderRefusal.busy) { _ = try await bench.orders.begin(.scan(.seconds(1))) }
            await #expect(throws: OrderRefusal.busy) { _ = try await bench.orders.begin(.pair(.model(1))) }
            try await bench.orders.cancel(id)
            let pairing = try await bench.orders.begin(.pair(.model(1)))
            await #expect(throws: OrderRefusal.busy) { _ = try await bench.orders.begin(order(.model(1))) }
            try await bench.orders.cancel(pairing)
            let next = try await bench.orders.begin(order(.model(1)))
            try await bench.orders.cancel(next)
            await #expect(throws: OrderRefusal.unknown) {
                _ = try await bench.orders.steps(of: id, after: 0)
            }
        }
    }

    @Test func whatCannotBeDecodedIsShownWithItsReason() async throws {
        let reading = SimulatedReading(0x2A1C, payload: [0x00, 0x01])
        try await GatewayBench.run(.datedThermometer, readings: [reading]) { bench in
            let steps = try await bench.readByOperator()
            #expect(steps.filter { $0.step == .record }.map { $0.error != nil } == [true])
            #expect(bench.kinds() == [.undecoded: 1])
        }
    }
}
