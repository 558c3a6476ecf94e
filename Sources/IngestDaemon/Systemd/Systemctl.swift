import CSystemd
import Dispatch

/// The installed unit, which systemctl(1) starts and restarts.
enum Systemctl {
    private static let queue = DispatchQueue(label: "ingestd.systemctl")

    /// Has the service started now and at each start of the box.
    /// - Returns: whether systemctl has succeeded.
    static func enable() async -> Bool { await run("enable", "--now", "ingestd") }

    /// - Returns: as `enable`.
    static func restart() async -> Bool { await run("restart", "ingestd", nil) }

    /// On a thread of its own: the start of a service may take minutes.
    private static func run(_ first: String, _ second: String, _ third: String?) async -> Bool {
        await withCheckedContinuation { continuation in
            queue.async {
                continuation.resume(returning: unsafe CSystemd_systemctl(first, second, third) == 0)
            }
        }
    }
}
