package import IngestEvents
package import IngestStorage
import Synchronization

/// What a worker does now.
package enum DeliveryActivity: Sendable, Equatable {
    /// There is nothing to send.
    case idle
    /// Records wait for company, or a request for its time.
    case waiting(until: MonotonicInstant)
    case sending(attempt: Int)
}

/// Delivers what the store holds for one destination until it is cancelled: readings on one lane first in, first out, or
/// on two that take turns, so that a new reading does not wait behind a backlog, and images while no reading waits.
package final class DeliveryWorker<Target: Destination>: Sendable {
    let name: String
    let gateway: String
    let store: any DeliveryQueue
    let destination: Target
    let files: WatchedFiles
    let account: String?
    private let holdsSession: @Sendable () async -> Bool
    let batching: BatchSettings
    let policy: RetryPolicy
    let clock: any GatewayClock
    let random: @Sendable () -> Double
    private let events: EventLog
    let heartbeat: @Sendable (Pulse.Beat) -> Void
    private let lanes: [DeliveryLane]
    let wakeUp: WakeUp
    private let isRetryAsked = Atomic(false)
    private let hasNetworkChanged = Atomic(false)
    let current = Mutex(DeliveryActivity.idle)
    let seen = Mutex(DeliveryReport())

    /// How often it is seen, after a rejection, whether a file of the credentials was replaced.
    static var lookInterval: Duration { .seconds(30) }
    /// A wait is cut into pieces of this length, so that the heartbeat shows a loop that turns: well below
    /// `Pulse.Beat.turning`'s bound, and no oftener than it must be, because each piece wakes an idle processor up.
    static var heartbeatInterval: Duration { .seconds(60) }
    /// A request that has not ended by then is one that is stuck: no heartbeat any more.
    static var requestBound: Duration { .seconds(130) }
    /// How long a disk that is full or cannot be written is left alone.
    static var pauseAfterRefusal: Duration { .seconds(30) }

    /// - Parameters:
    ///   - name: the destination's, as the store knows it.
    ///   - files: those of its credentials. If one was replaced after a rejection, the next request goes out at once.
    ///   - account: the person under whom the destination files; it delivers in this person's session alone. Nil for
    ///     one without sessions.
    ///   - holdsSession: whether there is something to deliver with in the session. While there is not, nothing is
    ///     asked of the destination; a sign-in has it looked at again.
    ///   - random: 0 up to 1, for the jitter.
    ///   - heartbeat: called whenever the loop turns, every minute at least, and before the queue is asked.
    package init(
        name: String, gateway: String, store: any DeliveryQueue, destination: Target,
        files: WatchedFiles = WatchedFiles([]), account: String? = nil,
        holdsSession: @escaping @Sendable () async -> Bool = { true }, batching: BatchSettings,
        policy: RetryPolicy = .standard, clock: any GatewayClock,
        random: @escaping @Sendable () -> Double = { .random(in: 0..<1) }, events: EventLog,
        heartbeat: @escaping @Sendable (Pulse.Beat) -> Void = { _ in }
    ) {
        self.name = name
        self.gateway = gateway
        self.store = store
        self.destination = destination
        self.files = files
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

    package var activity: DeliveryActivity { current.withLock { $0 } }
    /// What it has seen since the start.
    package var report: DeliveryReport { seen.withLock { $0 } }

    /// Ends a wait after a failure now: the configuration or a credential has changed.
    package func retryNow() {
        isRetryAsked.store(true, ordering: .relaxed)
        wakeUp.raise()
    }

    /// The network of the box has changed: a wait for a destination that did not answer ends now.
    package func networkChanged() {
        hasNetworkChanged.store(true, ordering: .relaxed)
        wakeUp.raise()
    }

    /// Returns when the task is cancelled: a request in flight is abandoned, an answer that has
    /// come is still committed, unless the disk takes nothing. Throws the `StoreError` after which the store is of no use.
    package func run() async throws {
        var progress = DeliveryProgress(lanes)
        do {
            while !Task.isCancelled {
                heartbeat(.turning)
                try await turn(&progress)
            }
        } catch is CancellationError {
            // The end that was asked for.
        } catch let error as StoreError {
            events.emit(storeError: error)
            throw error
        }
        heartbeat(.asking)
        _ = await progress.noting?.task.result
    }

    // MARK: - Turns

    /// Sends one request, or waits. While both lanes of readings have something to send, they take turns.
    private func turn(_ progress: inout DeliveryProgress) async throws {
        // Lowered before the store is asked: a record that comes later raises it again.
        if wakeUp.consume() { progress.askAgain() }
        if isRetryAsked.exchange(false, ordering: .relaxed) { progress.forgetWaits() }
        if hasNetworkChanged.exchange(false, ordering: .relaxed), progress.isUnanswered {
            progress.forgetWaits()
        }
        if progress.isRejected, files.look() != progress.files {
            await destination.renew()
            progress.forgetWaits()
        }
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
                try await send(batch, &progress)
                progress.order = progress.order.filter { $0 != lane } + [lane]
                return
            }
        }
        _ = try await settle(&progress)
        if let end { return try await pause(until: end, progress) }
        try await turnOfImages(&progress)
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

    func ask(for lane: DeliveryLane, _ progress: inout DeliveryProgress) async throws {
        try await take(lane, &progress) { [store, name, batching, gateway] in
            try await store.nextBatch(for: name, lane: lane, settings: batching, gateway: gateway)
        }
    }

    /// What a lane sends next is what `operation` says.
    func take(
        _ lane: DeliveryLane, _ progress: inout DeliveryProgress,
        _ operation: @escaping @Sendable () async throws -> NextBatch
    ) async throws {
        let next = try await ask(operation)
        progress[lane].next = next
        if case .batch(let batch) = next { progress[lane].attempts = batch.attempts }
    }
}
