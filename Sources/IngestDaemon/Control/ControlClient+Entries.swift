import NIOHTTP1

extension ControlClient {
    func enter(_ message: ControlMessage.Entries) async throws(Failure) -> ControlMessage.Entered {
        try await send(.POST, "/entries", message)
    }
}
