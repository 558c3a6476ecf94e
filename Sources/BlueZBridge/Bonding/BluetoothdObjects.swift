/// What bluetoothd says of its adapters and devices (org.freedesktop.DBus.ObjectManager; BlueZ 5.66
/// doc/adapter-api.txt and doc/device-api.txt), as far as bonds go. What does not parse is not there.
struct BluetoothdObjects: Equatable {
    struct Adapter: Equatable {
        var address: BluetoothAddress
        var isPowered: Bool
        /// Whether the kernel asks for keys that last when it pairs.
        var isPairable: Bool
    }

    struct Device: Equatable {
        /// The identity address as soon as it is known; the object's path keeps the first one.
        var address: BluetoothAddress
        var type: AddressType
        /// The adapter's object.
        let adapter: String
        /// Whether the keys of a pairing are kept.
        var isBonded: Bool
        /// Whether it is paired, with keys that last or not.
        var isPaired: Bool
        var isConnected: Bool

        var device: DeviceAddress { DeviceAddress(address, type) }
    }

    static let adapterInterface = "org.bluez.Adapter1"
    static let deviceInterface = "org.bluez.Device1"
    /// bluetoothd forgets strangers after 30 s; a scan among thousands fills no memory of ours.
    private static let mostDevices = 4_096

    private(set) var adapters: [String: Adapter] = [:]
    private(set) var devices: [String: Device] = [:]

    /// From the answer of GetManagedObjects; nil for one that is none.
    init?(answer: [BusValue]) {
        guard answer.count == 1, let objects = answer.first?.entries else { return nil }
        for (path, interfaces) in objects { add(interfaces, at: path) }
    }

    /// Takes up an object.
    /// - Parameter interfaces: a{sa{sv}}.
    mutating func add(_ interfaces: BusValue, at path: String) {
        guard let interfaces = interfaces.entries else { return }
        if let properties = interfaces[Self.adapterInterface]?.entries,
            let address = properties["Address"]?.text.flatMap({ BluetoothAddress($0) })
        {
            adapters[path] = Adapter(
                address: address, isPowered: properties["Powered"]?.flag ?? false,
                isPairable: properties["Pairable"]?.flag ?? false)
        }
        if let properties = interfaces[Self.deviceInterface]?.entries,
            let address = properties["Address"]?.text.flatMap({ BluetoothAddress($0) }),
            let type = properties["AddressType"]?.text.flatMap({ AddressType(rawValue: $0) }),
            let adapter = properties["Adapter"]?.text
        {
            let isPaired = properties["Paired"]?.flag ?? false
            // Before 5.65 there is no Bonded.
            let isBonded = properties["Bonded"]?.flag ?? isPaired
            guard isBonded || devices.count < Self.mostDevices else { return }
            devices[path] = Device(
                address: address, type: type, adapter: adapter, isBonded: isBonded, isPaired: isPaired,
                isConnected: properties["Connected"]?.flag ?? false)
        }
    }

    mutating func removeDevice(at path: String) {
        devices[path] = nil
    }

    /// Takes over changed properties.
    /// - Parameter properties: a{sv}.
    mutating func change(_ properties: BusValue, of interface: String, at path: String) {
        guard let properties = properties.entries else { return }
        switch interface {
        case Self.adapterInterface:
            if let flag = properties["Powered"]?.flag { adapters[path]?.isPowered = flag }
            if let flag = properties["Pairable"]?.flag { adapters[path]?.isPairable = flag }
        case Self.deviceInterface:
            if let flag = properties["Bonded"]?.flag { devices[path]?.isBonded = flag }
            if let flag = properties["Paired"]?.flag { devices[path]?.isPaired = flag }
            if let flag = properties["Connected"]?.flag { devices[path]?.isConnected = flag }
            if let address = properties["Address"]?.text.flatMap({ BluetoothAddress($0) }) {
                devices[path]?.address = address
            }
            if let type = properties["AddressType"]?.text.flatMap({ AddressType(rawValue: $0) }) {
                devices[path]?.type = type
            }
        default:
            break
        }
    }

    /// The bond that a device object stands for; nil without one.
    func bond(at path: String) -> Bond? {
        guard let device = devices[path], device.isBonded, let adapter = adapters[device.adapter] else {
            return nil
        }
        return Bond(device: device.device, adapter: adapter.address)
    }

    /// All bonds; unknown while bluetoothd has no adapter, as in the first moments of its life.
    var bonds: BondList {
        guard !adapters.isEmpty else { return .unknown }
        return .known(Set(devices.keys.compactMap(bond(at:))))
    }

    /// If a device gives the identity of a device that has a bond, bluetoothd has two objects of that identity, and keeps
    /// the new keys with the older one. Returns that bond.
    func bondTakenOver(at path: String) -> Bond? {
        guard let device = devices[path], !device.isBonded else { return nil }
        return devices.keys.lazy.filter { $0 != path && devices[$0]?.device == device.device }
            .filter { devices[$0]?.adapter == device.adapter }.compactMap(bond(at:)).first
    }

    /// Where the object of this device on this adapter is; of two, where the bond is.
    func path(of device: DeviceAddress, on adapter: String) -> String? {
        let paths = devices.filter { $0.value.device == device && $0.value.adapter == adapter }
        return (paths.first { $0.value.isBonded } ?? paths.first)?.key
    }
}
