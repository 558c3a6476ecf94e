/// One place that readings are delivered to.
public struct DestinationSettings: Sendable, Equatable {
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        case webhook, fhir, junction, validic, spike, mqtt

        /// Whether it files under one person, for whom the gateway signs in.
        public var hasSession: Bool { [.junction, .validic].contains(self) }

        /// Whether it takes the images of entries.
        public var takesImages: Bool { self == .fhir }

        /// Whether a request holds one record, whatever `batch` says.
        var takesOneRecord: Bool { self == .validic || self == .spike }
    }

    public struct Batch: Sendable, Hashable {
        /// 1 to 1000.
        public var maximumRecords: Int
        /// How long a record waits for others.
        public var maximumWait: Duration
    }

    public enum Format: String, Sendable, Hashable, CaseIterable {
        case json, ndjson
    }

    public enum Region: String, Sendable, Hashable, CaseIterable {
        case us, eu
    }

    /// How requests to junction are authenticated.
    public enum JunctionAuth: String, Sendable, Hashable, CaseIterable {
        case signInToken = "sign-in-token"
        case apiKey = "api-key"
    }

    public enum Environment: String, Sendable, Hashable, CaseIterable {
        case production, sandbox
    }

    /// Unique among the destinations.
    public var name: String
    public var type: Kind
    /// Absolute; nil where the type has an address of its own. Unencrypted only when
    /// `isLoopback`.
    public var url: String?
    public var credential: CredentialName?
    public var batch: Batch
    /// Nil is every kind.
    public var kinds: [RecordKind]?
    /// Nil is every peripheral.
    public var peripherals: [PeripheralSelector]?
    public var order: DeliveryOrder
    public var format: Format
    public var compresses: Bool
    /// Names as written; in the order of the file.
    public var headers: [HTTPHeader]
    public var signingKey: CredentialName?
    /// Absolute paths.
    public var caFile: String?
    public var clientCertificate: CredentialName?
    public var clientKey: CredentialName?
    public var proxy: String?
    /// System of the patient identifiers in FHIR.
    public var patientSystem: String?
    public var region: Region
    public var environment: Environment
    public var user: String?
    public var auth: String?
    /// `auth` of type junction.
    public var junctionAuth: JunctionAuth
    /// Of type validic.
    public var validicAPI: ValidicAPI
    public var organization: String?
    /// The person by the backend's id, where that is not `user`.
    public var userID: String?
    public var applicationID: String?
    public var mainCallbackURL: String?
    /// The topic that records are published under.
    public var topic: TopicTemplate?
    /// The topic under which a broker tells whether the gateway is connected; nil: it does not.
    public var statusTopic: TopicTemplate?

    /// Everything that a file must say; the rest as if it said nothing.
    public init(name: String, type: Kind, url: String? = nil) {
        self.name = name
        self.type = type
        self.url = url
        batch = Batch(maximumRecords: 100, maximumWait: .seconds(2))
        order = .fresh
        format = .json
        compresses = false
        headers = []
        region = .us
        environment = .production
        junctionAuth = .signInToken
        validicAPI = .inform
    }

    /// Whether the URL leads to this machine itself, and not by way of another.
    public var isLoopback: Bool {
        [url, proxy ?? url].allSatisfy { $0.flatMap { URLText($0) }?.isLoopback ?? false }
    }

    /// The kinds of records that go here; nil is every kind.
    public var deliveredKinds: Set<RecordKind>? {
        guard let own = forms else { return kinds.map(Set.init) }
        return kinds.map { own.intersection($0) } ?? own
    }

    /// The kinds of records that it has a form for; nil is every kind.
    public var forms: Set<RecordKind>? {
        switch type {
        case .junction: Junction.kinds
        case .validic: validicAPI == .v1 ? ValidicRecord.kinds : Validic.kinds
        case .spike: Spike.kinds
        case .fhir: FHIR.kinds
        case .webhook, .mqtt: nil
        }
    }

    /// How many records go in one request.
    public var batching: BatchSettings {
        type.takesOneRecord
            ? BatchSettings(maxRecords: 1, maxWait: .zero)
            : BatchSettings(maxRecords: batch.maximumRecords, maxWait: batch.maximumWait)
    }

    /// Whether readings of an entry of the allow-list go here, by both sides' lists. The kinds
    /// are another matter.
    public func accepts(_ entry: AllowedPeripheral) -> Bool {
        guard entry.destinations?.contains(name) ?? true else { return false }
        return peripherals?.contains { $0.matches(entry) } ?? true
    }
}

/// A line of an HTTP request that the operator adds.
public struct HTTPHeader: Sendable, Hashable {
    public var name: String
    public var value: String
}

/// How a destination names the peripherals that it takes.
public enum PeripheralSelector: Sendable, Hashable {
    /// Every entry of this catalogue ID.
    case model(Int)
    case alias(String)

    public func matches(_ entry: AllowedPeripheral) -> Bool {
        switch self {
        case .model(let id): entry.model.id == id
        case .alias(let alias): entry.alias == alias
        }
    }
}
