import IngestCore

/// A person, as the operator names them in the configuration and in entries: the `subject` of records.
package enum Subject {
    /// Stands where a record has no subject. No person can be named so.
    package static let unassigned = "unassigned"

    /// Whether a text can name a person: a line of 1 to 128 characters that is not `unassigned`.
    package static func isName(_ text: String) -> Bool {
        text != unassigned && TextForm.isLine(text, limit: 128)
    }
}
