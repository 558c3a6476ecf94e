extension LinkError {
    /// What happened, for the journal: our words, nothing that a peer said.
    package var message: String {
        switch self {
        case .busy:
            "another program holds this device's attribute channel (bluetoothd: disconnect it there)"
        case .adapterUnavailable: "the adapter is gone or off"
        case .notReachable: "no connection: it stopped advertising or is out of range"
        case .refused(let errno): "the connection was refused (errno \(errno))"
        case .noMoreLinks: "the controller refused the connection, as if it had too many"
        case .notEncrypted: "the peripheral wants an encrypted link, and there is no valid bond"
        case .bondRefused: "the peripheral has forgotten its bond with the gateway"
        case .ended(let end): "the link ended: \(end.message)"
        case .noAnswer(let opcode): "no answer to ATT request 0x\(Self.hex(opcode)) within 30 s"
        case .attribute(let code, let opcode):
            "the peripheral refused ATT request 0x\(Self.hex(opcode)) with error 0x\(Self.hex(code))"
        case .missing(let uuid): "the peripheral lacks attribute \(uuid)"
        case .malformed(let opcode): "the answer to ATT request 0x\(Self.hex(opcode)) breaks the protocol"
        }
    }

    private static func hex(_ byte: UInt8) -> String {
        (byte < 16 ? "0" : "") + String(byte, radix: 16)
    }
}

extension LinkEnd {
    fileprivate var message: String {
        switch self {
        case .byPeripheral: "the peripheral hung up"
        case .signalLost: "its signal was lost"
        case .byGateway: "closed by the gateway"
        case .other(let errno): "errno \(errno)"
        }
    }
}
