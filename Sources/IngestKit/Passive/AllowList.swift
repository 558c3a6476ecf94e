/// The peripherals that the gateway reads: nothing that is not listed is ever connected to.
public struct AllowList: Sendable, Equatable {
    /// Entries for one device each.
    private let pinned: [BluetoothAddress: AllowedPeripheral]
    /// Entries for any device of a model, in the order of the configuration.
    private let models: [AllowedPeripheral]

    /// - Parameter entries: of two for one address, or of two that recognise one advert, the first
    ///   holds.
    public init(_ entries: [AllowedPeripheral] = []) {
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
    public var entries: [AllowedPeripheral] {
        pinned.sorted { $0.key.description < $1.key.description }.map(\.value) + models
    }

    /// Entries for one device each of a model that advertises to its bonded central only.
    var directed: [BluetoothAddress: AllowedPeripheral] {
        pinned.filter { $0.value.model.has(.directedAdvertising) && $0.value.broadcastFormat == nil }
    }

    /// What the radio has to report for this list.
    public var filter: AdvertisementFilter {
        AdvertisementFilter(addresses: Set(pinned.keys), models: models.flatMap(\.model.recognised))
    }

    /// The entry under which the device that sent this advert is read; nil if it is not to be read.
    ///
    /// An entry for the address holds before one for the model, and needs nothing of what the
    /// device says of itself. A private address says nothing of who sends, so an entry for a model
    /// takes none. An advert that takes no connection offers nothing to read, unless what is read is
    /// in the advert itself.
    public func match(_ advertisement: Advertisement) -> AllowedPeripheral? {
        match(advertisement, takesPrivate: false)
    }

    /// As `match`; with `takesPrivate` an entry for a model takes devices with a private address too.
    func match(_ advertisement: Advertisement, takesPrivate: Bool) -> AllowedPeripheral? {
        if let entry = pinned[advertisement.device.address] {
            return Self.canRead(advertisement, as: entry) ? entry : nil
        }
        guard takesPrivate || !advertisement.device.isPrivate else { return nil }
        for entry in models where Self.canRead(advertisement, as: entry) {
            for marks in entry.model.recognised
            where AdvertisementFilter.matches(marks, data: advertisement.data.span) {
                return entry
            }
        }
        return nil
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
