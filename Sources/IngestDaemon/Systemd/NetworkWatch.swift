import CSystemd
import Dispatch
import Synchronization
import SystemPackage

/// Tells when addresses, routes or links of this box change (rtnetlink(7)).
enum NetworkWatch {
    /// An element for a change, and one at most for all that come before it is taken. It ends at once where the kernel
    /// does not tell.
    static func changes() -> AsyncStream<Void> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let socket = CSystemd_watch_network()
        guard socket >= 0 else {
            continuation.finish()
            return stream
        }
        let source = DispatchSource.makeReadSource(
            fileDescriptor: socket, queue: DispatchQueue(label: "ingestd.network"))
        source.setEventHandler {
            if CSystemd_take_changes(socket) { continuation.yield() }
        }
        source.setCancelHandler { try? FileDescriptor(rawValue: socket).close() }
        source.activate()
        let reading = Mutex(source)
        continuation.onTermination = { _ in reading.withLock { $0.cancel() } }
        return stream
    }

    /// How long a change settles: an address comes before its routes.
    private static let settling = Duration.seconds(1)
    /// How far apart changes are told at least.
    private static let pause = Duration.seconds(5)

    /// Tells of changes until it is cancelled: each at most 6 s later, and none sooner than 5 s after the one before.
    static func run(_ changes: AsyncStream<Void>, clock: any GatewayClock, _ tell: () -> Void) async {
        for await _ in changes {
            guard (try? await clock.sleep(for: settling)) != nil else { return }
            tell()
            guard (try? await clock.sleep(for: pause - settling)) != nil else { return }
        }
        // Without the kernel's word waits end by themselves.
        try? await clock.sleep(for: .seconds(Int64(Int32.max)))
    }
}
