import Synchronization

/// The bond with a device, by the service, as `ingestd pair` makes it.
struct PairingStep: Sendable {
    private struct State {
        /// Waits for what is typed.
        var question: Task<Void, Never>?
        var address: BluetoothAddress?
        var reason: FailureReason?
    }

    let dialogue: Dialogue
    let service: any SetupService

    /// - Returns: the device's address, by which it can be pinned; nil if it was not paired.
    func run(_ device: SetupDevice) async throws -> BluetoothAddress? {
        while true {
            let state = SharedState()
            defer { state.withdraw() }
            do {
                try dialogue.say("Pairing with \(device.label):")
                try await service.pair(device.target) { step, answer in
                    state.withdraw()
                    try show(step)
                    state.value.withLock { $0.reason = step.reason }
                    if step.step == .paired { state.value.withLock { $0.address = step.address } }
                    if let question = question(step, answer) {
                        state.value.withLock { $0.question = question }
                    }
                }
                return state.value.withLock { $0.address }
            } catch let failure as CommandFailure {
                if state.value.withLock({ $0.reason }) == .alreadyPaired { return device.address }
                try dialogue.say("  \(failure.message)")
                guard try await dialogue.confirm("Try again?", standard: true, unasked: false) else {
                    guard dialogue.asks else { throw failure }
                    try dialogue.say("It is not paired. Later: ingestd pair \(device.target)")
                    return nil
                }
            }
        }
    }

    private func show(_ step: OperatorStep) throws {
        guard step.step != .failed, let text = step.text else { return }
        try dialogue.say("  " + text + (step.code.map { "  \($0)" } ?? ""))
    }

    /// Has the person asked beside the steps, which go on: the device may give up.
    private func question(
        _ step: OperatorStep, _ answer: @escaping ServiceOrder.Answer
    ) -> Task<Void, Never>? {
        switch step.step {
        case .passkeyWanted:
            Task {
                let passkey = try? await dialogue.ask("Passkey, six digits", flag: nil) {
                    text throws(WrongAnswer) in
                    guard Passkey.read(text) != nil else {
                        throw WrongAnswer("expected six digits, as the device shows them")
                    }
                    return text
                }
                if !Task.isCancelled { await answer(.init(passkey: passkey, step: step.number)) }
            }
        case .confirmNumber:
            Task {
                let isSame = try? await dialogue.confirm(
                    "Does the device show the same?", standard: false, unasked: false)
                if !Task.isCancelled { await answer(.init(sameNumber: isSame ?? false, step: step.number)) }
            }
        default: nil
        }
    }

    private final class SharedState: Sendable {
        let value = Mutex(State())

        func withdraw() { value.withLock { $0.question.take() }?.cancel() }
    }
}
