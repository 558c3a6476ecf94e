/// What was heard of the devices in range. Pure; everything that a device controls has a bound.
package struct AirSurvey: Sendable {
    /// How many devices are kept; of more, those with the strongest signals.
    package static let mostDevices = 256
    /// How many kinds of AD structures are kept of one device: no device sends half as many.
    private static let mostStructures = 16
    /// How many octets of them: an advert and the answer to a scan request have 62, extended ones seldom more.
    private static let mostOctets = 512

    fileprivate struct Device: Sendable {
        let first: Int
        var signal: Int?
        var isConnectable = false
        /// By what tells one from another; each as it came last.
        var structures: [(key: [UInt8], bytes: [UInt8])] = []
    }

    private var heard: [DeviceAddress: Device] = [:]
    private var lastFirst = 0

    package init() {}

    package var count: Int { heard.count }

    /// Takes an advert, or one with the answer to a scan request behind it.
    package mutating func add(_ advertisement: Advertisement) {
        var device: Device
        if let known = heard[advertisement.device] {
            device = known
        } else {
            guard makeRoom(for: advertisement.rssi) else { return }
            lastFirst += 1
            device = Device(first: lastFirst)
        }
        if let rssi = advertisement.rssi { device.signal = max(device.signal ?? rssi, rssi) }
        device.isConnectable = device.isConnectable || advertisement.isConnectable
        var structures = AdvertisementStructures(advertisement.data.span)
        while let (type, range) = structures.next() {
            device.add(
                type, Array(advertisement.data[range]), most: Self.mostStructures, octets: Self.mostOctets)
        }
        heard[advertisement.device] = device
    }

    /// - Returns: whether a device that is heard so may be kept.
    private mutating func makeRoom(for signal: Int?) -> Bool {
        guard heard.count >= Self.mostDevices else { return true }
        let weakest = heard.min { Self.isStronger($1.value, than: $0.value) }
        guard let weakest, let signal, (weakest.value.signal ?? .min) < signal else { return false }
        heard[weakest.key] = nil
        return true
    }

    private static func isStronger(_ left: Device, than right: Device) -> Bool {
        let (one, other) = (left.signal ?? .min, right.signal ?? .min)
        return one == other ? left.first < right.first : one > other
    }

    /// The devices, the strongest signal first.
    /// - Parameters:
    ///   - list: what is read.
    ///   - bonds: the adapters that have a bond with a device; nil where nobody can be asked.
    package func devices(
        allowed list: AllowList, bonds: (DeviceAddress) -> Set<BluetoothAddress>?
    ) -> [AirDevice] {
        heard.sorted { Self.isStronger($0.value, than: $1.value) }.map { address, device in
            var found = AirDevice(
                address: address.address, addressType: address.type, signal: device.signal,
                isConnectable: device.isConnectable, data: device.structures.flatMap(\.bytes))
            found.listed = list.match(found.advertisement).map {
                AirDevice.Listing(id: $0.model.id, alias: $0.alias)
            }
            found.isBonded = bonds(address).map { !$0.isEmpty }
            return found
        }
    }
}

extension AirSurvey.Device {
    /// Takes an AD structure in the place of an earlier one that tells of the same.
    fileprivate mutating func add(_ type: UInt8, _ value: [UInt8], most: Int, octets: Int) {
        let bytes = [UInt8(clamping: 1 + value.count), type] + value
        // Data of several companies or services may stand beside each other.
        let owner =
            switch type {
            case AdvertisementDataType.manufacturerData, AdvertisementDataType.shortServiceData: 2
            case AdvertisementDataType.longServiceData: 16
            default: 0
            }
        let key = [type] + value.prefix(owner)
        let place = structures.firstIndex { $0.key == key }
        let others = structures.reduce(0) { $0 + ($1.key == key ? 0 : $1.bytes.count) }
        guard others + bytes.count <= octets else { return }
        if let place {
            structures[place].bytes = bytes
        } else if structures.count < most {
            structures.append((key, bytes))
        }
    }
}

/// A device in range, as it was heard: what goes over the control socket.
package struct AirDevice: Sendable, Equatable, Codable {
    /// The entry under which it is read.
    package struct Listing: Sendable, Equatable, Codable {
        /// Catalogue ID of its model.
        package var id: Int
        package var alias: String?
    }

    package var address: BluetoothAddress
    package var addressType: AddressType
    /// The strongest, in dBm; nil where the controller does not know.
    package var signal: Int?
    package var isConnectable: Bool
    /// Its AD structures, one of each that it sent, in hexadecimal.
    package var data: String
    /// Nil: it is not on the allow-list.
    package var listed: Listing?
    /// Nil where nobody who keeps bonds can be asked.
    package var isBonded: Bool?

    enum CodingKeys: String, CodingKey {
        case address, signal, data, listed
        case addressType = "address_type"
        case isConnectable = "connectable"
        case isBonded = "bonded"
    }

    package init(
        address: BluetoothAddress, addressType: AddressType, signal: Int?, isConnectable: Bool, data: [UInt8]
    ) {
        self.address = address
        self.addressType = addressType
        self.signal = signal
        self.isConnectable = isConnectable
        self.data = Hex.text(data)
    }

    package var device: DeviceAddress { DeviceAddress(address, addressType) }

    /// As if all of its data had come in one advert.
    var advertisement: Advertisement {
        Advertisement(
            device: device, adapter: AdapterID(index: 0), rssi: signal, isConnectable: isConnectable,
            data: Hex.bytes(data) ?? [], received: MonotonicInstant(nanoseconds: 0))
    }
}
