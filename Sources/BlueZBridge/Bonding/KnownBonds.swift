public import IngestKit
import Synchronization

/// The newest list of bonds, for whoever must decide at once: `KernelConnector` asks for encryption
/// only where there is a bond.
public final class KnownBonds: Sendable {
    private let list = Mutex(BondList.unknown)

    public init() {}

    /// Whether the bond is known now.
    public func contains(_ bond: Bond) -> Bool {
        list.withLock { list in
            if case .known(let bonds) = list { bonds.contains(bond) } else { false }
        }
    }

    /// - Returns: whether it is another list.
    func replace(by newer: BondList) -> Bool {
        list.withLock { list in
            defer { list = newer }
            return list != newer
        }
    }
}
