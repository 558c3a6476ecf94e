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
        .proxy, .oauth,
    ]
    package static let takesImages = true
    /// The kinds that have a form there: what the guide has codes for, what somebody did, and what a laboratory found.
    package let kinds: Set<RecordKind>? =
        Set(RecordKind.allCases.filter { $0.specialization != nil }).union(FHIRActivity.kinds)
        .union([.laboratory])
    package let kindsInPart = FHIRActivity.kindsInPart.union([.laboratory])

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

    package func hasForm(for record: RecordContent) -> Bool {
        record.kind == .laboratory ? FHIRLaboratory.hasForm(record) : FHIRActivity.hasForm(record)
    }

    package var url: String? { base }
    package var endpoint: String { base }
    package var credentialKind: AuthenticationKind { authentication == .basic ? .password : .token }

    package func connect(_ parts: DestinationParts) -> ConnectedDestination {
        let fhir = fhir(parts)
        return ConnectedDestination(destination: fhir) { _ in
            await fhir.renew()
            return true
        }
    }

    package func tryOut(_ parts: DestinationParts) async -> TrialOutcome { await fhir(parts).search() }

    private func fhir(_ parts: DestinationParts) -> FHIR {
        FHIR(settings: self, transport: parts.transport, clock: parts.clock, oauth: parts.oauth) {
            try await parts.token()
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

    /// - Parameters:
    ///   - oauth: where the credential is from, if it is a token of an authorization server.
    ///   - credential: reads it anew; nil for a server that wants none.
    package init(
        settings: FHIRSettings, transport: HTTPTransport, clock: any GatewayClock, oauth: OAuthTokens? = nil,
        credential: @escaping @Sendable () async throws -> String? = { nil }
    ) {
        self.settings = settings
        posts = AuthorizedPosts(transport: transport, clock: clock, oauth: oauth, token: \.credential) {
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
        return await posts.perform { await self.post(body, $0.credential, isImage: batch.image != nil) }
    }

    /// Reads the credential and the files of TLS anew before the next request.
    @discardableResult
    package func renew() async -> Bool { await posts.renew() }

    /// Asks how many observations have an identifier that none has. The answer holds no resource, and the search costs the
    /// server no more than an index does.
    package func search() async -> TrialOutcome {
        let base = settings.base.hasSuffix("/") ? String(settings.base.dropLast()) : settings.base
        let url = base + "/Observation?identifier=urn:ingestd:doctor%7Cnone&_summary=count"
        let answer = await posts.perform { secret in
            await posts.get(
                url, headers: headers([], secret.credential), hiding: hidden(secret.credential),
                within: TrialOutcome.limit
            ) { status, reply in
                if status == 200, !Self.isBundle(reply) {
                    return .misplaced(httpStatus: status, error: "does not answer as a FHIR server does")
                }
                return DeliveryAnswer(httpStatus: status, retryAfter: nil, reply: reply)
            }
        }
        switch answer {
        case .taken: return .accepted
        // One that may write, and not search; or a server that has no such search.
        case .unauthorized(let status?, _) where status == 403: return .notAllowed(httpStatus: status)
        case .misplaced(let status?, _) where status == 405: return .notAllowed(httpStatus: status)
        case .unavailable(let status?, _, _) where status == 501: return .notAllowed(httpStatus: status)
        case .refused(let status?, _, _): return .notAllowed(httpStatus: status)
        default: return .failed(answer)
        }
    }

    private static func isBundle(_ reply: String?) -> Bool {
        struct Resource: Decodable {
            let resourceType: String
        }
        return reply.flatMap { try? JSONDecoder().decode(Resource.self, from: Data($0.utf8)) }?.resourceType
            == "Bundle"
    }

    private func post(_ body: [UInt8], _ credential: String?, isImage: Bool) async -> DeliveryAnswer {
        await posts.post(
            body, to: settings.base,
            // Of what was created, only that it was is asked for.
            headers: headers(
                [("Content-Type", Self.mediaType)], credential, unlessSet: [("Prefer", "return=minimal")]),
            hiding: hidden(credential), packs: settings.usesGzip
        ) { status, reply in
            let answer = FHIRAnswer.meaning(
                httpStatus: status, reply: reply, entries: FHIRAnswer.entryCount(of: body))
            guard isImage, case .taken = answer else { return answer }
            return .taken(httpStatus: status, location: FHIRAnswer.location(in: reply))
        }
    }

    private func headers(
        _ first: [(String, String)], _ credential: String?, unlessSet others: [(String, String)] = []
    ) -> [(String, String)] {
        var headers = first + settings.headers.map { ($0.name, $0.value) }
        let own = [("Accept", Self.mediaType)] + others + [("User-Agent", "ingestd")]
        for (name, value) in own where !headers.contains(where: { $0.0.lowercased() == name.lowercased() }) {
            headers.append((name, value))
        }
        if let credential {
            headers.append(("Authorization", "\(settings.authentication.scheme) \(shown(credential))"))
        }
        return headers
    }

    private func hidden(_ credential: String?) -> ShownSecrets {
        ShownSecrets(
            credential.map { password(of: $0) ?? $0 }, asSent: [credential.map(shown), credential])
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
