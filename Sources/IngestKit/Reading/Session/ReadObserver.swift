/// The operator who looks on while a device is read: what a session tells, and in a dry run all that it has
/// instead of a queue.
package struct ReadObserver: Sendable {
    /// A reading before it is in the queue.
    package struct Shown: Sendable {
        package let record: Record
        /// Our words for why it could not be decoded.
        package let decodeError: String?
    }

    let isDryRun: Bool
    /// Returns when the operator has been shown them, or does not look.
    let show: @Sendable ([Shown]) async -> Void
    /// The records were new, or known already.
    let queued: @Sendable ([CommitOutcome]) async -> Void
    /// A dry run has hung up at an indication.
    let hungUp: @Sendable () async -> Void

    package init(
        isDryRun: Bool, show: @escaping @Sendable ([Shown]) async -> Void,
        queued: @escaping @Sendable ([CommitOutcome]) async -> Void,
        hungUp: @escaping @Sendable () async -> Void
    ) {
        self.isDryRun = isDryRun
        self.show = show
        self.queued = queued
        self.hungUp = hungUp
    }
}

/// The queue of a dry run: it remembers nothing.
struct DryRunStore: RecordStore {
    let store: any RecordStore

    package func commit(_ transaction: QueueTransaction) -> [CommitOutcome] {
        transaction.submissions.map { .committed($0.record.id) }
    }

    package func markConfirmed(_ id: RecordID) {}
    package func freeze(_ records: [Record]) {}

    package func record(
        numbered sequence: Int, kind: RecordKind, of device: BluetoothAddress
    ) async throws -> StoredPayload? {
        try await store.record(numbered: sequence, kind: kind, of: device)
    }
}

/// What a dry run knows of devices, without remembering more.
struct DryRunDevices: DeviceStore {
    let devices: any DeviceStore

    package func remember(_ memory: DeviceMemory, of device: DeviceAddress) {}
    package func noteFirstSeen(_ entries: [AllowedPeripheral]) {}
    package func setPairing(_ key: String, isSpent: Bool) {}

    package func rememberedBonds() async throws -> Set<DeviceAddress> { try await devices.rememberedBonds() }
    package func rememberedStrangers() async throws -> [DeviceAddress] {
        try await devices.rememberedStrangers()
    }
    package func spentPairings() async throws -> Set<String> { try await devices.spentPairings() }

    package func recall(_ device: DeviceAddress) async throws -> DeviceMemory? {
        try await devices.recall(device)
    }

    package func pendingPackets(of device: DeviceAddress) async throws -> [PendingPackets] {
        try await devices.pendingPackets(of: device)
    }

    package func firstSeen(of entries: [AllowedPeripheral]) async throws -> [FirstSeen] {
        try await devices.firstSeen(of: entries)
    }
}

/// The link of a dry run: it confirms nothing, and hangs up at the first indication, which the device then
/// keeps.
struct DryRunLink: PeripheralLink {
    let link: any PeripheralLink
    let hungUp: @Sendable () async -> Void

    package var device: DeviceAddress { link.device }
    package var layout: AttributeLayout { get async { await link.layout } }
    package var ended: MonotonicInstant? { get async { await link.ended } }
    package var pduCount: Int { get async { await link.pduCount } }

    package func confirm(_ value: ReceivedValue) async throws(LinkError) {
        guard value.isIndication else { return }
        await link.close()
        await hungUp()
        throw .ended(.byGateway)
    }

    package func has(_ characteristic: BluetoothUUID, in service: BluetoothUUID) async throws(LinkError)
        -> Bool
    {
        try await link.has(characteristic, in: service)
    }

    package func read(
        _ characteristic: BluetoothUUID, in service: BluetoothUUID
    ) async throws(LinkError) -> [UInt8] {
        try await link.read(characteristic, in: service)
    }

    package func write(
        _ value: [UInt8], to characteristic: BluetoothUUID, in service: BluetoothUUID
    ) async throws(LinkError) {
        try await link.write(value, to: characteristic, in: service)
    }

    package func writeWithoutResponse(
        _ value: [UInt8], to characteristic: BluetoothUUID, in service: BluetoothUUID
    ) async throws(LinkError) {
        try await link.writeWithoutResponse(value, to: characteristic, in: service)
    }

    package func subscribe(to characteristic: BluetoothUUID, in service: BluetoothUUID)
        async throws(LinkError)
    {
        try await link.subscribe(to: characteristic, in: service)
    }

    package func ensureMTU(_ length: Int) async throws(LinkError) {
        try await link.ensureMTU(length)
    }

    package func nextValue(within timeout: Duration) async throws(LinkError) -> ReceivedValue? {
        try await link.nextValue(within: timeout)
    }

    package func checkDatabaseHash() async throws(LinkError) {
        try await link.checkDatabaseHash()
    }

    package func close() async {
        await link.close()
    }
}

extension ReadObserver {
    /// The surroundings of a session that is looked on.
    func environment(_ environment: ReadSession.Environment) -> ReadSession.Environment {
        guard isDryRun else { return environment }
        return ReadSession.Environment(
            store: DryRunStore(store: environment.store),
            devices: DryRunDevices(devices: environment.devices),
            events: EventLog(sink: NoEvents()),
            clock: environment.clock, factory: environment.factory, log: .silent)
    }

    func link(_ link: any PeripheralLink) -> any PeripheralLink {
        isDryRun ? DryRunLink(link: link, hungUp: hungUp) : link
    }

    /// A dry run sets no clock.
    func entry(_ entry: AllowedPeripheral) -> AllowedPeripheral {
        guard isDryRun else { return entry }
        var entry = entry
        entry.clock = .observe
        return entry
    }

    /// One reading of a stream is enough.
    func timing(_ timing: PassiveTiming) -> PassiveTiming {
        var timing = timing
        timing.streamMaximum = min(timing.streamMaximum, timing.streamInterval)
        return timing
    }

    private struct NoEvents: EventSink {
        package func write(_ entry: JournalEntry) {}
    }
}
