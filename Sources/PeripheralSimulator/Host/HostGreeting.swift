/// The first packet on a connection to a `PeripheralHost`: what the connection is to be. All further
/// ones are those of the channel itself.
package enum HostGreeting: Equatable {
    /// The kernel's management channel.
    case management
    /// A link from the adapter with this address to a device.
    case link(DeviceAddress, from: BluetoothAddress)

    /// Words in ASCII, a space between.
    package var packet: [UInt8] {
        switch self {
        case .management: Array("management".utf8)
        case .link(let device, let adapter):
            Array("link \(device.address) \(device.type.rawValue) \(adapter)".utf8)
        }
    }

    /// Nil for anything else.
    package init?(_ packet: [UInt8]) {
        let words = String(decoding: packet, as: UTF8.self).split(separator: " ")
        if words == ["management"] {
            self = .management
            return
        }
        guard words.count == 4, words[0] == "link", let address = BluetoothAddress(words[1]),
            let type = AddressType(rawValue: String(words[2])), let adapter = BluetoothAddress(words[3])
        else { return nil }
        self = .link(DeviceAddress(address, type), from: adapter)
    }
}
