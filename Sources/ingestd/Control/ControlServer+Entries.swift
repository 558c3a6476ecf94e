import FlyingFox

extension ControlServer {
    /// The most that is taken of a body with entries, in bytes: some hundred of them.
    static let entriesLimit = 2 << 20

    func addEntryRoutes(to server: HTTPServer) async {
        let entries = entries
        await server.appendRoute("POST /v1/entries") { request in
            await Self.reply {
                let message: ControlMessage.Entries = try await Self.message(
                    of: request, limit: Self.entriesLimit)
                return try await entries.take(message)
            }
        }
        await server.appendRoute("POST /v1/imports") { request in
            await Self.reply { try await entries.end(try await Self.message(of: request)) }
        }
    }
}
