import IngestStorage
import Synchronization

/// Where a worker waits: for the store, for an answer, for its time.
extension DeliveryWorker {
    /// Asks the store. What is asked is not cancelled half-way: an answer that has come is
    /// committed. A disk that is full or cannot be written is waited for.
    func ask<Value: Sendable>(
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
    func deliver(_ batch: OutgoingBatch) async -> DeliveryAnswer {
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
    /// minute; after a rejection also when a file of the credentials was replaced. Throws `CancellationError`.
    func pause(until deadline: MonotonicInstant?, _ progress: DeliveryProgress? = nil) async throws {
        let rejected = progress.flatMap { $0.isRejected && !$0.files.isEmpty ? $0.files : nil }
        current.withLock { $0 = deadline.map { .waiting(until: $0) } ?? .idle }
        while true {
            try Task.checkCancellation()
            heartbeat(.turning)
            if wakeUp.isRaised { return }
            let now = clock.now
            if let deadline, now >= deadline { return }
            if let rejected, files.look() != rejected { return }
            let tick = now + (rejected == nil ? Self.heartbeatInterval : Self.lookInterval)
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
