import Synchronization

/// What the operator set for a webhook.
public struct WebhookSettings: Sendable, Hashable {
    /// Where to POST.
    public let url: String
    /// Whether bodies are sent compressed.
    public let usesGzip: Bool
    /// Further headers; none of those that the gateway sets itself, but for User-Agent.
    public let headers: [Configuration.Header]

    public init(url: String, usesGzip: Bool = false, headers: [Configuration.Header] = []) {
        self.url = url
        self.usesGzip = usesGzip
        self.headers = headers
    }
}

/// Posts batches as JSON: `{"version":1,"gateway":"…","records":[…]}`.
public final class Webhook: Destination {
    private let settings: WebhookSettings
    private let transport: HTTPTransport
    private let clock: any GatewayClock
    /// Reads the bearer token; nil for a destination without credential.
    private let readToken: (@Sendable () async throws -> String)?
    /// The token as last read.
    private let token = Mutex<String?>(nil)

    public init(
        settings: WebhookSettings, transport: HTTPTransport, clock: any GatewayClock,
        token: (@Sendable () async throws -> String)?
    ) {
        self.settings = settings
        self.transport = transport
        self.clock = clock
        self.readToken = token
    }

    public func deliver(_ batch: OutgoingBatch) async -> DeliveryAnswer {
        let body = Self.body(of: batch)
        let before: String?
        do {
            before = try await currentToken()
        } catch {
            return .unavailable(httpStatus: nil, error: "the credential cannot be read", retryAfter: nil)
        }
        let answer = await post(body, token: before)
        guard case .unauthorized = answer else { return answer }
        // What was replaced meanwhile is tried at once; the same would not help.
        let hasNewFiles = await transport.refresh()
        let fresh = (try? await readToken?()) ?? before
        guard hasNewFiles || fresh != before else { return answer }
        token.withLock { $0 = fresh }
        return await post(body, token: fresh)
    }

    /// Reads the token and the files of TLS anew before the next request.
    public func renew() async {
        token.withLock { $0 = nil }
        await transport.refresh()
    }

    /// The body of a batch. The same batch gives the same bytes.
    static func body(of batch: OutgoingBatch) -> [UInt8] {
        var text = JSONText()
        text.beginObject()
        text.member("version", 1)
        text.member("gateway", batch.gateway)
        text.key("records")
        text.beginArray()
        for record in batch.records { text.value(json: Array(record.utf8)) }
        text.endArray()
        text.endObject()
        return text.bytes
    }

    private func currentToken() async throws -> String? {
        guard let readToken else { return nil }
        if let known = token.withLock({ $0 }) { return known }
        let fresh = try await readToken()
        token.withLock { $0 = fresh }
        return fresh
    }

    private func post(_ body: [UInt8], token: String?) async -> DeliveryAnswer {
        var headers = [
            ("Content-Type", "application/json"),
            ("Idempotency-Key", IdempotencyKey.of(body)),
        ]
        headers += settings.headers.map { ($0.name, $0.value) }
        if !headers.contains(where: { $0.0.lowercased() == "user-agent" }) {
            headers.append(("User-Agent", "ingestd"))
        }
        if let token { headers.append(("Authorization", "Bearer \(token)")) }
        var sent = body
        if settings.usesGzip {
            guard let packed = try? Gzip.compress(body) else {
                return .unavailable(
                    httpStatus: nil, error: "the body could not be compressed", retryAfter: nil)
            }
            sent = packed
            headers.append(("Content-Encoding", "gzip"))
        }
        do {
            let answer = try await transport.post(sent, to: settings.url, headers: headers, clock: clock)
            let retryAfter = RetryAfter.parse(
                answer.retryAfter, date: answer.date, nowSeconds: clock.wallNanoseconds / 1_000_000_000)
            return DeliveryAnswer(
                httpStatus: answer.status, retryAfter: retryAfter,
                reply: Self.withoutToken(answer.body, token))
        } catch {
            return .unavailable(httpStatus: nil, error: error.words, retryAfter: nil)
        }
    }

    /// A server may say back what it was sent, and its words are kept for operators to see.
    private static func withoutToken(_ reply: String?, _ token: String?) -> String? {
        guard let token, !token.isEmpty else { return reply }
        return reply?.replacing(token, with: "[credential]")
    }
}
