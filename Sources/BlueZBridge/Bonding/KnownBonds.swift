import Synchronization

/// The newest list of bonds, for whoever must decide at once: `KernelConnector` asks for encryption
/// only where there is a bond. While bluetoothd is away the kernel has the keys still, so that its last
/// list holds.
package final class KnownBonds: Sendable {
    private struct State {
        var newest = BondList.unknown
        var lastKnown: Set<Bond> = []
    }

    private let state = Mutex(State())

    package init() {}

    /// Whether the kernel has the bond's keys, as far as is known.
    package func contains(_ bond: Bond) -> Bool {
        state.withLock { $0.lastKnown.contains(bond) }
    }

    /// - Returns: whether it is another list.
    func replace(by newer: BondList) -> Bool {
        state.withLock { state in
            defer { state.newest = newer }
            if case .known(let bonds) = newer { state.lastKnown = bonds }
            return state.newest != newer
        }
    }
}
