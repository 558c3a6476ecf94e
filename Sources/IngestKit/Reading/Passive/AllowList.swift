/// The peripherals that the gateway reads: nothing that is not listed is ever connected to.
package struct AllowList: Sendable, Equatable {
    /// Entries for one device each.
    private let pinned: [BluetoothAddress: AllowedPeripheral]
    /// Entries for any device of a model, in the order of the configuration.
    private let models: [AllowedPeripheral]

    /// - Parameter entries: of two for one address, or of two that recognise one advert, the first
    ///   holds.
    package init(_ entries: [AllowedPeripheral] = []) {
        var pinned: [BluetoothAddress: AllowedPeripheral] = [:]
        var models: [AllowedPeripheral] = []
        for entry in entries {
            if let address = entry.address {
                if pinned[address] == nil { pinned[address] = entry }
            } else {
                models.append(entry)
            }
        }
        self.pinned = pinned
        self.models = models
    }

    /// All of them.
    package var entries: [AllowedPeripheral] {
        pinned.sorted { $0.key.description < $1.key.description }.map(\.value) + models
    }

    /// Entries for one device each of a model that advertises to its bonded central only.
    var directed: [BluetoothAddress: AllowedPeripheral] {
        pinned.filter { $0.value.model.has(.directedAdvertising) && $0.value.broadcastFormat == nil }
    }

    /// Whether an entry names this address.
    package func pins(_ address: BluetoothAddress) -> Bool { pinned[address] != nil }

    /// What the radio has to report for this list.
    package var filter: AdvertisementFilter {
        AdvertisementFilter(addresses: Set(pinned.keys), models: models.flatMap(\.model.recognised))
    }

    /// The same while a device of `target` is to be paired: one that entries name by its address may
    /// send under a private one, and is recognised by what its model advertises.
    func filter(pairing target: PairingTarget) -> AdvertisementFilter {
        let filter = filter
        let marks = pinned(for: target).flatMap(\.model.recognised)
        return AdvertisementFilter(addresses: filter.addresses, models: filter.models + marks)
    }

    /// The entry under which the device that sent this advert is read; nil if it is not to be read.
    ///
    /// An entry for the address holds before one for the model, and needs nothing of what the
    /// device says of itself. A private address says nothing of who sends, so an entry for a model
    /// takes none. An advert that takes no connection offers nothing to read, unless what is read is
    /// in the advert itself.
    package func match(_ advertisement: Advertisement) -> AllowedPeripheral? {
        match(advertisement, takesPrivate: false)
    }

    /// As `match`; with `takesPrivate` an entry for a model takes devices with a private address too.
    package func match(_ advertisement: Advertisement, takesPrivate: Bool) -> AllowedPeripheral? {
        if let entry = pinned[advertisement.device.address] {
            return Self.canRead(advertisement, as: entry) ? entry : nil
        }
        guard takesPrivate || !advertisement.device.isPrivate else { return nil }
        return models.first {
            Self.canRead(advertisement, as: $0) && $0.model.isRecognised(in: advertisement)
        }
    }

    /// The entries for one device each of which one is meant by `target`, and read over a link.
    private func pinned(for target: PairingTarget) -> [AllowedPeripheral] {
        let named =
            switch target {
            case .model(let id): entries.filter { $0.address != nil && $0.model.id == id }
            case .device(let address): [pinned[address]].compactMap(\.self)
            }
        return named.filter { $0.broadcastFormat == nil }
    }

    /// The entry under which the device that sent this advert would be read if it were paired; nil if
    /// it is not what `target` asks for.
    ///
    /// A private address is no obstacle: with the bond comes the device's identity. So it may also be
    /// that of an entry for one device, if it is in pairing mode and advertises as its model does: a
    /// device whose bond is gone sends under private addresses that nobody can resolve. Afterwards
    /// `entry(of:pairedAs:for:)` tells whether it was the one.
    package func match(_ advertisement: Advertisement, pairing target: PairingTarget) -> AllowedPeripheral? {
        if let entry = match(advertisement, takesPrivate: true), entry.broadcastFormat == nil {
            switch target {
            case .model(let id) where entry.model.id == id: return entry
            case .device(let address) where advertisement.device.address == address: return entry
            default: break
            }
        }
        guard advertisement.device.isPrivate, pinned[advertisement.device.address] == nil,
            advertisement.isConnectable, advertisement.isInPairingMode
        else { return nil }
        return pinned(for: target).first { $0.model.isRecognised(in: advertisement) }
    }

    /// The entry of a device that was found under `entry` and paired for `target`, now that its identity
    /// is known; nil if it is another one than what is meant.
    package func entry(
        of identity: DeviceAddress, pairedAs entry: AllowedPeripheral, for target: PairingTarget
    ) -> AllowedPeripheral? {
        guard let found = successor(of: entry, for: identity) else { return nil }
        switch target {
        case .model(let id): return found.model.id == id ? found : nil
        // An address that no entry names is the one under which the device was heard.
        case .device(let address): return entry.address == nil || found.address == address ? found : nil
        }
    }

    private static func canRead(_ advertisement: Advertisement, as entry: AllowedPeripheral) -> Bool {
        guard let format = entry.broadcastFormat else { return advertisement.isConnectable }
        return format.structure(in: advertisement.data.span) != nil
    }

    /// The entry that stands in this list for a device that was read under `entry` of another list;
    /// nil if it is no longer allowed.
    func successor(of entry: AllowedPeripheral, for device: DeviceAddress) -> AllowedPeripheral? {
        if let pinned = pinned[device.address] { return pinned }
        guard !device.isPrivate else { return nil }
        return models.first { $0.model.id == entry.model.id }
    }
}

extension PeripheralModel {
    /// Whether the advert bears all marks of one way to recognise this model.
    fileprivate func isRecognised(in advertisement: Advertisement) -> Bool {
        recognised.contains { AdvertisementFilter.matches($0, data: advertisement.data.span) }
    }
}
