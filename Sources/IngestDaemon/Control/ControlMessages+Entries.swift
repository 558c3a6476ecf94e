import FoundationEssentials

extension ControlMessage {
    /// POST /v1/entries.
    struct Entries: Codable, Sendable {
        /// All of them, or none.
        var entries: [RecordEntry]
        /// The image that the last of them has.
        var image: Image?
    }

    struct Image: Codable, Sendable {
        var type: EntryImage
        /// In base64.
        var data: Data
    }

    /// The answer to it.
    struct Entered: Codable, Sendable {
        /// Records that were not there before.
        var added: Int
        /// The id of the last entry's record.
        var last: String?
        /// Nil where no image came.
        var image: EnteredImage?
    }

    struct EnteredImage: Codable, Sendable {
        /// Whether it was not there before.
        var added: Bool
        /// Those that it goes along to.
        var destinations: [String]
        /// Why it goes nowhere.
        var error: String?

        init(_ outcome: ImageOutcome) {
            added = false
            destinations = []
            switch outcome {
            case .goes(let names): (added, destinations) = (true, names)
            case .known: break
            case .refused(let error): self.error = error
            }
        }
    }
}
