import CBlueZ
import Glibc

/// Makes connected ATT channels: over the kernel's L2CAP, or to simulated peripherals.
package protocol LinkConnector: Sendable {
    /// Connects `adapter` to `device`. Runs on the radio's loop; its wait is bounded, and ends with
    /// the task's cancellation.
    /// - Parameter requiresEncryption: nothing goes over the channel before the link is encrypted with
    ///   the keys of a bond.
    func connect(
        to device: DeviceAddress, from adapter: BluetoothAddress, requiresEncryption: Bool,
        isolation: isolated (any Actor)
    ) async throws(LinkError) -> PacketChannel
}

/// Connects through the kernel: an L2CAP socket on the fixed channel of ATT. The kernel waits for
/// the device's next advert with a passive scan, then connects; needs no capability.
package struct KernelConnector: LinkConnector {
    /// How long the device's next advert is awaited. Linux 6.1 would go on for 40 s
    /// (L2CAP_CONN_TIMEOUT). Closing the socket ends the wait at once.
    private static let timeout = Duration.seconds(25)

    private let loop: RadioLoop
    private let sockets: LinkSockets
    private let isBonded: @Sendable (Bond) -> Bool

    /// - Parameters:
    ///   - sockets: closes what is opened here.
    ///   - isBonded: whether the kernel has keys for a link. Without them it must not be asked
    ///     to encrypt one: it would begin to pair (net/bluetooth/smp.c, smp_conn_security).
    package init(loop: RadioLoop, sockets: LinkSockets, isBonded: @escaping @Sendable (Bond) -> Bool) {
        self.loop = loop
        self.sockets = sockets
        self.isBonded = isBonded
    }

    package func connect(
        to device: DeviceAddress, from adapter: BluetoothAddress, requiresEncryption: Bool,
        isolation: isolated (any Actor)
    ) async throws(LinkError) -> PacketChannel {
        if requiresEncryption, !isBonded(Bond(device: device, adapter: adapter)) { throw .notEncrypted }
        guard sockets.hasRoom else { throw .refused(errno: EMFILE) }
        // An adapter's own address is public; the rare one without has a static random address,
        // which the kernel puts in the place of this by itself.
        let opened = unsafe CBlueZ_open_att(
            ManagementProtocol.octets(of: adapter), ManagementProtocol.type(.public))
        guard opened >= 0 else { throw LinkError(connectErrno: errno, isBonded: false) }
        var descriptor = OwnedDescriptor(opened, sockets: sockets)
        if requiresEncryption, CBlueZ_require_encryption(opened) != 0 {
            throw LinkError(connectErrno: errno, isBonded: true)
        }
        let octets = ManagementProtocol.octets(of: device.address)
        if unsafe CBlueZ_connect_att(opened, octets, ManagementProtocol.type(device.type)) != 0 {
            let error = errno
            guard error == EINPROGRESS || error == EAGAIN else {
                throw LinkError(connectErrno: error, isBonded: requiresEncryption)
            }
            let outcome = await writable(opened, isolation: isolation)
            if let outcome { throw outcome }
            let result = CBlueZ_socket_error(opened)
            guard result == 0 else { throw LinkError(connectErrno: result, isBonded: requiresEncryption) }
        }
        // A kernel that lacks the keys all the same connects at once, and begins to pair.
        if requiresEncryption, CBlueZ_is_encrypted(opened) != 1 { throw .notEncrypted }
        return PacketChannel(descriptor: descriptor.release(), loop: loop) { [sockets] in
            sockets.close($0, shortestPacket: $1)
        }
    }

    /// Waits until the socket is connected or has failed; nil then, or why the wait ended without.
    private func writable(_ descriptor: Int32, isolation: isolated (any Actor)) async -> LinkError? {
        let wait = ConnectWait(descriptor: descriptor, loop: loop)
        return await withTaskCancellationHandler {
            await withCheckedContinuation(isolation: isolation) { continuation in
                wait.begin(within: Self.timeout) { continuation.resume(returning: $0) }
            }
        } onCancel: {
            loop.run { wait.finish(.ended(.byGateway)) }
        }
    }
}

/// Closes a descriptor that nobody took over.
private struct OwnedDescriptor: ~Copyable {
    private var descriptor: Int32?
    private let sockets: LinkSockets

    init(_ descriptor: Int32, sockets: LinkSockets) {
        self.descriptor = descriptor
        self.sockets = sockets
    }

    deinit {
        if let descriptor { sockets.close(descriptor, shortestPacket: nil) }
    }

    mutating func release() -> Int32 {
        guard let descriptor else { preconditionFailure("a descriptor is released once") }
        self.descriptor = nil
        return descriptor
    }
}

/// One wait for a connection; ends once, by the socket, the clock or a cancellation.
///
/// Sendable is checked by hand: everything runs on the radio's loop, which the loop asserts.
private final class ConnectWait: @unchecked Sendable {
    private let descriptor: Int32
    private let loop: RadioLoop
    private var timer: RadioLoop.Timer?
    private var done: ((LinkError?) -> Void)?
    private var early: LinkError?

    init(descriptor: Int32, loop: RadioLoop) {
        self.descriptor = descriptor
        self.loop = loop
    }

    func begin(within timeout: Duration, done: @escaping (LinkError?) -> Void) {
        if let early { return done(early) }
        self.done = done
        timer = loop.after(timeout) { self.finish(.notReachable) }
        loop.watch(descriptor, for: .toWrite) { self.finish(nil) }
    }

    func finish(_ error: LinkError?) {
        loop.checkIsolated()
        guard let done else {
            // Cancelled before it began, or finished already, where this is never read.
            early = error
            return
        }
        self.done = nil
        if let timer { loop.cancel(timer) }
        loop.ignore(descriptor)
        done(error)
    }
}

extension LinkError {
    /// What an errno of socket(2), bind(2) or connect(2) on L2CAP means (net/bluetooth/l2cap_sock.c,
    /// hci_conn.c).
    /// - Parameter isBonded: whether the link was to be encrypted with the keys of a bond. A device that
    ///   lacks them answers "PIN or Key Missing", and the kernel ends the link: EACCES. With other keys
    ///   than ours the link ends of its first encrypted packet, an error for which the kernel has no
    ///   number: ENOSYS (net/bluetooth/lib.c, bt_to_errno).
    init(connectErrno errno: Int32, isBonded: Bool) {
        switch errno {
        case EBUSY, EADDRINUSE: self = .busy
        case EHOSTUNREACH, ENODEV, ENETDOWN, EADDRNOTAVAIL, ERFKILL: self = .adapterUnavailable
        case ETIMEDOUT, EHOSTDOWN: self = .notReachable
        case EACCES, EKEYREJECTED, EBADE: self = isBonded ? .bondRefused : .notEncrypted
        case ENOSYS where isBonded: self = .bondRefused
        // Connection Limit Exceeded, Limited Resources (net/bluetooth/lib.c, bt_to_errno).
        case EMLINK, ECONNREFUSED: self = .noMoreLinks
        default: self = .refused(errno: errno)
        }
    }
}
