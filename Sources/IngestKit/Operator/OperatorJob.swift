/// An order that was taken up: its steps, for the operator's side, which polls them, and what the operator answers.
actor OperatorJob {
    /// Steps, and octets of their records, that one poll brings at most: the answer has a bound of 1 MiB. One record
    /// is far smaller than these.
    private static let mostAtOnce = 100
    private static let mostOctetsAtOnce = 256 << 10
    /// How long an answer of the operator is awaited: the kernel ends a pairing after 30 s without one
    /// (Core Specification Vol 3 Part H 3.4).
    static let answerTimeout = Duration.seconds(30)
    /// Questions and codes of one order, at most: a device decides how often it asks. Each attempt to pair needs one or
    /// two.
    static let mostPrompts = 100

    nonisolated let id: String
    private let clock: any GatewayClock
    /// Those that the operator's side has not got yet, and the last one.
    private var steps: [OperatorStep] = []
    private var lastNumber = 0
    /// Up to which number it has got them.
    private var taken = 0
    /// When it was last heard of.
    private(set) var lastPoll: MonotonicInstant
    private var waiters: [Int: CheckedContinuation<Void, Never>] = [:]
    private var lastWaiter = 0
    private var question: CheckedContinuation<PairingAnswer?, Never>?
    /// The step that asked it.
    private var asked: OperatorStep?
    /// Counts the questions, so that the end of one ends no other.
    private var lastQuestion = 0
    private var promptCount = 0

    init(id: String, clock: any GatewayClock) {
        self.id = id
        self.clock = clock
        lastPoll = clock.now
    }

    var isOver: Bool { steps.last?.isLast == true }

    func add(_ step: OperatorStep) {
        guard !isOver else { return }
        var step = step
        lastNumber += 1
        step.number = lastNumber
        // How far a scan is counts only until the next word of it.
        if steps.last?.step == .scanning, step.step == .scanning { steps.removeLast() }
        steps.append(step)
        if step.isLast { close(nil) }
        wakeAll()
    }

    /// The steps after number `after`, once there are any; none when `timeout` passes without.
    func steps(after: Int, within timeout: Duration) async -> [OperatorStep] {
        lastPoll = clock.now
        if after > taken {
            taken = after
            steps.removeAll { $0.number <= after && !$0.isLast }
            wakeAll()
        }
        let deadline = clock.now + timeout
        while !isOver, (steps.last?.number ?? 0) <= after, clock.now < deadline, !Task.isCancelled {
            await change(before: deadline)
        }
        lastPoll = clock.now
        var octets = 0
        let next = steps.filter { $0.number > after }.prefix(Self.mostAtOnce)
        let end = next.firstIndex { step in
            octets += step.record?.utf8.count ?? 0
            return octets > Self.mostOctetsAtOnce
        }
        return Array(next.prefix(upTo: max(end ?? next.endIndex, min(next.endIndex, 1))))
    }

    /// Returns when the operator's side has got every step so far, or when `timeout` has passed.
    func taken(within timeout: Duration) async {
        let deadline = clock.now + timeout
        let number = lastNumber
        while taken < number, clock.now < deadline, !Task.isCancelled { await change(before: deadline) }
    }

    private func wakeAll() {
        for waiter in waiters.values { waiter.resume() }
        waiters = [:]
    }

    private func change(before deadline: MonotonicInstant) async {
        lastWaiter += 1
        let number = lastWaiter
        let clock = clock
        let timer = Task {
            try? await clock.sleep(until: deadline)
            self.release(number)
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                if Task.isCancelled { return continuation.resume() }
                waiters[number] = continuation
            }
        } onCancel: {
            Task { await self.release(number) }
        }
        timer.cancel()
    }

    private func release(_ number: Int) {
        waiters.removeValue(forKey: number)?.resume()
    }

    // MARK: Questions

    /// Adds a step that a device has caused.
    /// - Returns: false if it has caused too many.
    @discardableResult
    func prompt(_ step: OperatorStep) -> Bool {
        guard !isOver, promptCount < Self.mostPrompts else { return false }
        promptCount += 1
        add(step)
        return true
    }

    /// Asks the operator.
    /// - Returns: nil without an answer in time.
    func ask(_ step: OperatorStep) async -> PairingAnswer? {
        // Who asks anew has given the last one up.
        close(nil)
        guard prompt(step) else { return nil }
        lastQuestion += 1
        let number = lastQuestion
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

    /// Gives the answer to the question that is open; one to an earlier question is none.
    /// - Parameter number: of the step that asked; nil: of the one that is open.
    func answered(_ answer: PairingAnswer, to number: Int?) throws(OrderRefusal) {
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

    // MARK: Its end

    /// Waits for the end of its work, which is cancelled with the caller, and when its operator has gone.
    /// - Parameter lease: how long an operator may stay away; nil if there is none.
    nonisolated func attend(_ work: Task<Void, Never>, lease: Duration?) async {
        await withTaskCancellationHandler {
            await withDiscardingTaskGroup { group in
                if let lease { group.addTask { await self.watch(lease, of: work) } }
                await work.value
                group.cancelAll()
            }
        } onCancel: {
            work.cancel()
        }
    }

    private func watch(_ lease: Duration, of work: Task<Void, Never>) async {
        while !isOver {
            let end = lastPoll + lease
            guard clock.now < end else { return work.cancel() }
            guard (try? await clock.sleep(until: end)) != nil else { return }
        }
    }
}
