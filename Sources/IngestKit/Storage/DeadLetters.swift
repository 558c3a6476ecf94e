/// A record that is set aside: a destination does not take it, or it could not be decoded and goes to none.
package struct DeadLetter: Sendable, Equatable {
    package let id: RecordID
    package let kind: String
    /// The model's number in the catalogue; nil for an entry or an import, which are of none.
    package let peripheralID: Int?
    package let alias: String?
    /// Nil for what could not be decoded.
    package let destination: String?
    package let httpStatus: Int?
    /// 0 where nothing was sent.
    package let attempt: Int
    /// In our words.
    package let error: String
    /// In the server's words.
    package let reply: String?
    /// Wall time, in nanoseconds since 1970; 0 where it is not known.
    package let failed: Int64
    /// Whose it is for this destination, by the operator's word.
    package let subject: String?
    /// The record, as canonical JSON.
    package let record: String

    package init(
        id: RecordID, kind: String, peripheralID: Int?, alias: String?, destination: String?,
        httpStatus: Int?, attempt: Int, error: String, reply: String?, failed: Int64, subject: String?,
        record: String
    ) {
        self.id = id
        self.kind = kind
        self.peripheralID = peripheralID
        self.alias = alias
        self.destination = destination
        self.httpStatus = httpStatus
        self.attempt = attempt
        self.error = error
        self.reply = reply
        self.failed = failed
        self.subject = subject
        self.record = record
    }
}

/// Which of what is set aside is meant. All conditions must hold.
package struct DeadLetterSelection: Sendable, Equatable, Codable {
    /// Ids of records, or the beginnings of some, in lower case; empty is all.
    package var records: [String]
    package var destination: String?
    /// An alias, a catalogue ID or an address.
    package var peripheral: String?

    package init(records: [String] = [], destination: String? = nil, peripheral: String? = nil) {
        self.records = records
        self.destination = destination
        self.peripheral = peripheral
    }
}

extension DeadLetterSelection {
    /// Whether a text is the id of a record, or can be the beginning of one.
    package static func isRecord(_ text: String) -> Bool {
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
package enum DeadLetterObstacle: String, Sendable, Hashable, CaseIterable {
    case undecoded
    case damaged
    case notConfigured = "not-configured"
    case unassigned
    case notUnassigned = "not-unassigned"
    case controlSolution = "control-solution"
    case anotherPerson = "another-person"
    case anotherSession = "another-session"

    /// Goes on from "the record".
    package var message: String {
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
package enum DeadLetterRefusal: Error, Sendable, Equatable {
    /// Nothing that is set aside has this id, or one that begins so.
    case unknown(String)
    /// Several have.
    case ambiguous(String)
    case stays(RecordID, DeadLetterObstacle)
}

/// What became of a part of a selection.
package struct RetryOutcome: Sendable, Equatable {
    /// What goes to its destination again.
    package var released = 0
    /// What stays set aside.
    package var left: [DeadLetterObstacle: Int] = [:]
    /// Where the rest begins; nil when that was all.
    package var next: Int64?

    package init(released: Int = 0, left: [DeadLetterObstacle: Int] = [:], next: Int64? = nil) {
        self.released = released
        self.left = left
        self.next = next
    }
}
