internal import CMosquitto
import Glibc
import IngestDelivery

/// Says why there is no connection, in our words. What libmosquitto and OpenSSL say names hosts and files, and is only
/// looked at.
struct ConnectionWords {
    /// One of libmosquitto's MOSQ_ERR_….
    let result: Int32
    let errno: Int32
    /// The first error that the library logged; empty without.
    let problem: String
    /// What was spoken.
    let version: BrokerVersion

    var text: String {
        if let trouble = tlsTrouble { return trouble }
        switch result {
        case MOSQ_ERR_EAI.rawValue: return "the host's name was not found"
        case MOSQ_ERR_CONN_LOST.rawValue, MOSQ_ERR_NO_CONN.rawValue:
            return "the connection was closed without an answer"
        case MOSQ_ERR_KEEPALIVE.rawValue: return "the broker did not answer for 60 s"
        case MOSQ_ERR_PROTOCOL.rawValue, MOSQ_ERR_MALFORMED_PACKET.rawValue,
            MOSQ_ERR_MALFORMED_UTF8.rawValue, MOSQ_ERR_DUPLICATE_PROPERTY.rawValue:
            return "the answer is not valid MQTT \(version.rawValue)"
        case MOSQ_ERR_OVERSIZE_PACKET.rawValue: return "the broker sends more than any answer has"
        case MOSQ_ERR_TLS.rawValue: return "the TLS handshake failed"
        case MOSQ_ERR_ERRNO.rawValue: return system
        default: return "the connection broke (libmosquitto \(result))"
        }
    }

    private var system: String {
        switch errno {
        case ECONNREFUSED: "the connection was refused"
        case ENETDOWN, ENETUNREACH, EHOSTDOWN, EHOSTUNREACH: "the host cannot be reached"
        case ETIMEDOUT: "the connection is dead"
        default: "the connection broke"
        }
    }

    /// By the names that OpenSSL 3 gives its reasons; alerts are what the broker sent (RFC 8446, section 6.2).
    private var tlsTrouble: String? {
        func says(_ parts: String...) -> Bool { parts.contains { problem.contains($0) } }
        guard !problem.isEmpty else { return nil }
        if says("host name verification failed") {
            return "the broker's certificate is for another host than the one in url"
        }
        if says("certificate verify failed") {
            return "the broker's certificate is not valid now, or from an authority that is not trusted; "
                + "ca_file names those to trust"
        }
        if says("alert unknown ca", "alert access denied")
            || says(" alert ") && problem.contains("certificate")
        {
            return
                "the broker refused the client certificate, or wants one; see client_certificate and client_key"
        }
        if says("alert protocol version", "unsupported protocol") {
            return "the broker does not speak TLS 1.2 or later"
        }
        if says("alert handshake failure", "alert insufficient security") {
            return "the broker refused the TLS handshake: it takes none of our ciphers, or wants another "
                + "client_certificate"
        }
        if says("wrong version number", "http request", "packet length too long") {
            return "what answers at this port does not speak TLS"
        }
        if says("unexpected eof") { return "the connection was closed during the TLS handshake" }
        if says("Unable to load CA") { return "ca_file: expected certificates in PEM" }
        if says("client certificate", "client key", "Client certificate") {
            return "client_certificate and client_key cannot be used"
        }
        return says("OpenSSL") ? "TLS failed" : nil
    }
}
