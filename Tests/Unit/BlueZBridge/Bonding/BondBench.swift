import TestSupport

@testable import BlueZBridge

/// The bond keeper on a bus of its own, with a stand-in for bluetoothd, links that are socket pairs,
/// and a clock that stands still.
final class BondBench: Sendable {
    static let cuff = DeviceAddress(BluetoothAddress(value: 0xC100_5E00_5301), .random)
    static let meter = DeviceAddress(BluetoothAddress(value: 0x0000_5E00_5302), .public)
    static let stranger = DeviceAddress(BluetoothAddress(value: 0xC100_5E00_5303), .random)
    /// Resolvable private: the two top bits are 01.
    static let masked = DeviceAddress(BluetoothAddress(value: 0x4100_5E00_5304), .random)
    static let adapter = BluetoothAddress(value: 0x0000_5E00_5300)

    static func bond(_ device: DeviceAddress) -> Bond { Bond(device: device, adapter: adapter) }

    let clock = DrivenClock(wall: DrivenClock.morning)
    let loop: RadioLoop
    let bus: PrivateBus
    let address: BusConnection.Address
    let bluetoothd: StandInBluetoothd
    let connector: StandInConnector
    let known = KnownBonds()
    let keeper: BlueZBondKeeper
    let hungUp = Notes<DeviceAddress>()

    init() throws {
        loop = try RadioLoop(clock: clock)
        bus = try PrivateBus()
        address = bus.address
        bluetoothd = StandInBluetoothd(loop: loop)
        connector = StandInConnector(loop: loop, bluetoothd: bluetoothd)
        keeper = BlueZBondKeeper(
            loop: loop, clock: clock, connector: connector, known: known, address: bus.address,
            hangUp: { [hungUp, loop, bluetoothd] device, _ in
                hungUp.add(device)
                await loop.perform { bluetoothd.disconnected(device) }
            })
    }

    /// Runs `body` with bluetoothd on the bus, and the keeper following.
    func run(
        _ setUp: @escaping @Sendable (StandInBluetoothd) -> Void = { _ in },
        _ body: (BondBench) async throws -> Void
    ) async throws {
        try await loop.perform { [bluetoothd, address] in
            Result {
                setUp(bluetoothd)
                try bluetoothd.start(at: address)
            }
        }.get()
        await bluetoothd.appeared(at: address, loop)
        let following = Task { await keeper.run() }
        defer { following.cancel() }
        try await body(self)
    }

    /// On the loop.
    func perform(_ body: @escaping @Sendable (StandInBluetoothd) -> Void) async {
        await loop.perform { [bluetoothd] in body(bluetoothd) }
    }

    /// Waits for a list of bonds of this kind.
    @discardableResult
    func bonds(_ isWanted: (BondList) -> Bool) async -> BondList {
        for await bonds in keeper.bonds where isWanted(bonds) { return bonds }
        return .unknown
    }

    /// The calls that bluetoothd got of one device or its adapter.
    var deviceCalls: [String] {
        bluetoothd.notes.all.filter { $0.hasPrefix("Device1.") || $0.hasPrefix("Adapter1.") }
    }

    /// The keeper's name on the bus, once it has asked what is there.
    func agentName() async -> String? {
        await bonds { $0 != .unknown }
        return await loop.perform { [bluetoothd] in bluetoothd.client }
    }

    func stopBus() {
        bus.stop()
    }

    /// Another program on the bus.
    func stranger() async throws -> BusConnection {
        try await loop.perform { [loop, address] in
            Result { try BusConnection(address, loop: loop, handlers: .init()) }
        }.get()
    }

    func pair(
        _ device: DeviceAddress = cuff, adapter: UInt16 = 0, keepsLink: Bool = false,
        _ person: Person = Person()
    ) async -> Result<Bond, PairingError> {
        do throws(PairingError) {
            return .success(
                try await keeper.pair(
                    device, on: AdapterID(index: adapter), keepsLink: keepsLink, responder: person))
        } catch {
            return .failure(error)
        }
    }
}

extension BusConnection {
    func result(_ call: BusCall) async -> Result<[BusValue], BusError> {
        do throws(BusError) {
            return .success(try await self.call(call, within: .seconds(10)))
        } catch {
            return .failure(error)
        }
    }
}

extension StandInBluetoothd {
    /// Waits until the name is owned.
    func appeared(at address: BusConnection.Address, _ loop: RadioLoop) async {
        guard let probe = await loop.perform({ try? BusConnection(address, loop: loop, handlers: .init()) })
        else { return }
        while (try? await probe.call(.bus("GetNameOwner", [.string(Self.owner)]), within: .seconds(10)))
            == nil
        {
            await Task.yield()
        }
        await loop.perform { probe.close() }
    }
}

/// A person who pairs, as far as they go.
struct Person: PairingResponder {
    var code: UInt32?
    var says = false
    /// Never answers.
    var isAway = false
    let seen = Notes<String>()

    func passkey() async -> UInt32? {
        seen.add("passkey")
        if isAway { await forever() }
        return code
    }

    func confirms(_ number: UInt32) async -> Bool {
        seen.add("confirm \(number)")
        if isAway { await forever() }
        return says
    }

    func show(_ passkey: UInt32) async {
        seen.add("show \(passkey)")
    }

    func keepsBond() async { seen.add("keeps") }

    private func forever() async {
        for await _ in AsyncStream<Void>.makeStream().stream {}
        seen.add("sent away")
    }
}

/// Links that the test decides on, and of which bluetoothd hears.
final class StandInConnector: LinkConnector, @unchecked Sendable {
    private let loop: RadioLoop
    private let bluetoothd: StandInBluetoothd
    /// Why the next links fail; on the loop only, as everything here.
    var failures: [LinkError] = []
    /// Why links that must be encrypted fail.
    var encryptionFailure: LinkError?
    /// Whether bluetoothd tells of a link.
    var isTold = true
    private var peers: [PacketChannel] = []
    let links = Notes<String>()

    init(loop: RadioLoop, bluetoothd: StandInBluetoothd) {
        self.loop = loop
        self.bluetoothd = bluetoothd
    }

    func connect(
        to device: DeviceAddress, from adapter: BluetoothAddress, requiresEncryption: Bool,
        isolation: isolated (any Actor)
    ) async throws(LinkError) -> PacketChannel {
        loop.checkIsolated()
        links.add(requiresEncryption ? "encrypted" : "open")
        if !failures.isEmpty { throw failures.removeFirst() }
        if requiresEncryption, let encryptionFailure { throw encryptionFailure }
        guard let (near, far) = try? PacketChannel.pair(on: loop) else { throw .busy }
        far.open(
            onPacket: { _ in },
            onEnd: { [links, weak far] _ in
                links.add("closed")
                far?.close()
            })
        peers.append(far)
        if isTold { bluetoothd.connected(device) }
        return near
    }
}
