/// A radio whose kernel and peripherals are simulated, and whose code in between is the real one:
/// management packets and ATT PDUs travel over socket pairs.
package final class SimulatedRadio: Radio, ActiveScanner {
    package let loop: RadioLoop
    package let kernel: SimulatedKernel
    package let peripherals: [SimulatedPeripheral]
    /// Who keeps the box's bonds.
    package let bondKeeper: SimulatedBondKeeper
    private let air: SimulatedAir
    private let radio: BlueZRadio

    package var advertisements: AsyncStream<Advertisement> { radio.advertisements }
    package var adapters: AsyncStream<[AdapterState]> { radio.adapters }
    package var signs: AsyncStream<ReceptionSign> { radio.signs }

    /// - Parameters:
    ///   - peripherals: on this loop.
    ///   - hasNeighbour: whether another device advertises, which is heard when it is watched for.
    ///   - isBluetoothdRunning: who powers adapters on.
    /// - Throws: the errno of socketpair(2).
    package init(
        loop: RadioLoop, clock: any GatewayClock, adapters: [SimulatedAdapter],
        peripherals: [SimulatedPeripheral], selection: AdapterSelection = .any, timing: ScanTiming? = nil,
        log: SubsystemLog = .silent, hasNeighbour: Bool = true,
        isBluetoothdRunning: @escaping @Sendable () async -> Bool = { false }
    ) throws(SystemError) {
        self.loop = loop
        self.peripherals = peripherals
        kernel = try SimulatedKernel(loop: loop, adapters: adapters)
        air = SimulatedAir(loop: loop, kernel: kernel, peripherals: peripherals, hasNeighbour: hasNeighbour)
        bondKeeper = SimulatedBondKeeper(air: air)
        radio = BlueZRadio(
            management: kernel.gatewayChannel, connector: SimulatedConnector(air: air), loop: loop,
            clock: clock,
            settings: BlueZRadio.Settings(
                selection: selection, timing: timing, log: log, isBluetoothdRunning: isBluetoothdRunning))
    }

    /// Starts the peripherals' lives, and listens as the real radio does.
    package func listen(for filter: AdvertisementFilter) async throws {
        await loop.perform { [kernel, air] in
            kernel.openOnLoop()
            air.start()
        }
        let result: Result<Void, any Error>
        do {
            result = .success(try await radio.listen(for: filter))
        } catch {
            result = .failure(error)
        }
        await loop.perform { [air] in air.stop() }
        try result.get()
    }

    package func update(_ filter: AdvertisementFilter) async {
        await radio.update(filter)
    }

    package func watch(for adapters: Set<AdapterID>) async {
        await radio.watch(for: adapters)
        guard !adapters.isEmpty else { return }
        await loop.perform { [air] in air.neighbourAdvertises() }
    }

    package func connect(
        to device: DeviceAddress, on adapter: AdapterID, remembered: AttributeLayout?,
        requiresEncryption: Bool
    ) async throws(LinkError) -> any PeripheralLink {
        try await radio.connect(
            to: device, on: adapter, remembered: remembered, requiresEncryption: requiresEncryption)
    }

    package func scanActively(
        for duration: Duration, found: @escaping @Sendable (Advertisement) -> Void
    ) async throws(ActiveScanError) {
        try await radio.scanActively(for: duration, found: found)
    }

    /// Whether the gateway's side waits for answers of the kernel.
    package var isAtWork: Bool { get async { await radio.isAtWork } }

    /// What the peripherals have given so far.
    package func report() async -> SimulationReport {
        await loop.perform { [air] in air.report }
    }
}
