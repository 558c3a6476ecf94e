import FoundationEssentials
import Synchronization

/// What a request leads to.
extension DeliveryWorker {
    func send(_ batch: StoredBatch, _ progress: inout DeliveryProgress) async throws {
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
}
