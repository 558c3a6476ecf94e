import FoundationEssentials
import Synchronization

/// What a worker does now.
public enum DeliveryActivity: Sendable, Equatable {
    /// There is nothing to send.
    case idle
    /// Records wait for company, or a request for its time.
    case waiting(until: MonotonicInstant)
    case sending(attempt: Int)
}

/// Delivers what the store holds for one destination until it is cancelled: on one lane first in, first out, or on two
/// that take turns, so that a new reading does not wait behind a backlog.
public final class DeliveryWorker<Target: Destination>: Sendable {
    private let name: String
    private let gateway: String
    private let store: SQLiteRecordStore
    private let destination: Target
    private let account: String?
    private let holdsSession: @Sendable () async -> Bool
    private let batching: BatchSettings
    private let policy: RetryPolicy
    private let clock: any GatewayClock
    private let random: @Sendable () -> Double
    private let events: EventLog
    private let heartbeat: @Sendable (Pulse.Beat) -> Void
    private let lanes: [DeliveryLane]
    private let wakeUp: WakeUp
    private let isRetryAsked = Atomic(false)
    private let current = Mutex(DeliveryActivity.idle)
    private let seen = Mutex(DeliveryReport())

    /// How long a destination that rejects the credential or does not know the URL is left alone.
    static var pauseAfterRejection: Duration { .seconds(15 * 60) }
    /// A wait is cut into pieces of this length, so that the heartbeat shows a loop that turns: well below
    /// `Pulse.Beat.turning`'s bound, and no oftener than it must be, because each piece wakes an idle processor up.
    static var heartbeatInterval: Duration { .seconds(60) }
    /// A request that has not ended by then is one that is stuck: no heartbeat any more.
    static var requestBound: Duration { .seconds(130) }
    /// An image whose request has failed so often, two hours or more, is set aside: it must not keep the backlog waiting for
    /// ever, as its request may be too large for the way there.
    static var mostImageAttempts: Int { 50 }
    /// How often it is seen whether another destination has sent its image.
    static var imageInterval: Duration { .seconds(1) }
    /// How long a disk that is full or cannot be written is left alone.
    static var pauseAfterRefusal: Duration { .seconds(30) }

    /// - Parameters:
    ///   - name: the destination's, as the store knows it.
    ///   - account: the person under whom the destination files; it delivers in this person's session alone. Nil for
    ///     one without sessions.
    ///   - holdsSession: whether there is something to deliver with in the session. While there is not, nothing is
    ///     asked of the destination; a sign-in has it looked at again.
    ///   - random: 0 up to 1, for the jitter.
    ///   - heartbeat: called whenever the loop turns, every minute at least, and before the queue is asked.
    public init(
        name: String, gateway: String, store: SQLiteRecordStore, destination: Target, account: String? = nil,
        holdsSession: @escaping @Sendable () async -> Bool = { true }, batching: BatchSettings,
        policy: RetryPolicy = .standard, clock: any GatewayClock,
        random: @escaping @Sendable () -> Double = { .random(in: 0..<1) }, events: EventLog,
        heartbeat: @escaping @Sendable (Pulse.Beat) -> Void = { _ in }
    ) {
        self.name = name
        self.gateway = gateway
        self.store = store
        self.destination = destination
        self.account = account
        self.holdsSession = holdsSession
        self.batching = batching
        self.policy = policy
        self.clock = clock
        self.random = random
        self.events = events
        self.heartbeat = heartbeat
        lanes = store.order(of: name).lanes
        wakeUp = store.wakeUp(for: name)
    }

    public var activity: DeliveryActivity { current.withLock { $0 } }
    /// What it has seen since the start.
    public var report: DeliveryReport { seen.withLock { $0 } }

    /// Ends a wait after a failure now: the configuration or a credential has changed.
    public func retryNow() {
        isRetryAsked.store(true, ordering: .relaxed)
        wakeUp.raise()
    }

    /// Returns when the task is cancelled: a request in flight is abandoned, an answer that has
    /// come is still committed. Throws the `StoreError` after which the store is of no use.
    public func run() async throws {
        do {
            var progress = DeliveryProgress(lanes)
            while !Task.isCancelled {
                heartbeat(.turning)
                try await turn(&progress)
            }
        } catch is CancellationError {
            return
        } catch let error as StoreError {
            events.emit(storeError: error)
            throw error
        }
    }

    // MARK: - Turns

    /// Sends one request, or waits. While both lanes have something to send, they take turns.
    private func turn(_ progress: inout DeliveryProgress) async throws {
        // Lowered before the store is asked: a record that comes later raises it again.
        if wakeUp.consume() { progress.askAgain() }
        if isRetryAsked.exchange(false, ordering: .relaxed) { progress.forgetWaits() }
        guard try await isSignedIn(&progress) else { return try await pause(until: nil) }
        let now = clock.now
        var end: MonotonicInstant?
        func waits(until instant: MonotonicInstant?) -> Bool {
            guard let instant, instant > now else { return false }
            end = min(end ?? instant, instant)
            return true
        }
        for lane in progress.order {
            if progress[lane].next == nil { try await ask(for: lane, &progress) }
            switch progress[lane].next {
            case nil, .nothing: continue
            case .more:
                progress[lane].next = nil
                return
            case .waiting(let until):
                if waits(until: until) { continue }
                progress[lane].next = nil
                return
            case .batch(let batch):
                if waits(until: progress.backOff.until) || waits(until: progress[lane].backOff.until) {
                    continue
                }
                if batch.isImage, !store.beginImage(), waits(until: now + Self.imageInterval) { continue }
                defer { if batch.isImage { store.endImage() } }
                try await send(batch, &progress)
                progress.order = progress.order.filter { $0 != lane } + [lane]
                return
            }
        }
        try await pause(until: end)
    }

    /// Whether there is a session to deliver in, where the destination needs one. What was about to be sent in another
    /// is forgotten.
    private func isSignedIn(_ progress: inout DeliveryProgress) async throws -> Bool {
        guard let account else { return true }
        guard await holdsSession() else {
            progress.asksForSession = true
            return false
        }
        guard progress.asksForSession else { return progress.session != nil }
        let state = try await ask { [store, name] in try await store.session(of: name) }
        var session: Int64?
        if case .open(account, let number) = state { session = number }
        if session != progress.session { progress = DeliveryProgress(lanes) }
        progress.session = session
        progress.asksForSession = false
        return session != nil
    }

    private func ask(for lane: DeliveryLane, _ progress: inout DeliveryProgress) async throws {
        try await take(lane, &progress) { [store, name, batching, gateway] in
            try await store.nextBatch(for: name, lane: lane, settings: batching, gateway: gateway)
        }
    }

    /// What a lane sends next is what `operation` says.
    private func take(
        _ lane: DeliveryLane, _ progress: inout DeliveryProgress,
        _ operation: @escaping @Sendable () async throws -> NextBatch
    ) async throws {
        let next = try await ask(operation)
        progress[lane].next = next
        if case .batch(let batch) = next { progress[lane].attempts = batch.attempts }
    }

    private func send(_ batch: StoredBatch, _ progress: inout DeliveryProgress) async throws {
        guard let outgoing = try await outgoing(batch) else {
            // Damaged since it was asked for: who asks again is told so.
            progress[batch.lane].next = nil
            return
        }
        progress[batch.lane].attempts += 1
        let attempt = progress[batch.lane].attempts
        current.withLock { $0 = .sending(attempt: attempt) }
        // It may have been of another type when the image was taken.
        let answer: DeliveryAnswer =
            batch.isImage && !destination.takesImages
            ? .unfit(error: "the destination takes no images") : await deliver(outgoing)
        // A large body may not get through where a reading does: it must not hold up new ones.
        let isOwnFault = batch.isImage && lanes.contains(.fresh)
        let isLastOfImage = batch.isImage && attempt >= Self.mostImageAttempts

        switch batch.isImage ? answer.ofImage : answer {
        case .taken(let status):
            seen.withLock { $0 = DeliveryReport(lastSubmit: clock.now) }
            try await noteUp()
            try await advance(batch, &progress) { [store, batching, gateway] in
                try await store.acknowledge(
                    batch, httpStatus: status, attempt: attempt, settings: batching, gateway: gateway)
            }
        case .tooLarge(let status) where batch.items.count == 1:
            let words = "too large" + (status.map { " (HTTP \($0))" } ?? "")
            try await setAside(batch, status, words, reply: nil, &progress)
        case .refused(let status, let error, let reply) where batch.items.count == 1:
            try await setAside(batch, status, error, reply: reply, &progress)
        case .tooLarge, .refused:
            try await noteUp()
            try await split(batch, &progress)
        case .unfit(let error) where batch.items.count == 1:
            try await advance(batch, &progress) { [store, batching, gateway] in
                try await store.setAside(
                    batch, httpStatus: nil, attempt: 0, error: error, reply: nil, settings: batching,
                    gateway: gateway)
            }
        case .unfit:
            try await split(batch, &progress)
        case .sessionEnded(let status):
            try Task.checkCancellation()
            try await ask { [store, name] in
                try await store.noteSessionEnd(of: name, httpStatus: status)
            }
            noteFailure("the session has ended (HTTP \(status))", nextTry: nil)
            // Until a sign-in or another token, which ask for a retry.
            progress.backOff.until = MonotonicInstant(nanoseconds: UInt64(Int64.max))
        case .unauthorized(let status, let error):
            try Task.checkCancellation()
            try await note(
                .authRejected, change: .authRejected(destination: name, httpStatus: status, error: error))
            progress.backOff.until = clock.now + Self.pauseAfterRejection
            let words = error ?? "the credential is rejected" + (status.map { " (HTTP \($0))" } ?? "")
            noteFailure(words, nextTry: progress.backOff.until)
        case .misplaced(let status, let error):
            try Task.checkCancellation()
            try await note(
                .misconfigured,
                change: .destinationMisconfigured(destination: name, httpStatus: status, error: error))
            progress.backOff.until = clock.now + Self.pauseAfterRejection
            noteFailure(error, nextTry: progress.backOff.until)
        case .inProgress(let status, let retryAfter):
            try await retry(
                batch, status, "is still working on this request (HTTP \(status))", retryAfter, state: nil,
                &progress)
        case .unavailable(let status, let error, _) where isLastOfImage,
            .busy(let status, let error, _) where isLastOfImage:
            try Task.checkCancellation()
            try await advance(batch, &progress) { [store, batching, gateway] in
                try await store.setAside(
                    batch, httpStatus: status, attempt: attempt,
                    error: "did not get through in \(attempt) attempts: \(error)", reply: nil,
                    settings: batching, gateway: gateway)
            }
        case .busy(let status, let error, let retryAfter):
            try await retry(batch, status, error, retryAfter, state: nil, &progress)
        case .unavailable(let status, let error, let retryAfter):
            // What an abandoned request ends with says nothing of the destination.
            try Task.checkCancellation()
            try await retry(
                batch, status, error, retryAfter, state: isOwnFault ? nil : .down, mayBeContent: isOwnFault,
                &progress)
        case .failing(let error):
            try await retry(batch, nil, error, nil, state: .down, mayBeContent: true, &progress)
        }
    }

    /// A batch with the bytes of the image that it is, for one attempt; nil where these cannot be had.
    private func outgoing(_ batch: StoredBatch) async throws -> OutgoingBatch? {
        var image: Data?
        if batch.isImage, destination.takesImages {
            image = try await ask { [store] in try await store.image(of: batch) }
            guard image != nil else { return nil }
        }
        return OutgoingBatch(gateway: batch.gateway, records: batch.items.map(\.body), image: image)
    }

    // MARK: - What an answer leads to

    private func setAside(
        _ batch: StoredBatch, _ status: Int?, _ error: String, reply: String?,
        _ progress: inout DeliveryProgress
    ) async throws {
        try await noteUp()
        let attempt = progress[batch.lane].attempts
        let submission = destination.failedSubmission(
            of: OutgoingBatch(gateway: batch.gateway, records: batch.items.map(\.body)))
        try await advance(batch, &progress) { [store, batching, gateway] in
            try await store.setAside(
                batch, httpStatus: status, attempt: attempt, error: error, reply: reply,
                submission: submission, settings: batching, gateway: gateway)
        }
    }

    private func split(_ batch: StoredBatch, _ progress: inout DeliveryProgress) async throws {
        try await advance(batch, &progress) { [store, batching, gateway] in
            try await store.split(batch, settings: batching, gateway: gateway)
        }
    }

    /// The batch is dealt with; `operation` says what is next on its lane.
    private func advance(
        _ batch: StoredBatch, _ progress: inout DeliveryProgress,
        _ operation: @escaping @Sendable () async throws -> NextBatch
    ) async throws {
        progress.backOff = DeliveryProgress.BackOff()
        progress[batch.lane] = DeliveryProgress.Lane()
        try await take(batch.lane, &progress, operation)
    }

    /// The same batch goes out again later. One that may be at fault itself holds up no new readings: it is the
    /// backlog's from then on.
    private func retry(
        _ batch: StoredBatch, _ status: Int?, _ error: String, _ retryAfter: Duration?,
        state: DestinationState?, mayBeContent: Bool = false, _ progress: inout DeliveryProgress
    ) async throws {
        let concernsDestination = !mayBeContent && (status == nil || status == 429 || retryAfter != nil)
        let path: WritableKeyPath<DeliveryProgress, DeliveryProgress.BackOff> =
            concernsDestination ? \.backOff : \.[batch.lane].backOff
        let isTold = progress[keyPath: path].count(at: clock.now)
        let event = Event.retrying(
            destination: name, httpStatus: status, attempt: progress[batch.lane].attempts, error: error)
        let change = Event.destinationDown(destination: name, httpStatus: status, error: error)
        let attempts = progress[batch.lane].attempts
        let leavesLane = batch.lane == .fresh && !concernsDestination
        try await ask { [store, name] in
            try await store.note(
                state, of: name, change: change, event: isTold ? event : nil, batch: batch,
                attempts: attempts, leavesLane: leavesLane)
        }
        let until =
            clock.now
            + policy.delay(
                afterFailures: progress[keyPath: path].failures, retryAfter: retryAfter, random: random())
        progress[keyPath: path].until = until
        noteFailure(error, nextTry: until)
        if leavesLane { progress.leaveToBacklog(until: until) }
    }

    private func noteFailure(_ error: String, nextTry: MonotonicInstant?) {
        seen.withLock { report in
            report.lastError = error
            report.nextTry = nextTry
        }
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
    /// committed. A disk that is full or cannot be written is waited for.
    private func ask<Value: Sendable>(
        _ operation: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        var hasWaited = false
        while true {
            do {
                heartbeat(.asking)
                defer { heartbeat(.turning) }
                let value = try await Task { try await operation() }.value
                // Records may have come in the meantime.
                if hasWaited { wakeUp.raise() }
                return value
            } catch let error as StoreError where error.isPassing {
                hasWaited = true
                _ = wakeUp.consume()
                try await pause(until: clock.now + Self.pauseAfterRefusal)
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
                    heartbeat(.turning)
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

    /// Returns when records have come, when a wait is to end now, or at `deadline`, with a heartbeat at least every
    /// minute; throws `CancellationError`.
    private func pause(until deadline: MonotonicInstant?) async throws {
        current.withLock { $0 = deadline.map { .waiting(until: $0) } ?? .idle }
        while true {
            try Task.checkCancellation()
            heartbeat(.turning)
            if wakeUp.isRaised { return }
            let now = clock.now
            if let deadline, now >= deadline { return }
            let tick = now + Self.heartbeatInterval
            let end = deadline.map { min($0, tick) } ?? tick
            let (clock, wakeUp) = (clock, wakeUp)
            await withTaskGroup { group in
                group.addTask { await wakeUp.wait() }
                group.addTask { try? await clock.sleep(until: end) }
                await group.next()
                group.cancelAll()
            }
        }
    }
}
