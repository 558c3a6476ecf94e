package import IngestPeripherals
package import IngestRecords

/// What the operator set for Junction (docs/destinations/junction.md).
package struct JunctionSettings: DestinationForm {
    package enum Region: String, Sendable, Hashable, CaseIterable {
        case us, eu
    }

    package enum Environment: String, Sendable, Hashable, CaseIterable {
        case production, sandbox
    }

    /// How requests are authenticated.
    package enum Authentication: String, Sendable, Hashable, CaseIterable {
        case signInToken = "sign-in-token"
        case apiKey = "api-key"
    }

    package static let typeName = "junction"
    package static let keys: [KeyDescription] = [
        KeyDescription(
            "auth", "`sign-in-token` or `api-key`", default: "`sign-in-token`", "How requests authenticate."),
        .batch,
        KeyDescription(
            "environment", "`production` or `sandbox`", default: "`production`", "Junction's environment."),
        .proxy,
        KeyDescription("region", "`us` or `eu`", default: "`us`", "Junction's region."),
        KeyDescription(
            "user", "text", default: "required",
            "The person for whom the gateway signs in, and whose records go there: a `subject`, or one of `users`, and "
                + "the `client_user_id`."),
    ]
    /// How long the end waits for new tokens: less than the end of the process takes as a whole.
    private static let settling = Duration.seconds(6)

    /// The person, as `client_user_id` at Junction.
    package internal(set) var user: String
    /// Where the API is, without a slash at the end.
    package let api: String
    /// Where tokens are exchanged.
    package let tokenURL: String
    /// Nil where the operator gave a URL of their own.
    private let place: JunctionPlace?
    /// A name of the IANA database.
    package internal(set) var timeZone: String
    /// The slugs of the catalogue's models; every other model's is `manual`.
    package internal(set) var providers: [Int: String]
    package let authentication: Authentication
    /// Nil where it is Junction's own.
    package let url: String?

    /// - Parameter url: instead of Junction's own hosts; tokens are then exchanged under `/auth` of it.
    package init(
        user: String, url: String? = nil, region: JunctionSettings.Region = .us,
        environment: JunctionSettings.Environment = .production, timeZone: String = "UTC",
        providers: [Int: String] = [:], authentication: Authentication = .signInToken
    ) {
        self.user = user
        self.url = url
        self.authentication = authentication
        self.timeZone = timeZone
        self.providers = providers
        if let url {
            place = nil
            api = url.hasSuffix("/") ? String(url.dropLast()) : url
            tokenURL = api + "/auth/v1/token"
        } else {
            let place = JunctionPlace(environment: environment, region: region)
            self.place = place
            api = "https://api." + place.domain
            tokenURL = "https://auth." + place.domain + "/v1/token"
        }
    }

    package init?(_ entries: some DestinationEntries) {
        let url = entries["url"]?.httpURL()
        let user = entries.required("user", "the person for whom to sign in")?.text()
        let region = entries["region"]?.choice(of: Region.self) ?? .us
        let environment = entries["environment"]?.choice(of: Environment.self) ?? .production
        let authentication = entries["auth"]?.choice(of: Authentication.self) ?? .signInToken
        switch authentication {
        case .apiKey:
            _ = entries.required("credential", "the API key")
            entries["auth"]?.warning(
                "an API key opens every user of the team to who has this box: for trials; sign-in-token opens one"
            )
        case .signInToken:
            entries["credential"]?.warning("has no effect with auth: sign-in-token; auth: api-key uses it")
        }
        guard let user else { return nil }
        self.init(
            user: user, url: url, region: region, environment: environment, authentication: authentication)
    }

    package var kinds: Set<RecordKind>? { JunctionForm.kinds }
    package var kindsInPart: Set<RecordKind> { JunctionForm.kindsInPart }
    package func hasForm(for record: RecordContent) -> Bool { JunctionForm.hasForm(record) }
    package var person: String? { user }
    package var endpoint: String { api }
    package var credentialKind: AuthenticationKind { .apiKey }
    package var furtherAuthentication: [AuthenticationKind] {
        authentication == .signInToken ? [.signInToken] : []
    }

    /// For a gateway in this time zone, with the names of sources that the catalogue has.
    /// - Parameter user: another than the configured one.
    package func at(_ timeZone: String, _ catalogue: Catalogue, for user: String? = nil) -> Self {
        var settings = self
        settings.user = user ?? self.user
        settings.timeZone = timeZone
        settings.providers = catalogue.junctionProviders
        return settings
    }

    /// With what Junction kept of its session; what the operator has to do is told.
    package func connect(_ parts: DestinationParts) async -> ConnectedDestination {
        let access: JunctionSession.Access =
            switch authentication {
            case .signInToken: .signInToken
            case .apiKey: .apiKey { try parts.secret() ?? "" }
            }
        let session = JunctionSession(
            settings: at(parts.timeZone, parts.catalogue), access: access, transport: parts.transport,
            clock: parts.clock, vault: parts.vault,
            told: { parts.told("\(parts.name): \($0)") })
        await session.open()
        let wayOut = "nothing is delivered there until ingestd sign-in \(parts.name) --token FILE"
        switch await session.standing {
        case .open: break
        case .closed: parts.told("\(parts.name) has no session: \(wayOut)")
        case .parked: parts.told("\(parts.name) wants the user to sign in again: \(wayOut)")
        }
        let junction = Junction(session: session)
        return ConnectedDestination(
            destination: junction,
            renew: { catalogue in
                junction.use(providers: catalogue.junctionProviders)
                await junction.renew()
                return true
            }, atEnd: { await session.settle(within: Self.settling) }, session: session)
    }

    /// Asks for the user, with an API key. Without one there is nothing harmless to ask: what opens a session, or goes on
    /// with it, makes the tokens void that the gateway has.
    package func tryOut(_ parts: DestinationParts) async -> TrialOutcome {
        guard authentication == .apiKey else { return .none }
        guard let secret = try? parts.secret() else {
            return .failed(
                .unavailable(httpStatus: nil, error: "the credential cannot be read", retryAfter: nil))
        }
        if let words = contradiction("the API key", of: JunctionPlace(ofKey: secret)) {
            return .failed(.misplaced(httpStatus: nil, error: words))
        }
        let client = JunctionClient(transport: parts.transport, clock: parts.clock)
        let reply = await client.resolve(user, at: self, as: .apiKey(secret), within: TrialOutcome.limit)
        // The first delivery makes the user.
        return reply.isTaken || reply.status == 404 ? .accepted : .failed(reply.meaning)
    }

    /// How a secret of another environment or region is told; nil where it belongs to this one, as far as can be seen.
    func contradiction(_ what: String, of other: JunctionPlace?) -> String? {
        guard let place, let other, other != place else { return nil }
        return "\(what) is for \(other.name), and the destination is \(place.name)"
    }

    /// What Junction calls the source of a record.
    func provider(of record: RecordContent) -> String {
        if record.origin == .appleHealth { return JunctionForm.appleHealth }
        return record.peripheralID.flatMap { providers[$0] } ?? JunctionProvider.manual.rawValue
    }
}

extension Catalogue {
    /// What Junction calls the sources of its models, by their numbers.
    fileprivate var junctionProviders: [Int: String] {
        Dictionary(
            uniqueKeysWithValues: models.compactMap { model in model.junctionProvider.map { (model.id, $0) } }
        )
    }
}

/// One of Junction's installations.
struct JunctionPlace: Hashable {
    let environment: JunctionSettings.Environment
    let region: JunctionSettings.Region

    init(environment: JunctionSettings.Environment, region: JunctionSettings.Region) {
        self.environment = environment
        self.region = region
    }

    /// By how an API key begins; nil for another beginning.
    init?(ofKey key: String) {
        switch key.prefix(6) {
        case "pk_us_": self.init(environment: .production, region: .us)
        case "pk_eu_": self.init(environment: .production, region: .eu)
        case "sk_us_": self.init(environment: .sandbox, region: .us)
        case "sk_eu_": self.init(environment: .sandbox, region: .eu)
        default: return nil
        }
    }

    /// By who issued a sign-in token: `id-signer-sandbox-us@vital-id-….iam.gserviceaccount.com`. Nil for another form.
    init?(ofIssuer issuer: String) {
        let prefix = "id-signer-"
        guard issuer.hasPrefix(prefix), issuer.hasSuffix(".iam.gserviceaccount.com") else { return nil }
        let parts = issuer.dropFirst(prefix.count).prefix { $0 != "@" }.split(separator: "-")
        guard parts.count == 2, let region = JunctionSettings.Region(rawValue: String(parts[1]))
        else { return nil }
        switch parts[0] {
        case "production", "prd": self.init(environment: .production, region: region)
        case "sandbox", "stg": self.init(environment: .sandbox, region: region)
        default: return nil
        }
    }

    var domain: String {
        switch environment {
        case .production: "\(region.rawValue).junction.com"
        case .sandbox: "sandbox.\(region.rawValue).junction.com"
        }
    }

    var name: String { "\(environment.rawValue) \(region.rawValue)" }
}

/// What Junction calls sources of data that are not connected over its own widget: the makers of peripherals that it
/// has names for, and `manual`.
package enum JunctionProvider: String, Sendable, Hashable, CaseIterable {
    case omron = "omron_ble"
    case beurer = "beurer_ble"
    case accuChek = "accuchek_ble"
    case contour = "contour_ble"
    case oneTouch = "onetouch_ble"
    case freestyleLibre = "freestyle_libre_ble"
    case manual
}
