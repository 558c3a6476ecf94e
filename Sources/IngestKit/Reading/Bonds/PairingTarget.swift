/// What is to be paired or unpaired: any device of a model, or one device.
package enum PairingTarget: Sendable, Hashable {
    /// By its ID in the catalogue.
    case model(Int)
    case device(BluetoothAddress)

    /// Reads a catalogue ID, 1 to 999999, or an address; nil for anything else.
    package init?(_ text: String) {
        if let address = BluetoothAddress(text) {
            self = .device(address)
        } else if !text.isEmpty, text.utf8.allSatisfy({ 0x30...0x39 ~= $0 }), let id = Int(text),
            1...999_999 ~= id
        {
            self = .model(id)
        } else {
            return nil
        }
    }
}

extension PairingTarget: CustomStringConvertible {
    /// As it is typed.
    package var description: String {
        switch self {
        case .model(let id): String(id)
        case .device(let address): address.description
        }
    }
}

extension AllowedPeripheral {
    /// Whether a device of this entry is what an operator names so.
    package func isMeant(by target: PairingTarget, _ device: DeviceAddress) -> Bool {
        switch target {
        case .model(let id): model.id == id
        case .device(let address): device.address == address
        }
    }
}
