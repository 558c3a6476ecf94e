import BlueZBridge
import IngestKit

/// The configuration in the terms of the parts that it configures.
extension Configuration {
    /// What this version can read of the entries; `check` warns of the others.
    var allowList: AllowList {
        AllowList(peripherals.filter { $0.model.isReadable(with: Profiles.names) })
    }

    var passiveTiming: PassiveTiming {
        PassiveTiming(quietPeriod: passive.quietPeriod, cooldown: passive.cooldown)
    }

    var adapterSelection: AdapterSelection {
        switch bluetooth.adapter {
        case .any: .any
        case .index(let index): .index(index)
        case .address(let address): .address(address)
        }
    }

    /// Nil unless the file says something of it. What it leaves out is the kernel's default for
    /// advertisement monitors, 60 ms and 30 ms, within the other's bound.
    var scanTiming: ScanTiming? {
        guard bluetooth.scanInterval != nil || bluetooth.scanWindow != nil else { return nil }
        let interval = bluetooth.scanInterval ?? max(.milliseconds(60), bluetooth.scanWindow ?? .zero)
        let window = bluetooth.scanWindow ?? min(.milliseconds(30), interval)
        return ScanTiming(
            interval: Bluetooth.scanUnits(interval), window: Bluetooth.scanUnits(window))
    }

    /// What the queue has to know of the destinations.
    var routings: [DestinationRouting] {
        let entries = peripherals
        return destinations.map { destination in
            DestinationRouting(
                name: destination.name, kinds: destination.kinds.map(Set.init),
                admits: { header in
                    guard let entry = Self.entry(of: header, in: entries) else {
                        // No longer listed: only a destination that takes everything takes it.
                        return destination.peripherals == nil
                    }
                    return destination.accepts(entry)
                })
        }
    }

    private static func entry(
        of header: RecordHeader, in entries: [AllowedPeripheral]
    ) -> AllowedPeripheral? {
        entries.first { $0.address == header.address }
            ?? entries.first { $0.address == nil && $0.model.id == header.peripheralID }
    }
}
