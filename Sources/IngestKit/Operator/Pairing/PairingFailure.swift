/// Why a pairing that was taken up came to nothing.
package enum PairingFailure: Error, Sendable, Equatable {
    /// Reads under way did not come to an end.
    case readingUnderWay
    /// No device of the target was heard.
    case notHeard
    /// It has a bond with this gateway, and is not in pairing mode.
    case alreadyPaired
    /// The one that was paired with is not the one that is meant, by its identity address.
    case otherDevice
    /// It was bonded without the passkey of its entry, which nobody looked on at.
    case passkeyNotAsked
    /// The entry's credential holds no passkey.
    case passkey(PasskeyError)
    case error(PairingError)

    /// As the control socket and `--json` tell it.
    package var reason: FailureReason {
        switch self {
        case .readingUnderWay: .readingUnderWay
        case .notHeard: .notHeard
        case .alreadyPaired: .alreadyPaired
        case .otherDevice: .otherDevice
        case .passkeyNotAsked: .passkeyNotAsked
        case .passkey: .badPasskey
        case .error(let error): error.reason
        }
    }

    /// What happened and what to do, without the name of the device.
    package func message(for model: PeripheralModel) -> String {
        switch self {
        case .readingUnderWay: return "a reading is under way that goes on for long: try again later"
        case .notHeard:
            return "no device was heard in time: bring it near, put it into pairing mode, and try again"
        case .alreadyPaired:
            return "it is paired with this gateway: to pair it anew, put it into pairing mode"
        case .otherDevice:
            return "another device was in pairing mode, with another address than the entry's; its bond was "
                + "removed: put only the one that is meant into pairing mode, and try again"
        case .passkeyNotAsked:
            return
                "a device was bonded without the passkey of its entry, and its bond was removed: if it has no "
                + "passkey, take passkey out of the entry"
        case .passkey(let error): return "\(error)"
        case .error(.refused) where model.has(.oneBondOnly):
            // The quirk's sentence says what to do in the first place.
            return PairingError.refused.message + ". " + PeripheralModel.Quirk.oneBondOnly.meaning
        case .error(let error): return error.message
        }
    }
}

extension PairingError {
    /// What happened and what to do: our words, nothing that a peer said.
    package var message: String {
        switch self {
        case .noKeeper: "bluetoothd, which keeps the bonds, does not run: systemctl start bluetooth"
        case .adapterUnavailable: "the adapter is gone or off"
        case .notReachable: "it does not answer: bring it nearer, and put it into pairing mode again"
        case .refused: "it refuses to pair: put it into pairing mode first"
        case .wrongPasskey: "the passkey is wrong, or the numbers differ"
        case .noAnswer: "the passkey was not given, or the numbers were not said to be the same"
        case .timedOut: "the pairing did not come to an end in time: put it into pairing mode again"
        case .busy: "bluetoothd is at another pairing or connection with it: try again"
        case .cancelled: "it was stopped"
        case .notBonded: "there is no such bond"
        case .other(let name): "bluetoothd refused: \(name)"
        }
    }

    /// As the control socket and `--json` tell it.
    package var reason: FailureReason {
        switch self {
        case .noKeeper: .noKeeper
        case .adapterUnavailable: .adapterUnavailable
        case .notReachable: .notReachable
        case .refused: .refused
        case .wrongPasskey: .wrongPasskey
        case .noAnswer: .noAnswer
        case .timedOut: .timedOut
        case .busy: .busy
        case .cancelled: .cancelled
        case .notBonded: .notBonded
        case .other: .other
        }
    }
}
