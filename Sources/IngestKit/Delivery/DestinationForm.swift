package import IngestPeripherals
package import IngestRecords

/// A type of destination: what the configuration says of one beside what every destination has, and how it is connected.
/// Each has its own file in Destinations, and is registered in `DestinationForms`.
package protocol DestinationForm: Sendable, Equatable {
    /// The value of `type` in the configuration.
    static var typeName: String { get }
    /// The keys that it has beside those of every destination.
    static var keys: [KeyDescription] { get }
    /// Whether it takes the images of entries.
    static var takesImages: Bool { get }
    /// Whether a request holds one record.
    static var takesOneRecord: Bool { get }
    /// The longest range of time that is sent again at once, in seconds; nil is any.
    static var longestResend: Int64? { get }

    /// The entries tell all that is missing or wrong. Nil where it cannot be made without that.
    init?(_ entries: some DestinationEntries)

    /// Absolute; nil where the type has an address of its own.
    var url: String? { get }
    /// Where requests go beside it, with the keys that say so.
    var furtherURLs: [(key: String, url: String)] { get }
    /// The kinds of records that it has a form for; nil is every kind.
    var kinds: Set<RecordKind>? { get }
    /// Those of them of which only some records have one.
    var kindsInPart: Set<RecordKind> { get }
    /// Whether a record of these has one.
    func hasForm(for record: RecordContent) -> Bool
    /// The person under whom it files, for whom the gateway signs in; nil where it files under each record's own.
    var person: String? { get }
    /// Its credentials beside those that every destination may have.
    var furtherCredentials: [CredentialName] { get }
    /// What its `credential` is.
    var credentialKind: AuthenticationKind { get }
    /// How requests show who sends them beside `credential` and what every destination may have.
    var furtherAuthentication: [AuthenticationKind] { get }

    /// The URL of its server: the one that the configuration names, or the type's own.
    var endpoint: String { get }

    func connect(_ parts: DestinationParts) async -> ConnectedDestination
    /// Asks the server something under the destination's credential that leaves nothing there. Returns within 60 s.
    func tryOut(_ parts: DestinationParts) async -> TrialOutcome
}

extension DestinationForm {
    package static var takesImages: Bool { false }
    package static var takesOneRecord: Bool { false }
    package static var longestResend: Int64? { nil }
    package var furtherURLs: [(key: String, url: String)] { [] }
    package var kinds: Set<RecordKind>? { nil }
    package var kindsInPart: Set<RecordKind> { [] }
    package func hasForm(for record: RecordContent) -> Bool { true }
    package var person: String? { nil }
    package var furtherCredentials: [CredentialName] { [] }
    package var credentialKind: AuthenticationKind { .token }
    package var furtherAuthentication: [AuthenticationKind] { [] }

    package func tryOut(_ parts: DestinationParts) async -> TrialOutcome { .none }

    /// The initializer by a name, which the type of a value can be asked for.
    package static func read(_ entries: some DestinationEntries) -> (any DestinationForm)? { Self(entries) }

    /// All that the configuration names.
    package var urls: [String] { [url].compactMap(\.self) + furtherURLs.map(\.url) }

    func equals(_ other: any DestinationForm) -> Bool { other as? Self == self }
}

/// All types of destinations.
package enum DestinationForms {
    package static let all: [any DestinationForm.Type] = [
        WebhookSettings.self, FHIRSettings.self, JunctionSettings.self, ValidicSettings.self,
        SpikeSettings.self,
        MQTTSettings.self,
    ]

    package static func named(_ name: String) -> (any DestinationForm.Type)? {
        all.first { $0.typeName == name }
    }
}

/// What a destination is connected with.
package struct DestinationParts: Sendable {
    package let name: String
    /// The gateway's id.
    package let gateway: String
    /// Where a session is kept.
    package let vault: JunctionVault
    /// The gateway's, by its name in the IANA database.
    package let timeZone: String
    package let credential: CredentialName?
    /// Where tokens are from, instead of `credential`.
    package let oauth: OAuthTokens?
    package let credentials: Credentials
    package let transportSettings: TransportSettings
    package let transport: HTTPTransport
    package let clock: any GatewayClock
    package let catalogue: Catalogue
    package let publisher: @Sendable (BrokerSettings) -> any MessagePublisher
    /// What the operator reads, one sentence at a time.
    package let told: @Sendable (String) -> Void
    /// Whether the destination is tried out, beside a gateway that delivers there: its server must not take one for the
    /// other.
    package let isTrial: Bool

    package init(
        _ settings: DestinationSettings, gateway: String, vault: JunctionVault, timeZone: String,
        credentials: Credentials, transport: HTTPTransport, clock: any GatewayClock, catalogue: Catalogue,
        publisher: @escaping @Sendable (BrokerSettings) -> any MessagePublisher,
        told: @escaping @Sendable (String) -> Void, isTrial: Bool = false
    ) {
        self.isTrial = isTrial
        (name, credential, transportSettings) = (settings.name, settings.credential, settings.transport)
        oauth = settings.oauth.map {
            OAuthTokens($0, credentials: credentials, transport: transport, clock: clock)
        }
        self.gateway = gateway
        self.vault = vault
        self.timeZone = timeZone
        self.credentials = credentials
        self.transport = transport
        self.clock = clock
        self.catalogue = catalogue
        self.publisher = publisher
        self.told = told
    }

    /// Reads the credential anew; empty where it is no text. Nil without one.
    func secret() throws(CredentialError) -> String? {
        guard let credential else { return nil }
        return try credentials.read(credential).text ?? ""
    }

    /// What requests carry: a token of the authorization server, or the credential as it is now. Nil without either.
    /// - Throws: `OAuthFailure`, `CredentialError`.
    func token() async throws -> String? {
        if let oauth { return try await oauth.token() }
        return try secret()
    }
}

/// A destination that can be delivered to.
package struct ConnectedDestination: Sendable {
    package let destination: any Destination
    /// Takes over what a reload has changed, the credentials from their files too.
    /// - Returns: whether a wait after a failure is over.
    package let renew: @Sendable (Catalogue) async -> Bool
    /// A reload has changed whose readings go there: these entries'.
    package var allow: @Sendable ([AllowedPeripheral]) async -> Void = { _ in }
    /// Called when nothing is delivered any more.
    package var atEnd: @Sendable () async -> Void = {}
    /// What the server holds for the person, where that is more than a credential.
    package var session: JunctionSession?
    /// Where it gets the status document; nil where it gets none.
    package var status: StatusOutlet?
}
