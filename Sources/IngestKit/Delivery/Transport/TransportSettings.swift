/// How the requests of a destination travel. Destinations whose settings are equal share
/// connections.
package struct TransportSettings: Sendable, Hashable {
    /// Absolute path of the authorities to trust, in PEM; nil: the system's.
    package var caFile: String?
    /// What the gateway shows a server that asks who it is, in PEM; both or none.
    package var clientCertificate: CredentialName?
    package var clientKey: CredentialName?
    package var proxy: ProxyAddress?

    package init(
        caFile: String? = nil, clientCertificate: CredentialName? = nil, clientKey: CredentialName? = nil,
        proxy: ProxyAddress? = nil
    ) {
        self.caFile = caFile
        self.clientCertificate = clientCertificate
        self.clientKey = clientKey
        self.proxy = proxy
    }

    /// Whether any of it is in a file, which may change.
    var hasFiles: Bool { caFile != nil || clientCertificate != nil || clientKey != nil }
}

/// A proxy that connections are made through. TLS is spoken with the destination, inside.
package struct ProxyAddress: Sendable, Hashable {
    package enum Kind: Sendable, Hashable {
        /// CONNECT (RFC 9110, section 9.3.6), for plain HTTP too.
        case http
        /// RFC 1928, without authentication; names are resolved by the proxy.
        case socks5
    }

    package let kind: Kind
    package let host: String
    package let port: Int
    /// Whether it is on this machine.
    package let isLoopback: Bool

    /// - Parameter url: `http://HOST[:PORT]` (port 80 if none is named) or `socks5://HOST[:PORT]`
    ///   (1080, RFC 1928 section 3), with a slash at most after it; nil for anything else.
    package init?(url: String) {
        guard let parts = URLText(url), !parts.hasUserInformation, ["", "/"].contains(parts.rest) else {
            return nil
        }
        switch parts.scheme {
        case "http": (kind, port) = (.http, parts.port ?? 80)
        case "socks5": (kind, port) = (.socks5, parts.port ?? 1080)
        default: return nil
        }
        host = parts.host
        isLoopback = parts.isLoopback
    }
}
