/// One pairing that was taken up: its steps, and what the operator answers.
actor PairingJob: PairingResponder, PolledJob {
    /// How long an answer of the operator is awaited: the kernel ends a pairing after 30 s without one
    /// (Core Specification Vol 3 Part H 3.4).
    static let answerTimeout = Duration.seconds(30)
    /// Steps of one pairing, at most. Each attempt asks for a thing or two.
    private static let mostSteps = 100

    nonisolated let id: String
    private let clock: any GatewayClock
    private(set) var steps: [PairingStep] = []
    /// When the operator's side was last heard of.
    private(set) var lastPoll: MonotonicInstant
    /// The passkey of the entry's credential; nil: the operator is asked.
    private var knownPasskey: UInt32?
    /// Whether `knownPasskey` may be given now, if that is not always so.
    private var mayGivePasskey: (@Sendable () async -> Bool)?
    /// Whether the device has asked for `knownPasskey` and got it since it was set.
    private(set) var hasGivenPasskey = false
    /// Whether the device had a bond that it takes.
    private(set) var hasKeptBond = false
    /// Nobody can be asked.
    private let isAutomatic: Bool
    private var question: CheckedContinuation<PairingAnswer?, Never>?
    /// The step that asked it.
    private var asked: PairingStep?
    /// Counts the questions, so that the end of one ends no other.
    private var lastQuestion = 0
    private var changes: [Int: CheckedContinuation<Void, Never>] = [:]
    private var lastWaiter = 0

    init(id: String, isAutomatic: Bool, clock: any GatewayClock) {
        self.id = id
        self.isAutomatic = isAutomatic
        self.clock = clock
        lastPoll = clock.now
    }

    var isOver: Bool { steps.last?.isLast == true }

    /// Begins an attempt.
    /// - Parameter mayGive: asked each time that the device wants the passkey; nil: it gets it always.
    func beginAttempt(passkey: UInt32?, mayGive: (@Sendable () async -> Bool)? = nil) {
        hasGivenPasskey = false
        hasKeptBond = false
        knownPasskey = passkey
        mayGivePasskey = mayGive
    }

    // MARK: Steps

    func add(_ step: PairingStep) {
        guard !isOver, steps.count < Self.mostSteps || step.isLast else { return }
        var step = step
        step.number = steps.count + 1
        steps.append(step)
        if step.isLast { close(nil) }
        for waiter in changes.values { waiter.resume() }
        changes = [:]
    }

    /// The steps after number `after`, once there are any; none when `timeout` passes without.
    func steps(after: Int, within timeout: Duration) async -> [PairingStep] {
        lastPoll = clock.now
        if steps.count <= after, !isOver { await changed(within: timeout) }
        lastPoll = clock.now
        return Array(steps.dropFirst(max(0, after)))
    }

    private func changed(within timeout: Duration) async {
        lastWaiter += 1
        let number = lastWaiter
        let clock = clock
        let timer = Task {
            try? await clock.sleep(for: timeout)
            self.release(number)
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                if Task.isCancelled { return continuation.resume() }
                changes[number] = continuation
            }
        } onCancel: {
            Task { await self.release(number) }
        }
        timer.cancel()
    }

    private func release(_ number: Int) {
        changes.removeValue(forKey: number)?.resume()
    }

    // MARK: Questions

    /// Gives the answer to the question that is open; one to an earlier question is none.
    func answered(_ answer: PairingAnswer, to number: Int?) throws(PairingRefusal) {
        guard let asked, number == nil || number == asked.number else { throw .notAsked }
        switch (asked.step, answer) {
        case (.passkeyWanted, .passkey), (.confirmNumber, .sameNumber): close(answer)
        default: throw .notAsked
        }
    }

    private func close(_ answer: PairingAnswer?) {
        asked = nil
        question?.resume(returning: answer)
        question = nil
    }

    /// Ends the question of this number without an answer, if it is the one that is open.
    private func giveUp(_ number: Int) {
        if number == lastQuestion { close(nil) }
    }

    private func ask(_ step: PairingStep) async -> PairingAnswer? {
        guard !isAutomatic, !isOver, steps.count < Self.mostSteps else { return nil }
        // Who asks anew has given the last one up.
        close(nil)
        lastQuestion += 1
        let number = lastQuestion
        add(step)
        asked = steps.last
        let clock = clock
        let timer = Task {
            guard (try? await clock.sleep(for: Self.answerTimeout)) != nil else { return }
            self.giveUp(number)
        }
        defer { timer.cancel() }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                if Task.isCancelled { return continuation.resume(returning: nil) }
                question = continuation
            }
        } onCancel: {
            Task { await self.giveUp(number) }
        }
    }

    package func passkey() async -> UInt32? {
        if let knownPasskey {
            if let mayGivePasskey, await !mayGivePasskey() { return nil }
            hasGivenPasskey = true
            return knownPasskey
        }
        let answer = await ask(PairingStep(.passkeyWanted, "The device wants its passkey, six digits."))
        guard case .passkey(let passkey) = answer else { return nil }
        return passkey
    }

    package func confirms(_ number: UInt32) async -> Bool {
        let step = PairingStep(.confirmNumber, "Does the device show this number?", code: number)
        return await ask(step) == .sameNumber(true)
    }

    package func show(_ passkey: UInt32) {
        guard !isAutomatic else { return }
        add(PairingStep(.typeOnDevice, "Type this code on the device.", code: passkey))
    }

    package func keepsBond() { hasKeptBond = true }
}
