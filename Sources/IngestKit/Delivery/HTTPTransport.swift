import AsyncHTTPClient
import NIOCore
import NIOHTTP1
import NIOPosix

/// The HTTP client that all destinations share. Connections are kept alive; redirects are not
/// followed.
public final class HTTPTransport: Sendable {
    /// An answer, as far as delivery looks at it.
    public struct Answer: Sendable {
        public let status: Int
        public let retryAfter: String?
        public let date: String?
        /// The body, as far as it fits the bound.
        public let body: String?
    }

    /// What went wrong before there was an answer, in our words.
    public struct Failure: Error, Sendable, Equatable {
        public let words: String
    }

    /// At most this much of an answer is kept, in bytes.
    private static let replyLimit = 64 * 1024

    private let client: HTTPClient

    public init() {
        var configuration = HTTPClient.Configuration(
            redirectConfiguration: .disallow, timeout: .init(connect: .seconds(10), read: .seconds(30)))
        // When to try again is the retry policy's to say.
        configuration.connectionPool.retryConnectionEstablishment = false
        self.client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    }

    /// Closes all connections. To be called once, at the end.
    public func shutdown() async throws {
        try await client.shutdown()
    }

    /// Sends a POST and waits for the answer, 60 s at most.
    public func post(
        _ body: [UInt8], to url: String, headers: [(String, String)], clock: any GatewayClock
    ) async throws(Failure) -> Answer {
        let result = await withTaskGroup(of: Result<Answer, Failure>?.self) { group in
            group.addTask { await self.exchange(body, url: url, headers: headers) }
            group.addTask {
                // Cancelled: the other child has the result.
                guard (try? await clock.sleep(for: .seconds(60))) != nil else { return nil }
                return .failure(Failure(words: "no answer within 60 s"))
            }
            defer { group.cancelAll() }
            while let first = await group.next() {
                if let first { return first }
            }
            return .failure(Failure(words: "the request was abandoned"))
        }
        return try result.get()
    }

    private func exchange(
        _ body: [UInt8], url: String, headers: [(String, String)]
    ) async -> Result<Answer, Failure> {
        var request = HTTPClientRequest(url: url)
        request.method = .POST
        for (name, value) in headers { request.headers.add(name: name, value: value) }
        request.body = .bytes(ByteBuffer(bytes: body))
        do {
            let response = try await client.execute(request, timeout: .seconds(60))
            var kept = ByteBuffer()
            // The body is read to its end within the bound, so that the connection can be used
            // again; a longer one is given up with its connection.
            do {
                for try await var part in response.body {
                    if kept.readableBytes + part.readableBytes > Self.replyLimit { break }
                    kept.writeBuffer(&part)
                }
            } catch {
                // The status is the answer: words that break off do not undo it.
            }
            return .success(
                Answer(
                    status: Int(response.status.code),
                    retryAfter: response.headers.first(name: "Retry-After"),
                    date: response.headers.first(name: "Date"),
                    body: kept.readableBytes == 0 ? nil : String(buffer: kept)))
        } catch {
            return .failure(Failure(words: Self.words(for: error)))
        }
    }

    /// Errors of the client name build paths and addresses: we say it ourselves.
    private static func words(for error: any Error) -> String {
        switch error {
        case is CancellationError: return "the request was abandoned"
        case let error as HTTPClientError: return words(for: error)
        case let error as NIOConnectionError:
            guard let first = error.connectionErrors.first else { return "the host's name was not found" }
            return words(for: first.error)
        // ECONNREFUSED
        case let error as IOError where error.errnoCode == 111: return "the connection was refused"
        case is IOError: return "the connection broke"
        case is ChannelError: return "could not connect"
        default:
            // Errors of NIOSSL, which is not imported for their sake.
            return String(reflecting: type(of: error)).hasPrefix("NIOSSL")
                ? "the TLS handshake failed" : "the answer is not valid HTTP"
        }
    }

    private static func words(for error: HTTPClientError) -> String {
        switch error {
        case .connectTimeout: "no connection within 10 s"
        case .readTimeout: "no answer within 30 s"
        case .deadlineExceeded: "no answer within 60 s"
        case .tlsHandshakeTimeout: "no TLS handshake in time"
        case .remoteConnectionClosed, .uncleanShutdown: "the connection was closed without an answer"
        case .cancelled, .alreadyShutdown: "the request was abandoned"
        case .invalidURL, .emptyHost, .emptyScheme: "the URL is not valid"
        default: "the request could not be made"
        }
    }
}
