import IngestRecords

/// What the operator set for Junction (docs/destinations/junction.md).
package struct JunctionSettings: Sendable, Hashable {
    /// The person, as `client_user_id` at Junction.
    package let user: String
    /// Where the API is, without a slash at the end.
    package let api: String
    /// Where tokens are exchanged.
    package let tokenURL: String
    /// Nil where the operator gave a URL of their own.
    private let place: JunctionPlace?
    /// A name of the IANA database.
    package let timeZone: String
    /// The slugs of the catalogue's models; every other model's is `manual`.
    package internal(set) var providers: [Int: String]

    /// - Parameter url: instead of Junction's own hosts; tokens are then exchanged under `/auth` of it.
    package init(
        user: String, url: String? = nil, region: DestinationSettings.Region = .us,
        environment: DestinationSettings.Environment = .production, timeZone: String = "UTC",
        providers: [Int: String] = [:]
    ) {
        self.user = user
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

    /// How a secret of another environment or region is told; nil where it belongs to this one, as far as can be seen.
    func contradiction(_ what: String, of other: JunctionPlace?) -> String? {
        guard let place, let other, other != place else { return nil }
        return "\(what) is for \(other.words), and the destination is \(place.words)"
    }

    /// What Junction calls the source of a record.
    func provider(of record: RecordContent) -> String {
        record.peripheralID.flatMap { providers[$0] } ?? JunctionProvider.manual.rawValue
    }
}

/// One of Junction's installations.
struct JunctionPlace: Hashable {
    let environment: DestinationSettings.Environment
    let region: DestinationSettings.Region

    init(environment: DestinationSettings.Environment, region: DestinationSettings.Region) {
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
        guard parts.count == 2, let region = DestinationSettings.Region(rawValue: String(parts[1]))
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

    var words: String { "\(environment.rawValue) \(region.rawValue)" }
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
