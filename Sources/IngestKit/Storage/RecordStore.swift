package import IngestBluetooth
package import IngestPeripherals
package import IngestProfiles

/// The port to the records in the queue, and what is committed with them, as reading sees it.
package protocol RecordStore: Sendable {
    /// Commits records and what goes with them, synced to disk, with their events. Returns only
    /// after the commit; throws when nothing was committed, and then nothing may be confirmed.
    /// - Returns: what became of each record, in their order.
    func commit(_ transaction: QueueTransaction) async throws -> [CommitOutcome]
    /// The indication of this record was confirmed to the device: an equal one that comes later is
    /// a new reading.
    func markConfirmed(_ id: RecordID) async throws
    /// Completes the records' device block and releases them for delivery.
    func freeze(_ records: [Record]) async throws
    /// The newest record of a kind with this number of the device.
    func record(
        numbered sequence: Int, kind: RecordKind, of device: BluetoothAddress
    ) async throws -> StoredPayload?
}

/// The port to what the queue keeps of devices beside their records.
package protocol DeviceStore: Sendable {
    /// What earlier links learned of a device; nil for an unknown one.
    func recall(_ device: DeviceAddress) async throws -> DeviceMemory?
    /// The devices that had a bond by what is remembered of them.
    func rememberedBonds() async throws -> Set<DeviceAddress>
    /// The unpinned devices that have given a record, and devices that had a bond; who was noted last comes last.
    func rememberedStrangers() async throws -> [DeviceAddress]
    /// The entries whose one automatic pairing with a passkey was begun, by `AllowedPeripheral.entryKey`.
    func spentPairings() async throws -> Set<String>
    /// Notes that the automatic pairing of an entry with a passkey was begun, or allows it another one.
    func setPairing(_ key: String, isSpent: Bool) async throws
    /// Remembers what this link learned.
    func remember(_ memory: DeviceMemory, of device: DeviceAddress) async throws
    /// The committed packets of values that are not whole yet.
    func pendingPackets(of device: DeviceAddress) async throws -> [PendingPackets]
    /// Since when each entry's device and users are known; those that are new are known from now on.
    /// A slot that comes to another subject starts anew.
    func firstSeen(of entries: [AllowedPeripheral]) async throws -> [FirstSeen]
    /// The whole allow-list is now `entries`: users that are not on it are known no longer, and start
    /// anew when they come back, because another may have the device meanwhile.
    func noteFirstSeen(_ entries: [AllowedPeripheral]) async throws
}

extension RecordStore {
    /// Commits one record.
    package func commit(_ submission: RecordSubmission) async throws -> CommitOutcome {
        let outcomes = try await commit(QueueTransaction(submissions: [submission]))
        return outcomes.first ?? .committed(submission.record.id)
    }
}

/// What goes into the queue at once, or not at all.
package struct QueueTransaction: Sendable {
    package var submissions: [RecordSubmission]
    /// What is remembered of the device from then on.
    package var memory: (device: DeviceAddress, memory: DeviceMemory)?
    /// Takes the place of what was pending of the same device and characteristic; without packets
    /// nothing is pending any more.
    package var pending: PendingPackets?

    package init(
        submissions: [RecordSubmission] = [], memory: (device: DeviceAddress, memory: DeviceMemory)? = nil,
        pending: PendingPackets? = nil
    ) {
        self.submissions = submissions
        self.memory = memory
        self.pending = pending
    }
}

/// Packets of one value whose others have not come yet.
package struct PendingPackets: Sendable, Equatable {
    package var device: DeviceAddress
    package var characteristic: BluetoothUUID
    /// In the order of their arrival.
    package var packets: [[UInt8]]
    /// When the newest came; nil when that was before the box was started.
    package var received: MonotonicInstant?

    package init(
        device: DeviceAddress, characteristic: BluetoothUUID, packets: [[UInt8]],
        received: MonotonicInstant?
    ) {
        self.device = device
        self.characteristic = characteristic
        self.packets = packets
        self.received = received
    }
}

/// A record that is in the queue, by its payload.
package struct StoredPayload: Sendable, Equatable {
    package var id: RecordID
    package var bytes: [UInt8]

    package init(id: RecordID, bytes: [UInt8]) {
        self.id = id
        self.bytes = bytes
    }
}

/// A record on its way into the queue, and what decides whether it is one at all.
package struct RecordSubmission: Sendable {
    /// What the same bytes, coming again, mean.
    package enum Repetition: Sendable, Equatable {
        /// The payload names the moment of measurement: the id alone decides.
        case identified
        /// An indication without a date, or with one that says nothing: marked unconfirmed until its
        /// confirmation was sent. The first one on a link whose bytes equal the device's unconfirmed
        /// record of the last 10 minutes is that record.
        case undatedIndication(isFirstOnLink: Bool)
        /// A notification without such a date: always new.
        case undatedNotification
        /// Reported from the device's memory, which is read again after a link that broke: that it is
        /// known already is expected, and told in no event. The id decides.
        case stored
        /// As `stored`, where the payload does not name its moment. A device may keep equal readings:
        /// the one with so many equal ones before it in its memory is the one that came as such.
        case storedUndated(ordinal: Int)
    }

    package let record: Record
    package let repetition: Repetition
    package let received: MonotonicInstant
    /// Our words for why the payload could not be decoded, for records of kind `undecoded`.
    package let decodeError: String?
    /// The destinations that the record is for, by the allow-list as it was read under; nil is all.
    /// Later changes to the list do not send it elsewhere.
    package let destinations: [String]?
    /// Whether the allow-list does not name the device by its address, so that the record counts in the share of such
    /// devices (`StrangerShare`).
    package let isStranger: Bool

    package init(
        record: Record, repetition: Repetition, received: MonotonicInstant, decodeError: String?,
        destinations: [String]? = nil, isStranger: Bool = false
    ) {
        self.isStranger = isStranger
        self.destinations = destinations
        self.record = record
        self.repetition = repetition
        self.received = received
        self.decodeError = decodeError
    }
}

/// What became of a record given to the queue.
package enum CommitOutcome: Sendable, Equatable {
    case committed(RecordID)
    /// It was there already; its id. Confirm it all the same.
    case duplicate(RecordID)
}

/// What the gateway remembers of one device between links.
package struct DeviceMemory: Sendable, Equatable, Codable {
    package var layout: AttributeLayout
    package var manufacturer: String?
    package var model: String?
    package var serial: String?
    package var firmware: String?
    package var hardware: String?
    package var software: String?
    package var systemID: String?
    package var udi: UniqueDeviceIdentifier?
    /// Whether device information was asked for; what is nil then is not there.
    package var hasDeviceInformation: Bool
    /// Which of it was asked for: `knownInformation` of the version that asked; nil before there was more than one.
    package var information: Int?
    /// Percent.
    package var battery: Int?
    /// Wall time of the last look at battery and Database Hash, in seconds since 1970.
    package var lastDailyCheck: Int64?
    /// How far the device's stored records were read; nil while they never were to their end.
    package var storedRecords: StoredRecordsMemory?
    /// How far a transfer came that was interrupted: the mark is in the past of the last one that was not. Nil if the
    /// last one was not interrupted, or cannot go on where it was.
    package var interruptedTransfer: StoredRecordsMemory?
    /// Weights and body compositions whose counterpart has not come.
    package var unpaired: [Relations.Member]?
    /// Flags that hold for each of the device's measurements; nil while it was not asked.
    package var standingFlags: [String]?
    /// What the device says it can do; nil while it was not asked.
    package var features: [DeviceFeature]?
    /// Of a continuous glucose sensor: its session on the last link.
    package var sensorSession: SensorSession?
    /// The adapter, by its address, with which the device has a bond: it is read over this one and
    /// over encrypted links only, until the bond is removed by the operator. Nil: none.
    package var bondedAdapter: BluetoothAddress?
    /// Which of the profile's clocks it has; nil: none, as far as is known.
    package var clockCharacteristic: BluetoothUUID?
    /// Whether a clock was looked for.
    package var hasSoughtClock: Bool?
    /// Whether its readings have said by how much they are ahead of UTC; nil: none has.
    package var saysOffset: Bool?
    /// When a link last ended while the clock was looked at before the measurement, in seconds since
    /// 1970; nil where a later look went well.
    package var lastEndAtClock: Int64?
    /// When its clock last did not let itself be set, in seconds since 1970.
    package var lastClockRefusal: Int64?
    /// When the last `clock-skew` was told, in seconds since 1970.
    package var lastSkewNotice: Int64?
    /// The dates of its live readings; nil while none had one.
    package var dates: DeviceDates?
    /// What the device has broadcast.
    package var broadcast: BroadcastMemory?
    /// How much of it was committed in its day; nil while nothing was.
    package var allowance: DailyAllowance?
    /// When its newest record was committed, in nanoseconds since 1970 by the wall clock of that time; nil while none
    /// was. It outlives the record.
    package var lastCommit: Int64?

    package init(
        layout: AttributeLayout = .unknown, manufacturer: String? = nil, model: String? = nil,
        serial: String? = nil, firmware: String? = nil, hasDeviceInformation: Bool = false,
        battery: Int? = nil, lastDailyCheck: Int64? = nil, storedRecords: StoredRecordsMemory? = nil,
        unpaired: [Relations.Member]? = nil
    ) {
        self.storedRecords = storedRecords
        self.unpaired = unpaired
        self.layout = layout
        self.manufacturer = manufacturer
        self.model = model
        self.serial = serial
        self.firmware = firmware
        self.hasDeviceInformation = hasDeviceInformation
        information = hasDeviceInformation ? Self.knownInformation : nil
        self.battery = battery
        self.lastDailyCheck = lastDailyCheck
    }
}

extension DeviceMemory {
    /// Counts up when this program asks for more device information than before.
    private static let knownInformation = 2

    /// Whether everything was asked for that this program wants to know.
    package var hasAllInformation: Bool { hasDeviceInformation && information == Self.knownInformation }

    /// Notes that everything was asked for.
    package mutating func informationWasRead() {
        hasDeviceInformation = true
        information = Self.knownInformation
    }

    /// Forgets what a bonded central may be shown otherwise: the attributes, and what the device said it has or refuses.
    package mutating func forgetAttributes() {
        layout = .unknown
        clockCharacteristic = nil
        hasSoughtClock = nil
        lastClockRefusal = nil
        hasDeviceInformation = false
        features = nil
        standingFlags = nil
        lastDailyCheck = nil
    }

    /// Forgets what links without encryption have shown: another device may have shown it under the same address.
    package mutating func forgetUnencrypted() {
        forgetAttributes()
        storedRecords = nil
        interruptedTransfer = nil
        unpaired = nil
        dates = nil
        saysOffset = nil
    }
}
