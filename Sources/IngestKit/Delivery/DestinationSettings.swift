package import IngestPeripherals
package import IngestRecords
package import IngestStorage

/// One place that readings are delivered to: what every destination has, and what its type has (`form`).
package struct DestinationSettings: Sendable, Equatable {
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

    /// Compares values of any type of destination.
    private struct Form: Sendable, Equatable {
        let value: any DestinationForm

        static func == (left: Self, right: Self) -> Bool { left.value.equals(right.value) }
    }

    /// Unique among the destinations.
    package var name: String
    private let ownForm: Form
    package var credential: CredentialName?
    /// Where the tokens of its requests are from, instead of `credential`.
    package var oauth: OAuthSettings?
    /// How its requests travel.
    package var transport: TransportSettings
    package var batch: Batch
    /// Nil is every kind.
    package var kinds: [RecordKind]?
    /// Nil is every peripheral.
    package var peripherals: [PeripheralSelector]?
    package var order: DeliveryOrder
    package var whenFull: WhenFull

    /// Everything that a file must say; the rest as if it said nothing.
    package init(name: String, form: any DestinationForm) {
        self.name = name
        ownForm = Form(value: form)
        transport = TransportSettings()
        batch = Batch(maximumRecords: 100, maximumWait: .seconds(2))
        order = .fresh
        whenFull = .stop
    }

    /// What its type has.
    package var form: any DestinationForm { ownForm.value }
    package var type: any DestinationForm.Type { Swift.type(of: form) }

    /// Whether its URLs lead to this machine itself, and not by way of another.
    package var isLoopback: Bool {
        form.url != nil && form.urls.allSatisfy { URLText($0)?.isLoopback ?? false }
            && (transport.proxy?.isLoopback ?? true)
    }

    /// Its credentials, without those of its TLS.
    package var credentials: [CredentialName] {
        [credential, oauth?.client.credential].compactMap(\.self) + form.furtherCredentials
    }

    /// The files of its credentials and of its TLS.
    package func files(_ credentials: Credentials) -> WatchedFiles {
        let names =
            self.credentials + [transport.clientCertificate, transport.clientKey].compactMap(\.self)
        return WatchedFiles(
            [transport.caFile].compactMap(\.self) + names.compactMap { credentials.path(of: $0) })
    }

    /// The kinds of records that go here; nil is every kind.
    package var deliveredKinds: Set<RecordKind>? {
        guard let own = form.kinds else { return kinds.map(Set.init) }
        return kinds.map { own.intersection($0) } ?? own
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
