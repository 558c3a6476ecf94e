import Synchronization

/// Which records are for which destination, and the wake-up of each destination.
package final class DestinationRoutings: Sendable {
    /// The names are those of the opening, whatever the configuration says later.
    private let inForce: Mutex<[String: DestinationRouting]>
    private let wakeUps: [String: WakeUp]

    init(_ destinations: [DestinationRouting]) {
        inForce = Mutex(Dictionary(destinations.map { ($0.name, $0) }, uniquingKeysWith: { $1 }))
        wakeUps = Dictionary(destinations.map { ($0.name, WakeUp()) }, uniquingKeysWith: { $1 })
    }

    var all: [String: DestinationRouting] { inForce.withLock { $0 } }

    subscript(destination: String) -> DestinationRouting? { inForce.withLock { $0[destination] } }

    /// From now on these rules hold. The order of a destination, and which there are, stay as they were at the opening.
    func replace(by destinations: [DestinationRouting]) {
        inForce.withLock { inForce in
            for new in destinations {
                guard let old = inForce[new.name] else { continue }
                inForce[new.name] = DestinationRouting(
                    name: new.name, kinds: new.kinds, forms: new.forms, formsInPart: new.formsInPart,
                    peripherals: new.peripherals, order: old.order, whenFull: new.whenFull,
                    takesImages: new.takesImages)
            }
        }
    }

    /// Those whose oldest records go when the queue has no more room.
    var droppingOldest: [DestinationRouting] { all.values.filter { $0.whenFull == .dropOldest } }

    /// In which order a destination gets its records.
    package func order(of destination: String) -> DeliveryOrder { self[destination]?.order ?? .strict }

    /// Raised when there may be records for a destination. One waiter.
    package func wakeUp(for destination: String) -> WakeUp { wakeUps[destination] ?? WakeUp() }

    /// There may be records for any destination.
    func wakeAll() {
        for wakeUp in wakeUps.values { wakeUp.raise() }
    }
}
