/// A person, as the operator names them in the configuration and in entries: the `subject` of records.
package enum Subject {
    /// Stands where a record has no subject. No person can be named so.
    package static let unassigned = "unassigned"

    /// Whether a text can name a person: a line of 1 to 128 characters that is not `unassigned` and does not begin with
    /// `|`, which stands in front of the gateway in the names of nobody's entries (`EnteredRecord`).
    package static func isName(_ text: String) -> Bool {
        text != unassigned && !text.hasPrefix("|") && TextForm.isLine(text, limit: 128)
    }
}

/// Why a destination does not get a record.
package enum SetAsideReason: Error, Sendable, Equatable, ExpressibleByStringInterpolation {
    /// It belongs to nobody, and the destination files under a person.
    case unassigned
    /// In our words, for events and the operator.
    case other(String)

    package init(stringLiteral text: String) {
        self = .other(text)
    }

    package var text: String {
        switch self {
        case .unassigned: Subject.unassigned
        case .other(let text): text
        }
    }
}
