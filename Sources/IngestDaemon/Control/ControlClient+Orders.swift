import NIOHTTP1

extension ControlClient {
    /// - Returns: the order's name, as of the next two.
    func beginScan(_ message: ControlMessage.Scan) async throws(Failure) -> String {
        let begun: ControlMessage.Begun = try await send(.POST, "/scans", message)
        return begun.id
    }

    func beginRead(_ message: ControlMessage.Read) async throws(Failure) -> String {
        let begun: ControlMessage.Begun = try await send(.POST, "/reads", message)
        return begun.id
    }

    func beginPairing(_ target: PairingTarget) async throws(Failure) -> String {
        let begun: ControlMessage.Begun = try await send(
            .POST, "/pairings", ControlMessage.Target(target: target.description))
        return begun.id
    }

    func orderSteps(of id: String, after: Int) async throws(Failure) -> [OperatorStep] {
        let steps: ControlMessage.OrderSteps = try await send(.GET, "/orders/\(id)?after=\(after)")
        return steps.steps
    }

    func cancelOrder(_ id: String) async throws(Failure) {
        let _: ControlMessage.Done = try await send(.DELETE, "/orders/\(id)")
    }

    func answer(_ answer: ControlMessage.Answer, to id: String) async throws(Failure) {
        let _: ControlMessage.Done = try await send(.POST, "/orders/\(id)/answer", answer)
    }
}
