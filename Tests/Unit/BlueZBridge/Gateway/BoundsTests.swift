import PeripheralSimulator
import Testing

@testable import IngestBluetooth
@testable import IngestCore
@testable import IngestEvents
@testable import IngestProfiles
@testable import IngestQueue
@testable import IngestRecords
@testable import IngestStorage
@testable import TestSupport

/// What the gateway remembers of devices that no entry names, and how much it takes of one device in a day.
@Suite(.timeLimit(.minutes(15)))
struct BoundsTests {
    private static let device = DeviceAddress(RadioBench.pinned, .random)
    /// Any device of the model.
    private static let anybody = GatewayBench.Entry(address: nil)

    private static func setup(
        _ entry: GatewayBench.Entry, readings: [SimulatedReading], failingCommits: Int = 0
    ) -> GatewayBench.Setup {
        GatewayBench.Setup(
            peripheral: { loop, _ in
                SimulatedPeripheral(
                    device: device, advert: .thermometerAdvert,
                    services: SimulatedService.thermometer(serial: GatewayBench.serial), readings: readings,
                    loop: loop, time: { GatewayBench.deviceTime })
            }, profile: "thermometer", service: 0x1809, entry: entry, failingCommits: failingCommits)
    }

    private static let temperature = SimulatedReading.temperature(mantissa: 3660, exponent: -2, isDated: true)

    // MARK: Strangers

    @Test func ofAStrangerNothingIsWrittenBeforeItHasGivenARecord() async throws {
        let setup = Self.setup(Self.anybody, readings: [Self.temperature], failingCommits: 1)
        try await GatewayBench.run(setup) { bench in
            await bench.readUntilDropped()
            await bench.told("read-failed")
            #expect(try await bench.store.devices.recall(Self.device) == nil)
            // What was found of its attributes is known all the same: the next link looks for its clock alone.
            try await bench.readAgain()
            let traces = await bench.peripheral.traces
            #expect(traces.map(\.pdusToIndication).last == 7)
            let memory = try await bench.store.devices.recall(Self.device)
            #expect(memory?.serial == GatewayBench.serial)
            #expect(memory?.layout.services.isEmpty == false)
        }
    }

    @Test func ofAPinnedDeviceItIs() async throws {
        let setup = Self.setup(.init(), readings: [Self.temperature], failingCommits: 1)
        try await GatewayBench.run(setup) { bench in
            await bench.readUntilDropped()
            await bench.told("read-failed")
            let memory = try await bench.store.devices.recall(Self.device)
            #expect(memory?.layout.services.isEmpty == false)
        }
    }

    @Test func aStrangersEmptyMemoryIsNotWrittenDown() async throws {
        try await GatewayBench.run(
            sensor: StoredRecordsTests.meter(0), as: "glucose", entry: .init()
        ) { bench in
            try await bench.readOnce()
            let memory = try await bench.store.devices.recall(Self.device)
            #expect(memory?.storedRecords == StoredRecordsMemory(history: "all"))
        }
        var setup = GatewayBench.Setup(
            peripheral: { loop, _ in
                SimulatedPeripheral(
                    device: Self.device, sensor: StoredRecordsTests.meter(0), loop: loop,
                    time: { GatewayBench.deviceTime })
            }, profile: "glucose", service: 0x1808)
        setup.entry = Self.anybody
        try await GatewayBench.run(setup) { bench in
            try await bench.readOnce()
            #expect(bench.count(of: "read-failed") == 0)
            #expect(try await bench.store.devices.recall(Self.device) == nil)
            // The mark goes in with the first record.
            await bench.peripheral.change(GlucoseMeter.self) {
                $0.measure(.milligramsPerDecilitre(100), at: StoredRecordsTests.time(30, day: 20))
            }
            try await bench.readAgain()
            #expect(bench.kinds() == [.glucose: 1])
            #expect(try await bench.store.devices.recall(Self.device)?.storedRecords?.mark?.number == 0)
        }
    }

    // MARK: A day

    @Test func aTransferIsAbortedWhenTheDayIsFullAndGoesOnTheNextDay() async throws {
        try await GatewayBench.run(sensor: StoredRecordsTests.meter(250), as: "glucose") { bench in
            var memory = DeviceMemory()
            memory.allowance = DailyAllowance.full(but: 120, at: bench.clock.now)
            try await bench.store.devices.remember(memory, of: Self.device)
            await bench.peripheral.wakeUp()
            try await bench.advance(until: "read-failed")
            try await bench.advance(until: "disconnected")
            let first = bench.kinds()[.glucose] ?? 0
            #expect(first > 0 && first <= 120)
            let failed = try #require(bench.events.all.first { $0.entry.name == "read-failed" })
            #expect(failed.value(.error)?.hasPrefix(DailyAllowance.reason) == true)
            #expect(failed.value(.error)?.hasSuffix("in 24 h") == true)
            // Abort, and nothing else; the mark does not move.
            #expect(await bench.meter.requests == [StoredRecordsTests.all, [0x03, 0x00]])
            let stored = try await bench.store.devices.recall(Self.device)
            #expect(stored?.allowance?.isSpent == true)
            #expect(stored?.storedRecords == nil)

            // It goes on advertising, and nothing comes of it.
            await bench.peripheral.wakeUp()
            for _ in 0..<3 { await bench.pause(.seconds(15)) }
            #expect(bench.count(of: "connected") == 1)
            #expect(bench.count(of: "read-failed") == 1)

            // What it gave before takes nothing of the next day.
            await bench.longPause(.seconds(86_400))
            try await bench.readOnce()
            #expect(bench.kinds() == [.glucose: 250])
            #expect(bench.count(of: "read-failed") == 1)
            let memoryAfter = try await bench.store.devices.recall(Self.device)
            #expect(memoryAfter?.allowance?.records == 250 - first)
            #expect(memoryAfter?.storedRecords?.mark?.number == 249)
        }
    }

    @Test func aReadingThatIsOverTheBoundIsNotConfirmed() async throws {
        let readings = [Self.temperature, .temperature(mantissa: 3670, exponent: -2, isDated: true)]
        try await GatewayBench.run(Self.setup(.init(), readings: readings)) { bench in
            var memory = DeviceMemory()
            memory.allowance = DailyAllowance.full(but: 1, at: bench.clock.now)
            try await bench.store.devices.remember(memory, of: Self.device)
            try await bench.readOnce()
            #expect(bench.count(of: "read-failed") == 0)
            await bench.pause()
            await bench.peripheral.wakeUp()
            try await bench.advance(until: "read-failed")
            #expect(bench.kinds() == [.bodyTemperature: 1])
            #expect(await bench.radio.report().confirmed == 1)
            #expect(await bench.peripheral.waiting == 1)
        }
    }

    @Test func aNewStartRemembersThatTheDayIsFull() async throws {
        try await GatewayBench.run(Self.setup(.init(), readings: [Self.temperature])) { bench in
            var memory = DeviceMemory()
            var day = DailyAllowance.full(but: 0, at: bench.clock.now)
            _ = day.admits(records: 1, bytes: 0)
            #expect(day.isSpent)
            memory.allowance = day
            try await bench.store.devices.remember(memory, of: Self.device)
            await bench.peripheral.wakeUp()
            try await bench.advance(until: "read-failed")
            for _ in 0..<3 { await bench.pause(.seconds(15)) }
            #expect(bench.count(of: "connected") == 0)
            #expect(bench.count(of: "read-failed") == 1)
        }
    }
}

extension DailyAllowance {
    /// A day in which all but `left` records came.
    static func full(but left: Int, at now: MonotonicInstant) -> Self {
        var day = DailyAllowance(bootID: "test", at: now)
        for _ in 0..<mostRecords - left { day.committed(bytes: 0) }
        return day
    }
}
