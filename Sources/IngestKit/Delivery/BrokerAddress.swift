/// Where a broker listens.
package struct BrokerAddress: Sendable, Hashable {
    /// A name or an address, without brackets.
    package let host: String
    package let port: Int
    /// Whether TLS is spoken.
    package let isEncrypted: Bool

    /// - Parameter url: `mqtts://HOST[:PORT]` (8883 if none is named) or `mqtt://HOST[:PORT]` (1883; the ports that
    ///   IANA lists for MQTT), with a slash at most after it; nil for anything else.
    package init?(url: String) {
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
