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
    func isMeant(by target: PairingTarget, _ device: DeviceAddress) -> Bool {
        switch target {
        case .model(let id): model.id == id
        case .device(let address): device.address == address
        }
    }
}

extension AllowList {
    /// The entries under which `target` may be paired.
    func pairable(_ target: PairingTarget) throws(OrderRefusal) -> [AllowedPeripheral] {
        let found =
            switch target {
            case .model(let id): entries.filter { $0.model.id == id }
            case .device(let address):
                entries.filter { $0.address == address }.nilIfEmpty ?? entries.filter { $0.address == nil }
            }
        guard !found.isEmpty else { throw .notAllowed(target) }
        let linked = found.filter { $0.broadcastFormat == nil }
        guard !linked.isEmpty else {
            // Of an address that nothing pins it is not known what it is.
            if case .device = target, found.allSatisfy({ $0.address == nil }) { throw .notAllowed(target) }
            throw .needsNoPairing(target)
        }
        return linked
    }
}

extension Array {
    fileprivate var nilIfEmpty: Self? { isEmpty ? nil : self }
}
