import FoundationEssentials
package import IngestRecords

/// What the operator set for a FHIR server.
package struct FHIRSettings: DestinationForm {
    package enum Authentication: String, Sendable, Hashable, CaseIterable {
        /// The credential is a token.
        case bearer
        /// The credential is `USER:PASSWORD` (RFC 7617).
        case basic
    }

    package static let typeName = "fhir"
    package static let keys: [KeyDescription] = [
        KeyDescription(
            "auth", "`bearer` or `basic`", default: "`bearer`",
            "How requests authenticate: `credential` is a token, or `USER:PASSWORD`."),
        .batch, .gzip, .headers,
        KeyDescription(
            "patient_system", "absolute URI", default: "none",
            "System of the identifiers by which the server knows subjects; without it they are the ids of its Patient "
                + "resources."),
        .proxy,
    ]
    package static let takesImages = true
    /// The kinds that have a form there: what the guide has codes for.
    package let kinds: Set<RecordKind>? = Set(RecordKind.allCases.filter { $0.specialization != nil })

    /// The base of its API.
    package let base: String
    /// The system of the identifiers by which it knows people; nil where subjects are ids of its Patient resources.
    package let patientSystem: String?
    package let authentication: Authentication
    /// Whether bodies are sent compressed.
    package let usesGzip: Bool
    /// Further headers.
    package let headers: [HTTPHeader]

    package init(
        url: String, patientSystem: String? = nil, authentication: Authentication = .bearer,
        usesGzip: Bool = false,
        headers: [HTTPHeader] = []
    ) {
        base = url
        self.patientSystem = patientSystem
        self.authentication = authentication
        self.usesGzip = usesGzip
        self.headers = headers
    }

    package init?(_ entries: some DestinationEntries) {
        let url = entries.required("url", "a URL")?.httpURL()
        patientSystem = entries["patient_system"]?.value("an absolute URI", Self.absoluteURI)
        let auth = entries["auth"]?.text("text", limit: 64)
        if let auth, Authentication(rawValue: auth) == nil {
            entries["auth"]?.error(expected: "bearer or basic")
        }
        authentication = auth.flatMap(Authentication.init) ?? .bearer
        usesGzip = entries["gzip"]?.boolean() ?? false
        headers = entries["headers"]?.headers() ?? []
        guard let url else { return nil }
        base = url
    }

    package var url: String? { base }

    package func connect(_ parts: DestinationParts) -> ConnectedDestination {
        let fhir = FHIR(settings: self, transport: parts.transport, clock: parts.clock) { try parts.secret() }
        return ConnectedDestination(destination: fhir) { _ in
            await fhir.renew()
            return true
        }
    }

    /// A scheme and something after it (RFC 3986 3).
    private static func absoluteURI(_ text: String) -> String? {
        let scheme = text.prefix { $0 != ":" }
        let isURI =
            scheme.first?.isLetter == true && scheme.utf8.count + 1 < text.utf8.count
            && scheme.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "+-.".contains($0)) }
            && text.utf8.count <= 1024 && text.utf8.allSatisfy { (0x21...0x7E).contains($0) }
        return isURI ? text : nil
    }
}

/// Posts batches as transactions to a FHIR R4 server, as HL7's Personal Health Device guide has it
/// (docs/destinations/fhir.md).
package final class FHIR: Destination {
    private static let mediaType = "application/fhir+json"

    private let settings: FHIRSettings
    private let posts: AuthorizedPosts<Secret>

    struct Secret: Sendable, Equatable {
        let credential: String?
    }

    /// - Parameter credential: reads it anew; nil for a server that wants none.
    package init(
        settings: FHIRSettings, transport: HTTPTransport, clock: any GatewayClock,
        credential: @escaping @Sendable () async throws -> String? = { nil }
    ) {
        self.settings = settings
        posts = AuthorizedPosts(transport: transport, clock: clock) {
            Secret(credential: try await credential())
        }
    }

    package var takesImages: Bool { true }

    package func deliver(_ batch: OutgoingBatch) async -> DeliveryAnswer {
        let records = batch.records.compactMap(RecordContent.init)
        guard records.count == batch.records.count, !records.isEmpty else {
            return .unfit("is no record that can be read")
        }
        for record in records {
            if let obstacle = FHIRBundle.obstacle(record, patientSystem: settings.patientSystem) {
                return .unfit(obstacle)
            }
        }
        let body =
            if let image = batch.image, let record = records.first {
                FHIRMedia(record: record, image: image, patientSystem: settings.patientSystem).bytes
            } else {
                FHIRBundle(records: records, patientSystem: settings.patientSystem).bytes
            }
        return await posts.perform { await self.post(body, $0.credential) }
    }

    /// Reads the credential and the files of TLS anew before the next request.
    @discardableResult
    package func renew() async -> Bool { await posts.renew() }

    private func post(_ body: [UInt8], _ credential: String?) async -> DeliveryAnswer {
        var headers = [("Content-Type", Self.mediaType)] + settings.headers.map { ($0.name, $0.value) }
        // Of what was created, only that it was is asked for.
        let own = [("Accept", Self.mediaType), ("Prefer", "return=minimal"), ("User-Agent", "ingestd")]
        for (name, value) in own where !headers.contains(where: { $0.0.lowercased() == name.lowercased() }) {
            headers.append((name, value))
        }
        let secret = credential.map(shown)
        if let secret { headers.append(("Authorization", "\(settings.authentication.scheme) \(secret)")) }
        return await posts.post(
            body, to: settings.base, headers: headers,
            hiding: ShownSecrets(
                credential.map { password(of: $0) ?? $0 }, asSent: [secret, credential]),
            packs: settings.usesGzip
        ) { status, reply in
            FHIRAnswer.meaning(httpStatus: status, reply: reply, entries: FHIRAnswer.entryCount(of: body))
        }
    }

    /// What of the credential is a secret by itself.
    private func password(of credential: String) -> String? {
        guard settings.authentication == .basic, let colon = credential.firstIndex(of: ":") else {
            return nil
        }
        return String(credential[credential.index(after: colon)...])
    }

    /// The credential as a request has it.
    private func shown(_ credential: String) -> String {
        switch settings.authentication {
        case .bearer: credential
        case .basic: Data(credential.utf8).base64EncodedString()
        }
    }
}

extension FHIRSettings.Authentication {
    fileprivate var scheme: String {
        switch self {
        case .bearer: "Bearer"
        case .basic: "Basic"
        }
    }
}
