import NIOCore
import Synchronization

/// The connections of a server, so many at a time: of too many the one ends that has waited longest for its client.
/// And what their bodies hold together.
final class ConnectionTable: Sendable {
    private struct Entry {
        let channel: any Channel
        /// Since when its client is waited for; nil while it waits for us.
        var waitsSince: NIODeadline?
    }

    private let bounds: HTTPServer.Bounds
    private let entries = Mutex<[ObjectIdentifier: Entry]>([:])
    /// Bytes of bodies that are there.
    private let held = Mutex(0)

    init(_ bounds: HTTPServer.Bounds) {
        self.bounds = bounds
    }

    /// Takes up a connection. Where all others wait for us, the new one is what ends.
    func add(_ channel: any Channel) {
        let surplus: (any Channel)? = entries.withLock { entries in
            var surplus: ObjectIdentifier?
            if entries.count >= bounds.connections {
                let waits = entries.compactMap { key, entry in entry.waitsSince.map { (key, $0) } }
                surplus = waits.min { $0.1 < $1.1 }?.0 ?? ObjectIdentifier(channel)
            }
            entries[ObjectIdentifier(channel)] = Entry(channel: channel, waitsSince: .now())
            return surplus.flatMap { entries.removeValue(forKey: $0)?.channel }
        }
        surplus?.close(promise: nil)
    }

    func remove(_ channel: any Channel) {
        entries.withLock { _ = $0.removeValue(forKey: ObjectIdentifier(channel)) }
    }

    /// - Parameter forClient: whether its client is waited for from now on; it waits for us otherwise.
    func note(_ channel: any Channel, waits forClient: Bool) {
        entries.withLock { $0[ObjectIdentifier(channel)]?.waitsSince = forClient ? .now() : nil }
    }

    /// - Returns: whether there is room for so many bytes of a body; if so, they are held.
    func hold(_ count: Int) -> Bool {
        held.withLock { held in
            guard held + count <= bounds.bodies else { return false }
            held += count
            return true
        }
    }

    func release(_ count: Int) {
        held.withLock { $0 -= count }
    }

    func closeAll() async {
        for entry in entries.withLock({ Array($0.values) }) { try? await entry.channel.close() }
    }
}
