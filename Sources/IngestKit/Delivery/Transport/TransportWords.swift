import AsyncHTTPClient
import NIOCore
import NIOPosix
import NIOSOCKS
import NIOSSL

/// What went wrong with TLS, as far as an operator can do something about it.
enum TLSTrouble: Sendable, Hashable {
    /// The certificate is out of date, or from an unknown authority.
    case verification
    /// The certificate is for another host.
    case hostName
    /// The server refuses our certificate, or misses one.
    case clientCertificate
    /// The server speaks no protocol that is new enough.
    case tooOld
    /// The server refuses the handshake without a reason: a cipher, or a certificate of ours.
    case refused
    /// What answers there does not speak TLS.
    case notTLS
    /// The connection ended before TLS stood.
    case closed
    case other

    /// Nil when the error has nothing to do with TLS.
    init?(_ error: any Error) {
        switch error {
        case let error as NIOSSLExtraError:
            let isName = [.failedToValidateHostname, .serverHostnameImpossibleToMatch].contains(error)
            self = isName ? .hostName : .other
        case NIOSSLError.handshakeFailed(let error): self.init(tls: error)
        // A connection that is closed without TLS's own goodbye.
        case NIOSSLError.uncleanShutdown: return nil
        case is NIOSSLError: self = .other
        case let error as BoringSSLError: self.init(tls: error)
        default: return nil
        }
    }

    private init(tls error: BoringSSLError) {
        let stack: NIOBoringSSLErrorStack =
            switch error {
            case .sslError(let stack), .unknownError(let stack): stack
            default: []
            }
        if stack.contains(.eofDuringHandshake) {
            self = .closed
        } else {
            self = stack.lazy.compactMap { Self(reason: Self.reason($0)) }.first ?? .other
        }
    }

    /// The name of the reason, which BoringSSL's text has between its library's name and the
    /// place in its source: `…:OPENSSL_internal:CERTIFICATE_VERIFY_FAILED at /…`.
    private static func reason(_ error: BoringSSLInternalError) -> Substring {
        let text = error.description
        guard let start = text.firstRange(of: "OPENSSL_internal:")?.upperBound else { return "" }
        return text[start...].prefix { $0 != " " }
    }

    /// - Parameter reason: of BoringSSL's include/openssl/ssl.h (SSL_R_…); alerts are what the
    ///   server sent (RFC 8446, section 6.2).
    private init?(reason: Substring) {
        switch reason {
        case "CERTIFICATE_VERIFY_FAILED": self = .verification
        case "SSLV3_ALERT_NO_CERTIFICATE", "SSLV3_ALERT_BAD_CERTIFICATE",
            "SSLV3_ALERT_UNSUPPORTED_CERTIFICATE", "SSLV3_ALERT_CERTIFICATE_REVOKED",
            "SSLV3_ALERT_CERTIFICATE_EXPIRED", "SSLV3_ALERT_CERTIFICATE_UNKNOWN", "TLSV1_ALERT_UNKNOWN_CA",
            "TLSV1_ALERT_ACCESS_DENIED", "TLSV1_ALERT_CERTIFICATE_REQUIRED":
            self = .clientCertificate
        case "TLSV1_ALERT_PROTOCOL_VERSION", "UNSUPPORTED_PROTOCOL": self = .tooOld
        case "SSLV3_ALERT_HANDSHAKE_FAILURE", "TLSV1_ALERT_INSUFFICIENT_SECURITY": self = .refused
        case "WRONG_VERSION_NUMBER", "HTTP_REQUEST", "HTTPS_PROXY_REQUEST": self = .notTLS
        default: return nil
        }
    }
}

/// Says what went wrong before there was an answer. The errors of the client and of TLS name
/// addresses, paths of their build and what was sent: nothing of their text is used.
struct TransportWords: Sendable {
    let isProxied: Bool
    /// Of the server's certificate, where one was looked at.
    let dates: CertificateDates?
    let nowSeconds: Int64

    /// Whether nothing is known but that a kept connection was gone: nobody has seen the request.
    static func isStale(_ error: any Error) -> Bool {
        error is StaleConnection || (error as? ChannelError) == .ioOnClosedChannel
    }

    func describe(_ error: any Error) -> String {
        if let trouble = TLSTrouble(error) { return describe(trouble) }
        switch error {
        case let error as TLSFileError: return "\(error.key.rawValue): \(error.message)"
        case is CancellationError: return "the request was abandoned"
        case is AnswerTooLong: return "the answer's header is longer than 128 KiB"
        case is StaleConnection, NIOSSLError.uncleanShutdown:
            return "the connection was closed without an answer"
        case let error as HTTPClientError: return describe(error)
        case let error as NIOConnectionError:
            guard let first = error.connectionErrors.first else {
                return isProxied ? "the host name in proxy was not found" : "the host's name was not found"
            }
            return describe(first.error)
        case let error as IOError: return describe(error)
        case ChannelError.connectTimeout: return "no connection within 10 s"
        case is ChannelError: return "could not connect"
        case let error as SOCKSError.ConnectionFailed:
            return "the proxy could not reach the host (SOCKS reply \(error.reply.value))"
        case is SOCKSError.InvalidAuthenticationSelection, is SOCKSError.NoValidAuthenticationMethod:
            return "the proxy wants a user and password, which is not supported"
        case is SOCKSError.InvalidProtocolVersion, is SOCKSError.InvalidReservedByte,
            is SOCKSError.InvalidAddressType, is SOCKSError.InvalidClientState, is SOCKSError.UnexpectedRead:
            return "what answers at proxy is no SOCKS5 proxy"
        default: return "the answer is not valid HTTP"
        }
    }

    private func describe(_ trouble: TLSTrouble) -> String {
        switch trouble {
        case .verification:
            if let dates, dates.notAfter < nowSeconds { return "the server's certificate has expired" }
            if let dates, dates.notBefore > nowSeconds {
                return "the server's certificate is not valid yet: is the clock of this box right?"
            }
            return "the server's certificate is from an unknown authority; ca_file names those to trust"
        case .hostName: return "the server's certificate is for another host than the one in url"
        case .clientCertificate:
            return "the server refused the client certificate, or wants one; "
                + "see client_certificate and client_key"
        case .tooOld: return "the server does not speak TLS 1.2 or later"
        case .refused:
            return "the server refused the TLS handshake: it takes none of our ciphers, or wants another "
                + "client_certificate"
        case .notTLS: return "what answers at this port does not speak TLS"
        case .closed: return "the connection was closed during the TLS handshake"
        case .other: return "the TLS handshake failed"
        }
    }

    private func describe(_ error: IOError) -> String {
        let subject = isProxied ? "the proxy's connection" : "the connection"
        return switch error.errnoCode {
        // ECONNREFUSED
        case 111: isProxied ? "the proxy refused the connection" : "the connection was refused"
        // ENETDOWN, ENETUNREACH, EHOSTDOWN, EHOSTUNREACH
        case 100, 101, 112, 113: "there is no route to the \(isProxied ? "proxy" : "host")"
        // ETIMEDOUT
        case 110: "\(subject) is dead"
        default: "\(subject) broke"
        }
    }

    private func describe(_ error: HTTPClientError) -> String {
        switch error {
        case .connectTimeout: "no connection within 10 s"
        case .readTimeout: "no answer within 30 s"
        case .writeTimeout: "the request could not be sent within 30 s"
        case .deadlineExceeded: "no answer within 60 s"
        case .tlsHandshakeTimeout: "no TLS handshake within 10 s"
        case .httpProxyHandshakeTimeout, .socksHandshakeTimeout: "the proxy did not answer within 10 s"
        case .invalidProxyResponse: "the proxy did not make the connection"
        case .remoteConnectionClosed, .uncleanShutdown: "the connection was closed without an answer"
        case .cancelled, .alreadyShutdown: "the request was abandoned"
        case .invalidURL, .emptyHost, .emptyScheme: "the URL is not valid"
        default: "the request could not be made"
        }
    }
}
