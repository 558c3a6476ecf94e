import Synchronization

/// Makes links to simulated peripherals, over socket pairs.
package struct SimulatedConnector: LinkConnector {
    private let air: SimulatedAir

    init(air: SimulatedAir) {
        self.air = air
    }

    package func connect(
        to device: DeviceAddress, from adapter: BluetoothAddress, requiresEncryption: Bool,
        isolation: isolated (any Actor)
    ) async throws(LinkError) -> PacketChannel {
        if let error = await air.directedAdvert(of: device, isolation: isolation) { throw error }
        return try air.connect(to: device, from: adapter, requiresEncryption: requiresEncryption)
    }
}

/// Peripherals within the reach of a simulated kernel's adapters. Belongs to the radio's loop.
///
/// Sendable is checked by hand: everything that changes is touched on the loop only, which each
/// method asserts through the loop.
final class SimulatedAir: @unchecked Sendable {
    let loop: RadioLoop
    let kernel: SimulatedKernel
    let peripherals: [SimulatedPeripheral]
    /// Connection attempts that wait for a directed advert.
    let waits = DirectedWaits()
    /// The keys that the box has. With those of a device's identity the kernel knows who hides behind a
    /// private address.
    let keys = Mutex<Set<Bond>>([])
    private var isRunning = false
    /// Whether a device nearby, which is nobody's, advertises.
    let hasNeighbour: Bool

    init(
        loop: RadioLoop, kernel: SimulatedKernel, peripherals: [SimulatedPeripheral],
        hasNeighbour: Bool = true
    ) {
        self.hasNeighbour = hasNeighbour
        self.loop = loop
        self.kernel = kernel
        self.peripherals = peripherals
    }

    func start() {
        loop.checkIsolated()
        guard !isRunning else { return }
        isRunning = true
        for peripheral in peripherals {
            peripheral.start { [weak self] in
                guard let self else { return }
                let device = address(of: peripheral)
                if peripheral.isDirected { return waits.advertised(device, on: loop) }
                guard waits.reports(device) else { return }
                kernel.transmit(peripheral.advert, from: device, scanResponse: peripheral.scanResponse)
            }
        }
    }

    func stop() {
        loop.checkIsolated()
        isRunning = false
        for peripheral in peripherals { peripheral.stop() }
    }

    /// The device nearby advertises, if there is one: flags, and the appearance of a device that
    /// names none (Assigned Numbers 2.6).
    func neighbourAdvertises() {
        loop.checkIsolated()
        guard hasNeighbour else { return }
        kernel.transmit(
            [2, 0x01, 0x06, 3, 0x19, 0x00, 0x00], from: .simulatedNeighbour, isConnectable: false)
    }

    /// Connects at once, or not at all: where the kernel would wait for the next advert, a
    /// simulated peripheral that sleeps is out of reach.
    func connect(
        to device: DeviceAddress, from adapter: BluetoothAddress, requiresEncryption: Bool
    ) throws(LinkError) -> PacketChannel {
        let peripheral = try reach(device, from: adapter)
        if let most = kernel.mostLinks(of: adapter),
            peripherals.count(where: { $0.isLinked(to: adapter) }) >= most
        {
            throw .noMoreLinks
        }
        let bond = Bond(device: peripheral.identity, adapter: adapter)
        let hasKeys = keys.withLock { $0.contains(bond) } && peripheral.hasKeys(of: adapter)
        guard hasKeys || !requiresEncryption else { throw .notEncrypted }
        do {
            let (near, far) = try PacketChannel.pair(on: loop)
            peripheral.onLinkEnd = { [weak self] in
                self?.kernel.linkEnded(adapter) { self?.neighbourAdvertises() }
            }
            peripheral.accept(far, from: adapter, isEncrypted: requiresEncryption)
            return near
        } catch {
            throw .refused(errno: error.errno)
        }
    }

    /// Connects the other end of this channel to a device, in clear.
    func accept(
        _ channel: PacketChannel, to device: DeviceAddress, from adapter: BluetoothAddress
    ) throws(LinkError) {
        try reach(device, from: adapter).accept(channel, from: adapter)
    }

    /// The peripheral with this address, if it can be connected to.
    private func reach(
        _ device: DeviceAddress, from adapter: BluetoothAddress
    ) throws(LinkError) -> SimulatedPeripheral {
        loop.checkIsolated()
        guard kernel.isPowered(adapter) else { throw .adapterUnavailable }
        guard let peripheral = peripheral(at: device) else { throw .notReachable }
        if let obstacle = peripheral.obstacle() { throw obstacle }
        return peripheral
    }

    /// Under which address the box hears a peripheral.
    private func address(of peripheral: SimulatedPeripheral) -> DeviceAddress {
        !peripheral.claimsIdentity && keys.withLock { $0.contains { $0.device == peripheral.identity } }
            ? peripheral.identity : peripheral.device
    }

    private func peripheral(at device: DeviceAddress) -> SimulatedPeripheral? {
        peripherals.first { address(of: $0) == device }
    }

    /// Makes the link of a pairing.
    func beginPairing(
        _ device: DeviceAddress, on adapter: AdapterID
    ) throws(PairingError) -> (SimulatedPeripheral, BluetoothAddress, SimulatedBonding.Method) {
        loop.checkIsolated()
        guard let address = kernel.address(of: adapter.index), kernel.isPowered(address) else {
            throw .adapterUnavailable
        }
        guard let peripheral = peripheral(at: device) else { throw .notReachable }
        return (peripheral, address, try peripheral.beginPairing())
    }

    var report: SimulationReport {
        SimulationReport(
            peripherals: peripherals.map(\.report).sorted { $0.address.value < $1.address.value })
    }
}
