import Glibc
import Synchronization

/// Closes the sockets of links. With a `KernelDefect` it keeps some of them open, because closing them would crash the
/// kernel: those whose link has ended before a frame arrived on it that was whole.
///
/// Between the look at the socket and its close a link may still end. Nothing can be done about that.
package final class LinkSockets: Sendable {
    /// A kept socket costs the kernel some kilobytes. The unit allows 4,096 descriptors (LimitNOFILE=).
    package static let mostKept = 3_000
    /// Kept descriptors are moved above all others. The kernel closes them in their order when the process ends, and
    /// the process does not get beyond the first kept one: by then the queue's files and locks are released.
    private static let lowestKept: Int32 = 1_024
    /// A PDU of ATT's default length arrives in one frame of the controller, which has room for 27 octets at least
    /// (Core Specification Vol 4 Part E 7.8.2; 4 octets are L2CAP's header).
    private static let longestWhole = 23

    private let hasDefect: Bool
    private let kept = Mutex<[Int32]>([])

    /// - Parameter defect: that of the running kernel; without one each socket is closed.
    package init(_ defect: KernelDefect?) {
        hasDefect = defect != nil
    }

    /// The descriptors that were kept.
    package var keptDescriptors: [Int32] { kept.withLock { $0 } }

    /// Whether another one may be opened: with as many kept as may be, each further link could crash the kernel.
    var hasRoom: Bool { kept.withLock { $0.count } < Self.mostKept }

    /// - Parameter shortestPacket: that arrived on the socket, in bytes; nil if none did.
    func close(_ descriptor: Int32, shortestPacket: Int?) {
        let isSafe = shortestPacket.map { $0 <= Self.longestWhole } ?? false
        guard hasDefect, !isSafe, Self.hasEnded(descriptor) else {
            Glibc.close(descriptor)
            return
        }
        let moved = fcntl(descriptor, F_DUPFD_CLOEXEC, Self.lowestKept)
        if moved >= 0 { Glibc.close(descriptor) }
        kept.withLock { $0.append(moved >= 0 ? moved : descriptor) }
    }

    /// Whether the socket was connected, or about to be, and is not any more (af_bluetooth.c, bt_sock_poll: BT_CLOSED).
    private static func hasEnded(_ descriptor: Int32) -> Bool {
        var asked = pollfd(fd: descriptor, events: 0, revents: 0)
        guard unsafe poll(&asked, 1, 0) == 1 else { return false }
        return asked.revents & Int16(POLLHUP) != 0
    }
}
