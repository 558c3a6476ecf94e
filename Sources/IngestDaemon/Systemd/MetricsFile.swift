import Dispatch
import Glibc
import Synchronization
import SystemPackage

/// The metrics for node_exporter's textfile collector, beside the control socket. The file is replaced whole, so that
/// nobody reads half of it, and is everybody's to read from the moment that it is there. It is written on a thread of its
/// own, because it may lie on a disk that hangs.
final class MetricsFile: Sendable {
    private static let mode: mode_t = 0o644

    private let path: String?
    private let thread = DispatchQueue(label: "ingestd.metrics")
    private let isWriting = Atomic(false)

    init(besideSocket socket: String) {
        path = socket.lastIndex(of: "/").map { socket[..<$0] + "/metrics.prom" }
    }

    /// Returns at once. Metrics that come while earlier ones are being written are left out.
    func write(_ metrics: Metrics) {
        guard let path, !isWriting.exchange(true, ordering: .relaxed) else { return }
        thread.async { [self] in
            replace(path, by: metrics)
            isWriting.store(false, ordering: .relaxed)
        }
    }

    /// Where that fails the old ones stay, whose age says so: without it the gateway is as well as before.
    private func replace(_ path: String, by metrics: Metrics) {
        let draft = path + ".new"
        // What an interrupted call has left.
        unlink(draft)
        let file = unsafe open(draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, Self.mode)
        guard file >= 0 else { return }
        defer { close(file) }
        // The service's umask has taken others' rights away.
        guard fchmod(file, Self.mode) == 0,
            (try? FileDescriptor(rawValue: file).writeAll(metrics.description.utf8)) != nil,
            unsafe rename(draft, path) == 0
        else {
            unlink(draft)
            return
        }
    }

    /// What is no longer true is for nobody.
    func remove() async {
        guard let path else { return }
        await withCheckedContinuation { continuation in
            thread.async { [self] in
                unlink(path)
                continuation.resume()
            }
        }
    }

    private func unlink(_ path: String) {
        _ = unsafe Glibc.unlink(path)
    }
}
