/// A device that a scan found, with what the catalogue makes of it: an object of `ingestd scan --json`.
package struct FoundDevice: Sendable, Equatable, Encodable {
    /// A model that the device may be of.
    package struct Match: Sendable, Equatable, Encodable {
        package let id: Int
        package let name: String
        /// Whether this version reads it.
        package let isReadable: Bool
        /// Whether it has to be paired before it gives its readings.
        package let needsPairing: Bool
        /// For `peripherals` of the configuration, as it is.
        package let entry: String?

        enum CodingKeys: String, CodingKey {
            case id, name, entry
            case isReadable = "readable"
            case needsPairing = "needs_pairing"
        }
    }

    /// How the bits of its address are to be read (Core Specification Vol 6 Part B 1.3).
    package enum AddressKind: String, Sendable, Encodable {
        case `public`
        case `static`
        /// It changes, every 15 min or so; bonded, the device is known by its identity.
        case resolvable
        case nonResolvable = "non-resolvable"
    }

    package let address: BluetoothAddress
    package let addressKind: AddressKind
    /// In dBm.
    package let signal: Int?
    package let name: String?
    package let isConnectable: Bool
    /// 4 or 32 hexadecimal digits each.
    package let services: [String]
    /// Company identifiers of its manufacturer data, 4 hexadecimal digits each.
    package let companies: [String]
    package let isInPairingMode: Bool
    package let isBonded: Bool?
    package let listed: AirDevice.Listing?
    /// The likeliest first.
    package let matches: [Match]

    enum CodingKeys: String, CodingKey {
        case address, signal, name, services, companies, listed, matches
        case addressKind = "address_type"
        case isConnectable = "connectable"
        case isInPairingMode = "in_pairing_mode"
        case isBonded = "bonded"
    }

    /// The longest name that is shown, in characters. Those of devices have 29 octets, mostly.
    private static let longestName = 60
    /// How many services are shown.
    private static let mostServices = 12

    /// - Parameter readableProfiles: names of the profiles that this program can read.
    package init(_ device: AirDevice, catalogue: Catalogue, readableProfiles: Set<String>) {
        let advertisement = device.advertisement
        let marks = AdvertisedMarks(advertisement.data)
        address = device.address
        addressKind = AddressKind(device.device)
        signal = device.signal
        name = marks.name.map { PeerText.shown($0, longest: Self.longestName) }
        isConnectable = device.isConnectable
        services = marks.services.prefix(Self.mostServices).map(\.description)
        companies = marks.companies.map { BluetoothUUID($0).description }
        isInPairingMode = advertisement.isInPairingMode
        isBonded = device.isBonded
        listed = device.listed
        matches = Self.models(of: advertisement, in: catalogue).map { model in
            let isReadable = model.isReadable(with: readableProfiles)
            return Match(
                id: model.id, name: model.name, isReadable: isReadable,
                needsPairing: model.bonding == .required,
                entry: isReadable && device.listed == nil
                    ? Self.entry(for: model, device.device) : nil)
        }
    }

    /// The models that advertise so, those that say most of themselves first; of equal ones a generic one, which
    /// is not wrong whoever made the device.
    private static func models(
        of advertisement: Advertisement, in catalogue: Catalogue
    ) -> [PeripheralModel] {
        let found = catalogue.models.compactMap { model -> (model: PeripheralModel, rank: Int)? in
            let ways = model.recognised.filter {
                AdvertisementFilter.matches($0, data: advertisement.data.span)
            }
            guard let rank = ways.map(rank).max(), canRead(advertisement, model) else { return nil }
            return (model, rank)
        }
        return found.sorted { left, right in
            if left.rank != right.rank { return left.rank > right.rank }
            let isGeneric = left.model.manufacturer == nil
            if isGeneric != (right.model.manufacturer == nil) { return isGeneric }
            return left.model.id > right.model.id
        }.map(\.model)
    }

    /// How much it says of a device that it bears these marks: a name is a maker's, a service is a kind's.
    private static func rank(_ marks: [AdvertisementFilter.Mark]) -> Int {
        marks.reduce(0) { sum, mark in
            switch mark {
            case .namePrefix, .nameContains: sum + 4
            case .company, .longService: sum + 3
            case .service: sum + 1
            }
        }
    }

    private static func canRead(_ advertisement: Advertisement, _ model: PeripheralModel) -> Bool {
        guard let format = BroadcastFormats.named(model.profile) else { return advertisement.isConnectable }
        return format.structure(in: advertisement.data.span) != nil
    }

    /// A private address is none to pin: the model alone, until the bond tells the device's identity.
    private static func entry(for model: PeripheralModel, _ device: DeviceAddress) -> String {
        EntryText.item(model, address: device.isPrivate ? nil : device.address)
    }

    /// One JSON object on a line.
    package var json: String { JSONLine.encode(self) }
}

extension FoundDevice.AddressKind {
    init(_ device: DeviceAddress) {
        switch (device.type, device.address.value >> 46) {
        case (.public, _): self = .public
        case (.random, 0b11): self = .static
        case (.random, 0b01): self = .resolvable
        case (.random, _): self = .nonResolvable
        }
    }
}

/// What an advert says of its sender, beside what models are recognised by.
private struct AdvertisedMarks {
    var name: String?
    var services: [BluetoothUUID] = []
    var companies: [UInt16] = []

    init(_ data: [UInt8]) {
        typealias DataType = AdvertisementDataType
        var structures = AdvertisementStructures(data.span)
        while let (type, range) = structures.next() {
            let value = Array(data[range])
            switch type {
            case DataType.completeName: name = String(decoding: value, as: UTF8.self)
            case DataType.shortenedName: name = name ?? String(decoding: value, as: UTF8.self)
            case DataType.someShortServices, DataType.allShortServices:
                for uuid in Self.numbers(value, of: 2) {
                    add(BluetoothUUID(UInt16(truncatingIfNeeded: uuid.low)))
                }
            case DataType.shortServiceData:
                for uuid in Self.numbers(value, of: 2).prefix(1) {
                    add(BluetoothUUID(UInt16(truncatingIfNeeded: uuid.low)))
                }
            case DataType.someLongServices, DataType.allLongServices:
                for uuid in Self.numbers(value, of: 16) { add(uuid) }
            case DataType.longServiceData:
                for uuid in Self.numbers(value, of: 16).prefix(1) { add(uuid) }
            case DataType.manufacturerData:
                for uuid in Self.numbers(value, of: 2).prefix(1) {
                    companies.append(UInt16(truncatingIfNeeded: uuid.low))
                }
            default: break
            }
        }
    }

    private mutating func add(_ service: BluetoothUUID) {
        if !services.contains(service) { services.append(service) }
    }

    /// Little-endian numbers of `size` octets; a rest is left out.
    private static func numbers(_ value: [UInt8], of size: Int) -> [BluetoothUUID] {
        stride(from: 0, through: value.count - size, by: size).map { start in
            let octets = value[start..<start + size].reversed()
            let low = octets.suffix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
            let high = octets.dropLast(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
            return BluetoothUUID(high: high, low: low)
        }
    }
}

/// What a peer calls itself, made fit for a terminal.
enum PeerText {
    /// Cut, and with everything escaped that moves the cursor, turns the direction of writing or cannot be seen.
    static func shown(_ text: String, longest: Int) -> String {
        var shown = ""
        for (count, scalar) in text.unicodeScalars.enumerated() {
            guard count < longest else { return shown + "…" }
            if isPlain(scalar) {
                shown.unicodeScalars.append(scalar)
            } else {
                shown += "\\u{" + String(scalar.value, radix: 16) + "}"
            }
        }
        return shown
    }

    private static func isPlain(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned,
            .nonspacingMark, .enclosingMark:
            false
        case .spaceSeparator: scalar == " "
        default: true
        }
    }
}
