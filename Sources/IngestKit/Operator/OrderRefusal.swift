/// Why an order, or an answer to one, is not taken up at all.
package enum OrderRefusal: Error, Sendable, Equatable {
    /// No entry of the allow-list allows it.
    case notAllowed(PairingTarget)
    /// To be read: its readings are in its adverts, and there is nothing to connect to.
    case onlyBroadcasts(PairingTarget)
    /// To be paired: the same.
    case needsNoPairing(PairingTarget)
    /// Another order is under way.
    case busy
    /// There is nobody who could pair: bluetoothd does not run.
    case noKeeper
    /// There is no order of this name, or it has ended.
    case unknown
    /// The order asks for nothing now, or for something else.
    case notAsked

    /// One sentence that says what to do.
    package var message: String {
        switch self {
        case .notAllowed(.model(let id)):
            "no entry of the allow-list has id \(id): sudo ingestd add \(id) makes one (ingestd peripherals lists "
                + "the models)"
        case .notAllowed(.device(let address)):
            "no entry of the allow-list allows \(address): sudo ingestd add ID \(address) makes one (ingestd scan "
                + "shows the ID of its model)"
        case .onlyBroadcasts(let target):
            "\(target) sends its readings to whoever listens, and each is read as it comes: ingestd records"
        case .needsNoPairing(let target):
            "\(target) sends its readings to whoever listens: it needs no pairing"
        case .busy: "a pairing, a scan or a read is under way: try again when it has ended"
        case .noKeeper: PairingError.noKeeper.message
        case .unknown: "there is no such pairing, scan or read, or it has ended"
        case .notAsked: "the pairing does not ask for this now"
        }
    }

    /// As the control socket and `--json` tell it.
    package var reason: FailureReason {
        switch self {
        case .notAllowed: .notAllowed
        case .onlyBroadcasts, .needsNoPairing: .onlyBroadcasts
        case .busy: .busy
        case .noKeeper: .noKeeper
        case .unknown: .unknownOrder
        case .notAsked: .notAsked
        }
    }
}
