import Synchronization

/// What a worker does now.
public enum DeliveryActivity: Sendable, Equatable {
    /// There is nothing to send.
    case idle
    /// Records wait for company, or a request for its time.
    case waiting(until: MonotonicInstant)
    case sending(attempt: Int)
}

/// Delivers what the store holds for one destination, first in, first out, until it is cancelled.
public final class DeliveryWorker<Target: Destination>: Sendable {
    private let name: String
    private let gateway: String
    private let store: SQLiteRecordStore
    private let destination: Target
    private let batching: BatchSettings
    private let policy: RetryPolicy
    private let clock: any GatewayClock
    private let random: @Sendable () -> Double
    private let events: EventLog
    private let heartbeat: @Sendable () -> Void
    private let retryWakeUp = WakeUp()
    private let current = Mutex(DeliveryActivity.idle)

    /// How long a destination that rejects the credential or does not know the URL is left alone.
    static var pauseAfterRejection: Duration { .seconds(15 * 60) }
    /// A wait is cut into pieces of this length, so that the heartbeat shows a loop that turns.
    static var heartbeatInterval: Duration { .seconds(10) }
    /// A request that has not ended by then is one that is stuck: no heartbeat any more.
    static var requestBound: Duration { .seconds(130) }
    /// How long a full disk is left alone.
    static var pauseAfterFullDisk: Duration { .seconds(30) }

    /// - Parameters:
    ///   - name: the destination's, as the store knows it.
    ///   - random: 0 up to 1, for the jitter.
    ///   - heartbeat: called whenever the loop turns, every 10 s at least.
    public init(
        name: String, gateway: String, store: SQLiteRecordStore, destination: Target,
        batching: BatchSettings, policy: RetryPolicy = .standard, clock: any GatewayClock,
        random: @escaping @Sendable () -> Double = { .random(in: 0..<1) }, events: EventLog,
        heartbeat: @escaping @Sendable () -> Void = {}
    ) {
        self.name = name
        self.gateway = gateway
        self.store = store
        self.destination = destination
        self.batching = batching
        self.policy = policy
        self.clock = clock
        self.random = random
        self.events = events
        self.heartbeat = heartbeat
    }

    public var activity: DeliveryActivity { current.withLock { $0 } }

    /// Ends a wait after a failure now: the configuration or a credential has changed.
    public func retryNow() {
        retryWakeUp.raise()
    }

    /// Returns when the task is cancelled: a request in flight is abandoned, an answer that has
    /// come is still committed. Throws the `StoreError` after which the store is of no use.
    public func run() async throws {
        do {
            var progress = Progress()
            while !Task.isCancelled {
                heartbeat()
                try await turn(&progress)
            }
        } catch is CancellationError {
            return
        } catch let error as StoreError {
            events.emit(.storeError(error: error.description))
            throw error
        }
    }

    /// Where the worker stands between two turns.
    private struct Progress {
        /// Nil: ask the store.
        var next: NextBatch?
        /// Failures in a row, of any batch.
        var failures = 0
        /// Attempts made for the batch that is next.
        var attempts = 0
        /// When `retrying` was told last.
        var lastTold: MonotonicInstant?
    }

    private func turn(_ progress: inout Progress) async throws {
        guard let next = progress.next else {
            // Cleared before the store is asked: a record that comes later raises it again.
            _ = store.wakeUp(for: name).consume()
            let found = try await ask { [store, name, batching, gateway] in
                try await store.nextBatch(for: name, settings: batching, gateway: gateway)
            }
            progress.next = found
            if case .batch(let batch) = found { progress.attempts = batch.attempts }
            return
        }
        switch next {
        case .nothing:
            try await pause(until: nil, wakeUp: store.wakeUp(for: name))
            progress.next = nil
        case .waiting(let deadline):
            try await pause(until: deadline, wakeUp: store.wakeUp(for: name))
            progress.next = nil
        case .more:
            progress.next = nil
        case .batch(let batch):
            try await send(batch, &progress)
        }
    }

    private func send(_ batch: StoredBatch, _ progress: inout Progress) async throws {
        progress.attempts += 1
        let attempt = progress.attempts
        current.withLock { $0 = .sending(attempt: attempt) }
        let answer = await deliver(OutgoingBatch(gateway: batch.gateway, records: batch.items.map(\.body)))

        switch answer {
        case .taken(let status):
            try await noteUp()
            try await advance(&progress) { [store, batching, gateway] in
                try await store.acknowledge(
                    batch, httpStatus: status, attempt: attempt, settings: batching, gateway: gateway)
            }
        case .tooLarge(let status) where batch.items.count == 1:
            try await setAside(batch, status, "too large (HTTP \(status))", reply: nil, &progress)
        case .refused(let status, let error, let reply) where batch.items.count == 1:
            try await setAside(batch, status, error, reply: reply, &progress)
        case .tooLarge, .refused:
            try await noteUp()
            try await advance(&progress) { [store, batching, gateway] in
                try await store.split(batch, settings: batching, gateway: gateway)
            }
        case .unauthorized(let status):
            try Task.checkCancellation()
            try await note(.authRejected, change: .authRejected(destination: name, httpStatus: status))
            try await pauseAfterRejection()
        case .misplaced(let status, let error):
            try Task.checkCancellation()
            try await note(
                .misconfigured,
                change: .destinationMisconfigured(destination: name, httpStatus: status, error: error))
            try await pauseAfterRejection()
        case .inProgress(let status, let retryAfter):
            try await retry(
                batch, status, "is still working on this request (HTTP \(status))", retryAfter, state: nil,
                &progress)
        case .busy(let status, let error, let retryAfter):
            try await retry(batch, status, error, retryAfter, state: nil, &progress)
        case .unavailable(let status, let error, let retryAfter):
            // What an abandoned request ends with says nothing of the destination.
            try Task.checkCancellation()
            try await retry(batch, status, error, retryAfter, state: .down, &progress)
        }
    }

    // MARK: - What an answer leads to

    private func setAside(
        _ batch: StoredBatch, _ status: Int, _ error: String, reply: String?, _ progress: inout Progress
    ) async throws {
        try await noteUp()
        let attempt = progress.attempts
        try await advance(&progress) { [store, batching, gateway] in
            try await store.setAside(
                batch, httpStatus: status, attempt: attempt, error: error, reply: reply,
                settings: batching, gateway: gateway)
        }
    }

    /// The batch is dealt with; `operation` says what is next.
    private func advance(
        _ progress: inout Progress, _ operation: @escaping @Sendable () async throws -> NextBatch
    ) async throws {
        _ = store.wakeUp(for: name).consume()
        let next = try await ask(operation)
        progress = Progress(next: next)
        if case .batch(let batch) = next { progress.attempts = batch.attempts }
    }

    /// Waits before the same batch goes out again. The first five failures in a row are told each,
    /// later ones once an hour.
    private func retry(
        _ batch: StoredBatch, _ status: Int?, _ error: String, _ retryAfter: Duration?,
        state: DestinationState?, _ progress: inout Progress
    ) async throws {
        progress.failures += 1
        let now = clock.now
        let isTold =
            progress.failures <= 5 || progress.lastTold.map { now.since($0) >= .seconds(3600) } ?? true
        if isTold { progress.lastTold = now }
        let event = Event.retrying(
            destination: name, httpStatus: status, attempt: progress.attempts, error: error)
        let change = Event.destinationDown(destination: name, httpStatus: status, error: error)
        let attempts = progress.attempts
        try await ask { [store, name] in
            try await store.note(
                state, of: name, change: change, event: isTold ? event : nil, batch: batch,
                attempts: attempts)
        }
        let delay = policy.delay(
            afterFailures: progress.failures, retryAfter: retryAfter, random: random())
        try await pause(until: clock.now + delay, wakeUp: retryWakeUp)
    }

    private func pauseAfterRejection() async throws {
        try await pause(until: clock.now + Self.pauseAfterRejection, wakeUp: retryWakeUp)
    }

    /// The destination answered to the content: it is there.
    private func noteUp() async throws {
        try await note(.up, change: .destinationUp(destination: name))
    }

    private func note(_ state: DestinationState, change: Event) async throws {
        try await ask { [store, name] in
            try await store.note(state, of: name, change: change)
        }
    }

    // MARK: - Waiting

    /// Asks the store. What is asked is not cancelled half-way: an answer that has come is
    /// committed. A full disk is waited for.
    private func ask<Value: Sendable>(
        _ operation: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        var wasTold = false
        while true {
            do {
                return try await Task { try await operation() }.value
            } catch let error as StoreError where error.kind == .full {
                if !wasTold { events.emit(.storeError(error: error.description)) }
                wasTold = true
                try await pause(until: clock.now + Self.pauseAfterFullDisk, wakeUp: retryWakeUp)
            }
        }
    }

    /// Sends, with the heartbeat going on as long as a request may take.
    private func deliver(_ batch: OutgoingBatch) async -> DeliveryAnswer {
        let (clock, heartbeat, destination) = (clock, heartbeat, destination)
        let bound = clock.now + Self.requestBound
        return await withTaskGroup(of: DeliveryAnswer?.self) { group in
            group.addTask { await destination.deliver(batch) }
            group.addTask {
                while clock.now < bound,
                    (try? await clock.sleep(for: Self.heartbeatInterval)) != nil
                {
                    heartbeat()
                }
                return nil
            }
            defer { group.cancelAll() }
            while let first = await group.next() {
                if let first { return first }
            }
            return .unavailable(httpStatus: nil, error: "the request was abandoned", retryAfter: nil)
        }
    }

    /// Returns when `wakeUp` is raised or `deadline` has come, with a heartbeat at least every
    /// 10 s; throws `CancellationError`.
    private func pause(until deadline: MonotonicInstant?, wakeUp: WakeUp) async throws {
        current.withLock { $0 = deadline.map { .waiting(until: $0) } ?? .idle }
        while true {
            try Task.checkCancellation()
            heartbeat()
            if wakeUp.consume() { return }
            let now = clock.now
            if let deadline, now >= deadline { return }
            let tick = now + Self.heartbeatInterval
            let end = deadline.map { min($0, tick) } ?? tick
            let clock = clock
            await withTaskGroup { group in
                group.addTask { await wakeUp.wait() }
                group.addTask { try? await clock.sleep(until: end) }
                await group.next()
                group.cancelAll()
            }
        }
    }
}
