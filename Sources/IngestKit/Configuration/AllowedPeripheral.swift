/// One entry of the allow-list: a model of the catalogue, and what the operator said of it.
public struct AllowedPeripheral: Sendable, Hashable {
    /// Which stored readings are wanted.
    public enum History: Sendable, Hashable, CustomStringConvertible {
        case all
        case none
        /// Not older than this.
        case within(Duration)

        public var description: String {
            switch self {
            case .all: "all"
            case .none: "none"
            case .within(let duration): "\(duration.components.seconds)s"
            }
        }
    }

    public enum Pairing: String, Sendable, Hashable, CaseIterable {
        case manual
        case auto
    }

    public enum ClockPolicy: String, Sendable, Hashable, CaseIterable {
        case observe
        case set
    }

    public var model: PeripheralModel
    /// Pins the entry to one device; nil is any device of the model.
    public var address: BluetoothAddress?
    public var alias: String?
    public var subject: String?
    /// Subjects by the device's user slot.
    public var users: [Int: String]
    /// ISO 8601 date, `2026-11-01`; nil is the moment this address first had this subject here.
    public var subjectSince: String?
    public var history: History
    /// Names of destinations; nil is all.
    public var destinations: [String]?
    public var requiresBond: Bool
    public var pairing: Pairing
    /// Name of a credential.
    public var passkey: String?
    /// Name of a credential: the bind key of an encrypted broadcast.
    public var key: String?
    public var clock: ClockPolicy

    public init(
        model: PeripheralModel, address: BluetoothAddress? = nil, alias: String? = nil,
        subject: String? = nil, users: [Int: String] = [:], subjectSince: String? = nil,
        history: History = .all, destinations: [String]? = nil, requiresBond: Bool = false,
        pairing: Pairing = .manual, passkey: String? = nil, key: String? = nil,
        clock: ClockPolicy = .observe
    ) {
        self.model = model
        self.address = address
        self.alias = alias
        self.subject = subject
        self.users = users
        self.subjectSince = subjectSince
        self.history = history
        self.destinations = destinations
        self.requiresBond = requiresBond
        self.pairing = pairing
        self.passkey = passkey
        self.key = key
        self.clock = clock
    }

    /// Names the entry in the queue: its address, or # and its model's number.
    public var entryKey: String { address?.description ?? "#\(model.id)" }

    /// Whose the readings of its devices are.
    public var subjects: AssignedSubjects {
        AssignedSubjects(address: address, subject: subject, users: users, since: subjectSince)
    }

    /// How events name a device of this entry.
    public var reference: PeripheralReference {
        PeripheralReference(peripheralID: model.id, alias: alias)
    }
}
