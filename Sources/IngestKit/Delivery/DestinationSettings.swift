package import IngestCore
package import IngestPeripherals
package import IngestRecords
package import IngestStorage

/// One place that readings are delivered to.
package struct DestinationSettings: Sendable, Equatable {
    package enum Kind: String, Sendable, Hashable, CaseIterable {
        case webhook, fhir, junction, validic, spike, mqtt

        /// Whether it files under one person, for whom the gateway signs in.
        package var hasSession: Bool { [.junction, .validic].contains(self) }

        /// Whether it takes the images of entries.
        package var takesImages: Bool { self == .fhir }

        /// Whether a request holds one record, whatever `batch` says.
        var takesOneRecord: Bool { self == .validic || self == .spike }
    }

    package struct Batch: Sendable, Hashable {
        /// 1 to 1000.
        package var maximumRecords: Int
        /// How long a record waits for others.
        package var maximumWait: Duration

        package init(maximumRecords: Int, maximumWait: Duration) {
            self.maximumRecords = maximumRecords
            self.maximumWait = maximumWait
        }
    }

    package enum Format: String, Sendable, Hashable, CaseIterable {
        case json, ndjson
    }

    package enum Region: String, Sendable, Hashable, CaseIterable {
        case us, eu
    }

    /// How requests to junction are authenticated.
    package enum JunctionAuth: String, Sendable, Hashable, CaseIterable {
        case signInToken = "sign-in-token"
        case apiKey = "api-key"
    }

    package enum Environment: String, Sendable, Hashable, CaseIterable {
        case production, sandbox
    }

    /// Unique among the destinations.
    package var name: String
    package var type: Kind
    /// Absolute; nil where the type has an address of its own. Unencrypted only when
    /// `isLoopback`.
    package var url: String?
    package var credential: CredentialName?
    package var batch: Batch
    /// Nil is every kind.
    package var kinds: [RecordKind]?
    /// Nil is every peripheral.
    package var peripherals: [PeripheralSelector]?
    package var order: DeliveryOrder
    package var format: Format
    package var compresses: Bool
    /// Names as written; in the order of the file.
    package var headers: [HTTPHeader]
    package var signingKey: CredentialName?
    /// Absolute paths.
    package var caFile: String?
    package var clientCertificate: CredentialName?
    package var clientKey: CredentialName?
    package var proxy: String?
    /// System of the patient identifiers in FHIR.
    package var patientSystem: String?
    package var region: Region
    package var environment: Environment
    package var user: String?
    package var auth: String?
    /// `auth` of type junction.
    package var junctionAuth: JunctionAuth
    /// Of type validic.
    package var validicAPI: ValidicAPI
    package var organization: String?
    /// The person by the backend's id, where that is not `user`.
    package var userID: String?
    package var applicationID: String?
    package var mainCallbackURL: String?
    /// The topic that records are published under.
    package var topic: TopicTemplate?
    /// The topic under which a broker tells whether the gateway is connected; nil: it does not.
    package var statusTopic: TopicTemplate?

    /// Everything that a file must say; the rest as if it said nothing.
    package init(name: String, type: Kind, url: String? = nil) {
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
    package var isLoopback: Bool {
        [url, proxy ?? url].allSatisfy { $0.flatMap { URLText($0) }?.isLoopback ?? false }
    }

    /// The kinds of records that go here; nil is every kind.
    package var deliveredKinds: Set<RecordKind>? {
        guard let own = forms else { return kinds.map(Set.init) }
        return kinds.map { own.intersection($0) } ?? own
    }

    /// The kinds of records that it has a form for; nil is every kind.
    package var forms: Set<RecordKind>? {
        switch type {
        case .junction: Junction.kinds
        case .validic: validicAPI == .v1 ? ValidicRecord.kinds : Validic.kinds
        case .spike: Spike.kinds
        case .fhir: FHIR.kinds
        case .webhook, .mqtt: nil
        }
    }

    /// How many records go in one request.
    package var batching: BatchSettings {
        type.takesOneRecord
            ? BatchSettings(maxRecords: 1, maxWait: .zero)
            : BatchSettings(maxRecords: batch.maximumRecords, maxWait: batch.maximumWait)
    }

    /// Whether readings of an entry of the allow-list go here, by both sides' lists. The kinds
    /// are another matter.
    package func accepts(_ entry: AllowedPeripheral) -> Bool {
        guard entry.destinations?.contains(name) ?? true else { return false }
        return peripherals?.contains { $0.matches(entry) } ?? true
    }
}

/// A line of an HTTP request that the operator adds.
package struct HTTPHeader: Sendable, Hashable {
    package var name: String
    package var value: String

    package init(name: String, value: String) {
        self.name = name
        self.value = value
    }
}

/// How a destination names the peripherals that it takes.
package enum PeripheralSelector: Sendable, Hashable {
    /// Every entry of this catalogue ID.
    case model(Int)
    case alias(String)

    package func matches(_ entry: AllowedPeripheral) -> Bool {
        switch self {
        case .model(let id): entry.model.id == id
        case .alias(let alias): entry.alias == alias
        }
    }
}
