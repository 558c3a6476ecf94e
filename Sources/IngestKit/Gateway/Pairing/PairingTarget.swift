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

/// Why a request about pairing is not taken up at all.
package enum PairingRefusal: Error, Sendable, Equatable {
    /// No entry of the allow-list allows it.
    case notAllowed(PairingTarget)
    /// Its readings are in its adverts: there is no link, and nothing to pair.
    case onlyBroadcasts(PairingTarget)
    /// Another pairing is under way.
    case busy
    /// There is nobody who could pair: bluetoothd does not run.
    case noKeeper
    /// There is no pairing of this name, or it has ended.
    case unknown
    /// The pairing asks for nothing now, or for something else.
    case notAsked

    /// One sentence that says what to do.
    package var words: String {
        switch self {
        case .notAllowed(.model(let id)):
            "no entry of the allow-list has id \(id): add one to peripherals in ingestd.yaml, then "
                + "systemctl reload ingestd (ingestd peripherals lists the models)"
        case .notAllowed(.device(let address)):
            "no entry of the allow-list allows \(address): add one with its model's id and this address to "
                + "peripherals in ingestd.yaml, then systemctl reload ingestd"
        case .onlyBroadcasts(let target):
            "\(target) sends its readings to whoever listens: it needs no pairing"
        case .busy: "a pairing, a scan or a read is under way: try again when it has ended"
        case .noKeeper: PairingError.noKeeper.words
        case .unknown: "there is no such pairing, or it has ended"
        case .notAsked: "the pairing does not ask for this now"
        }
    }

    /// As the control socket and `--json` tell it.
    package var reason: FailureReason {
        switch self {
        case .notAllowed: .notAllowed
        case .onlyBroadcasts: .onlyBroadcasts
        case .busy: .busy
        case .noKeeper: .noKeeper
        case .unknown: .unknownPairing
        case .notAsked: .notAsked
        }
    }
}

extension AllowList {
    /// The entries under which `target` may be paired.
    func pairable(_ target: PairingTarget) throws(PairingRefusal) -> [AllowedPeripheral] {
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
            throw .onlyBroadcasts(target)
        }
        return linked
    }
}

extension Array {
    fileprivate var nilIfEmpty: Self? { isEmpty ? nil : self }
}
