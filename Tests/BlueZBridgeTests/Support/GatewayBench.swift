import BlueZBridge
import FoundationEssentials
import PeripheralSimulator
import Synchronization

@testable import IngestKit

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

        func write(_ entry: JournalEntry) {
            notes.add(NotedEvent(entry: entry, instant: clock.now))
        }
    }

    static let serial = "T-0001"
    /// Longer than silence and cooldown after a read, and than any first back-off.
    static let longPause = Duration.seconds(20)

    let clock: DrivenClock
    let loop: RadioLoop
    let peripheral: SimulatedPeripheral
    let radio: SimulatedRadio
    let store: SQLiteRecordStore
    let noted: NotedStore
    let events = Notes<NotedEvent>()
    let gateway: PassiveGateway
    private let directory: URL

    private init(
        kind: Kind, readings: [SimulatedReading], readingsPerWakeUp: Int, failingCommits: Int,
        failure: any Error, tick: UInt64, isReadyBeforeMeasurement: Bool
    ) async throws {
        clock = DrivenClock(tick: tick)
        loop = try RadioLoop(clock: clock)
        let isCuff = kind == .cuff
        peripheral = SimulatedPeripheral(
            device: DeviceAddress(RadioBench.pinned, .random),
            advert: isCuff ? .cuffAdvert : .thermometerAdvert,
            services: isCuff
                ? SimulatedService.cuff(serial: Self.serial)
                : SimulatedService.thermometer(serial: Self.serial),
            readings: readings, readingsPerWakeUp: readingsPerWakeUp, loop: loop,
            time: { DeviceTime(year: 2026, month: 11, day: 20, hours: 9, minutes: 14, seconds: 57) })
        radio = try SimulatedRadio(
            loop: loop, clock: clock,
            adapters: [SimulatedAdapter(index: 0, address: RadioBench.address)], peripherals: [peripheral])
        directory = FileManager.default.temporaryDirectory.appending(path: "gateway-\(UUID())")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        store = try await SQLiteRecordStore.open(
            path: directory.appending(path: "queue.sqlite").path, bootID: "test", clock: clock,
            destinations: [])
        noted = NotedStore(
            store: store, clock: clock, failingCommits: failingCommits, failure: failure)
        let profile = isCuff ? "blood-pressure" : "thermometer"
        let model = PeripheralModel(
            id: 1, name: profile, type: profile, manufacturer: nil, model: nil, profile: profile,
            recognised: [[.service(isCuff ? 0x1810 : 0x1809)]], bonding: .none,
            instructions: .init(pairing: "", beforeMeasurement: "", duringMeasurement: ""),
            readyBeforeMeasurement: isReadyBeforeMeasurement, rearm: nil, quirks: [])
        gateway = PassiveGateway(
            ports: .init(
                radio: radio, store: noted, events: EventLog(sink: Sink(notes: events, clock: clock)),
                clock: clock),
            factory: RecordFactory(gateway: "test", zone: .utc, bootID: "test", isSimulated: true),
            allowList: AllowList([AllowedPeripheral(model: model, address: RadioBench.pinned)]),
            timing: PassiveTiming())
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
        isReadyBeforeMeasurement: Bool = false, _ body: (GatewayBench) async throws -> Void
    ) async throws {
        let bench = try await GatewayBench(
            kind: kind, readings: readings ?? [kind.reading], readingsPerWakeUp: readingsPerWakeUp,
            failingCommits: failingCommits, failure: failure, tick: tick,
            isReadyBeforeMeasurement: isReadyBeforeMeasurement)
        let running = Task { try await bench.gateway.run() }
        let result: Result<Void, any Error>
        do {
            await bench.told("adapter-ready")
            result = .success(try await body(bench))
        } catch {
            result = .failure(error)
        }
        running.cancel()
        try await running.value
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

    /// Names of the events about records.
    func outbox() async throws -> [String] {
        try await store.outboxEntries(limit: 1_000).map(\.entry.name)
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
        // What ended the read is done with when the gateway answers.
        _ = await gateway.listeningAdapters
        await clock.advance(by: duration, loop)
    }

    /// As `pause`, for longer than a scan may hear nothing: waits until the scan was restarted. Once
    /// in a test.
    func longPause(_ duration: Duration) async {
        func scanStarted() async {
            for await command in radio.kernel.commands
            where command.opcode == ManagementProtocol.Opcode.addPatternsMonitor { return }
        }
        await scanStarted()
        await pause(duration)
        await scanStarted()
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

/// The queue, with notes of what was released when, and with commits that fail.
final class NotedStore: RecordStore {
    struct NoRoom: Error {}

    struct Release: Sendable {
        let records: [Record]
        let instant: MonotonicInstant
    }

    let releases = Notes<Release>()
    private let store: SQLiteRecordStore
    private let clock: DrivenClock
    private let failingCommits: Mutex<Int>
    private let failure: any Error

    init(
        store: SQLiteRecordStore, clock: DrivenClock, failingCommits: Int, failure: any Error = NoRoom()
    ) {
        self.failure = failure
        self.store = store
        self.clock = clock
        self.failingCommits = Mutex(failingCommits)
    }

    func commit(_ transaction: QueueTransaction) async throws -> [CommitOutcome] {
        let fails = failingCommits.withLock { count in
            guard count > 0 else { return false }
            count -= 1
            return true
        }
        if fails { throw failure }
        return try await store.commit(transaction)
    }

    func markConfirmed(_ id: RecordID) async throws {
        try await store.markConfirmed(id)
    }

    func freeze(_ records: [Record]) async throws {
        let instant = clock.now
        try await store.freeze(records)
        releases.add(Release(records: records, instant: instant))
    }

    func recall(_ device: DeviceAddress) async throws -> DeviceMemory? {
        try await store.recall(device)
    }

    func remember(_ memory: DeviceMemory, of device: DeviceAddress) async throws {
        try await store.remember(memory, of: device)
    }

    func pendingPackets(of device: BluetoothAddress) async throws -> [PendingPackets] {
        try await store.pendingPackets(of: device)
    }

    func record(
        numbered sequence: Int, kind: RecordKind, of device: BluetoothAddress
    ) async throws -> StoredPayload? {
        try await store.record(numbered: sequence, kind: kind, of: device)
    }

    func acquaintances(of entries: [AllowedPeripheral]) async throws -> [Acquaintance] {
        try await store.acquaintances(of: entries)
    }
}

extension LinkTrace {
    static let indicationOpcode: UInt8 = 0x1D
    static let confirmationOpcode: UInt8 = 0x1E

    var indications: Int {
        pdus.count { !$0.isFromGateway && $0.bytes.first == Self.indicationOpcode }
    }

    /// Whether the peripheral sent these bytes, next to each other.
    func sent(_ bytes: [UInt8]) -> Bool {
        pdus.contains { !$0.isFromGateway && $0.bytes.contains(bytes) }
    }
}
