/// What of a record decides where it goes.
package struct RecordHeader: Sendable, Hashable {
    package let id: RecordID
    package let kind: RecordKind
    package let peripheralID: Int
    package let address: BluetoothAddress
    package let alias: String?
    /// Nil is all.
    package let destinations: Set<String>?

    package init(
        id: RecordID, kind: RecordKind, peripheralID: Int, address: BluetoothAddress, alias: String?,
        destinations: Set<String>? = nil
    ) {
        self.destinations = destinations
        self.id = id
        self.kind = kind
        self.peripheralID = peripheralID
        self.address = address
        self.alias = alias
    }

    /// How events name the device.
    package var peripheral: PeripheralReference {
        PeripheralReference(peripheralID: peripheralID, alias: alias)
    }
}

/// The columns of a record that decide where it goes, beside its kind.
package struct RecordRoute {
    package let peripheralID: Int
    package let alias: String?
    /// Names, a line each; nil is all.
    package let destinations: String?

    package init(peripheralID: Int, alias: String?, destinations: String?) {
        self.peripheralID = peripheralID
        self.alias = alias
        self.destinations = destinations
    }
}

/// In which order a destination gets its records.
package enum DeliveryOrder: String, Sendable, Hashable, CaseIterable {
    /// New readings go in between while older ones wait (`DeliveryLane`).
    case fresh
    /// First in, first out.
    case strict

    /// The ways of readings to the destination.
    package var lanes: [DeliveryLane] {
        switch self {
        case .fresh: [.fresh, .backlog]
        case .strict: [.backlog]
        }
    }
}

/// What happens to the records that a destination has not taken when the queue has no more room for them.
package enum WhenFull: String, Sendable, Hashable, CaseIterable {
    /// They stay, and nothing is read until some of them are taken.
    case stop
    /// Those that only destinations with this setting still need are dropped, the oldest first.
    case dropOldest = "drop-oldest"
}

/// One of the ways to a destination, each first in, first out.
package enum DeliveryLane: String, Sendable, Hashable, CaseIterable {
    /// Records that came within the last minute when they were first picked.
    case fresh
    case backlog
    /// Images of entries, which go while no reading waits.
    case image

    /// How long after its reception a record is fresh.
    package static let freshness = Duration.seconds(60)
}

/// A destination's name, which records are for it, and in which order. All its conditions must hold.
package struct DestinationRouting: Sendable {
    package enum Peripheral: Sendable, Hashable {
        /// The model's number in the catalogue.
        case model(Int)
        case alias(String)
    }

    /// Kinds of which only some records have a form at a destination.
    package struct FormsInPart: Sendable {
        let kinds: Set<RecordKind>
        let hasForm: @Sendable (RecordContent) -> Bool

        package init(_ kinds: Set<RecordKind>, hasForm: @escaping @Sendable (RecordContent) -> Bool) {
            self.kinds = kinds
            self.hasForm = hasForm
        }
    }

    package let name: String
    /// Nil is all kinds.
    package let kinds: Set<RecordKind>?
    /// The kinds that the destination has a form for; nil is all.
    package let forms: Set<RecordKind>?
    /// Nil where it has one for all records of these.
    package let formsInPart: FormsInPart?
    /// Nil is all peripherals.
    package let peripherals: Set<Peripheral>?
    package let order: DeliveryOrder
    package let whenFull: WhenFull
    /// Whether it takes the images of the entries that are for it.
    package let takesImages: Bool

    package init(
        name: String, kinds: Set<RecordKind>? = nil, forms: Set<RecordKind>? = nil,
        formsInPart: FormsInPart? = nil, peripherals: Set<Peripheral>? = nil, order: DeliveryOrder = .strict,
        whenFull: WhenFull = .stop,
        takesImages: Bool = false
    ) {
        self.forms = forms
        self.formsInPart = formsInPart
        self.order = order
        self.whenFull = whenFull
        self.takesImages = takesImages
        self.name = name
        self.kinds = kinds
        self.peripherals = peripherals
    }

    package func accepts(_ record: RecordHeader) -> Bool {
        // Which destinations get an image was decided with its entry.
        if record.kind == .image { return record.destinations?.contains(name) ?? false }
        return isMeant(for: record) && forms?.contains(record.kind) ?? true
    }

    /// Whether it gets entries of this kind, which no peripheral sent.
    package func acceptsEntries(of kind: RecordKind) -> Bool {
        (kinds?.contains(kind) ?? true) && (forms?.contains(kind) ?? true)
            && (peripherals?.contains(.model(0)) ?? true)
    }

    /// Whether it is for the destination, which has no form for its kind.
    package func lacksForm(for record: RecordHeader) -> Bool {
        record.kind != .image && isMeant(for: record) && !(forms?.contains(record.kind) ?? true)
    }

    /// Whether only its content tells if a record that the destination accepts has a form there.
    package func asksContent(of record: RecordHeader) -> Bool {
        formsInPart?.kinds.contains(record.kind) ?? false
    }

    /// Whether the destination has a form for a record that it accepts. What cannot be read is not passed over.
    /// - Parameter body: canonical JSON.
    package func hasForm(for body: String) -> Bool {
        guard let formsInPart, let content = RecordContent(json: body) else { return true }
        return formsInPart.hasForm(content)
    }

    private func isMeant(for record: RecordHeader) -> Bool {
        if let destinations = record.destinations, !destinations.contains(name) { return false }
        if let kinds, !kinds.contains(record.kind) { return false }
        if let peripherals {
            let byAlias = record.alias.map { peripherals.contains(.alias($0)) } ?? false
            if !byAlias && !peripherals.contains(.model(record.peripheralID)) { return false }
        }
        return true
    }
}

/// How many records go in one request, and how long the first waits for company.
package struct BatchSettings: Sendable, Hashable {
    /// 1 to 1000.
    package let maxRecords: Int
    package let maxWait: Duration

    package init(maxRecords: Int = 100, maxWait: Duration = .seconds(2)) {
        self.maxRecords = min(max(maxRecords, 1), 1000)
        self.maxWait = maxWait
    }
}

/// A batch whose composition is in the store: whatever happens, it goes out as it is.
package struct StoredBatch: Sendable, Equatable {
    package struct Item: Sendable, Equatable {
        package let header: RecordHeader
        package let position: Int64
        /// The record, as canonical JSON.
        package let body: String
        /// The record that an image belongs to; nil for a reading. Its bytes are asked for when they are sent.
        package let imageOf: RecordReference?

        package init(header: RecordHeader, position: Int64, body: String, imageOf: RecordReference?) {
            self.header = header
            self.position = position
            self.body = body
            self.imageOf = imageOf
        }
    }

    package let destination: String
    package let lane: DeliveryLane
    /// The gateway's name when the batch was composed.
    package let gateway: String
    package let items: [Item]
    /// Attempts already made, as far as events told of them.
    package var attempts: Int

    package init(destination: String, lane: DeliveryLane, gateway: String, items: [Item], attempts: Int) {
        self.destination = destination
        self.lane = lane
        self.gateway = gateway
        self.items = items
        self.attempts = attempts
    }

    package var firstPosition: Int64 { items.first?.position ?? 0 }
}

/// What a destination has to do next.
package enum NextBatch: Sendable, Equatable {
    case batch(StoredBatch)
    /// Records wait for company until then.
    case waiting(until: MonotonicInstant)
    /// Many records for other destinations were passed over; ask again.
    case more
    case nothing
}

/// How a destination fares; kept in the store, so that each change is told once.
package enum DestinationState: String, Sendable, Hashable {
    case up
    case down
    case authRejected = "auth-rejected"
    case misconfigured
    /// It is in the queue and not in the configuration: it keeps what it is owed, and gets nothing.
    case notConfigured = "not-configured"
}
