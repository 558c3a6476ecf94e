import BlueZBridge
import FoundationEssentials
import PeripheralSimulator
import QueueTestSupport
import Synchronization
import Testing

@testable import IngestCore
@testable import IngestOperator
@testable import IngestReading
@testable import IngestRecords

/// The whole way of a reading up to the queue, on simulated radios.
@Suite(.timeLimit(.minutes(15)))
struct PassiveGatewayTests {
    /// A clock that is driven; counts the sleeps asked of it.
    private final class CountingClock: GatewayClock {
        let driven = DrivenClock(wall: DrivenClock.morning)
        private let sleeps = Mutex(0)

        var now: MonotonicInstant { driven.now }
        var wallNanoseconds: Int64 { driven.wallNanoseconds }
        var sleepCount: Int { sleeps.withLock { $0 } }

        func sleep(until deadline: MonotonicInstant) async throws {
            sleeps.withLock { $0 += 1 }
            try await driven.sleep(until: deadline)
        }
    }

    private final class EventNames: EventSink {
        private let state = Mutex<[String]>([])

        var names: [String] { state.withLock { $0 } }

        func write(_ entry: JournalEntry) {
            state.withLock { $0.append(entry.name) }
        }
    }

    private static func model(_ id: Int, _ profile: String, _ service: UInt16) -> PeripheralModel {
        PeripheralModel(
            id: id, name: profile, type: profile, manufacturer: nil, model: nil, profile: profile,
            recognised: [[.service(service)]], bonding: .none,
            instructions: .init(pairing: "", beforeMeasurement: "", duringMeasurement: ""),
            readyBeforeMeasurement: false, rearm: nil, quirks: [])
    }

    private static func gateway(
        _ radio: any Radio, _ clock: any GatewayClock, _ queue: SQLiteQueue, _ sink: any EventSink
    ) -> PassiveGateway {
        let list = AllowList([
            AllowedPeripheral(
                model: model(1002, "thermometer", 0x1809), address: BluetoothAddress("C0:00:00:00:00:01")),
            AllowedPeripheral(
                model: model(1001, "blood-pressure", 0x1810), address: BluetoothAddress("C0:00:00:00:00:02")),
            AllowedPeripheral(
                model: model(1000, "glucose", 0x1808), address: BluetoothAddress("C0:00:00:00:00:04")),
            AllowedPeripheral(
                model: model(1004, "body-composition", 0x181B),
                address: BluetoothAddress("C0:00:00:00:00:05")),
        ])
        return PassiveGateway(
            ports: .init(
                radio: radio, store: queue.records, devices: queue.devices, events: EventLog(sink: sink),
                clock: clock),
            factory: RecordFactory(gateway: "test", zone: .utc, bootID: "test", isSimulated: true),
            allowList: list,
            timing: PassiveTiming(quietPeriod: .seconds(1), cooldown: .milliseconds(500)))
    }

    private static func store(_ clock: any GatewayClock) async throws -> (SQLiteQueue, URL) {
        let directory = FileManager.default.temporaryDirectory.appending(path: "gateway-\(UUID())")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        let path = directory.appending(path: "queue.sqlite").path
        let store = try await SQLiteQueue.open(path: path, bootID: "test", clock: clock, destinations: [])
        return (store, directory)
    }

    @Test func builtInPeripheralsAreReadOnceEachAndTheStrangerNever() async throws {
        // Not the system's: a peripheral is awake for 10 s, which a busy machine may need for the reading
        // of another one.
        let clock = CountingClock()
        let (store, directory) = try await Self.store(clock)
        defer { try? FileManager.default.removeItem(at: directory) }
        let radio = try SimulatedRadio.builtIn(clock: clock)
        let events = EventNames()
        let gateway = Self.gateway(radio, clock, store, events)
        let running = Task { try await gateway.run() }
        let end = clock.now + .seconds(60)
        var report = await radio.report()
        while report.confirmed < SimulatedRadio.builtInReadings, clock.now < end {
            await clock.driven.advance(by: .milliseconds(20), radio.loop)
            _ = try await store.counts()
            _ = await gateway.listeningAdapters
            report = await radio.report()
        }
        running.cancel()
        try await running.value
        #expect(report.peripherals.map(\.confirmed) == [3, 3, 0, 4, 2, 0])
        #expect(report.peripherals.map(\.linksAccepted) == [3, 3, 0, 1, 1, 0])
        #expect(try await store.counts().records == 12)
        #expect(!events.names.contains("read-failed"))
        // A deadline or two for each of the adverts; more is a loop that spins.
        #expect(clock.sleepCount < 1_000)
        try await store.close()
        radio.loop.stop()
    }

    @Test func endOfTheRadioEndsTheGateway() async throws {
        let clock = DrivenClock(wall: DrivenClock.morning)
        let (store, directory) = try await Self.store(clock)
        defer { try? FileManager.default.removeItem(at: directory) }
        let bench = try RadioBench()
        let gateway = Self.gateway(bench.radio, clock, store, EventNames())
        let running = Task { try await gateway.run() }
        _ = await bench.command(ManagementProtocol.Opcode.addPatternsMonitor)
        await bench.kernel.close()
        await #expect(throws: ManagementError.ended) { try await running.value }
        try await store.close()
        bench.loop.stop()
    }
}
