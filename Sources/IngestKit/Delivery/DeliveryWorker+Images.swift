import IngestRecords
import IngestStorage

/// How images go: behind all readings, and whatever they are answered holds up images alone.
extension DeliveryWorker {
    /// An image whose request has failed so often, two hours or more, is set aside: it must not keep other images waiting
    /// for ever, as its request may be too large for the way there.
    static var mostImageAttempts: Int { 50 }
    /// How often it is seen whether another destination has sent its image.
    static var imageInterval: Duration { .seconds(1) }

    /// Sends an image, or waits. No reading waits, neither for company nor for its time.
    func turnOfImages(_ progress: inout DeliveryProgress) async throws {
        if progress[.image].next == nil { try await ask(for: .image, &progress) }
        guard case .batch(let image) = progress[.image].next else { return try await pause(until: nil) }
        let now = clock.now
        let ends = [progress.backOff.until, progress[.image].backOff.until]
        if let end = ends.compactMap(\.self).max(), end > now { return try await pause(until: end, progress) }
        // One that has come meanwhile goes first.
        if wakeUp.isRaised { return }
        guard store.beginImage() else { return try await pause(until: now + Self.imageInterval) }
        defer { store.endImage() }
        try await send(image: image, &progress)
    }

    private func send(image batch: StoredBatch, _ progress: inout DeliveryProgress) async throws {
        // It may have been of another type when the image was taken.
        guard destination.takesImages else {
            return try await setAsideUnheard(
                batch, nil, "the destination takes no images", attempt: 0, &progress)
        }
        guard let bytes = try await ask({ [store] in try await store.image(of: batch) }) else {
            // Damaged since it was asked for: who asks again is told so.
            progress[.image].next = nil
            return
        }
        let outgoing = OutgoingBatch(gateway: batch.gateway, records: batch.items.map(\.body), image: bytes)
        try await act(onImage: await attempt(batch, outgoing, &progress).ofImage, to: batch, &progress)
    }

    /// Readings are not held, nor is the destination told to be down: a request of this size may be turned away, slowed
    /// down or lost where a reading is not, and the next reading asks for itself.
    private func act(
        onImage answer: DeliveryAnswer, to batch: StoredBatch, _ progress: inout DeliveryProgress
    ) async throws {
        switch answer {
        case .taken:
            try await act(on: answer, to: batch, &progress)
            store.noteImageDelivered()
        case .refused, .unfit, .tooLarge, .sessionEnded:
            try await act(on: answer, to: batch, &progress)
        case .unauthorized(let status, let error):
            try await hold(
                batch, status, error ?? Self.rejection(status),
                pause: pauseAfterRejection(&progress[.image].backOff),
                &progress)
        case .misplaced(let status, let error):
            try await hold(
                batch, status, error, pause: pauseAfterRejection(&progress[.image].backOff), &progress)
        case .inProgress(let status, let retryAfter):
            let error = "is still working on this request (HTTP \(status))"
            try await tryAgain(batch, status, error, retryAfter, &progress)
        case .busy(let status, let error, let retryAfter),
            .unavailable(let status, let error, let retryAfter):
            try await tryAgain(batch, status, error, retryAfter, &progress)
        case .failing(let error):
            try await tryAgain(batch, nil, error, nil, &progress)
        }
    }

    /// The image goes out again later, if it was not tried too often.
    private func tryAgain(
        _ batch: StoredBatch, _ status: Int?, _ error: String, _ retryAfter: Duration?,
        _ progress: inout DeliveryProgress
    ) async throws {
        let attempt = progress[.image].attempts
        guard attempt >= Self.mostImageAttempts else {
            return try await hold(batch, status, error, retryAfter: retryAfter, &progress)
        }
        try Task.checkCancellation()
        try await setAsideUnheard(
            batch, status, "did not get through in \(attempt) attempts: \(error)", attempt: attempt, &progress
        )
    }

    private func hold(
        _ batch: StoredBatch, _ status: Int?, _ error: String, retryAfter: Duration? = nil,
        pause: Duration? = nil, _ progress: inout DeliveryProgress
    ) async throws {
        // What an abandoned request ends with says nothing of the destination.
        try Task.checkCancellation()
        try await retry(
            batch, status, error, retryAfter, state: nil, mayBeContent: true, pause: pause, &progress)
    }
}
