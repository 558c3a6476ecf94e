/// Takes events from the store's outbox to a sink, in the order of their numbers.
///
/// An entry is marked after the sink has taken it: what nobody takes stays in the outbox. A crash between the two
/// repeats what was written and not yet marked, under the same numbers, and loses nothing.
package struct EventOutbox: Sendable {
    private let store: any EventQueue
    private let sink: any EventSink
    private let clock: any GatewayClock
    private let pace: TellingPace

    /// At most this many entries are written between two marks.
    private static let batch = 100
    /// How long a disk that is full or cannot be written is left alone.
    private static let pauseAfterRefusal = Duration.seconds(30)

    package init(
        store: any EventQueue, sink: any EventSink, clock: any GatewayClock, pace: TellingPace = TellingPace()
    ) {
        self.pace = pace
        self.clock = clock
        self.store = store
        self.sink = sink
    }

    /// Runs until the task is cancelled; throws `StoreError` when the outbox cannot be read or
    /// marked.
    package func run() async throws {
        while !Task.isCancelled {
            // Cleared before the outbox is read: a commit after the reading raises it again.
            _ = store.outboxWakeUp.consume()
            do {
                try await drain()
            } catch is CancellationError {
                return
            } catch let error as StoreError where error.isPassing {
                // What was written and not marked is repeated under its numbers.
                guard (try? await clock.sleep(for: Self.pauseAfterRefusal)) != nil else { return }
                continue
            }
            await store.outboxWakeUp.wait()
        }
    }

    /// Writes everything that waits in the outbox now, no faster than the journal takes it.
    /// - Throws: `CancellationError` if the task was cancelled while it waited, else `StoreError`.
    package func drain() async throws {
        while true {
            let waiting = try await store.untoldEvents(limit: Self.batch)
            if waiting.isEmpty { return }
            let wait = pace.take(waiting.count, at: clock.now)
            if wait > .zero { try await clock.sleep(for: wait) }
            let taken = await sink.deliver(waiting.map(\.entry))
            // Of a batch that was cut short the rest is told after the next start.
            guard taken > 0 else { throw CancellationError() }
            let last = waiting[taken - 1].sequence
            // An orderly stop that comes between the two is no reason to repeat them.
            try await Task { [store] in try await store.markOutbox(through: last) }.value
            if taken < waiting.count { throw CancellationError() }
        }
    }
}
