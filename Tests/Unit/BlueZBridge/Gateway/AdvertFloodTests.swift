import BlueZBridge
import FoundationEssentials
import PeripheralSimulator
import QueueTestSupport
import Synchronization
import TestSupport
import Testing

@testable import IngestBluetooth
@testable import IngestCore
@testable import IngestEvents
@testable import IngestQueue
@testable import IngestReading
@testable import IngestRecords

/// Adverts that come faster than the gateway can take them in.
@Suite(.timeLimit(.minutes(15)))
struct AdvertFloodTests {
    private struct Silent: EventSink {
        func write(_ entry: JournalEntry) {}
    }

    /// A radio that always has another advert of one device. All floods of a test have one end.
    private final class FloodingRadio: Radio {
        /// Adverts that may still come.
        final class Supply: Sendable {
            private let left: Mutex<Int>

            init(_ count: Int) { left = Mutex(count) }

            /// - Returns: whether there was another one.
            func take() -> Bool {
                left.withLock { left in
                    guard left > 0 else { return false }
                    left -= 1
                    return true
                }
            }

            func end() { left.withLock { $0 = 0 } }
        }

        private static let adapter = AdapterID(index: 0)
        let advertisements: AsyncStream<Advertisement>
        let adapters: AsyncStream<[AdapterState]>
        let signs: AsyncStream<ReceptionSign>
        private let supply: Supply
        private let attempts: Notes<Bool>

        /// - Parameter attempts: gets a note of each connection attempt: whether adverts were still coming.
        init(device: DeviceAddress, supply: Supply, attempts: Notes<Bool>, clock: any GatewayClock) {
            self.supply = supply
            self.attempts = attempts
            let advert = Advertisement(
                device: device, adapter: Self.adapter, rssi: -60, isConnectable: true,
                data: .thermometerAdvert, received: clock.now)
            advertisements = AsyncStream { supply.take() ? advert : nil }
            adapters = AsyncStream { continuation in
                continuation.yield([
                    AdapterState(
                        id: Self.adapter, address: RadioBench.address, isListening: true, reason: nil)
                ])
            }
            signs = AsyncStream { _ in }
        }

        func watch(for adapters: Set<AdapterID>) async {}
        func update(_ filter: AdvertisementFilter) async {}

        func listen(for filter: AdvertisementFilter) async throws {
            try await Task.sleep(for: .seconds(86_400))
        }

        func connect(
            to device: DeviceAddress, on adapter: AdapterID, remembered: AttributeLayout?,
            requiresEncryption: Bool
        ) async throws(LinkError) -> any PeripheralLink {
            attempts.add(supply.take())
            throw .notReachable
        }
    }

    private static func gateway(_ radio: FloodingRadio, _ queue: SQLiteQueue, _ clock: DrivenClock)
        -> PassiveGateway
    {
        let model = PeripheralModel(
            id: 1_002, name: "thermometer", type: "thermometer", manufacturer: nil, model: nil,
            profile: "thermometer", recognised: [[.service(0x1809)]], bonding: .none,
            instructions: .init(pairing: "", beforeMeasurement: "", duringMeasurement: ""),
            readyBeforeMeasurement: false, rearm: nil, quirks: [])
        return PassiveGateway(
            ports: .init(
                radio: radio, store: queue.records, devices: queue.devices,
                events: EventLog(sink: Silent()), clock: clock),
            factory: RecordFactory(gateway: "test", zone: .utc, bootID: "test", isSimulated: true),
            allowList: AllowList([AllowedPeripheral(model: model, address: RadioBench.pinned)]),
            timing: PassiveTiming())
    }

    /// More gateways than processors, so that no thread is left for the reads by chance.
    @Test func peripheralsAreConnectedToWhileAdvertsComeWithoutEnd() async throws {
        let count = 2 * ProcessInfo.processInfo.activeProcessorCount
        let clock = DrivenClock(wall: DrivenClock.morning)
        let directory = FileManager.default.temporaryDirectory.appending(path: "gateway-\(UUID())")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        let queue = try await SQLiteQueue.open(
            path: directory.appending(path: "queue.sqlite").path, bootID: "test", clock: clock,
            destinations: [])
        // A flood that is not interrupted uses these up in half a minute; then the attempts that are made come too late.
        let supply = FloodingRadio.Supply(1_000_000)
        let device = DeviceAddress(RadioBench.pinned, .random)
        let attempts = (0..<count).map { _ in Notes<Bool>() }
        let running = attempts.map { attempts in
            let radio = FloodingRadio(device: device, supply: supply, attempts: attempts, clock: clock)
            let gateway = Self.gateway(radio, queue, clock)
            return Task { try await gateway.run() }
        }
        for attempts in attempts { await attempts.wait { !$0.isEmpty } }
        supply.end()
        #expect(attempts.allSatisfy { $0.all.first == true })
        for task in running {
            task.cancel()
            _ = await task.result
        }
        try await queue.close()
    }
}
