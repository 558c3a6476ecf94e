/// The port to the queue, as reading sees it.
public protocol RecordStore: Sendable {
    /// Commits a record, synced to disk, with its event. Returns only after the commit; throws
    /// when nothing was committed, and then nothing may be confirmed.
    func commit(_ submission: RecordSubmission) async throws -> CommitOutcome
    /// The indication of this record was confirmed to the device: an equal one that comes later is
    /// a new reading.
    func markConfirmed(_ id: RecordID) async throws
    /// Completes the records' device block and releases them for delivery.
    func freeze(_ records: [Record]) async throws
    /// What earlier links learned of a device; nil for an unknown one.
    func recall(_ device: DeviceAddress) async throws -> DeviceMemory?
    /// Remembers what this link learned.
    func remember(_ memory: DeviceMemory, of device: DeviceAddress) async throws
}

/// A record on its way into the queue, and what decides whether it is one at all.
public struct RecordSubmission: Sendable {
    /// What the same bytes, coming again, mean.
    public enum Repetition: Sendable, Equatable {
        /// The payload names the moment of measurement: the id alone decides.
        case identified
        /// An indication without a date: marked unconfirmed until its confirmation was sent. The
        /// first one on a link whose bytes equal the device's unconfirmed record of the last 10
        /// minutes is that record.
        case undatedIndication(isFirstOnLink: Bool)
        /// A notification without a date: always new.
        case undatedNotification
    }

    public let record: Record
    public let repetition: Repetition
    public let received: MonotonicInstant
    /// Our words for why the payload could not be decoded, for records of kind `undecoded`.
    public let decodeError: String?
    /// The destinations that the record is for, by the allow-list as it was read under; nil is all.
    /// Later changes to the list do not send it elsewhere.
    public let destinations: [String]?

    public init(
        record: Record, repetition: Repetition, received: MonotonicInstant, decodeError: String?,
        destinations: [String]? = nil
    ) {
        self.destinations = destinations
        self.record = record
        self.repetition = repetition
        self.received = received
        self.decodeError = decodeError
    }
}

/// What became of a record given to the queue.
public enum CommitOutcome: Sendable, Equatable {
    case committed(RecordID)
    /// It was there already; its id. Confirm it all the same.
    case duplicate(RecordID)
}

/// What the gateway remembers of one device between links.
public struct DeviceMemory: Sendable, Equatable, Codable {
    public var layout: AttributeLayout
    public var manufacturer: String?
    public var model: String?
    public var serial: String?
    public var firmware: String?
    /// Whether device information was asked for; what is nil then is not there.
    public var hasDeviceInformation: Bool
    /// Percent.
    public var battery: Int?
    /// Wall time of the last look at battery and Database Hash, in seconds since 1970.
    public var lastDailyCheck: Int64?

    public init(
        layout: AttributeLayout = .unknown, manufacturer: String? = nil, model: String? = nil,
        serial: String? = nil, firmware: String? = nil, hasDeviceInformation: Bool = false,
        battery: Int? = nil, lastDailyCheck: Int64? = nil
    ) {
        self.layout = layout
        self.manufacturer = manufacturer
        self.model = model
        self.serial = serial
        self.firmware = firmware
        self.hasDeviceInformation = hasDeviceInformation
        self.battery = battery
        self.lastDailyCheck = lastDailyCheck
    }
}
