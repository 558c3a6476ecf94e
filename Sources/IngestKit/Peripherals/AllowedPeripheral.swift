/// One entry of the allow-list: a model of the catalogue, and what the operator said of it.
package struct AllowedPeripheral: Sendable, Hashable {
    /// Which stored readings are wanted.
    package enum History: Sendable, Hashable, CustomStringConvertible {
        case all
        case none
        /// Not older than this.
        case within(Duration)

        package var description: String {
            switch self {
            case .all: "all"
            case .none: "none"
            case .within(let duration): "\(duration.components.seconds)s"
            }
        }
    }

    package enum Pairing: String, Sendable, Hashable, CaseIterable {
        case manual
        case auto
    }

    package enum ClockPolicy: String, Sendable, Hashable, CaseIterable {
        case observe
        case set
    }

    package var model: PeripheralModel
    /// Pins the entry to one device; nil is any device of the model.
    package var address: BluetoothAddress?
    package var alias: String?
    package var subject: String?
    /// Subjects by the device's user slot.
    package var users: [Int: String]
    /// ISO 8601 date, `2026-11-01`; nil is the moment this address first had this subject here.
    package var subjectSince: String?
    package var history: History
    /// Names of destinations; nil is all.
    package var destinations: [String]?
    package var requiresBond: Bool
    package var pairing: Pairing
    /// Name of a credential.
    package var passkey: String?
    /// Name of a credential: the bind key of an encrypted broadcast.
    package var key: String?
    package var clock: ClockPolicy

    package init(
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
    package var entryKey: String { address?.description ?? "#\(model.id)" }

    /// Whose the readings of its devices are.
    package var subjects: AssignedSubjects {
        AssignedSubjects(address: address, subject: subject, users: users, since: subjectSince)
    }

    /// How events name a device of this entry.
    package var reference: PeripheralReference {
        PeripheralReference(peripheralID: model.id, alias: alias)
    }
}
