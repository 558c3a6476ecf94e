extension PairingError {
    /// What an answer of bluetoothd means where it is no matter of the pairing itself (BlueZ 5.66
    /// src/error.c).
    init(_ error: BusError) {
        switch error {
        case .notConnected: self = .noKeeper
        case .timedOut: self = .timedOut
        case .malformed: self = .other("malformed")
        case .remote(let name):
            switch name {
            case "org.bluez.Error.NotReady": self = .adapterUnavailable
            case "org.bluez.Error.InProgress": self = .busy
            case "org.freedesktop.DBus.Error.ServiceUnknown",
                "org.freedesktop.DBus.Error.NameHasNoOwner", "org.freedesktop.DBus.Error.NoReply":
                self = .noKeeper
            default: self = .other(name)
            }
        }
    }

    /// What an answer to Device1.Pair means (BlueZ 5.66 src/device.c, new_authentication_return). The
    /// reason that the device gave (Vol 3 Part H 3.5.5) is not among it: a wrong passkey and a
    /// refusal are told apart by whether a code was in play.
    init(pair error: BusError, after answers: PairingAnswers) {
        guard case .remote(let name) = error else {
            self.init(error)
            return
        }
        switch name {
        case "org.bluez.Error.AuthenticationFailed":
            self =
                switch answers {
                case .none: .refused
                case .given: .wrongPasskey
                case .refused, .awaited: .noAnswer
                }
        case "org.bluez.Error.AuthenticationCanceled":
            // The link was lost, or the kernel gave up: 30 s after the last step.
            self =
                switch answers {
                case .none, .given: .notReachable
                case .refused, .awaited: .noAnswer
                }
        case "org.bluez.Error.AuthenticationTimeout":
            self = answers == .awaited ? .noAnswer : .timedOut
        // The kernel pairs with it already, for somebody else.
        case "org.bluez.Error.AuthenticationRejected": self = .busy
        case "org.bluez.Error.ConnectionAttemptFailed",
            "org.freedesktop.DBus.Error.UnknownObject":
            self = .notReachable
        default: self.init(error)
        }
    }

    /// What a link that could not be made means for a pairing.
    init(_ error: LinkError) {
        switch error {
        case .busy: self = .busy
        case .adapterUnavailable: self = .adapterUnavailable
        case .ended(.byGateway): self = .cancelled
        case .notEncrypted, .bondRefused: self = .refused
        case .notReachable, .ended, .noAnswer, .refused, .noMoreLinks, .attribute, .missing, .malformed:
            self = .notReachable
        }
    }
}

/// What became of the device's questions in a pairing.
enum PairingAnswers {
    /// It asked for nothing.
    case none
    /// The last question waits for its answer.
    case awaited
    /// It got what it asked for, or a no.
    case given
    /// Nobody answered.
    case refused
}
