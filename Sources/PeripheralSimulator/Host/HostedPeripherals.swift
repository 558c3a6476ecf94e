/// A simulated kernel and peripherals in another process (`PeripheralHost`), over a socket of packets.
/// They live on when this process ends, as real ones do.
package struct HostedPeripherals: LinkConnector {
    private let path: String
    private let loop: RadioLoop

    /// - Parameter path: where the host listens.
    package init(path: String, loop: RadioLoop) {
        self.path = path
        self.loop = loop
    }

    /// The kernel's management channel.
    /// - Throws: `SystemError` when nobody listens there.
    package func management() throws(SystemError) -> PacketChannel {
        try open(.management)
    }

    /// Connects at once. A peripheral that cannot be connected to ends the link before its first PDU.
    package func connect(
        to device: DeviceAddress, from adapter: BluetoothAddress, requiresEncryption: Bool,
        isolation: isolated (any Actor)
    ) async throws(LinkError) -> PacketChannel {
        // There are no bonds with another process's peripherals.
        if requiresEncryption { throw .notEncrypted }
        do {
            return try open(.link(device, from: adapter))
        } catch {
            throw .notReachable
        }
    }

    private func open(_ greeting: HostGreeting) throws(SystemError) -> PacketChannel {
        let descriptor = try LocalSocket.connect(to: path, .packets, greeting: greeting.packet)
        return PacketChannel(descriptor: descriptor, loop: loop)
    }
}
