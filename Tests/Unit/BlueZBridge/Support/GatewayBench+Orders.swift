import PeripheralSimulator

@testable import IngestOperator
@testable import IngestReading

/// An operator who scans, reads and pairs.
extension GatewayBench {
    /// Has an order carried out while the clock moves, and follows its steps as the operator's side does.
    /// - Parameter onStep: may wake the peripheral up, answer or stop to ask; gets the order's name too.
    /// - Returns: the steps.
    func follow(
        _ order: OperatorOrders.Order,
        _ onStep: @escaping @Sendable (OperatorStep, String) async throws -> Void = { _, _ in }
    ) async throws -> [OperatorStep] {
        let id = try await orders.begin(order)
        let steps = Notes<OperatorStep>()
        let following = Task {
            while steps.all.last?.isLast != true {
                for step in try await orders.steps(of: id, after: steps.all.last?.number ?? 0) {
                    try await onStep(step, id)
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
        return try await follow(.read(read)) { step, _ in
            if step.step == .waiting { await peripheral.wakeUp() }
            try await onStep(step)
        }
    }

    /// Whether the simulated kernel scans actively.
    func scansActively() async -> Bool {
        await radio.kernel.adapter(0)?.isDiscovering == true
    }
}
