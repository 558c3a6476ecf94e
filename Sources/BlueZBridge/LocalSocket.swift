import Glibc

/// Sockets that have a path as their address (unix(7)), non-blocking. Whoever gets a descriptor closes it.
package enum LocalSocket {
    package enum Kind: Sendable {
        case stream
        /// Keeps packets apart.
        case packets
    }

    /// Connections that may wait to be accepted.
    private static let backlog: Int32 = 128

    /// - Parameter greeting: what is sent at once.
    /// - Throws: the errno of socket(2), connect(2) or send(2); ENAMETOOLONG for a path that does not fit.
    package static func connect(
        to path: String, _ kind: Kind, greeting: [UInt8] = []
    ) throws(SystemError) -> Int32 {
        try make(kind) { descriptor throws(SystemError) in
            try unsafe call("connect", with: path) { unsafe Glibc.connect(descriptor, $0, $1) }
            guard !greeting.isEmpty else { return }
            try system("send") { unsafe send(descriptor, greeting, greeting.count, Int32(MSG_NOSIGNAL)) }
        }
    }

    /// - Parameter path: where nothing is yet.
    /// - Throws: the errno of socket(2), bind(2) or listen(2); ENAMETOOLONG for a path that does not fit.
    package static func listen(at path: String, _ kind: Kind) throws(SystemError) -> Int32 {
        try make(kind) { descriptor throws(SystemError) in
            try unsafe call("bind", with: path) { unsafe Glibc.bind(descriptor, $0, $1) }
            try system("listen") { Glibc.listen(descriptor, backlog) }
        }
    }

    /// The next connection to one that listens; nil while there is none.
    package static func accept(_ listener: Int32) -> Int32? {
        guard let descriptor = try? system("accept", { Glibc.accept(listener, nil, nil) }) else { return nil }
        // Neither can fail with a descriptor that is open.
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
        return descriptor
    }

    private static func make(
        _ kind: Kind, _ body: (Int32) throws(SystemError) -> Void
    ) throws(SystemError) -> Int32 {
        let type =
            switch kind {
            case .stream: Int32(SOCK_STREAM.rawValue)
            case .packets: Int32(SOCK_SEQPACKET.rawValue)
            }
        let descriptor = try system("socket") {
            socket(AF_UNIX, type | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue), 0)
        }
        do throws(SystemError) {
            try body(descriptor)
        } catch {
            close(descriptor)
            throw error
        }
        return descriptor
    }

    private static func call(
        _ name: String, with path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32
    ) throws(SystemError) {
        var address = sockaddr_un()
        let bytes = Array(path.utf8)
        // The last byte is the final zero.
        guard bytes.count < MemoryLayout.size(ofValue: address.sun_path) else {
            throw SystemError(call: name, errno: ENAMETOOLONG)
        }
        address.sun_family = sa_family_t(AF_UNIX)
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: bytes) }
        try system(name) {
            unsafe withUnsafePointer(to: &address) { pointer in
                unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    unsafe body($0, socklen_t(MemoryLayout<sockaddr_un>.size))
                }
            }
        }
    }
}
