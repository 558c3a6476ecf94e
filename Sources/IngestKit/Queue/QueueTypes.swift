/// What of a record decides where it goes.
public struct RecordHeader: Sendable, Hashable {
    public let id: RecordID
    public let kind: RecordKind
    public let peripheralID: Int
    public let address: BluetoothAddress
    public let alias: String?
    /// Nil is all.
    public let destinations: Set<String>?

    public init(
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
    var peripheral: PeripheralReference {
        PeripheralReference(peripheralID: peripheralID, alias: alias)
    }
}

/// The columns of a record that decide where it goes, beside its kind.
struct RecordRoute {
    let peripheralID: Int
    let alias: String?
    /// Names, a line each; nil is all.
    let destinations: String?
}

/// In which order a destination gets its records.
public enum DeliveryOrder: String, Sendable, Hashable, CaseIterable {
    /// New readings go in between while older ones wait (`DeliveryLane`).
    case fresh
    /// First in, first out.
    case strict

    /// The ways of readings to the destination.
    public var lanes: [DeliveryLane] {
        switch self {
        case .fresh: [.fresh, .backlog]
        case .strict: [.backlog]
        }
    }
}

/// One of the ways to a destination, each first in, first out.
public enum DeliveryLane: String, Sendable, Hashable, CaseIterable {
    /// Records that came within the last minute when they were first picked.
    case fresh
    case backlog
    /// Images of entries, which go while no reading waits.
    case image

    /// How long after its reception a record is fresh.
    static let freshness = Duration.seconds(60)
}

/// A destination's name, which records are for it, and in which order. All its conditions must hold.
public struct DestinationRouting: Sendable {
    public enum Peripheral: Sendable, Hashable {
        /// The model's number in the catalogue.
        case model(Int)
        case alias(String)
    }

    public let name: String
    /// Nil is all kinds.
    public let kinds: Set<RecordKind>?
    /// The kinds that the destination has a form for; nil is all.
    public let forms: Set<RecordKind>?
    /// Nil is all peripherals.
    public let peripherals: Set<Peripheral>?
    public let order: DeliveryOrder
    /// Whether it takes the images of the entries that are for it.
    public let takesImages: Bool

    public init(
        name: String, kinds: Set<RecordKind>? = nil, forms: Set<RecordKind>? = nil,
        peripherals: Set<Peripheral>? = nil, order: DeliveryOrder = .strict, takesImages: Bool = false
    ) {
        self.forms = forms
        self.order = order
        self.takesImages = takesImages
        self.name = name
        self.kinds = kinds
        self.peripherals = peripherals
    }

    func accepts(_ record: RecordHeader) -> Bool {
        // Which destinations get an image was decided with its entry.
        if record.kind == .image { return record.destinations?.contains(name) ?? false }
        return isMeant(for: record) && forms?.contains(record.kind) ?? true
    }

    /// Whether it is for the destination, which has no form for its kind.
    func lacksForm(for record: RecordHeader) -> Bool {
        record.kind != .image && isMeant(for: record) && !(forms?.contains(record.kind) ?? true)
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
public struct BatchSettings: Sendable, Hashable {
    /// 1 to 1000.
    public let maxRecords: Int
    public let maxWait: Duration

    public init(maxRecords: Int = 100, maxWait: Duration = .seconds(2)) {
        self.maxRecords = min(max(maxRecords, 1), 1000)
        self.maxWait = maxWait
    }
}

/// A batch whose composition is in the store: whatever happens, it goes out as it is.
public struct StoredBatch: Sendable, Equatable {
    public struct Item: Sendable, Equatable {
        public let header: RecordHeader
        let position: Int64
        /// The record, as canonical JSON.
        public let body: String
        /// The record that an image belongs to; nil for a reading. Its bytes are asked for when they are sent.
        public let imageOf: RecordReference?
    }

    public let destination: String
    public let lane: DeliveryLane
    /// The gateway's name when the batch was composed.
    public let gateway: String
    public let items: [Item]
    /// Attempts already made, as far as events told of them.
    public internal(set) var attempts: Int

    var firstPosition: Int64 { items.first?.position ?? 0 }
}

/// What a destination has to do next.
public enum NextBatch: Sendable, Equatable {
    case batch(StoredBatch)
    /// Records wait for company until then.
    case waiting(until: MonotonicInstant)
    /// Many records for other destinations were passed over; ask again.
    case more
    case nothing
}

/// How a destination fares; kept in the store, so that each change is told once.
public enum DestinationState: String, Sendable, Hashable {
    case up
    case down
    case authRejected = "auth-rejected"
    case misconfigured
    /// It is in the queue and not in the configuration: it keeps what it is owed, and gets nothing.
    case notConfigured = "not-configured"
}

/// What is in the queue.
public struct QueueCounts: Sendable, Equatable {
    public struct Destination: Sendable, Equatable {
        public let name: String
        public let state: DestinationState
        /// Records that it has not taken yet.
        public let pending: Int
        /// Records that it has taken.
        public let delivered: Int
        /// Records set aside, because it does not take them.
        public let dead: Int
        /// Records passed over, because it has no form for their kind.
        public let skipped: Int
    }

    /// Records held, of every kind.
    public let records: Int
    /// Of those, the ones that could not be decoded.
    public let undecoded: Int
    /// By name.
    public let destinations: [Destination]
}
