import HTTPService

extension ControlServer {
    /// The most that is taken of a body with entries, in bytes: some hundred of them, and the largest image in base64.
    static let entriesLimit = (2 << 20) + (EntryImage.largest + 2) / 3 * 4

    var entryRoutes: [HTTPRoute] {
        let entries = entries
        return [
            Self.route("POST", "/v1/entries", bodyLimit: Self.entriesLimit) { request in
                let message: ControlMessage.Entries = try Self.message(of: request)
                return try await entries.take(message)
            }
        ]
    }
}
