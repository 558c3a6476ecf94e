/// A record that is set aside: a destination does not take it, or it could not be decoded and goes to none.
public struct DeadLetter: Sendable, Equatable {
    public let id: RecordID
    public let kind: String
    /// The model's number in the catalogue; nil for an entry or an import, which are of none.
    public let peripheralID: Int?
    public let alias: String?
    /// Nil for what could not be decoded.
    public let destination: String?
    public let httpStatus: Int?
    /// 0 where nothing was sent.
    public let attempt: Int
    /// In our words.
    public let error: String
    /// In the server's words.
    public let reply: String?
    /// Wall time, in nanoseconds since 1970; 0 where it is not known.
    public let failed: Int64
    /// Whose it is for this destination, by the operator's word.
    public let subject: String?
    /// The record, as canonical JSON.
    public let record: String
}

/// Which of what is set aside is meant. All conditions must hold.
public struct DeadLetterSelection: Sendable, Equatable, Codable {
    /// Ids of records, or the beginnings of some, in lower case; empty is all.
    public var records: [String]
    public var destination: String?
    /// An alias, a catalogue ID or an address.
    public var peripheral: String?

    public init(records: [String] = [], destination: String? = nil, peripheral: String? = nil) {
        self.records = records
        self.destination = destination
        self.peripheral = peripheral
    }
}

extension DeadLetterSelection {
    /// Whether a text is the id of a record, or can be the beginning of one.
    public static func isRecord(_ text: String) -> Bool {
        (4...36).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                switch byte {
                case 0x30...0x39, 0x61...0x66, 0x2D: true
                default: false
                }
            }
    }
}

/// Why a record stays set aside.
public enum DeadLetterObstacle: String, Sendable, Hashable, CaseIterable {
    case undecoded
    case damaged
    case notConfigured = "not-configured"
    case unassigned
    case notUnassigned = "not-unassigned"
    case controlSolution = "control-solution"
    case anotherPerson = "another-person"
    case anotherSession = "another-session"

    /// Goes on from "the record".
    public var words: String {
        switch self {
        case .undecoded: "could not be decoded, so that no destination takes it"
        case .damaged: "is damaged in the queue"
        case .notConfigured: "is set aside for a destination that is not configured any more"
        case .unassigned: "belongs to nobody: say whose it is with --subject"
        case .notUnassigned: "was not set aside as unassigned, so that it takes no --subject"
        case .controlSolution: "is a test with control solution, which is nobody's"
        case .anotherPerson: "was read while the gateway was signed in there for another person"
        case .anotherSession: "goes to a destination that is signed in for another person than --subject"
        }
    }
}

/// The operator's wish cannot be carried out; nothing was changed.
public enum DeadLetterRefusal: Error, Sendable, Equatable {
    /// Nothing that is set aside has this id, or one that begins so.
    case unknown(String)
    /// Several have.
    case ambiguous(String)
    case stays(RecordID, DeadLetterObstacle)
}

/// What became of a part of a selection.
public struct RetryOutcome: Sendable, Equatable {
    /// What goes to its destination again.
    public var released = 0
    /// What stays set aside.
    public var left: [DeadLetterObstacle: Int] = [:]
    /// Where the rest begins; nil when that was all.
    public var next: Int64?
}
