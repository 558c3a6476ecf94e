public import BlueZBridge
internal import FlyingSocks
internal import FoundationEssentials
import Glibc
public import IngestKit

/// A simulated kernel and peripherals in another process (`PeripheralHost`), over a socket of packets.
/// They live on when this process ends, as real ones do.
public struct HostedPeripherals: LinkConnector {
    private let path: String
    private let loop: RadioLoop

    /// - Parameter path: where the host listens.
    public init(path: String, loop: RadioLoop) {
        self.path = path
        self.loop = loop
    }

    /// The kernel's management channel.
    /// - Throws: `SocketError` when nobody listens there.
    public func management() throws -> PacketChannel {
        try open(.management)
    }

    /// Connects at once. A peripheral that cannot be connected to ends the link before its first PDU.
    public func connect(
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

    private func open(_ greeting: HostGreeting) throws -> PacketChannel {
        let socket = try Socket.ofPackets()
        do {
            try socket.connect(to: .unix(path: path))
            _ = try socket.write(Data(greeting.packet))
        } catch {
            try? socket.close()
            throw error
        }
        return PacketChannel(descriptor: socket.file.rawValue, loop: loop)
    }
}

extension Socket {
    /// A non-blocking socket that keeps packets apart (unix(7), SOCK_SEQPACKET), which is not connected.
    static func ofPackets() throws -> Socket {
        let type =
            Int32(SOCK_SEQPACKET.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
        let descriptor = Glibc.socket(AF_UNIX, type, 0)
        guard descriptor >= 0 else { throw SystemError(call: "socket", errno: errno) }
        return Socket(file: FileDescriptor(rawValue: descriptor))
    }
}
