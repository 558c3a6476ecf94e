import BlueZBridge
import FoundationEssentials
import PeripheralSimulator
import QueueTestSupport
import Synchronization

@testable import IngestCore
@testable import IngestEvents
@testable import IngestOperator
@testable import IngestQueue
@testable import IngestReading
@testable import IngestRecords
@testable import IngestStorage

/// A box whose clock may be wrong: the gateway with its timekeeper on one queue, over restarts and boots.
final class ClockBench: Sendable {
    /// What the system says of its clocks.
    struct System: Sendable {
        var isSynchronized: Bool?
        var realTimeClocks: [Int64] = []
        var isConfigured = false
        var bootID = "boot-1"
        /// How often it was asked.
        var questions = 0
    }

    private struct Sink: EventSink {
        let notes: Notes<JournalEntry>

        func write(_ entry: JournalEntry) { notes.add(entry) }
    }

    /// 2026-11-01T00:00:00Z.
    static let released: Int64 = 1_793_491_200
    /// 2026-11-20T09:15:00Z.
    static let morning: Int64 = 1_795_166_100

    let clock = DrivenClock(wall: DrivenClock.morning)
    let system = Mutex(System())
    let trusts = Notes<ClockTrust?>()
    private let directory: URL

    private init(_ directory: URL) {
        self.directory = directory
    }

    /// - Parameter wall: what the clock shows at first, in seconds since 1970.
    static func inNewDirectory(wall: Int64, _ body: (ClockBench) async throws -> Void) async throws {
        let directory = FileManager.default.temporaryDirectory.appending(path: "clock-\(UUID())")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        let bench = ClockBench(directory)
        bench.clock.set(wall: wall)
        try await body(bench)
    }

    /// The gateway while it runs.
    struct Run {
        let bench: ClockBench
        let loop: RadioLoop
        let store: SQLiteQueue
        let gateway: PassiveGateway
        let peripheral: SimulatedPeripheral
        fileprivate let events: Notes<JournalEntry>
        fileprivate let trustsBefore: Int

        /// Wakes the peripheral up, and has its link read to the end.
        func read() async throws {
            let ended = count(of: "disconnected")
            await peripheral.wakeUp()
            await events.wait { $0.count { $0.name == "connected" } > ended }
            while count(of: "disconnected") == ended {
                try Task.checkCancellation()
                await bench.clock.advance(by: .milliseconds(250), loop)
                _ = try await store.counts()
                _ = await gateway.listeningAdapters
            }
            // What ended the read is done with when the gateway answers.
            _ = await gateway.listeningAdapters
        }

        /// Lets so much time pass, in which the peripheral is silent.
        func pass(_ duration: Duration) async {
            await bench.clock.advance(by: duration, loop)
        }

        /// Waits until the clock was judged so for the first time, or anew, in this run.
        func judged(_ trust: ClockTrust?, times: Int = 1) async {
            await bench.trusts.wait { $0.count == trustsBefore + times && $0.last == trust }
        }

        /// The bodies of records that are delivered, once there are so many; they are taken.
        func delivered(_ count: Int) async throws -> [String] {
            var bodies: [String] = []
            while bodies.count < count {
                try Task.checkCancellation()
                let wakeUp = store.routings.wakeUp(for: "clinic")
                _ = wakeUp.consume()
                guard let batch = try await store.next().batch else {
                    await wakeUp.wait()
                    continue
                }
                bodies += batch.items.map(\.body)
                _ = try await store.batches.acknowledge(
                    batch, httpStatus: 200, attempt: 1, settings: BatchSettings(maxWait: .seconds(9)),
                    gateway: "box")
            }
            return bodies
        }

        /// Whether nothing is ready to be delivered.
        func deliversNothing() async throws -> Bool {
            try await store.next() == .nothing
        }

        func count(of name: String) -> Int {
            events.all.count { $0.name == name }
        }

        func errors(of name: String) -> [String] {
            events.all.filter { $0.name == name }
                .compactMap { entry in entry.fields.first { $0.0 == .error }?.1 }
        }
    }

    /// A thermometer that gives these temperatures, in 0.01 °C.
    /// - Parameter time: what its clock shows, if it dates them.
    static func thermometer(
        _ temperatures: Int32..., shows time: DeviceTime? = nil
    ) -> (RadioLoop) -> SimulatedPeripheral {
        { loop in
            SimulatedPeripheral(
                device: DeviceAddress(RadioBench.pinned, .random), advert: .thermometerAdvert,
                services: SimulatedService.thermometer(serial: "T-1"),
                readings: temperatures.map {
                    .temperature(mantissa: $0, exponent: -2, isDated: time != nil)
                }, loop: loop, time: { time ?? GatewayBench.deviceTime })
        }
    }

    /// Runs the gateway on a peripheral, from when its adapter listens, as a process of its own.
    func run(
        _ make: (RadioLoop) -> SimulatedPeripheral, profile: String = "thermometer",
        subject: String = "patient-17", _ body: (Run) async throws -> Void
    ) async throws {
        let judged = JudgedClock(clock)
        let loop = try RadioLoop(clock: clock)
        let peripheral = make(loop)
        let bootID = system.withLock { $0.bootID }
        let radio = try SimulatedRadio(
            loop: loop, clock: judged,
            adapters: [SimulatedAdapter(index: 0, address: RadioBench.address)], peripherals: [peripheral])
        let store = try await SQLiteQueue.open(
            path: directory.appending(path: "queue.sqlite").path, bootID: bootID, clock: judged,
            destinations: [DestinationRouting(name: "clinic")])
        let notes = Notes<JournalEntry>()
        let events = EventLog(sink: Sink(notes: notes))
        let timekeeper = Timekeeper(
            clock: judged, store: store.undated, zone: LocalZone(.utc),
            sources: Timekeeper.Sources(
                isSynchronized: {
                    self.system.withLock { system in
                        system.questions += 1
                        return system.isSynchronized
                    }
                },
                realTimeClocks: { self.system.withLock { $0.realTimeClocks } }),
            isConfigured: system.withLock { $0.isConfigured }, released: Self.released, events: events,
            told: { self.trusts.add($0) })
        let model = PeripheralModel(
            id: 1, name: profile, type: profile, manufacturer: nil, model: nil, profile: profile,
            recognised: [], bonding: .none,
            instructions: .init(pairing: "", beforeMeasurement: "", duringMeasurement: ""),
            readyBeforeMeasurement: false, rearm: nil, quirks: [])
        let gateway = PassiveGateway(
            ports: .init(
                radio: radio, store: store.records, devices: store.devices, events: events, clock: judged),
            factory: RecordFactory(gateway: "box", zone: .utc, bootID: bootID, isSimulated: false),
            allowList: AllowList([
                AllowedPeripheral(model: model, address: RadioBench.pinned, subject: subject)
            ]), timing: PassiveTiming())
        let before = trusts.all.count
        let keeping = Task { try await timekeeper.run() }
        let reading = Task { try await gateway.run() }
        let result: Result<Void, any Error>
        do {
            await notes.wait { $0.contains { $0.name == "adapter-ready" } }
            result = .success(
                try await body(
                    Run(
                        bench: self, loop: loop, store: store, gateway: gateway, peripheral: peripheral,
                        events: notes, trustsBefore: before)))
        } catch {
            result = .failure(error)
        }
        reading.cancel()
        keeping.cancel()
        try await reading.value
        try await keeping.value
        try await store.close()
        loop.stop()
        try result.get()
    }
}
