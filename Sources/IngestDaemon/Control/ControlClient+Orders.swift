import NIOHTTP1

extension ControlClient {
    /// - Returns: the order's name.
    func beginScan(_ message: ControlMessage.Scan) async throws(Failure) -> String {
        let begun: ControlMessage.Begun = try await send(.POST, "/scans", message)
        return begun.id
    }

    func beginRead(_ message: ControlMessage.Read) async throws(Failure) -> String {
        let begun: ControlMessage.Begun = try await send(.POST, "/reads", message)
        return begun.id
    }

    func orderSteps(of id: String, after: Int) async throws(Failure) -> [OperatorStep] {
        let steps: ControlMessage.OrderSteps = try await send(.GET, "/orders/\(id)?after=\(after)")
        return steps.steps
    }

    func cancelOrder(_ id: String) async throws(Failure) {
        let _: ControlMessage.Done = try await send(.DELETE, "/orders/\(id)")
    }
}
