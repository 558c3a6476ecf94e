import BlueZBridge
import FoundationEssentials
import PeripheralSimulator
import Synchronization
import TestSupport

@testable import IngestBluetooth
@testable import IngestCore
@testable import IngestEvents
@testable import IngestOperator
@testable import IngestProfiles
@testable import IngestQueue
@testable import IngestReading
@testable import IngestRecords

/// The gateway on a simulated kernel, with devices that only broadcast, on a clock that stands still.
struct BroadcastBench {
    private struct Sink: EventSink {
        let notes: Notes<JournalEntry>

        func write(_ entry: JournalEntry) { notes.add(entry) }
    }

    /// Bind keys by credential; they can be changed.
    final class Keys: Sendable {
        private let keys: Mutex<[String: String]>

        init(_ keys: [String: String]) {
            self.keys = Mutex(keys)
        }

        func set(_ text: String, for name: String) {
            keys.withLock { $0[name] = text }
        }

        func read(_ name: String) throws(BindKeyError) -> BindKey {
            guard let text = keys.withLock({ $0[name] }) else { throw .credential(.missing(.named(name))) }
            guard let key = BindKey(text) else { throw .notAKey(name) }
            return key
        }
    }

    /// 16 bytes, as a credential and as the devices have it.
    static let keyText = "231d39c1d7cc1ab1aee224cd096db932"
    static let key = Hex.bytes(keyText) ?? []
    /// A device with a public address, as Shelly's and Xiaomi's have.
    static let device = DeviceAddress(BluetoothAddress(value: 0x5448_E68F_80A5), .public)

    let clock: DrivenClock
    let loop: RadioLoop
    let kernel: SimulatedKernel
    let store: SQLiteQueue
    let noted: NotedStore
    let keys: Keys
    let ports: PassiveGateway.Ports
    let factory: RecordFactory
    let gateway: PassiveGateway
    let broadcaster: SimulatedBroadcaster
    private let entries: [AllowedPeripheral]
    private let events = Notes<JournalEntry>()
    /// So that each moment is marked by a device that no queue has heard of.
    private static let lastMarker = Mutex<UInt64>(0)

    private init(
        _ entries: [AllowedPeripheral], keys: [String: String], directory: URL, clock: DrivenClock,
        bootID: String, adapter: SimulatedAdapter
    ) async throws {
        self.clock = clock
        factory = RecordFactory(gateway: "test", zone: .utc, bootID: bootID, isSimulated: true)
        self.keys = Keys(keys)
        loop = try RadioLoop(clock: clock)
        let radio = try SimulatedRadio(loop: loop, clock: clock, adapters: [adapter], peripherals: [])
        kernel = radio.kernel
        store = try await SQLiteQueue.open(
            path: directory.appending(path: "queue.sqlite").path, bootID: bootID, clock: clock,
            destinations: [])
        noted = NotedStore(store: store, clock: clock, failingCommits: 0)
        broadcaster = SimulatedBroadcaster(device: Self.device, kernel: kernel)
        // Any BTHome device is read too: those that mark a moment.
        self.entries = entries + [Self.entry("bthome", isPinned: false)]
        ports = .init(
            radio: radio, store: noted, devices: noted, events: EventLog(sink: Sink(notes: events)),
            clock: clock,
            bindKey: { [keys = self.keys] name throws(BindKeyError) in try keys.read(name) })
        gateway = PassiveGateway(
            ports: ports, factory: factory, allowList: AllowList(self.entries), timing: PassiveTiming())
    }

    static func entry(
        _ profile: String, isPinned: Bool = true, key: String? = nil, users: [Int: String] = [:],
        subject: String? = nil
    ) -> AllowedPeripheral {
        let services: [UInt16] =
            switch profile {
            case "bthome": [0xFCD2]
            case "mibeacon": [0xFE95]
            default: [0x181D, 0x181B]
            }
        let model = PeripheralModel(
            id: 1, name: profile, type: profile, manufacturer: nil, model: nil, profile: profile,
            recognised: services.map { [.service($0)] }, bonding: .none,
            instructions: .init(pairing: "", beforeMeasurement: "", duringMeasurement: ""),
            readyBeforeMeasurement: false, rearm: nil, quirks: [])
        return AllowedPeripheral(
            model: model, address: isPinned ? device.address : nil, alias: isPinned ? "sensor" : nil,
            subject: subject, users: users, key: key)
    }

    /// Runs the gateway for as long as `body` takes, from when its adapter listens.
    /// - Parameter directory: of the queue; a new one when nil.
    static func run(
        _ entries: AllowedPeripheral..., keys: [String: String] = ["key": keyText],
        in directory: URL? = nil, clock: DrivenClock = DrivenClock(wall: DrivenClock.morning),
        bootID: String = "test",
        adapter: SimulatedAdapter = SimulatedAdapter(index: 0, address: RadioBench.address),
        _ body: (BroadcastBench) async throws -> Void
    ) async throws {
        guard let directory else {
            try await inNewDirectory { directory in
                try await withBench(entries, keys, directory, clock, bootID, adapter, body)
            }
            return
        }
        try await withBench(entries, keys, directory, clock, bootID, adapter, body)
    }

    static func inNewDirectory<Result>(_ body: (URL) async throws -> Result) async throws -> Result {
        let directory = FileManager.default.temporaryDirectory.appending(path: "broadcast-\(UUID())")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        return try await body(directory)
    }

    private static func withBench(
        _ entries: [AllowedPeripheral], _ keys: [String: String], _ directory: URL, _ clock: DrivenClock,
        _ bootID: String, _ adapter: SimulatedAdapter, _ body: (BroadcastBench) async throws -> Void
    ) async throws {
        let bench = try await BroadcastBench(
            entries, keys: keys, directory: directory, clock: clock, bootID: bootID, adapter: adapter)
        let running = Task { try await bench.gateway.run() }
        let result: Result<Void, any Error>
        do {
            await bench.events.wait { $0.contains { $0.name == "adapter-ready" } }
            result = .success(try await body(bench))
        } catch {
            result = .failure(error)
        }
        running.cancel()
        try await running.value
        try await bench.store.close()
        bench.loop.stop()
        try result.get()
    }

    // MARK: What the devices do

    /// Returns when everything that was sent before is done with: adverts are read in their order, so
    /// the reading of another device says so.
    func settle() async {
        let number = Self.lastMarker.withLock { last in
            last += 1
            return last
        }
        let address = BluetoothAddress(value: 0x0011_2200_0000 + number)
        let marker = SimulatedBroadcaster(device: DeviceAddress(address, .public), kernel: kernel)
        // Battery, 50 %.
        await marker.send(SimulatedServiceData.bthome([0x01, 50]))
        await noted.releases.wait { releases in
            releases.contains { $0.records.contains { $0.device.address == address } }
        }
    }

    func send(_ serviceData: [UInt8], times: Int = 1) async {
        await broadcaster.send(serviceData, times: times)
        await settle()
    }

    /// Moves the clock, a minute at a time and with something on the air, so that the scan is not
    /// restarted for silence.
    func pass(_ duration: Duration) async {
        var left = duration
        while left > .zero {
            let step = min(left, .seconds(60))
            await clock.advance(by: step, loop)
            await settle()
            left -= step
        }
    }

    // MARK: What the gateway makes of it

    /// The released records of the device.
    var records: [Record] {
        noted.releases.all.flatMap(\.records).filter { $0.device.address == Self.device.address }
    }

    /// Their values: `temperature 25.06 Cel`.
    var values: [[String]] {
        records.map { record in
            record.measurements.map { measurement in
                guard case .exact(let number) = measurement.value else { return measurement.type }
                return "\(measurement.type) \(number) \(measurement.unit)"
            } + record.flags
        }
    }

    /// The words of the events of this name.
    func errors(of name: String = "decode-error") -> [String] {
        events.all.filter { $0.name == name }.compactMap { entry in
            entry.fields.first { $0.0 == .error }?.1
        }
    }

    func count(of name: String) -> Int {
        events.all.count { $0.name == name }
    }

    /// Reads bind keys anew, as a reload does.
    func reload() async {
        await gateway.apply(AllowList(entries), timing: PassiveTiming())
    }
}
