/// Lets gateways in other processes use a simulated kernel and peripherals: each of their channels is a
/// connection to a socket of packets.
///
/// When a gateway dies its links end and its peripherals live on; the kernel keeps its monitors, as a
/// real one does. One gateway at a time has the management channel, the last one to ask for it.
///
/// Sendable is checked by hand: everything that changes is touched on the loop only.
package final class PeripheralHost: @unchecked Sendable {
    private let loop: RadioLoop
    private let kernel: SimulatedKernel
    private let air: SimulatedAir
    private let listener: Int32

    /// - Parameters:
    ///   - path: where to listen; nothing may be there yet.
    ///   - peripherals: on this loop.
    /// - Throws: `SystemError`, when the socket cannot be made.
    package init(
        path: String, loop: RadioLoop, adapters: [SimulatedAdapter], peripherals: [SimulatedPeripheral]
    ) throws {
        self.loop = loop
        kernel = try SimulatedKernel(loop: loop, adapters: adapters)
        air = SimulatedAir(loop: loop, kernel: kernel, peripherals: peripherals)
        listener = try LocalSocket.listen(at: path, .packets)
    }

    /// Starts the peripherals' lives, and takes connections.
    package func start() async {
        await loop.perform { [self] in
            air.start()
            keepNeighbour()
            loop.watch(listener, for: .toRead) { [self] in acceptAll() }
        }
    }

    /// How often the neighbour advertises.
    private static let neighbourInterval = Duration.milliseconds(50)

    /// Has another device advertise, so that the gateways know that they receive.
    private func keepNeighbour() {
        air.neighbourAdvertises()
        loop.after(Self.neighbourInterval) { [weak self] in self?.keepNeighbour() }
    }

    private func acceptAll() {
        while let descriptor = LocalSocket.accept(listener) {
            greet(PacketChannel(descriptor: descriptor, loop: loop))
        }
    }

    /// Hands the channel over to whom its first packet names.
    private func greet(_ channel: PacketChannel) {
        channel.open(
            onPacket: { [self] packet in
                switch HostGreeting(Wire.copy(packet)) {
                case .management: kernel.serve(channel)
                case .link(let device, let adapter):
                    do {
                        try air.accept(channel, to: device, from: adapter)
                    } catch {
                        channel.close()
                    }
                case nil: channel.close()
                }
            }, onEnd: { _ in })
    }
}
