import Synchronization
import Testing

@testable import IngestKit

/// A worker between a real store and a real HTTP server, on a driven clock.
struct WorkerHarness {
    let directory: String
    let clock: DrivenClock
    let transport: HTTPTransport
    let sink: RecordingSink
    let url: String
    let heartbeats = Counter()

    final class Counter: Sendable {
        private let count = Mutex(0)
        var value: Int { count.withLock { $0 } }
        func increase() { count.withLock { $0 += 1 } }
    }

    /// A running worker.
    struct Running {
        let store: SQLiteRecordStore
        let worker: DeliveryWorker<Webhook>
        let task: Task<Void, any Error>
        let clock: DrivenClock

        /// Waits until the worker does nothing but wait, for the clock or for records.
        func untilWaiting(sourceLocation: SourceLocation = #_sourceLocation) async throws {
            try await IngestKitTests.eventually("the worker waits", sourceLocation: sourceLocation) {
                if case .sending = worker.activity { return false }
                return clock.sleeperCount == 1
            }
        }

        /// Cancels the worker, waits for its end and closes the file.
        func stop() async throws {
            task.cancel()
            try await task.value
            try await store.close()
        }

        func count(_ name: EventName) async throws -> Int {
            try await store.events.filter { $0.name == name.rawValue }.count
        }

        func eventually(_ count: Int, _ name: EventName, sourceLocation: SourceLocation = #_sourceLocation)
            async throws
        {
            try await IngestKitTests.eventually("\(count) \(name.rawValue)", sourceLocation: sourceLocation) {
                try await self.count(name) >= count
            }
        }
    }

    /// - Parameters:
    ///   - random: of the jitter; 1 makes each wait its whole bound.
    ///   - webhookClock: where the webhook is to see another clock than the worker.
    func start(
        settings: WebhookSettings? = nil,
        batching: BatchSettings = BatchSettings(maxRecords: 4, maxWait: .zero),
        order: DeliveryOrder = .strict, ids: [String] = [],
        secrets: @escaping @Sendable () async throws -> WebhookSecrets = { WebhookSecrets() },
        webhookClock: (any GatewayClock)? = nil,
        random: @escaping @Sendable () -> Double = { 1 }
    ) async throws -> Running {
        let store = try await SQLiteRecordStore.open(
            in: directory, clock: clock, destinations: [DestinationRouting(name: "clinic", order: order)])
        try await store.fill(ids)
        let worker = DeliveryWorker(
            name: "clinic", gateway: "box", store: store,
            destination: Webhook(
                settings: settings ?? WebhookSettings(url: url), transport: transport,
                clock: webhookClock ?? clock, secrets: secrets),
            batching: batching, clock: clock, random: random, events: EventLog(sink: sink),
            heartbeat: { _ in heartbeats.increase() })
        return Running(store: store, worker: worker, task: Task { try await worker.run() }, clock: clock)
    }
}

/// The server gives the same answer until a test changes it.
func withHarness(
    _ answer: TestReceiver.Answer, _ body: (WorkerHarness, TestReceiver) async throws -> Void
) async throws {
    let constant: @Sendable (TestReceiver.Received) -> TestReceiver.Answer = { _ in answer }
    try await withHarness(constant, body)
}

func withHarness(
    _ answer: @escaping @Sendable (TestReceiver.Received) -> TestReceiver.Answer,
    _ body: (WorkerHarness, TestReceiver) async throws -> Void
) async throws {
    let receiver = TestReceiver(answer)
    let transport = HTTPTransport()
    let result: Result<Void, any Error>
    do {
        try await withTemporaryDirectory { directory in
            try await receiver.run { url in
                try await body(
                    WorkerHarness(
                        directory: directory, clock: DrivenClock(), transport: transport,
                        sink: RecordingSink(), url: url),
                    receiver)
            }
        }
        result = .success(())
    } catch {
        result = .failure(error)
    }
    try await transport.shutdown()
    try result.get()
}
