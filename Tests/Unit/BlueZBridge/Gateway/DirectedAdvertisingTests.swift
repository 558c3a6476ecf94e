import BlueZBridge
import FoundationEssentials
import PeripheralSimulator
import QueueTestSupport
import Testing

@testable import IngestBluetooth
@testable import IngestCore
@testable import IngestEvents
@testable import IngestOperator
@testable import IngestQueue
@testable import IngestReading
@testable import IngestRecords

extension PassiveGateway {
    /// The device has a bond with this adapter.
    fileprivate func hold(_ device: DeviceAddress, to adapter: BluetoothAddress) {
        perform(scheduler.bind(device, to: adapter, at: ports.clock.now))
    }
}

/// A peripheral that advertises to its bonded central only, beside three that everybody hears, on a
/// clock that is driven.
@Suite(.timeLimit(.minutes(15)))
struct DirectedAdvertisingTests {
    private static let directed = DeviceAddress(RadioBench.pinned, .random)

    private struct Sink: EventSink {
        let names: Notes<String>

        func write(_ entry: JournalEntry) { names.add(entry.name) }
    }

    private static func model(_ id: Int, quirks: [PeripheralModel.Quirk] = []) -> PeripheralModel {
        PeripheralModel(
            id: id, name: "thermometer", type: "thermometer", manufacturer: nil, model: nil,
            profile: "thermometer", recognised: [[.service(0x1809)]], bonding: .none,
            instructions: .init(pairing: "", beforeMeasurement: "", duringMeasurement: ""),
            readyBeforeMeasurement: false, rearm: nil, quirks: quirks)
    }

    private static func ordinary(_ number: Int) -> DeviceAddress {
        DeviceAddress(BluetoothAddress(value: 0xC000_0000_0100 + UInt64(number)), .random)
    }

    /// Has ten readings, one each `pause`.
    private static func peripheral(
        _ device: DeviceAddress, every pause: Duration, isDirected: Bool = false, isSleepless: Bool = false,
        _ loop: RadioLoop
    ) -> SimulatedPeripheral {
        var rhythm = SimulatedPeripheral.Rhythm(
            pause: pause, patience: .seconds(40), advertInterval: .milliseconds(500),
            linger: .milliseconds(500), staysAwake: isSleepless)
        rhythm.isDirected = isDirected
        let readings = (0..<10).map { number in
            SimulatedReading.temperature(mantissa: 3_660 + Int32(number), exponent: -2, isDated: true)
        }
        return SimulatedPeripheral(
            device: device, advert: .thermometerAdvert, services: SimulatedService.thermometer(serial: "T"),
            readings: readings, rhythm: rhythm, loop: loop, time: { GatewayBench.deviceTime })
    }

    /// Reads all for so long.
    private static func readings(
        within duration: Duration, isSleepless: Bool
    ) async throws -> (report: SimulationReport, events: [String]) {
        let clock = DrivenClock(wall: DrivenClock.morning)
        let loop = try RadioLoop(clock: clock)
        // Of the ordinary ones one after the other wakes up, and now and then two at once.
        let peripherals =
            [peripheral(directed, every: .seconds(400), isDirected: true, loop)]
            + [170, 230, 310].enumerated().map { number, seconds in
                peripheral(
                    ordinary(number), every: .seconds(seconds), isSleepless: isSleepless && number == 0, loop)
            }
        let radio = try SimulatedRadio(
            loop: loop, clock: clock,
            adapters: [SimulatedAdapter(index: 0, address: RadioBench.address)], peripherals: peripherals)
        let directory = FileManager.default.temporaryDirectory.appending(path: "gateway-\(UUID())")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        let store = try await SQLiteQueue.open(
            path: directory.appending(path: "queue.sqlite").path, bootID: "test", clock: clock,
            destinations: [])
        let names = Notes<String>()
        let list = AllowList([
            AllowedPeripheral(
                model: model(10_000, quirks: [.directedAdvertising]), address: directed.address),
            AllowedPeripheral(model: model(1_002)),
        ])
        let gateway = PassiveGateway(
            ports: .init(
                radio: radio, store: store.records, devices: store.devices,
                events: EventLog(sink: Sink(names: names)), clock: clock),
            factory: RecordFactory(gateway: "test", zone: .utc, bootID: "test", isSimulated: true),
            allowList: list, timing: PassiveTiming())
        let running = Task { try await gateway.run() }
        await names.wait { $0.contains("adapter-ready") }
        await gateway.hold(directed, to: RadioBench.address)
        let end = clock.now + duration
        while clock.now < end {
            await clock.advance(by: .milliseconds(500), loop)
            _ = try await store.counts()
            _ = await gateway.listeningAdapters
        }
        let report = await radio.report()
        running.cancel()
        try await running.value
        try await store.close()
        loop.stop()
        return (report, names.all)
    }

    @Test func itIsReadEachTimeBesideOthersThatAreReadEachTime() async throws {
        // Ten wake-ups of each, the directed one's 400 s apart.
        let (report, events) = try await Self.readings(within: .seconds(4_800), isSleepless: false)
        #expect(report.peripherals.map(\.confirmed) == [10, 10, 10, 10])
        // An attempt for the directed one can connect at the moment at which it is withdrawn. Nothing is read then.
        #expect(report.peripherals.dropFirst().map(\.linksAccepted) == [10, 10, 10])
        #expect(!events.contains("read-failed"))
        #expect(events.count { $0 == "discovered" } == 40)
    }

    @Test func oneThatNeverFallsSilentDoesNotKeepItFromBeingRead() async throws {
        let (report, events) = try await Self.readings(within: .seconds(4_800), isSleepless: true)
        let confirmed = Dictionary(
            report.peripherals.map { ($0.address, $0.confirmed) }, uniquingKeysWith: { first, _ in first })
        #expect(confirmed[Self.directed.address] == 10)
        #expect(confirmed[Self.ordinary(1).address] == 10)
        #expect(confirmed[Self.ordinary(2).address] == 10)
        #expect(!events.contains("read-failed"))
    }

    /// Runs a gateway that has its bond, and an operator's read of it when the first passive one is over.
    private static func readByOperator(
        every pause: Duration, timeout: Duration,
        _ body: ([OperatorStep], Duration, GatewayBench) async throws -> Void
    ) async throws {
        let setup = GatewayBench.Setup(
            peripheral: { loop, _ in peripheral(directed, every: pause, isDirected: true, loop) },
            profile: "thermometer", quirks: [.directedAdvertising])
        try await GatewayBench.run(setup) { bench in
            await bench.gateway.hold(directed, to: RadioBench.address)
            try await bench.advance(until: "disconnected")
            let start = bench.clock.now
            let read = OperatorRead(target: .model(1), timeout: timeout, isDryRun: false)
            let steps = try await bench.follow(.read(read))
            try await body(steps, bench.clock.now.since(start), bench)
        }
    }

    @Test func anOperatorsReadWaitsForItThroughManyAttempts() async throws {
        try await Self.readByOperator(every: .seconds(200), timeout: .seconds(600)) { steps, time, bench in
            #expect(
                steps.map(\.step).filter { $0 != .readingUnderWay } == [.waiting, .waiting, .record, .done])
            #expect(time > .seconds(150))
            #expect(bench.count(of: "read-failed") == 0)
            #expect(bench.noted.committed.all.count == 2)
        }
    }

    @Test func anOperatorsReadOfOneThatDoesNotComeEndsWithoutAFailedRead() async throws {
        try await Self.readByOperator(every: .seconds(4_000), timeout: .seconds(60)) { steps, time, bench in
            #expect(steps.map(\.step).filter { $0 != .readingUnderWay } == [.waiting, .waiting, .failed])
            #expect(steps.last?.reason == .notSeen)
            #expect(time < .seconds(100))
            #expect(bench.count(of: "read-failed") == 0)
        }
    }
}
