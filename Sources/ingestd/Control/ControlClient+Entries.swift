import NIOHTTP1

extension ControlClient {
    func enter(_ message: ControlMessage.Entries) async throws(Failure) -> ControlMessage.Entered {
        try await send(.POST, "/entries", message)
    }

    func endImport(added: Int) async throws(Failure) {
        let _: ControlMessage.Done = try await send(
            .POST, "/imports", ControlMessage.ImportEnd(added: added))
    }
}
