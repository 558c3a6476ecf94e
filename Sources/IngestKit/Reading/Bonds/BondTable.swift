/// Decides, by the bonds that there are, over what kind of link a device may be read, and tells of each
/// trouble once.
///
/// Pure: the gateway asks it before a read and tells it what came of the link.
package struct BondTable: Sendable {
    /// What is to be told of a device that cannot be read.
    enum Notice: Sendable, Equatable {
        case bondLost(String)
        case readFailed(String)
    }

    enum Verdict: Sendable, Equatable {
        /// Over a link without encryption, as it comes.
        case open
        /// Over a link that is encrypted with a bond's keys, or not at all.
        case encrypted
        /// Over this adapter, which has the keys.
        case elsewhere(BluetoothAddress)
        /// Not now; with what is to be told of it, if it was not told before.
        case refused(Notice?)
    }

    /// What stands in the way of a device, so that it is not read and nothing is told again.
    enum Obstacle: Sendable, Equatable {
        /// The gateway has lost its bond.
        case lost
        /// An entry wants a bond that there never was.
        case neverPaired
        /// The adapter that has the keys is not there.
        case adapterAbsent
        /// The device does not take the bond's keys: tried again from this moment on.
        case keysRefused(until: MonotonicInstant)
        /// Its 48 bits are those of a bonded device of the other address type.
        case otherType
    }

    /// How long a device that refuses the keys is left alone.
    static let backOff = Duration.seconds(900)
    /// A list in which a bond is missing is believed after this time: bluetoothd tells of its adapters
    /// and devices one after the other while it starts.
    static let grace = Duration.seconds(10)
    /// How many devices have an obstacle at most; who sends can invent addresses.
    static let mostObstacles = 1_024

    private var list = BondList.unknown
    /// The last bonds that were listed.
    private var lastKnown: Set<Bond> = []
    private var knownSince: MonotonicInstant?
    /// Devices that had a bond by our own memory; no more than this gateway has made.
    private var remembered: Set<DeviceAddress> = []
    private(set) var obstacles: [DeviceAddress: Obstacle] = [:]
    private var adapters: [AdapterID: BluetoothAddress] = [:]

    /// The adapters that have keys of the device; nil when nobody who keeps bonds can be asked.
    package func bonds(of device: DeviceAddress) -> Set<BluetoothAddress>? {
        guard case .known(let bonds) = list else { return nil }
        return Set(bonds.filter { $0.device == device }.map(\.adapter))
    }

    /// Whether the device has no bond, and the device with the same 48 bits and the other address type has one or
    /// had one.
    ///
    /// An entry names 48 bits, so both would be read as one device. Whoever has the bond is that device; the other
    /// one is an impostor, because no device changes the type of its identity address.
    package func isShadowed(_ device: DeviceAddress) -> Bool {
        hasOrHadBond(device.otherType) && !hasOrHadBond(device)
    }

    /// Whether the device has a bond by the last list of them, or had one by our own memory.
    package func hasOrHadBond(_ device: DeviceAddress) -> Bool {
        remembered.contains(device) || lastKnown.contains { $0.device == device }
    }

    /// Whether the device has a bond, and nothing has shown that it does not take it. While nobody can be asked, it has
    /// the bond that it had.
    package func hasWorkingBond(_ device: DeviceAddress) -> Bool {
        let hasBond = bonds(of: device).map { !$0.isEmpty } ?? hasOrHadBond(device)
        return hasBond && obstacles[device] == nil
    }

    /// Whether the last list of bonds has this one; if none has come yet, whether our own memory has the device's.
    package func hasListed(_ bond: Bond) -> Bool {
        knownSince == nil && lastKnown.isEmpty ? remembered.contains(bond.device) : lastKnown.contains(bond)
    }

    /// Takes over which devices had a bond by our own memory, at the start.
    mutating func recall(_ devices: Set<DeviceAddress>) {
        remembered.formUnion(devices)
    }

    /// The device was bonded, or its bond was removed by the operator.
    mutating func remember(_ device: DeviceAddress, isBonded: Bool) {
        if isBonded { remembered.insert(device) } else { remembered.remove(device) }
        forgetShadows()
    }

    private mutating func forgetShadows() {
        for (device, obstacle) in obstacles where obstacle == .otherType && !isShadowed(device) {
            obstacles[device] = nil
        }
    }

    /// The address of an adapter that is there.
    func address(of adapter: AdapterID) -> BluetoothAddress? { adapters[adapter] }

    /// All bonds; nil when nobody who keeps them can be asked.
    package var all: Set<Bond>? {
        guard case .known(let bonds) = list else { return nil }
        return bonds
    }

    /// The bonds are now these.
    /// - Returns: devices whose adapter has changed, with the one over which they are read now.
    mutating func update(
        _ new: BondList, at now: MonotonicInstant
    ) -> [(device: DeviceAddress, adapter: BluetoothAddress?)] {
        list = new
        guard let bonds = all else {
            knownSince = nil
            return []
        }
        // What goes while nobody can be asked has changed too.
        let before = lastKnown
        lastKnown = bonds
        knownSince = knownSince ?? now
        for bond in bonds where obstacles[bond.device] != nil {
            switch obstacles[bond.device] {
            // Removing a bond and making it anew takes two lists.
            case .keysRefused where before.contains(bond): break
            default: obstacles[bond.device] = nil
            }
        }
        forgetShadows()
        return Set(before.symmetricDifference(bonds).map(\.device))
            .sorted { $0.address.value < $1.address.value }
            .map { device in
                (device, bonds.filter { $0.device == device }.map(\.adapter).min { $0.value < $1.value })
            }
    }

    /// The adapters are now these.
    mutating func update(adapters states: [AdapterState], at now: MonotonicInstant) {
        let before = Set(adapters.values)
        adapters = Dictionary(states.map { ($0.id, $0.address) }) { _, last in last }
        guard !Set(adapters.values).isSubset(of: before) else { return }
        // The bonds of an adapter that has come are listed after it.
        if knownSince != nil { knownSince = now }
        obstacles = obstacles.filter { $0.value != .adapterAbsent }
    }

    /// The allow-list has changed: what it wants is looked at anew.
    mutating func reload() {
        obstacles = obstacles.filter { $0.value != .neverPaired }
    }

    /// Whether adverts of the device may lead to a read.
    func admits(_ device: DeviceAddress, at now: MonotonicInstant) -> Bool {
        switch obstacles[device] {
        case nil: true
        case .keysRefused(let until): now >= until
        case .lost, .neverPaired, .adapterAbsent, .otherType: false
        }
    }

    /// Whether the device may be paired without being asked: its entry wants it, and it has no bond.
    func wantsAutomaticPairing(_ device: DeviceAddress, as entry: AllowedPeripheral) -> Bool {
        entry.pairing == .auto && (entry.requiresBond || entry.model.bonding == .required)
            && bonds(of: device)?.isEmpty == true && !isShadowed(device)
    }

    /// How the device may be read over `adapter`.
    /// - Parameter remembered: the adapter with which it had a bond by our own memory.
    mutating func verdict(
        on device: DeviceAddress, as entry: AllowedPeripheral, remembered: BluetoothAddress?,
        over adapter: AdapterID, at now: MonotonicInstant
    ) -> Verdict {
        if isShadowed(device) { return refuse(device, .otherType, .bondLost(Words.otherType)) }
        let present = Set(adapters.values)
        let bonds = bonds(of: device)
        // The kernel may hold keys of which nobody can be asked.
        let keys = bonds?.isEmpty == false ? bonds : (bonds == nil ? remembered.map { [$0] } : nil)
        if let keys {
            let usable = keys.intersection(present)
            // Of several the last that was paired or read with: an adapter that was away comes back with
            // keys that the device may not have any more.
            if let remembered, usable.contains(remembered), adapters[adapter] != remembered {
                return .elsewhere(remembered)
            }
            if let own = adapters[adapter], usable.contains(own) { return .encrypted }
            if let other = usable.min(by: { $0.value < $1.value }) { return .elsewhere(other) }
            return refuse(device, .adapterAbsent, .readFailed(Words.adapterAbsent(entry)))
        }
        guard bonds != nil else { return entry.requiresBond ? .encrypted : .open }
        if let remembered {
            guard present.contains(remembered) else {
                return refuse(device, .adapterAbsent, .readFailed(Words.adapterAbsent(entry)))
            }
            guard isSettled(at: now) else {
                return adapters[adapter] == remembered ? .encrypted : .elsewhere(remembered)
            }
            return refuse(device, .lost, .bondLost(Words.lost(entry)))
        }
        guard entry.requiresBond else { return .open }
        guard isSettled(at: now) else { return .encrypted }
        return refuse(device, .neverPaired, .readFailed(Words.neverPaired(entry)))
    }

    /// What is to be told of a device that had a bond, and that may not be heard without it; nil when it
    /// has one, when it was told, and while nothing can be said.
    /// - Parameter remembered: the adapter with which it had a bond by our own memory.
    mutating func missing(
        _ device: DeviceAddress, as entry: AllowedPeripheral, remembered: BluetoothAddress,
        at now: MonotonicInstant
    ) -> Notice? {
        guard isSettled(at: now), bonds(of: device)?.isEmpty == true, adapters.values.contains(remembered),
            case .refused(let notice) = refuse(device, .lost, .bondLost(Words.lost(entry)))
        else { return nil }
        return notice
    }

    /// A link over which the device may be read encrypted only could not be encrypted.
    /// - Returns: what is to be told; nil when it was, or the bonds are not known.
    mutating func keysRefused(
        by device: DeviceAddress, as entry: AllowedPeripheral, at now: MonotonicInstant
    ) -> Notice? {
        guard let bonds = bonds(of: device), !bonds.isEmpty else { return nil }
        let isKnown = if case .keysRefused = obstacles[device] { true } else { false }
        note(.keysRefused(until: now + Self.backOff), of: device)
        return isKnown ? nil : .bondLost(Words.keysRefused(entry))
    }

    /// A link to the device was encrypted, or it was paired or unpaired: nothing stands in its way.
    mutating func clear(_ device: DeviceAddress) {
        obstacles[device] = nil
    }

    /// Whether a bond that is not listed is one that does not exist.
    func isSettled(at now: MonotonicInstant) -> Bool {
        knownSince.map { now.since($0) >= Self.grace } ?? false
    }

    private mutating func refuse(
        _ device: DeviceAddress, _ obstacle: Obstacle, _ notice: Notice
    ) -> Verdict {
        guard obstacles[device] != obstacle else { return .refused(nil) }
        note(obstacle, of: device)
        return .refused(notice)
    }

    private mutating func note(_ obstacle: Obstacle, of device: DeviceAddress) {
        if obstacles[device] == nil, obstacles.count >= Self.mostObstacles {
            // Of devices that never were paired anybody can invent any number.
            let invented = obstacles.first { $0.value == .neverPaired } ?? obstacles.first
            if let invented { obstacles[invented.key] = nil }
        }
        obstacles[device] = obstacle
    }

    private enum Words {
        static let otherType =
            "another device uses its address with the other address type, and is refused; if it is the same "
            + "device after all, run ingestd unpair and then ingestd pair"

        static func adapterAbsent(_ entry: AllowedPeripheral) -> String {
            "its bond belongs to an adapter that is not there: plug that one in, or pair it with another: "
                + pairIt(entry)
        }

        static func lost(_ entry: AllowedPeripheral) -> String {
            "this gateway has no bond with it any more: \(pairIt(entry))"
        }

        static func neverPaired(_ entry: AllowedPeripheral) -> String {
            "its entry wants a bond, and there is none: \(pairIt(entry))"
        }

        static func keysRefused(_ entry: AllowedPeripheral) -> String {
            "the device does not take the bond's keys any more, or another one uses its address: "
                + pairIt(entry)
        }
    }

    /// What to do about a missing bond. Without the address, which is in no event.
    package static func pairIt(_ entry: AllowedPeripheral) -> String {
        "put it into pairing mode and run ingestd pair \(entry.model.id)"
    }
}
