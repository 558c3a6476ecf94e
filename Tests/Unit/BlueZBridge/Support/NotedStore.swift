import PeripheralSimulator
import Synchronization
import TestSupport

@testable import IngestQueue

/// The queue, with notes of what was released when, and with commits that fail.
final class NotedStore: RecordStore, DeviceStore {
    struct NoRoom: Error {}

    struct Release: Sendable {
        let records: [Record]
        let instant: MonotonicInstant
    }

    let releases = Notes<Release>()
    /// Records that were new, in the order of their commits, as they were then.
    let committed = Notes<Record>()
    /// Records in each commit, new and known; those without any are left out.
    let groups = Notes<Int>()
    private let store: SQLiteQueue
    private let clock: DrivenClock
    private let failingCommits: Mutex<Int>
    private let failsPackets: Bool
    private let failure: any Error
    /// Called before the store is asked what it remembers of a device.
    private let onRecall: @Sendable () -> Void

    init(
        store: SQLiteQueue, clock: DrivenClock, failingCommits: Int, failsPackets: Bool = false,
        failure: any Error = NoRoom(), onRecall: @escaping @Sendable () -> Void = {}
    ) {
        self.onRecall = onRecall
        self.failsPackets = failsPackets
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
        let outcomes = try await store.records.commit(transaction)
        for (submission, outcome) in zip(transaction.submissions, outcomes) {
            if case .committed = outcome { committed.add(submission.record) }
        }
        if !outcomes.isEmpty { groups.add(outcomes.count) }
        return outcomes
    }

    func markConfirmed(_ id: RecordID) async throws {
        try await store.records.markConfirmed(id)
    }

    func freeze(_ records: [Record]) async throws {
        let instant = clock.now
        try await store.records.freeze(records)
        releases.add(Release(records: records, instant: instant))
    }

    func recall(_ device: DeviceAddress) async throws -> DeviceMemory? {
        onRecall()
        return try await store.devices.recall(device)
    }

    func remember(_ memory: DeviceMemory, of device: DeviceAddress) async throws {
        try await store.devices.remember(memory, of: device)
    }

    func pendingPackets(of device: DeviceAddress) async throws -> [PendingPackets] {
        if failsPackets { throw failure }
        return try await store.devices.pendingPackets(of: device)
    }

    func record(
        numbered sequence: Int, kind: RecordKind, of device: BluetoothAddress
    ) async throws -> StoredPayload? {
        try await store.records.record(numbered: sequence, kind: kind, of: device)
    }

    func rememberedBonds() async throws -> Set<DeviceAddress> { try await store.devices.rememberedBonds() }
    func rememberedStrangers() async throws -> [DeviceAddress] {
        try await store.devices.rememberedStrangers()
    }
    func spentPairings() async throws -> Set<String> { try await store.devices.spentPairings() }

    func setPairing(_ key: String, isSpent: Bool) async throws {
        try await store.devices.setPairing(key, isSpent: isSpent)
    }

    func noteFirstSeen(_ entries: [AllowedPeripheral]) async throws {
        try await store.devices.noteFirstSeen(entries)
    }

    func firstSeen(of entries: [AllowedPeripheral]) async throws -> [FirstSeen] {
        try await store.devices.firstSeen(of: entries)
    }
}

extension LinkTrace {
    static let indicationOpcode: UInt8 = 0x1D
    static let confirmationOpcode: UInt8 = 0x1E

    var indications: Int {
        pdus.count { !$0.isFromGateway && $0.bytes.first == Self.indicationOpcode }
    }

    /// PDUs from the connection to the first indication, both counted; nil without one.
    var pdusToIndication: Int? {
        pdus.firstIndex { !$0.isFromGateway && $0.bytes.first == Self.indicationOpcode }.map { $0 + 1 }
    }

    /// Whether the peripheral sent these bytes, next to each other.
    func sent(_ bytes: [UInt8]) -> Bool {
        pdus.contains { !$0.isFromGateway && $0.bytes.contains(bytes) }
    }
}
