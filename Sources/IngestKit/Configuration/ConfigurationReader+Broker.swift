// What a broker is told and asked.
extension ConfigurationReader {
    /// Where a broker is: a host, and a port if it is another than usual.
    func brokerURL(_ reader: NodeReader) -> String? {
        guard let text = checkedURL(reader, schemes: ["mqtts"], onLoopback: ["mqtt"]) else { return nil }
        guard BrokerAddress(url: text) != nil else {
            reader.error(
                "expected a broker's host and port with nothing behind them, as mqtts://broker.example")
            return nil
        }
        return text
    }

    func topic(_ reader: NodeReader?, _ placeholders: [TopicTemplate.Placeholder]) -> TopicTemplate? {
        guard let reader, let text = reader.text("a topic", limit: TopicTemplate.limit) else { return nil }
        do throws(TopicTemplate.Malformed) {
            return try TopicTemplate(text, allowed: placeholders)
        } catch {
            reader.error("expected \(error.expected)")
            return nil
        }
    }
}

/// Where a broker listens.
public struct BrokerAddress: Sendable, Hashable {
    /// A name or an address, without brackets.
    public let host: String
    public let port: Int
    /// Whether TLS is spoken.
    public let isEncrypted: Bool

    /// - Parameter url: `mqtts://HOST[:PORT]` (8883 if none is named) or `mqtt://HOST[:PORT]` (1883; the ports that
    ///   IANA lists for MQTT), with a slash at most after it; nil for anything else.
    public init?(url: String) {
        guard let parts = URLText(url), !parts.hasUserInformation, ["", "/"].contains(parts.rest) else {
            return nil
        }
        switch parts.scheme {
        case "mqtts": (isEncrypted, port) = (true, parts.port ?? 8883)
        case "mqtt": (isEncrypted, port) = (false, parts.port ?? 1883)
        default: return nil
        }
        host = parts.host
    }
}
