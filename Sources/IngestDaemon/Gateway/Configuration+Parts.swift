import FoundationEssentials

/// The configuration in the terms of the parts that it configures.
extension Configuration {
    /// What this version can read of the entries; `check` warns of the others.
    var allowList: AllowList {
        AllowList(peripherals.filter { $0.model.isReadable(with: Profiles.names) })
    }

    var passiveTiming: PassiveTiming {
        PassiveTiming(
            quietPeriod: passive.quietPeriod, cooldown: passive.cooldown,
            streamInterval: passive.streamInterval, streamMaximum: passive.streamMaximum)
    }

    /// The file of the queue.
    var queuePath: String { gateway.stateDirectory + "/queue.db" }

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
        return ScanTiming(interval: Bluetooth.scanUnits(interval), window: Bluetooth.scanUnits(window))
    }

    /// The gateway's time zone by its name in the IANA database: the system's is what /etc/localtime links to
    /// (localtime(5)).
    var timeZoneName: String {
        if let name = gateway.timeZone { return name }
        let directory = "/zoneinfo/"
        guard let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "/etc/localtime"),
            let range = target.firstRange(of: directory), range.upperBound < target.endIndex
        else { return "UTC" }
        return String(target[range.upperBound...])
    }

    /// What the queue has to know of the destinations. Which of them a record is for by the
    /// allow-list is stored with the record.
    var routings: [DestinationRouting] {
        destinations.map { destination in
            let form = destination.form
            return DestinationRouting(
                name: destination.name, kinds: destination.kinds.map(Set.init), forms: form.kinds,
                formsInPart: form.kindsInPart.isEmpty
                    ? nil : DestinationRouting.FormsInPart(form.kindsInPart) { form.hasForm(for: $0) },
                peripherals: destination.peripherals.map { selectors in
                    Set(
                        selectors.map { selector in
                            switch selector {
                            case .model(let id): .model(id)
                            case .alias(let alias): .alias(alias)
                            }
                        })
                },
                order: destination.order, whenFull: destination.whenFull,
                takesImages: destination.type.takesImages)
        }
    }
}
