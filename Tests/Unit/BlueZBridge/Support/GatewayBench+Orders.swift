import PeripheralSimulator

@testable import IngestGateway

/// An operator who scans and reads.
extension GatewayBench {
    /// Has an order carried out while the clock moves, and follows its steps as the operator's side does.
    /// - Parameter onStep: may wake the peripheral up, or stop to ask.
    /// - Returns: the steps.
    func follow(
        _ order: OperatorOrders.Order,
        _ onStep: @escaping @Sendable (OperatorStep) async throws -> Void = { _ in }
    ) async throws -> [OperatorStep] {
        let id = try await orders.begin(order)
        let steps = Notes<OperatorStep>()
        let following = Task {
            while steps.all.last?.isLast != true {
                for step in try await orders.steps(of: id, after: steps.all.last?.number ?? 0) {
                    try await onStep(step)
                    steps.add(step)
                }
            }
        }
        while steps.all.last?.isLast != true { try await spend(.milliseconds(250)) }
        try await following.value
        return steps.all
    }

    /// Reads the peripheral as an operator does who wakes it up when it is waited for.
    func readByOperator(
        _ target: PairingTarget = .model(1), timeout: Duration = .seconds(60), isDryRun: Bool = false,
        _ onStep: @escaping @Sendable (OperatorStep) async throws -> Void = { _ in }
    ) async throws -> [OperatorStep] {
        let read = OperatorRead(target: target, timeout: timeout, isDryRun: isDryRun)
        return try await follow(.read(read)) { step in
            if step.step == .waiting { await peripheral.wakeUp() }
            try await onStep(step)
        }
    }

    /// Whether the simulated kernel scans actively.
    func scansActively() async -> Bool {
        await radio.kernel.adapter(0)?.isDiscovering == true
    }
}
