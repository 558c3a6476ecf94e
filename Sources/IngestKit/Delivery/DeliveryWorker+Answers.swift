import IngestEvents
import IngestRecords
import IngestStorage
import Synchronization

/// What a request leads to.
extension DeliveryWorker {
    /// Sends a batch of readings. While a full batch of the backlog is on its way for the first time, the next is composed:
    /// it goes out as soon as this one is taken, which is noted in the meantime. There is one request at a time all the
    /// same, and the note is on the disk before the next answer is acted on.
    func send(_ batch: StoredBatch, _ progress: inout DeliveryProgress) async throws {
        let isFirstOfRow = progress.noting == nil && progress[batch.lane].attempts == 0
        async let composed = isFirstOfRow ? await next(after: batch) : nil
        let answer = await attempt(
            batch, OutgoingBatch(gateway: batch.gateway, records: batch.items.map(\.body)), &progress)
        heartbeat(.asking)
        var next = await composed
        heartbeat(.turning)
        let noted = try await settle(&progress)
        if batch.lane == .backlog { next = noted ?? next }
        if case .taken(let status, _) = answer, let next {
            noteTaken(batch, status, next, &progress)
        } else {
            try await act(on: answer, to: batch, &progress)
        }
    }

    /// What follows a batch of the backlog. Nil also where the store cannot say: then it is asked later.
    private func next(after batch: StoredBatch) async -> StoredBatch? {
        // A session may end between two requests; what was read for one person must not go out in another's.
        guard account == nil, batch.lane == .backlog, batch.items.count >= batching.maxRecords else {
            return nil
        }
        return try? await store.batch(after: batch, settings: batching, gateway: gateway)
    }

    /// The batch was taken, which is noted while the next one is on its way.
    private func noteTaken(
        _ batch: StoredBatch, _ status: Int?, _ next: StoredBatch, _ progress: inout DeliveryProgress
    ) {
        let attempt = progress[batch.lane].attempts
        seen.withLock { $0 = DeliveryReport(lastSubmit: clock.now) }
        progress.backOff = DeliveryProgress.BackOff()
        progress[batch.lane] = DeliveryProgress.Lane(next: .batch(next), attempts: next.attempts)
        progress.noting = DeliveryProgress.Noting { [store, batching, gateway] in
            try await store.acknowledge(
                batch, httpStatus: status, attempt: attempt, whileSending: next, settings: batching,
                gateway: gateway)
        }
    }

    /// Returns when what was taken is noted, with what follows the batch that is on its way.
    func settle(_ progress: inout DeliveryProgress) async throws -> StoredBatch? {
        guard let noting = progress.noting else { return nil }
        progress.noting = nil
        heartbeat(.asking)
        defer { heartbeat(.turning) }
        do {
            return try await noting.task.value
        } catch let error as StoreError where error.isPassing {
            return try await ask(noting.again)
        }
    }

    /// One request for a batch, and what came of it.
    func attempt(
        _ batch: StoredBatch, _ outgoing: OutgoingBatch, _ progress: inout DeliveryProgress
    ) async -> DeliveryAnswer {
        progress[batch.lane].attempts += 1
        progress.files = files.look()
        let attempt = progress[batch.lane].attempts
        current.withLock { $0 = .sending(attempt: attempt) }
        let answer = await deliver(outgoing)
        progress.isUnanswered = if case .unavailable(nil, _, _) = answer { true } else { false }
        return answer
    }

    func act(
        on answer: DeliveryAnswer, to batch: StoredBatch, _ progress: inout DeliveryProgress
    ) async throws {
        let attempt = progress[batch.lane].attempts
        switch answer {
        case .taken(let status, let location):
            seen.withLock { $0 = DeliveryReport(lastSubmit: clock.now) }
            try await advance(batch, &progress) { [store, batching, gateway] in
                try await store.acknowledge(
                    batch, httpStatus: status, location: location, attempt: attempt, settings: batching,
                    gateway: gateway)
            }
        case .tooLarge(let status) where batch.items.count == 1:
            let words = "too large" + (status.map { " (HTTP \($0))" } ?? "")
            try await setAside(batch, status, .other(words), reply: nil, &progress)
        case .refused(let status, let error, let reply) where batch.items.count == 1:
            try await setAside(batch, status, .other(error), reply: reply, &progress)
        case .tooLarge, .refused:
            try await noteUp()
            try await split(batch, &progress)
        case .unfit(let reason) where batch.items.count == 1:
            try await setAsideUnheard(batch, nil, reason, attempt: 0, &progress)
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
            leaveAlone(error ?? Self.rejection(status), &progress)
        case .misplaced(let status, let error):
            try Task.checkCancellation()
            try await note(
                .misconfigured,
                change: .destinationMisconfigured(destination: name, httpStatus: status, error: error))
            leaveAlone(error, &progress)
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
        case .failing(let error):
            try await retry(batch, nil, error, nil, state: .down, mayBeContent: true, &progress)
        }
    }

    /// The destination rejects the credential, or does not know the URL, whatever it is sent.
    private func leaveAlone(_ error: String, _ progress: inout DeliveryProgress) {
        progress.backOff.until = clock.now + pauseAfterRejection(&progress.backOff)
        noteFailure(error, nextTry: progress.backOff.until)
    }

    /// Counts a rejection.
    /// - Returns: how long nothing is sent because of it.
    func pauseAfterRejection(_ backOff: inout DeliveryProgress.BackOff) -> Duration {
        backOff.rejections += 1
        return policy.delay(afterRejections: backOff.rejections, random: random())
    }

    static func rejection(_ status: Int?) -> String {
        "the credential is rejected" + (status.map { " (HTTP \($0))" } ?? "")
    }

    /// The destination has answered that it does not take the only record of a batch.
    private func setAside(
        _ batch: StoredBatch, _ status: Int?, _ reason: SetAsideReason, reply: String?,
        _ progress: inout DeliveryProgress
    ) async throws {
        try await noteUp()
        let attempt = progress[batch.lane].attempts
        let submission = destination.failedSubmission(
            of: OutgoingBatch(gateway: batch.gateway, records: batch.items.map(\.body)))
        try await advance(batch, &progress) { [store, batching, gateway] in
            try await store.setAside(
                batch, httpStatus: status, attempt: attempt, reason: reason, reply: reply,
                submission: submission, settings: batching, gateway: gateway)
        }
    }

    /// It is set aside all the same.
    func setAsideUnheard(
        _ batch: StoredBatch, _ status: Int?, _ reason: SetAsideReason, attempt: Int,
        _ progress: inout DeliveryProgress
    ) async throws {
        try await advance(batch, &progress) { [store, batching, gateway] in
            try await store.setAside(
                batch, httpStatus: status, attempt: attempt, reason: reason, reply: nil, submission: nil,
                settings: batching, gateway: gateway)
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
    /// - Parameter pause: how long it is left alone, where that does not follow from the policy.
    func retry(
        _ batch: StoredBatch, _ status: Int?, _ error: String, _ retryAfter: Duration?,
        state: DestinationState?, mayBeContent: Bool = false, pause: Duration? = nil,
        _ progress: inout DeliveryProgress
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
        let delay =
            pause
            ?? policy.delay(
                afterFailures: progress[keyPath: path].failures, retryAfter: retryAfter, random: random())
        let until = clock.now + delay
        progress[keyPath: path].until = until
        if pause == nil { progress.endRejections(on: batch.lane) }
        noteFailure(error, nextTry: until)
        if leavesLane { progress.leaveToBacklog(until: until) }
    }

    private func noteFailure(_ error: String, nextTry: MonotonicInstant?) {
        seen.withLock { report in
            report.lastError = error
            report.nextTry = nextTry
        }
    }

    /// The destination does not take the content, but it is there.
    private func noteUp() async throws {
        try await note(.up, change: .destinationUp(destination: name))
    }

    private func note(_ state: DestinationState, change: Event) async throws {
        try await ask { [store, name] in
            try await store.note(
                state, of: name, change: change, event: nil, batch: nil, attempts: 0, leavesLane: false)
        }
    }
}
