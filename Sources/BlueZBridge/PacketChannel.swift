import CBlueZ
import Glibc

/// A non-blocking socket of packets (management, L2CAP, or one end of a socket pair) on the
/// radio's loop.
///
/// Sendable is checked by hand: everything but the initialiser belongs to the loop's thread, which
/// each method asserts through the loop.
package final class PacketChannel: @unchecked Sendable {
    /// Larger than any management event (6 + 65,535 in theory, 2 kB in practice) that we use and
    /// any ATT PDU (512 + 5); a longer packet is cut, and its own length fields tell.
    private static let bufferLength = 4_096
    /// Packets read in one turn before other descriptors get theirs.
    private static let packetsPerTurn = 64

    private let loop: RadioLoop
    private let closing: @Sendable (_ descriptor: Int32, _ shortestPacket: Int?) -> Void
    private var descriptor: Int32?
    /// That arrived, in bytes.
    private var shortestPacket: Int?
    private var buffer = [UInt8](repeating: 0, count: bufferLength)
    private var onPacket: ((Span<UInt8>) -> Void)?
    private var onEnd: ((Int32) -> Void)?
    /// What the kernel runs on packets that come; nil: nothing, and all come.
    package private(set) var filter: SocketFilter?
    /// Whether a handler of this channel is running.
    private(set) var isReading = false
    /// The errno of a socket that has failed, while its queue is still read; 0 without one.
    private var failure: Int32 = 0

    /// Takes over `descriptor`, which must be non-blocking.
    /// - Parameter closing: closes it, and is told how long the shortest packet was that arrived.
    package init(
        descriptor: Int32, loop: RadioLoop,
        closing: @escaping @Sendable (_ descriptor: Int32, _ shortestPacket: Int?) -> Void = {
            descriptor, _ in
            _ = Glibc.close(descriptor)
        }
    ) {
        self.descriptor = descriptor
        self.loop = loop
        self.closing = closing
    }

    deinit {
        // Reached with a descriptor only if the channel was never opened: `open` makes the loop
        // hold it until `close`.
        if let descriptor { closing(descriptor, shortestPacket) }
    }

    /// Two channels that are connected to each other (socketpair(2), SOCK_SEQPACKET).
    package static func pair(on loop: RadioLoop) throws(SystemError) -> (PacketChannel, PacketChannel) {
        var ends: (Int32, Int32) = (0, 0)
        let type =
            Int32(SOCK_SEQPACKET.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
            | Int32(SOCK_NONBLOCK.rawValue)
        try system("socketpair") {
            unsafe withUnsafeMutableBytes(of: &ends) { bytes in
                unsafe socketpair(AF_UNIX, type, 0, bytes.assumingMemoryBound(to: Int32.self).baseAddress)
            }
        }
        return (PacketChannel(descriptor: ends.0, loop: loop), PacketChannel(descriptor: ends.1, loop: loop))
    }

    /// Calls `onPacket` with each packet, then `onEnd` once when the socket ends, with its errno or
    /// 0 for an orderly end. What came before the end is given first.
    package func open(
        onPacket: @escaping (Span<UInt8>) -> Void, onEnd: @escaping (Int32) -> Void
    ) {
        guard let descriptor else { return onEnd(ENOTCONN) }
        self.onPacket = onPacket
        self.onEnd = onEnd
        loop.watch(descriptor, for: .toRead) { [self] in
            read(atMost: Self.packetsPerTurn)
        }
    }

    /// Reads what has come until there is no more, the socket has ended, or it was closed.
    ///
    /// A socket that fails with packets in its queue gives its error first, and on L2CAP an end of
    /// file in the place of that error (kernel net/core/datagram.c, net/bluetooth/af_bluetooth.c,
    /// bt_sock_recvmsg). So the error is asked for by itself, and only a second end in a row is one.
    private func read(atMost limit: Int) {
        isReading = true
        defer { isReading = false }
        var hasEnded = false
        for _ in 0..<limit {
            guard let descriptor, let onPacket else { return }
            let pending = CBlueZ_socket_error(descriptor)
            if pending != 0 { failure = pending }
            let count = unsafe recv(descriptor, &buffer, buffer.count, 0)
            if count > 0 {
                hasEnded = false
                shortestPacket = min(count, shortestPacket ?? count)
                onPacket(buffer.span.extracting(first: count))
                continue
            }
            let error = count == 0 ? 0 : errno
            if error == EINTR { continue }
            if error == EAGAIN, failure == 0 { return }
            if error != EAGAIN, error != 0 { failure = error }
            guard hasEnded else {
                hasEnded = true
                continue
            }
            let onEnd = onEnd
            close()
            onEnd?(failure)
            return
        }
    }

    /// Gives what has come of a socket that no longer sends, and its end. Does nothing while a
    /// handler is running: the channel is about to read on.
    package func drain() {
        loop.checkIsolated()
        guard !isReading else { return }
        read(atMost: .max)
    }

    /// Sends one packet.
    /// - Parameter errorsAreEnds: whether an error says that the socket has ended, as that of a link does. The management
    ///   socket's is what the command's handler in the kernel returns (net/bluetooth/hci_sock.c, hci_mgmt_cmd): ENETDOWN
    ///   for one that comes while the adapter is switched off, say.
    /// - Throws: the errno of send(2); EAGAIN when the peer reads nothing any more. Neither that nor ENOMEM, for want
    ///   of room in our own receive buffer, is an end of the socket.
    package func send(_ packet: [UInt8], errorsAreEnds: Bool = true) throws(SystemError) {
        loop.checkIsolated()
        guard let descriptor else { throw SystemError(call: "send", errno: ENOTCONN) }
        do {
            // Some kernels answer 0 for a management packet that went out: that is success.
            try system("send") {
                unsafe Glibc.send(descriptor, packet, packet.count, Int32(MSG_NOSIGNAL))
            }
        } catch {
            // A socket tells its error once, to whoever asks first.
            if errorsAreEnds, error.errno != EAGAIN, error.errno != ENOMEM, failure == 0 {
                failure = error.errno
            }
            throw error
        }
    }

    /// Has the kernel drop packets, before they wake anybody; with nil none. Does nothing once the socket is closed.
    /// - Throws: the errno of setsockopt(2), SO_ATTACH_FILTER; ENOMEM for a program that is larger than
    ///   net.core.optmem_max. All packets come then.
    package func setFilter(_ filter: SocketFilter?) throws(SystemError) {
        loop.checkIsolated()
        guard let descriptor, filter != self.filter else { return }
        // Not replaced in place: both would count for that bound, and the old one stay where the new one is refused.
        if self.filter != nil {
            try system("setsockopt") { CBlueZ_detach_filter(descriptor) }
            self.filter = nil
        }
        guard let filter else { return }
        let program = filter.instructions.map {
            sock_filter(code: $0.operation.rawValue, jt: $0.ifTrue, jf: $0.ifFalse, k: $0.operand)
        }
        try system("setsockopt") {
            unsafe CBlueZ_attach_filter(descriptor, program, UInt16(clamping: program.count))
        }
        self.filter = filter
    }

    /// Reads no more, and leaves the socket open; no handler is called any more.
    func stop() {
        guard let descriptor else { return }
        loop.ignore(descriptor)
        onPacket = nil
        onEnd = nil
    }

    /// Closes the socket; no handler is called any more. May be called twice.
    package func close() {
        guard let descriptor else { return }
        loop.ignore(descriptor)
        self.descriptor = nil
        onPacket = nil
        onEnd = nil
        closing(descriptor, shortestPacket)
    }
}
