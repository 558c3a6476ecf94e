import IngestKit

extension ControlMessage {
    /// POST /v1/entries.
    struct Entries: Codable, Sendable {
        /// All of them, or none.
        var entries: [RecordEntry]
        /// The image that the last of them has.
        var image: EntryImage?
    }

    /// The answer to it.
    struct Entered: Codable, Sendable {
        /// Records that were not there before.
        var added: Int
        /// The id of the last entry's record.
        var last: String?
    }

    /// POST /v1/imports: one has ended.
    struct ImportEnd: Codable, Sendable {
        var added: Int
    }
}
