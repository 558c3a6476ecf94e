public import BlueZBridge
public import IngestKit

/// Makes links to simulated peripherals, over socket pairs.
public struct SimulatedConnector: LinkConnector {
    private let air: SimulatedAir

    init(air: SimulatedAir) {
        self.air = air
    }

    public func connect(
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
    private var isRunning = false
    private var expectations: [(confirmed: Int, continuation: CheckedContinuation<Void, Never>)] = []

    init(loop: RadioLoop, kernel: SimulatedKernel, peripherals: [SimulatedPeripheral]) {
        self.loop = loop
        self.kernel = kernel
        self.peripherals = peripherals
    }

    func start() {
        loop.checkIsolated()
        guard !isRunning else { return }
        isRunning = true
        for peripheral in peripherals {
            peripheral.start(
                transmit: { [kernel, waits, loop] in
                    if peripheral.isDirected { return waits.advertised(peripheral.device, on: loop) }
                    guard waits.reports(peripheral.device) else { return }
                    kernel.transmit(peripheral.advert, from: peripheral.device)
                },
                onProgress: { [weak self] in self?.progressed() })
        }
    }

    func stop() {
        loop.checkIsolated()
        isRunning = false
        for peripheral in peripherals { peripheral.stop() }
    }

    /// Connects at once, or not at all: where the kernel would wait for the next advert, a
    /// simulated peripheral that sleeps is out of reach.
    func connect(
        to device: DeviceAddress, from adapter: BluetoothAddress, requiresEncryption: Bool
    ) throws(LinkError) -> PacketChannel {
        loop.checkIsolated()
        guard kernel.isPowered(adapter) else { throw .adapterUnavailable }
        guard let peripheral = peripherals.first(where: { $0.device == device }) else { throw .notReachable }
        if let obstacle = peripheral.obstacle() { throw obstacle }
        // No simulated peripheral is bonded.
        guard !requiresEncryption else { throw .notEncrypted }
        do {
            let (near, far) = try PacketChannel.pair(on: loop)
            peripheral.accept(far)
            return near
        } catch {
            throw .refused(errno: error.errno)
        }
    }

    var report: SimulationReport {
        SimulationReport(
            peripherals: peripherals.map(\.report).sorted { $0.address.value < $1.address.value })
    }

    /// Resumes `continuation` once so many readings are confirmed.
    func expect(_ confirmed: Int, _ continuation: CheckedContinuation<Void, Never>) {
        loop.checkIsolated()
        expectations.append((confirmed, continuation))
        progressed()
    }

    private func progressed() {
        let confirmed = report.confirmed
        let met = expectations.filter { $0.confirmed <= confirmed }
        expectations.removeAll { $0.confirmed <= confirmed }
        for expectation in met { expectation.continuation.resume() }
    }
}
