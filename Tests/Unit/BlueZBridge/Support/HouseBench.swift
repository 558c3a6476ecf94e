import BlueZBridge
import FoundationEssentials
import PeripheralSimulator
import QueueTestSupport
import TestSupport

@testable import IngestCore
@testable import IngestQueue
@testable import IngestReading
@testable import IngestRecords

/// Many simulated peripherals around one adapter, the gateway that reads them and its queue, on a clock that is driven.
struct HouseBench {
    /// What stands in the house, or outside of it.
    enum Device: Equatable {
        /// Named by address, gives one reading when it is woken up.
        case cuff
        /// The same; it advertises all the time.
        case wakefulCuff
        case strap
        /// Named by address, takes the subscription and sends nothing.
        case silentThermometer
        /// Not named by address; it advertises all the time, holds its link and gives nothing.
        case clingingStranger
        /// Not named by address; it advertises all the time and cannot be connected to.
        case deafStranger
        /// Not named by address; it has thousands of characteristics, and none that is wanted.
        case vastStranger
        /// With 500 stored records; it advertises all the time.
        case meter(isNamed: Bool)
        /// The same; its transfer takes 50 s, so that it is under way while the other devices are connected to,
        /// however fast this machine is.
        case slowMeter(isNamed: Bool)

        var isNamed: Bool {
            switch self {
            case .cuff, .wakefulCuff, .strap, .silentThermometer: true
            case .clingingStranger, .deafStranger, .vastStranger: false
            case .meter(let isNamed), .slowMeter(let isNamed): isNamed
            }
        }

        fileprivate var profile: (name: String, service: UInt16) {
            switch self {
            case .cuff, .wakefulCuff: ("blood-pressure", 0x1810)
            case .strap: ("heart-rate", 0x180D)
            case .silentThermometer, .clingingStranger, .deafStranger, .vastStranger: ("thermometer", 0x1809)
            case .meter, .slowMeter: ("glucose", 0x1808)
            }
        }
    }

    let clock = DrivenClock(wall: DrivenClock.morning)
    let loop: RadioLoop
    let radio: SimulatedRadio
    let store: SQLiteQueue
    let events = Notes<JournalEntry>()
    let gateway: PassiveGateway
    /// Nil where the queue has no bounds.
    let keeper: QueueKeeper?
    private let directory: URL

    private struct Sink: EventSink {
        let notes: Notes<JournalEntry>

        func write(_ entry: JournalEntry) { notes.add(entry) }
    }

    /// The peripheral of this place in the list of devices.
    func peripheral(_ place: Int) -> SimulatedPeripheral { radio.peripherals[place] }

    static func address(_ place: Int) -> DeviceAddress {
        DeviceAddress(BluetoothAddress(value: 0xC000_0000_0100 + UInt64(place)), .random)
    }

    private static func peripheral(
        _ device: Device, _ place: Int, awake: Duration, loop: RadioLoop
    ) -> SimulatedPeripheral {
        let rhythm =
            switch device {
            case .cuff: SimulatedPeripheral.Rhythm(patience: awake, linger: .seconds(1))
            case .wakefulCuff:
                SimulatedPeripheral.Rhythm(patience: nil, linger: .seconds(1), staysAwake: true)
            case .strap, .silentThermometer, .clingingStranger, .vastStranger, .meter, .slowMeter:
                SimulatedPeripheral.Rhythm(patience: nil, staysAwake: true)
            case .deafStranger:
                {
                    var rhythm = SimulatedPeripheral.Rhythm(patience: nil, staysAwake: true)
                    rhythm.isDeaf = true
                    return rhythm
                }()
            }
        if case .strap = device {
            return SimulatedPeripheral(
                device: address(place), sensor: HeartRateStrap(), rhythm: rhythm, loop: loop,
                time: { GatewayBench.deviceTime })
        }
        let pause: Duration? =
            switch device {
            case .meter: .zero
            case .slowMeter: .milliseconds(100)
            default: nil
            }
        if let pause {
            return SimulatedPeripheral(
                device: address(place), sensor: StoredRecordsTests.meter(500) { $0.script.pause = pause },
                rhythm: rhythm, loop: loop, time: { GatewayBench.deviceTime })
        }
        if case .vastStranger = device {
            let characteristics = (0..<4_000).map {
                SimulatedService.Characteristic(BluetoothUUID(0x4000 + UInt16($0)), .read)
            }
            return SimulatedPeripheral(
                device: address(place), advert: .thermometerAdvert,
                services: [SimulatedService(0x1809, characteristics)], readings: [], rhythm: rhythm,
                loop: loop, time: { GatewayBench.deviceTime })
        }
        let isCuff = device == .cuff || device == .wakefulCuff
        return SimulatedPeripheral(
            device: address(place), advert: isCuff ? .cuffAdvert : .thermometerAdvert,
            services: isCuff
                ? SimulatedService.cuff(serial: "B-\(place)")
                : SimulatedService.thermometer(serial: "T-\(place)"),
            readings: [], rhythm: rhythm, loop: loop, time: { GatewayBench.deviceTime })
    }

    private static func entry(_ device: Device, _ place: Int) -> AllowedPeripheral {
        let (name, service) = device.profile
        let model = PeripheralModel(
            id: device.isNamed ? place + 1 : 999, name: name, type: name, manufacturer: nil, model: nil,
            profile: name,
            recognised: [[.service(service)]], bonding: .none,
            instructions: .init(pairing: "", beforeMeasurement: "", duringMeasurement: ""),
            readyBeforeMeasurement: false, rearm: nil, quirks: [])
        return AllowedPeripheral(
            model: model, address: device.isNamed ? address(place).address : nil)
    }

    /// Runs a gateway for as long as `body` takes.
    /// - Parameters:
    ///   - awake: how long a cuff advertises.
    ///   - controller: how many links the controller makes at a time.
    ///   - deafness: for how long it reports no adverts after a link.
    ///   - hasNeighbour: whether another device advertises nearby.
    ///   - maximumSize: what the queue may hold, in bytes; nil is without bounds.
    static func run(
        _ devices: [Device], links: Int, awake: Duration = .seconds(25), controller: Int? = nil,
        deafness: Duration = .zero, hasNeighbour: Bool = true, maximumSize: UInt64? = nil,
        _ body: (HouseBench) async throws -> Void
    ) async throws {
        let bench = try await HouseBench(
            devices, links: links, awake: awake,
            adapter: SimulatedAdapter(
                index: 0, address: RadioBench.address, mostLinks: controller, deafness: deafness),
            hasNeighbour: hasNeighbour, maximumSize: maximumSize)
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
        try? FileManager.default.removeItem(at: bench.directory)
        try result.get()
    }

    private init(
        _ devices: [Device], links: Int, awake: Duration, adapter: SimulatedAdapter, hasNeighbour: Bool,
        maximumSize: UInt64?
    ) async throws {
        let loop = try RadioLoop(clock: clock)
        self.loop = loop
        radio = try SimulatedRadio(
            loop: loop, clock: clock,
            adapters: [adapter],
            peripherals: devices.enumerated().map { place, device in
                Self.peripheral(device, place, awake: awake, loop: loop)
            }, hasNeighbour: hasNeighbour)
        directory = FileManager.default.temporaryDirectory.appending(path: "house-\(UUID())")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        store = try await SQLiteQueue.open(
            path: directory.appending(path: "queue.sqlite").path, bootID: "test", clock: clock,
            destinations: [])
        var entries: [AllowedPeripheral] = []
        for (place, device) in devices.enumerated() {
            guard device.isNamed || !entries.contains(where: { $0.address == nil }) else { continue }
            entries.append(Self.entry(device, place))
        }
        gateway = PassiveGateway(
            ports: .init(
                radio: radio, store: store.records, devices: store.devices,
                events: EventLog(sink: Sink(notes: events)), clock: clock),
            factory: RecordFactory(gateway: "test", zone: .utc, bootID: "test", isSimulated: true),
            allowList: AllowList(entries), timing: PassiveTiming(), links: links)
        keeper = maximumSize.map { [store, clock, gateway] size in
            QueueKeeper(
                store, disk: AmpleDisk(),
                settings: QueueKeeper.Settings(maximumSize: size, keepSubmitted: .seconds(7 * 86_400)),
                clock: clock, events: EventLog(sink: Sink(notes: Notes())), setTakesRecords: { _ in },
                setFullStrangers: { await gateway.setFullStrangers($0) })
        }
    }

    private struct AmpleDisk: DiskSpace {
        func totalBytes() -> UInt64 { 1 << 40 }
        func freeBytes() -> UInt64 { 1 << 39 }
        func makeReserve(bytes: UInt64) {}
        func releaseReserve() {}
    }

    /// What strangers hold of the queue: of the device at this place, or of all.
    func strangerBytes(_ place: Int? = nil) async throws -> Int64 {
        try await store.strangerBytes(of: place.map { Self.address($0).address })
    }

    /// How many records of the device at this place are in the queue.
    func records(of place: Int) async throws -> Int {
        try await store.recordCount(of: Self.address(place).address)
    }

    /// Wakes a cuff up with a reading.
    func measure(_ place: Int, systolic: UInt16 = 128) async {
        await peripheral(place).measure([
            .bloodPressure(systolic: systolic, diastolic: 82, mean: 97, pulse: 71)
        ])
        await peripheral(place).wakeUp()
    }

    /// Lets time pass until the condition holds, but not longer than this.
    /// - Returns: how long it took; nil if it did not come to hold.
    func advance(_ longest: Duration, until isMet: () async throws -> Bool) async throws -> Duration? {
        let start = clock.now
        while clock.now < start + longest {
            if try await isMet() { return clock.now.since(start) }
            await clock.advance(by: .milliseconds(50), loop)
            // What the step has brought is worked on meanwhile.
            for _ in 0..<4 { await loop.turned() }
            _ = try await store.counts()
            try await keeper?.look()
            _ = await gateway.listeningAdapters
        }
        return try await isMet() ? clock.now.since(start) : nil
    }

    /// How many readings of these devices were confirmed.
    func confirmed(_ places: Range<Int>) async -> Int {
        var count = 0
        for place in places where await peripheral(place).waiting == 0 { count += 1 }
        return count
    }

    func count(of name: String) -> Int { events.all.count { $0.name == name } }
}
