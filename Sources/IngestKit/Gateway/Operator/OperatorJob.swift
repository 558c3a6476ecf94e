/// A scan or a read that was taken up: its steps, for the operator's side, which polls them.
actor OperatorJob: PolledJob {
    /// Steps, and octets of their records, that one poll brings at most: the answer has a bound of 1 MiB. One record
    /// is far smaller than these.
    private static let mostAtOnce = 100
    private static let mostOctetsAtOnce = 256 << 10

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
}
