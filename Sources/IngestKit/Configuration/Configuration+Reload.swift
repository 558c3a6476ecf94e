extension Configuration {
    /// What is in force after a reload of `next`: all of it, but for what needs a restart. Each section is named here, so
    /// that a new one does not compile before it is decided which it is. `sectionsForRestart` names those that are kept.
    func reloaded(to next: Configuration) -> Configuration {
        let isSameWay = destinations.map(\.takingEverything) == next.destinations.map(\.takingEverything)
        return Configuration(
            gateway: gateway, bluetooth: bluetooth, passive: next.passive, peripherals: next.peripherals,
            queue: queue, destinations: isSameWay ? next.destinations : destinations, events: next.events,
            hooks: next.hooks, logging: next.logging, catalogue: next.catalogue)
    }

    /// The sections of `next` that a reload cannot take over; empty where it can take over all.
    package func sectionsForRestart(to next: Configuration) -> [String] {
        let reloaded = reloaded(to: next)
        guard reloaded != next else { return [] }
        return [
            ("gateway", reloaded.gateway == next.gateway),
            ("bluetooth", reloaded.bluetooth == next.bluetooth),
            ("queue", reloaded.queue == next.queue),
            ("destinations", reloaded.destinations == next.destinations),
        ].filter { !$1 }.map(\.0)
    }
}

extension DestinationSettings {
    /// The same, taking everything: what it takes can change under way.
    fileprivate var takingEverything: Self {
        var copy = self
        copy.kinds = nil
        copy.peripherals = nil
        return copy
    }
}
