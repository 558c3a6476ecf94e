package import IngestRecords

/// What the operator set for a webhook.
package struct WebhookSettings: DestinationForm {
    package enum Format: String, Sendable, Hashable, CaseIterable {
        case json, ndjson
    }

    package static let typeName = "webhook"
    package static let keys: [KeyDescription] = [
        .batch,
        KeyDescription(
            "format", "`json` or `ndjson`", default: "`json`",
            "Form of the body: one object, or one record a line."),
        .gzip, .headers,
        KeyDescription(
            "signing_key", "credential", default: "none",
            "Signs requests by Standard Webhooks: one to four keys in base64, as `whsec_…`."),
        .proxy, .redact, .oauth, .status,
    ]

    /// Where to POST.
    package let address: String
    package let format: Format
    /// Whether bodies are sent compressed.
    package let usesGzip: Bool
    /// Further headers; none of those that the gateway sets itself, but for User-Agent.
    package let headers: [HTTPHeader]
    package var signingKey: CredentialName?
    /// What requests do not hold of a record.
    package let redacted: Set<RedactedField>
    /// Where status documents go; nil: nowhere.
    package var status: StatusSettings?

    package init(
        url: String, format: Format = .json, usesGzip: Bool = false, headers: [HTTPHeader] = [],
        redacted: Set<RedactedField> = []
    ) {
        address = url
        self.format = format
        self.usesGzip = usesGzip
        self.headers = headers
        self.redacted = redacted
    }

    package init?(_ entries: some DestinationEntries) {
        let url = entries.required("url", "a URL")?.httpURL()
        format = entries["format"]?.choice(of: Format.self) ?? .json
        usesGzip = entries["gzip"]?.boolean() ?? false
        headers = entries["headers"]?.headers() ?? []
        signingKey = entries.signingKey("signing_key")
        redacted = entries["redact"]?.redactedFields() ?? []
        status = entries["status"]?.statusDocuments()
        guard let url else { return nil }
        address = url
    }

    package var url: String? { address }
    package var endpoint: String { address }
    package var furtherURLs: [(key: String, url: String)] {
        [status.map { ("status.url", $0.url) }].compactMap(\.self)
    }
    package var furtherCredentials: [CredentialName] { signingKey.map { [$0] } ?? [] }
    package var furtherAuthentication: [AuthenticationKind] { signingKey == nil ? [] : [.signature] }

    package func connect(_ parts: DestinationParts) -> ConnectedDestination {
        let webhook = Webhook(
            settings: self, transport: parts.transport, clock: parts.clock, oauth: parts.oauth
        ) {
            WebhookSecrets(
                token: try await parts.token(),
                signingKeys: try signingKey.map { try parts.credentials.signingKeys($0) })
        }
        return ConnectedDestination(
            destination: webhook,
            renew: { _ in
                await webhook.renew()
                return true
            },
            status: status.map { status in
                StatusOutlet(interval: status.interval, redacted: redacted) {
                    await webhook.post($0, to: status.url, as: .json)
                }
            })
    }
}

/// What shows a webhook's receiver who sends.
package struct WebhookSecrets: Sendable, Equatable {
    /// The bearer token; nil for a destination without credential.
    package var token: String?
    /// Nil where requests are not signed.
    package var signingKeys: SigningKeys?
}

/// Posts batches as JSON or NDJSON, signed where there are keys (docs/destinations/webhook.md).
package final class Webhook: Destination {
    private let settings: WebhookSettings
    private let clock: any GatewayClock
    private let posts: AuthorizedPosts<WebhookSecrets>

    /// How long a signed request waits for a clock that is right. After a start it takes a moment until the
    /// clock was judged, which is no reason to call the destination down.
    static var clockPatience: Duration { .seconds(30) }

    /// - Parameters:
    ///   - oauth: where the token of the secrets is from.
    ///   - secrets: reads them anew.
    package init(
        settings: WebhookSettings, transport: HTTPTransport, clock: any GatewayClock,
        oauth: OAuthTokens? = nil,
        secrets: @escaping @Sendable () async throws -> WebhookSecrets = { WebhookSecrets() }
    ) {
        self.settings = settings
        self.clock = clock
        posts = AuthorizedPosts(
            transport: transport, clock: clock, oauth: oauth, token: \.token, read: secrets)
    }

    package func deliver(_ batch: OutgoingBatch) async -> DeliveryAnswer {
        guard let batch = batch.without(settings.redacted) else {
            return .unfit("is no record that can be read")
        }
        let body = Self.body(of: batch, settings.format)
        return await post(body, to: settings.address, as: settings.format)
    }

    /// Sends a body in the way of records.
    func post(_ body: [UInt8], to url: String, as format: WebhookSettings.Format) async -> DeliveryAnswer {
        await posts.perform { await self.post(body, to: url, as: format, $0) }
    }

    /// Reads the secrets and the files of TLS anew before the next request.
    @discardableResult
    package func renew() async -> Bool { await posts.renew() }

    /// The body of a batch. The same batch gives the same bytes.
    package static func body(of batch: OutgoingBatch, _ format: WebhookSettings.Format) -> [UInt8] {
        switch format {
        case .json:
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
        case .ndjson:
            // A record is one line, and names its gateway itself.
            return batch.records.flatMap { Array($0.utf8) + [0x0A] }
        }
    }

    private func post(
        _ body: [UInt8], to url: String, as format: WebhookSettings.Format, _ secrets: WebhookSecrets
    ) async -> DeliveryAnswer {
        let key = IdempotencyKey.of(body)
        var headers = [("Content-Type", format.contentType), ("Idempotency-Key", key)]
        headers += settings.headers.map { ($0.name, $0.value) }
        if !headers.contains(where: { $0.0.lowercased() == "user-agent" }) {
            headers.append(("User-Agent", "ingestd"))
        }
        if let token = secrets.token { headers.append(("Authorization", "Bearer \(token)")) }
        if let keys = secrets.signingKeys {
            // Unsigned, or with a wrong time, the receiver would refuse it.
            guard let timestamp = await timestamp() else {
                return .unavailable(
                    httpStatus: nil,
                    error: "requests cannot be signed: the clock of this box is not known to be right",
                    retryAfter: nil)
            }
            headers += [
                ("webhook-id", key), ("webhook-timestamp", String(timestamp)),
                ("webhook-signature", keys.signatures(id: key, timestamp: timestamp, body: body)),
            ]
        }
        return await posts.post(
            body, to: url, headers: headers,
            hiding: ShownSecrets(secrets.token, keys: secrets.signingKeys?.secrets ?? []),
            packs: settings.usesGzip)
    }

    /// The time of an attempt, in seconds since 1970; nil when the clock was not known to be right for as
    /// long as that is waited for.
    private func timestamp() async -> Int64? {
        let end = clock.now + Self.clockPatience
        while true {
            if let wall = clock.trustedWallNanoseconds { return wall / 1_000_000_000 }
            guard clock.now < end, (try? await clock.sleep(for: .seconds(1))) != nil else { return nil }
        }
    }
}

extension WebhookSettings.Format {
    fileprivate var contentType: String {
        switch self {
        case .json: "application/json"
        case .ndjson: "application/x-ndjson"
        }
    }
}
