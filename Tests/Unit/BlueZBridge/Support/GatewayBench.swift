import BlueZBridge
import FoundationEssentials
import PeripheralSimulator
import QueueTestSupport

@testable import IngestBluetooth
@testable import IngestCore
@testable import IngestEvents
@testable import IngestOperator
@testable import IngestQueue
@testable import IngestReading
@testable import IngestRecords
@testable import IngestStorage

/// One simulated peripheral, the gateway that reads it and its queue, on a clock that stands still.
struct GatewayBench {
    enum Kind: CaseIterable {
        case datedThermometer
        case undatedThermometer
        case cuff

        var reading: SimulatedReading {
            switch self {
            case .datedThermometer: .temperature(mantissa: 3660, exponent: -2, isDated: true)
            case .undatedThermometer: .temperature(mantissa: 3660, exponent: -2, isDated: false)
            case .cuff: .bloodPressure(systolic: 128, diastolic: 82, mean: 97, pulse: 71)
            }
        }
    }

    /// An event of the gateway itself, and when it was told.
    struct NotedEvent: Sendable {
        let entry: JournalEntry
        let instant: MonotonicInstant

        func value(_ field: EventField) -> String? { entry.fields.first { $0.0 == field }?.1 }
    }

    private struct Sink: EventSink {
        let notes: Notes<NotedEvent>
        let clock: DrivenClock
        let journal: TaggingSink?

        func write(_ entry: JournalEntry) {
            notes.add(NotedEvent(entry: entry, instant: clock.now))
            journal?.write(entry)
        }
    }

    static let serial = "T-0001"
    /// Longer than a silence that no sign proves and the cooldown after it, and than any first back-off.
    static let longPause = Duration.seconds(40)
    /// How long every advert is listened to before a scan that hears nothing is restarted.
    private static let silence = Duration.seconds(90)

    let clock: DrivenClock
    let loop: RadioLoop
    let peripheral: SimulatedPeripheral
    let other: SimulatedPeripheral?
    let radio: SimulatedRadio
    let store: SQLiteQueue
    let noted: NotedStore
    let events = Notes<NotedEvent>()
    /// Nil without an output of the test's.
    let journal: TaggingSink?
    let gateway: PassiveGateway
    let orders: OperatorOrders
    private let model: PeripheralModel
    private let timing: PassiveTiming
    private let running = Running()
    private let directory: URL

    /// What the allow-list's entry says of the peripheral.
    struct Entry {
        /// Nil: any device of the model.
        var address: BluetoothAddress? = RadioBench.pinned
        var subject: String?
        /// ISO 8601 date.
        var since: String?
        var users: [Int: String] = [:]
        var history = AllowedPeripheral.History.all
        var clock = AllowedPeripheral.ClockPolicy.observe
        var requiresBond = false
        var pairing = AllowedPeripheral.Pairing.manual
        /// Of a credential that holds 123456.
        var passkey: String?

        func of(_ model: PeripheralModel) -> AllowedPeripheral {
            AllowedPeripheral(
                model: model, address: address, subject: subject, users: users, subjectSince: since,
                history: history, requiresBond: requiresBond, pairing: pairing, passkey: passkey,
                clock: clock)
        }
    }

    /// Runs the gateway, and stops it once.
    private actor Running {
        private var task: Task<Void, any Error>?

        func start(_ gateway: PassiveGateway, _ orders: OperatorOrders) {
            task = Task {
                async let ordering: Void = orders.run()
                try await gateway.run()
                await ordering
            }
        }

        func stop() async throws {
            task?.cancel()
            try await task?.value
        }
    }

    /// What is read, and how.
    struct Setup {
        var peripheral: @Sendable (RadioLoop, DrivenClock) -> SimulatedPeripheral
        /// Another peripheral in the air.
        var other: (@Sendable (RadioLoop, DrivenClock) -> SimulatedPeripheral)?
        /// As catalogue models name it.
        var profile: String
        /// By which the model is recognised; nil: by its address only.
        var service: UInt16?
        var entry = Entry()
        var timing = PassiveTiming()
        /// How many commits the store refuses at first, with `failure`.
        var failingCommits = 0
        /// What an earlier run has noted of automatic pairings.
        var spentPairings: [String] = []
        /// Whether the store gives no packets of values that are not whole, with `failure`.
        var failsPackets = false
        var failure: any Error = NotedStore.NoRoom()
        /// Nanoseconds by which the clock moves with each look.
        var tick: UInt64 = 0
        var quirks: [PeripheralModel.Quirk] = []
        /// Whether the model advertises before the measurement.
        var isReadyBeforeMeasurement = false
        /// After which a model that never stops advertising is read again.
        var rearm: Duration?
        var bonding = PeripheralModel.Bonding.none
        /// Gets the gateway's own events too.
        var output: (any EntryOutput)?
    }

    /// The peripherals' clock: 3 s behind ours.
    static let deviceTime = DeviceTime(year: 2026, month: 11, day: 20, hours: 9, minutes: 14, seconds: 57)

    private init(_ setup: Setup) async throws {
        clock = DrivenClock(wall: DrivenClock.morning, tick: setup.tick)
        loop = try RadioLoop(clock: clock)
        peripheral = setup.peripheral(loop, clock)
        other = setup.other?(loop, clock)
        radio = try SimulatedRadio(
            loop: loop, clock: clock,
            adapters: [SimulatedAdapter(index: 0, address: RadioBench.address)],
            peripherals: [peripheral] + (other.map { [$0] } ?? []))
        directory = FileManager.default.temporaryDirectory.appending(path: "gateway-\(UUID())")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        store = try await SQLiteQueue.open(
            path: directory.appending(path: "queue.sqlite").path, bootID: "test", clock: clock,
            destinations: [])
        for key in setup.spentPairings { try await store.devices.setPairing(key, isSpent: true) }
        noted = NotedStore(
            store: store, clock: clock, failingCommits: setup.failingCommits,
            failsPackets: setup.failsPackets, failure: setup.failure)
        let model = PeripheralModel(
            id: 1, name: setup.profile, type: setup.profile, manufacturer: nil, model: nil,
            profile: setup.profile, recognised: setup.service.map { [[.service($0)]] } ?? [],
            bonding: setup.bonding,
            instructions: .init(pairing: "Hold the button.", beforeMeasurement: "", duringMeasurement: ""),
            readyBeforeMeasurement: setup.isReadyBeforeMeasurement, rearm: setup.rearm,
            quirks: setup.quirks)
        self.model = model
        timing = setup.timing
        journal = setup.output.map { [clock] in TaggingSink($0, key: .random(), clock: clock) }
        let ports = PassiveGateway.Ports(
            radio: radio, store: noted, devices: noted,
            events: EventLog(sink: Sink(notes: events, clock: clock, journal: journal)),
            clock: clock, bondKeeper: radio.bondKeeper)
        gateway = PassiveGateway(
            ports: ports,
            factory: RecordFactory(gateway: "test", zone: .utc, bootID: "test", isSimulated: true),
            allowList: AllowList([setup.entry.of(model)]), timing: setup.timing)
        orders = OperatorOrders(gateway: gateway, ports: ports, scanner: radio) {
            _ throws(PasskeyError) in 123_456
        }
    }

    /// Runs the gateway on a peripheral with this sensor, from when its adapter listens.
    /// - Parameters:
    ///   - profile: as catalogue models name it.
    ///   - readings: what the peripheral gives besides.
    static func run(
        sensor: some SimulatedSensor, as profile: String, readings: [SimulatedReading] = [],
        rhythm: SimulatedPeripheral.Rhythm = .init(), timing: PassiveTiming = PassiveTiming(),
        entry: Entry = Entry(), failingCommits: Int = 0, rearm: Duration? = nil,
        _ body: (GatewayBench) async throws -> Void
    ) async throws {
        let setup = Setup(
            peripheral: { loop, _ in
                SimulatedPeripheral(
                    device: DeviceAddress(RadioBench.pinned, .random), sensor: sensor, readings: readings,
                    rhythm: rhythm, loop: loop, time: { deviceTime })
            }, profile: profile, entry: entry, timing: timing, failingCommits: failingCommits, rearm: rearm)
        try await run(setup, body)
    }

    /// Runs the gateway for as long as `body` takes, from when its adapter listens.
    /// - Parameters:
    ///   - readings: one of the kind when nil.
    ///   - failingCommits: how many commits the store refuses at first, with `failure`.
    ///   - tick: nanoseconds by which the clock moves with each look.
    static func run(
        _ kind: Kind = .undatedThermometer, readings: [SimulatedReading]? = nil,
        readingsPerWakeUp: Int = 1, failingCommits: Int = 0,
        failure: any Error = NotedStore.NoRoom(), tick: UInt64 = 0,
        isReadyBeforeMeasurement: Bool = false, output: (any EntryOutput)? = nil,
        _ body: (GatewayBench) async throws -> Void
    ) async throws {
        let isCuff = kind == .cuff
        let setup = Setup(
            peripheral: { loop, _ in
                SimulatedPeripheral(
                    device: DeviceAddress(RadioBench.pinned, .random),
                    advert: isCuff ? .cuffAdvert : .thermometerAdvert,
                    services: isCuff
                        ? SimulatedService.cuff(serial: serial)
                        : SimulatedService.thermometer(serial: serial),
                    readings: readings ?? [kind.reading], readingsPerWakeUp: readingsPerWakeUp, loop: loop,
                    time: { deviceTime })
            }, profile: isCuff ? "blood-pressure" : "thermometer", service: isCuff ? 0x1810 : 0x1809,
            failingCommits: failingCommits, failure: failure, tick: tick,
            isReadyBeforeMeasurement: isReadyBeforeMeasurement, output: output)
        try await run(setup, body)
    }

    /// Runs the gateway for as long as `body` takes, from when its adapter listens.
    static func run(
        _ setup: Setup, _ body: (GatewayBench) async throws -> Void
    ) async throws {
        let bench = try await GatewayBench(setup)
        await bench.running.start(bench.gateway, bench.orders)
        let result: Result<Void, any Error>
        do {
            await bench.told("adapter-ready")
            result = .success(try await body(bench))
        } catch {
            result = .failure(error)
        }
        try await bench.stop()
        try await bench.store.close()
        bench.loop.stop()
        try? FileManager.default.removeItem(at: bench.directory)
        try result.get()
    }

    // MARK: Events

    func count(of name: String) -> Int {
        events.all.count { $0.entry.name == name }
    }

    /// Waits, while the clock stands, until the gateway has told of this so often.
    func told(_ name: String, times: Int = 1) async {
        await events.wait { $0.count { $0.entry.name == name } >= times }
    }

    /// How many records the queue was given of each kind that it was given.
    func kinds() -> [RecordKind: Int] {
        noted.committed.all.reduce(into: [:]) { $0[$1.kind, default: 0] += 1 }
    }

    /// Names of the events about records.
    func outbox() async throws -> [String] {
        try await store.outbox.outboxEntries(limit: 1_000).map(\.entry.name)
    }

    // MARK: Time

    /// Moves the clock in small steps, with time for the work that each brings, until the gateway
    /// has told of this so often.
    func advance(
        by step: Duration = .milliseconds(250), until name: String, times: Int = 1
    ) async throws {
        while count(of: name) < times {
            try Task.checkCancellation()
            await clock.advance(by: step, loop)
            _ = try await store.counts()
            _ = await gateway.listeningAdapters
        }
    }

    /// Lets the peripheral be silent until the gateway would read it again.
    func pause(_ duration: Duration = longPause) async {
        await settle()
        await clock.advance(by: duration, loop)
    }

    /// Returns when what ended the read is done with, and the adapter has proved that it receives.
    private func settle() async {
        _ = await gateway.listeningAdapters
        while await !gateway.watched.isEmpty { await loop.turned() }
    }

    /// As `pause`, for longer than a scan may hear nothing: waits until the scan was restarted. Once
    /// in a test.
    func longPause(_ duration: Duration) async {
        func scanStarted() async {
            for await command in radio.kernel.commands
            where command.opcode == ManagementProtocol.Opcode.addPatternsMonitor { return }
        }
        await scanStarted()
        // The neighbour is heard last at the end of the peripheral's silence.
        await pause()
        // Everything is listened to first; still nothing then is silence.
        await pause(duration - Self.longPause - Self.silence)
        await pause(Self.silence)
        await scanStarted()
    }

    /// Pauses, wakes the peripheral up again, and has its next link read to the end.
    func readAgain() async throws {
        await pause()
        try await readOnce()
    }

    /// Stops the gateway before the end of the test.
    func stop() async throws {
        try await running.stop()
    }

    /// Reads the peripheral from now on as another entry says.
    func apply(_ entry: Entry) async {
        await gateway.apply(AllowList([entry.of(model)]), timing: timing)
    }

    /// Wakes the peripheral up, and has its next link read to the end.
    func readOnce() async throws {
        let ended = count(of: "disconnected")
        await peripheral.wakeUp()
        await told("connected", times: ended + 1)
        try await advance(until: "disconnected", times: ended + 1)
    }

    /// Wakes the peripheral up and waits, while the clock stands, for the end of its link.
    func readUntilDropped() async {
        let ended = count(of: "disconnected")
        await peripheral.wakeUp()
        await told("disconnected", times: ended + 1)
    }
}
