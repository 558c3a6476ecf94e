import QueueTestSupport
import Synchronization
import Testing

@testable import IngestProfiles
@testable import IngestReading
@testable import IngestRecords

/// A queue, and sessions over scripted links.
final class SessionBench {
    private final class Outcomes: Sendable {
        let all = Mutex<[CommitOutcome]>([])
        let told = Mutex<[(ReadScheduler.Progress, known: Int)]>([])
    }

    static let device = DeviceAddress(BluetoothAddress(value: 0x0CB2_B700_1122), .public)

    let clock = DrivenClock()
    private let directory: String
    private let entry: AllowedPeripheral
    private let profile: Profile
    private(set) var store: SQLiteQueue
    private var boot = 1
    private let outcomes = Outcomes()
    /// What the sessions told the scheduler, each with how many readings the queue had taken by then.
    var told: [(ReadScheduler.Progress, known: Int)] { outcomes.told.withLock { $0 } }

    /// What became of each reading.
    var all: [CommitOutcome] { outcomes.all.withLock { $0 } }
    var new: [RecordID] {
        all.compactMap { if case .committed(let id) = $0 { id } else { nil } }
    }

    init(_ profile: Profile, in directory: String) async throws {
        self.profile = profile
        self.directory = directory
        entry = AllowedPeripheral(model: .sample(), address: Self.device.address)
        store = try await .open(
            path: directory + "/queue.sqlite", bootID: "boot-1", clock: clock, destinations: [])
    }

    func reboot() async throws {
        try await store.close()
        boot += 1
        store = try await .open(
            path: directory + "/queue.sqlite", bootID: "boot-\(boot)", clock: clock, destinations: [])
    }

    /// One link with these values.
    func read(
        _ values: [[UInt8]], of characteristic: BluetoothUUID = 0x2A1C, isIndication: Bool = true,
        pause: Duration = .milliseconds(10), isLost: Bool = false
    ) async throws {
        let link = ScriptedLink(
            to: Self.device, values, of: characteristic, isIndication: isIndication, pause: pause,
            isLost: isLost, clock: clock)
        #expect(try await outcome(over: link) == .succeeded)
    }

    /// One link on which the device reports its memory.
    /// - Parameters:
    ///   - live: comes before it.
    ///   - lostAfter: after so many readings the signal is lost.
    func readMemory(
        _ stored: [[UInt8]], of characteristic: BluetoothUUID, isIndication: Bool, live: [[UInt8]] = [],
        lostAfter: Int? = nil
    ) async throws {
        let link = ScriptedLink(
            to: Self.device, live, of: characteristic, isIndication: isIndication, stored: stored,
            lostAfter: lostAfter, clock: clock)
        let outcome = try await outcome(over: link)
        #expect(lostAfter == nil ? outcome == .succeeded : outcome != .succeeded)
    }

    private func outcome(over link: ScriptedLink) async throws -> ReadSession.Outcome {
        var memory =
            try await store.devices.recall(Self.device) ?? DeviceMemory(hasDeviceInformation: true)
        memory.lastDailyCheck = clock.wallNanoseconds / 1_000_000_000
        let session = ReadSession(
            environment: .init(
                store: store.records, devices: store.devices, events: EventLog(sink: RecordingSink()),
                clock: clock,
                factory: RecordFactory(
                    gateway: "box", zone: .utc, bootID: "boot-\(boot)", isSimulated: false),
                log: .silent),
            target: .init(
                entry: entry, device: Self.device, profile: profile, memory: memory,
                firstSeen: .always(entry.subjects), timing: PassiveTiming(),
                observer: ReadObserver(
                    isDryRun: false, show: { _ in },
                    queued: { [outcomes] new in outcomes.all.withLock { $0 += new } }, hungUp: {}),
                report: { [outcomes] step in
                    let known = outcomes.all.withLock { $0.count }
                    outcomes.told.withLock { $0.append((step, known)) }
                }),
            link: link)
        return await session.run()
    }
}
