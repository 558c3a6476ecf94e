/// What the reason codes of a broker mean for a batch (MQTT 5, sections 3.2.2.2, 3.4.2.1 and 3.14.2.1; MQTT 3.1.1, section
/// 3.2.2.3;
/// docs/destinations/mqtt.md has the table).
enum MQTTReason {
    /// The packet that a code came in.
    enum Packet {
        /// PUBACK: about a message.
        case message
        /// CONNACK: about the connection.
        case connection
        /// CONNACK of MQTT 3.1.1, whose codes are others.
        case returnCode
        /// DISCONNECT: about the connection, or about what was sent on it.
        case end
    }

    static func answer(_ code: UInt8, in packet: Packet, reply: String? = nil) -> DeliveryAnswer {
        if packet == .returnCode, let reason = returnCodes[code] {
            return answer(reason, error: words(reason, .v311) + " (return code \(code))", in: .connection)
        }
        return answer(code, error: message(code), in: packet, reply: reply)
    }

    private static func answer(
        _ code: UInt8, error: String, in packet: Packet, reply: String? = nil
    ) -> DeliveryAnswer {
        switch (packet, code) {
        case (.message, 0x00):
            return .taken()
        // It was acknowledged, and thrown away.
        case (.message, 0x10):
            return .unavailable(httpStatus: nil, error: error, retryAfter: nil)
        case (.message, 0x80), (.message, 0x83):
            return .failing(error: error)
        case (.message, 0x99), (.end, 0x99):
            return .refused(httpStatus: nil, error: error, reply: reply)
        case (.message, 0x95), (.end, 0x95):
            return .tooLarge()
        case (_, 0x86), (_, 0x87), (_, 0x8A), (_, 0x8C):
            return .unauthorized(httpStatus: nil, error: error)
        case (_, 0x84), (_, 0x85), (_, 0x90), (_, 0x9A), (_, 0x9B), (_, 0x9C), (_, 0x9D), (.connection, 0x95),
            (.returnCode, 0x95):
            return .misplaced(httpStatus: nil, error: error)
        case (_, 0x89), (_, 0x96), (_, 0x97), (_, 0x9F):
            return .busy(httpStatus: nil, error: error, retryAfter: nil)
        default:
            return .unavailable(httpStatus: nil, error: error, retryAfter: nil)
        }
    }

    /// What the code says, with the code.
    static func message(_ code: UInt8) -> String {
        let digits = String(code, radix: 16, uppercase: true)
        return words(code, .v5) + " (reason 0x\(digits.count == 1 ? "0" : "")\(digits))"
    }

    private static func words(_ code: UInt8, _ version: BrokerVersion) -> String {
        if code == 0x84 { return "does not speak MQTT \(version.rawValue); see protocol" }
        return names[code] ?? "gives a reason that is not known"
    }

    /// Those of MQTT 3.1.1, by what MQTT 5 has for the same.
    private static let returnCodes: [UInt8: UInt8] = [1: 0x84, 2: 0x85, 3: 0x88, 4: 0x86, 5: 0x87]

    private static let names: [UInt8: String] = [
        0x10: "has no subscriber for the topic",
        0x80: "could not, without saying why",
        0x81: "calls what it was sent malformed",
        0x82: "calls what it was sent a breach of the protocol",
        0x83: "could not, for a reason of its own",
        0x85: "does not take the client identifier; see application_id",
        0x86: "does not take user and password",
        0x87: "does not allow this user to connect, or to publish under this topic",
        0x88: "is not available",
        0x89: "is busy",
        0x8A: "has banned this client",
        0x8B: "is shutting down",
        0x8C: "wants another way to authenticate",
        0x8D: "has not heard of the gateway for too long",
        0x8E: "has another client with the same identifier; see gateway.id and application_id",
        0x90: "does not take the topic",
        0x91: "is still working on a message of the same number",
        0x93: "was sent more at once than it takes",
        0x95: "takes no packet that large",
        0x96: "is sent messages too fast",
        0x97: "has a quota, which is used up",
        0x98: "was told to end the connection",
        0x99: "does not take the content",
        0x9A: "does not keep retained messages; see status_topic",
        0x9B: "does not acknowledge messages (QoS 1)",
        0x9C: "has sent the gateway to another server",
        0x9D: "has moved to another server",
        0x9F: "takes no more connections for now",
        0xA0: "has ended the connection after its longest time",
    ]
}
