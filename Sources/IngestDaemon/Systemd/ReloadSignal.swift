import Glibc
import Synchronization

/// SIGHUP, by which the service is told to read its configuration again.
enum ReloadSignal {
    private static let came = Atomic(false)

    /// From now on one that comes is noted, instead of ending the process, until somebody traps it. Not blocked:
    /// dispatch unblocks all signals in the main thread, which it suspends.
    static func note() {
        // Made here: its first use must not be in the handler.
        came.store(false, ordering: .relaxed)
        _ = signal(SIGHUP) { _ in ReloadSignal.came.store(true, ordering: .relaxed) }
    }

    /// Whether one came until it was trapped.
    static var wasNoted: Bool { came.load(ordering: .relaxed) }
}
