import HTTPService

extension ControlServer {
    /// The most that is taken of a body with entries, in bytes: some hundred of them.
    static let entriesLimit = 2 << 20

    var entryRoutes: [HTTPRoute] {
        let entries = entries
        return [
            Self.route("POST", "/v1/entries", bodyLimit: Self.entriesLimit) { request in
                let message: ControlMessage.Entries = try Self.message(of: request)
                return try await entries.take(message)
            },
            Self.route("POST", "/v1/imports") { try await entries.end(try Self.message(of: $0)) },
        ]
    }
}
