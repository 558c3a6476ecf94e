import QueueTestSupport
import Synchronization
import Testing

@testable import IngestDelivery

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
    struct Running: RunningDelivery {
        static let destination = "clinic"

        let store: SQLiteQueue
        let worker: DeliveryWorker<Webhook>
        let task: Task<Void, any Error>
        let clock: DrivenClock

        func count(_ name: EventName) async throws -> Int {
            try await store.events.filter { $0.name == name.rawValue }.count
        }
    }

    /// - Parameters:
    ///   - random: of the jitter; 1 makes each wait its whole bound.
    ///   - tokenFile: where the bearer token is read from, instead of `secrets`.
    ///   - queue: what stands between the worker and the store.
    ///   - webhookClock: where the webhook is to see another clock than the worker.
    func start(
        settings: WebhookSettings? = nil,
        batching: BatchSettings = BatchSettings(maxRecords: 4, maxWait: .zero),
        order: DeliveryOrder = .strict, ids: [String] = [],
        secrets: @escaping @Sendable () async throws -> WebhookSecrets = { WebhookSecrets() },
        tokenFile: String? = nil,
        queue: (DeliveryBatches) -> any DeliveryQueue = { $0 },
        webhookClock: (any GatewayClock)? = nil,
        random: @escaping @Sendable () -> Double = { 1 }
    ) async throws -> Running {
        let store = try await SQLiteQueue.open(
            in: directory, clock: clock, destinations: [DestinationRouting(name: "clinic", order: order)])
        try await store.fill(ids)
        let worker = DeliveryWorker(
            name: "clinic", gateway: "box", store: queue(store.batches),
            destination: Webhook(
                settings: settings ?? WebhookSettings(url: url), transport: transport,
                clock: webhookClock ?? clock,
                secrets: tokenFile.map(Self.secrets(in:)) ?? secrets),
            files: WatchedFiles(tokenFile.map { [$0] } ?? []),
            batching: batching, clock: clock, random: random, events: EventLog(sink: sink),
            heartbeat: { _ in heartbeats.increase() })
        return Running(store: store, worker: worker, task: Task { try await worker.run() }, clock: clock)
    }

    private static func secrets(in file: String) -> @Sendable () async throws -> WebhookSecrets {
        { WebhookSecrets(token: try Credentials(environment: [:]).read(.path(file)).text) }
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
    try await withBackend(answer) { place in
        try await body(
            WorkerHarness(
                directory: place.directory, clock: DrivenClock(), transport: place.transport,
                sink: RecordingSink(), url: place.url),
            place.receiver)
    }
}
