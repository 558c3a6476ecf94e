import AsyncHTTPClient
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import Synchronization

/// An HTTP client with the files that its TLS was made of. It is closed when it was retired and its
/// last request has ended.
final class Connections: Sendable {
    private struct Use {
        var requests = 0
        var isRetired = false
    }

    let client: HTTPClient
    let files: TLSFiles
    private let use = Mutex(Use())

    /// - Throws: `TLSFileError` when the files are no certificates and key.
    init(files: TLSFiles, proxy: ProxyAddress?) throws(TLSFileError) {
        self.files = files
        var configuration = Self.configuration(tls: try files.configuration(), proxy: proxy)
        configuration.http1_1ConnectionDebugInitializer = { channel in Self.prepare(channel) }
        client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    }

    /// Counts a request in; false when this client takes none any more.
    func enter() -> Bool {
        use.withLock { use in
            guard !use.isRetired else { return false }
            use.requests += 1
            return true
        }
    }

    func leave() async {
        let isLast = use.withLock { use in
            use.requests -= 1
            return use.isRetired && use.requests == 0
        }
        if isLast { try? await client.shutdown() }
    }

    /// Takes no more requests; those under way end as they would.
    func retire() async {
        let isUnused = use.withLock { use in
            defer { use.isRetired = true }
            return !use.isRetired && use.requests == 0
        }
        if isUnused { try? await client.shutdown() }
    }

    /// Breaks off what is under way.
    func shutdown() async throws {
        use.withLock { $0.isRetired = true }
        try await client.shutdown()
    }

    // MARK: How the client is set up

    fileprivate static func configuration(
        tls: TLSConfiguration, proxy: ProxyAddress?
    ) -> HTTPClient.Configuration {
        var configuration = HTTPClient.Configuration(
            tlsConfiguration: tls, redirectConfiguration: .disallow,
            timeout: .init(connect: .seconds(10), read: .seconds(30), write: .seconds(30)))
        configuration.httpVersion = .http1Only
        // When to try again is the retry policy's to say.
        configuration.connectionPool.retryConnectionEstablishment = false
        // Less than the 60 s after which load balancers commonly close theirs.
        configuration.connectionPool.idleTimeout = .seconds(50)
        configuration.proxy = proxy.map { proxy in
            switch proxy.kind {
            case .http: .server(host: proxy.host, port: proxy.port)
            case .socks5: .socksServer(host: proxy.host, port: proxy.port)
            }
        }
        return configuration
    }

    /// TCP_USER_TIMEOUT of linux/tcp.h: how long what was sent may stay without acknowledgement, in
    /// milliseconds. A connection that a router forgot is noticed by it, long before an answer
    /// would be missed.
    private static let userTimeout = (option: NIOBSDSocket.Option(rawValue: 18), value: 10_000)

    private static func prepare(_ channel: any Channel) -> EventLoopFuture<Void> {
        do {
            let pipeline = channel.pipeline.syncOperations
            let encoder = try pipeline.handler(type: HTTPRequestEncoder.self)
            try pipeline.addHandler(AnswerBound(), position: .before(encoder))
        } catch {
            return close(channel, error)
        }
        return channel.setOption(.tcpOption(userTimeout.option), value: userTimeout.value)
    }

    /// Fails with `error` once the channel is closed; the client would leave it open.
    fileprivate static func close(_ channel: any Channel, _ error: any Error) -> EventLoopFuture<Void> {
        let promise = channel.eventLoop.makePromise(of: Void.self)
        channel.close().whenComplete { _ in promise.fail(error) }
        return promise.futureResult
    }
}

// MARK: - Looking at a certificate

/// When a certificate is valid, in seconds since 1970-01-01T00:00:00Z.
package struct CertificateDates: Error, Sendable, Equatable {
    package let notBefore: Int64
    package let notAfter: Int64

    package init(notBefore: Int64, notAfter: Int64) {
        self.notBefore = notBefore
        self.notAfter = notAfter
    }
}

extension CertificateDates {
    /// The dates of the certificate that a server shows, to say why it was not accepted; nil when
    /// the server shows none. The connection is closed as soon as the certificate is there: nothing
    /// is verified, and nothing is sent, neither a request nor a client certificate.
    static func shown(at url: String, proxy: ProxyAddress?) async -> CertificateDates? {
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.certificateVerification = .none
        return try? await shown(at: url, tls: tls, proxy: proxy)
    }

    /// The same under these settings of TLS, which say what is verified.
    /// - Throws: why there is no connection.
    static func shown(
        at url: String, tls: TLSConfiguration, proxy: ProxyAddress?
    ) async throws -> CertificateDates {
        var tls = tls
        tls.shutdownTimeout = .milliseconds(100)
        var configuration = Connections.configuration(tls: tls, proxy: proxy)
        configuration.http1_1ConnectionDebugInitializer = { channel in
            let certificate = try? channel.pipeline.syncOperations.nioSSL_peerCertificate()
            let dates = certificate.map {
                CertificateDates(notBefore: Int64($0.notValidBefore), notAfter: Int64($0.notValidAfter))
            }
            let end: any Error = dates ?? ChannelError.eof
            return Connections.close(channel, end)
        }
        let client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
        let result: Result<CertificateDates, any Error>
        do {
            _ = try await client.execute(HTTPClientRequest(url: url), timeout: .seconds(10))
            result = .failure(ChannelError.eof)
        } catch let dates as CertificateDates {
            result = .success(dates)
        } catch let error as HTTPClientError where error == .deadlineExceeded {
            result = .failure(HTTPClientError.tlsHandshakeTimeout)
        } catch {
            result = .failure(error)
        }
        try? await client.shutdown()
        return try result.get()
    }
}
