import QueueTestSupport
import Synchronization
import Testing

@testable import IngestDelivery

/// A delivery under way: a worker between a real store and a backend's fake.
protocol RunningDelivery: Sendable {
    associatedtype Backend: Destination

    /// Its name.
    static var destination: String { get }
    var store: SQLiteQueue { get }
    var worker: DeliveryWorker<Backend> { get }
    var task: Task<Void, any Error> { get }
    var clock: DrivenClock { get }
}

extension RunningDelivery {
    /// Cancels the worker, waits for its end and closes the file.
    func stop() async throws {
        task.cancel()
        try await task.value
        try await store.close()
    }

    /// The events with one of these names.
    func names(_ names: EventName...) async throws -> [JournalEntry] {
        try await store.events.filter { names.map(\.rawValue).contains($0.name) }
    }

    func eventually(
        _ count: Int, _ name: EventName, sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        try await TestSupport.eventually("\(count) \(name.rawValue)", sourceLocation: sourceLocation) {
            try await names(name).count >= count
        }
    }

    /// Waits until the worker does nothing but wait, for the clock or for records.
    func untilWaiting(sourceLocation: SourceLocation = #_sourceLocation) async throws {
        try await TestSupport.eventually("the worker waits", sourceLocation: sourceLocation) {
            if case .sending = worker.activity { return false }
            return clock.sleeperCount == 1
        }
    }

    /// Waits until the worker has looked at everything and does nothing.
    func untilIdle(sourceLocation: SourceLocation = #_sourceLocation) async throws {
        try await TestSupport.eventually("the worker waits", sourceLocation: sourceLocation) {
            if case .sending = worker.activity { return false }
            return clock.sleeperCount == 1 && !store.routings.wakeUp(for: Self.destination).isRaised
        }
    }
}

/// Where a delivery's test has its files, and its backend.
struct DeliveryPlace {
    let directory: String
    /// The backend's, with a path.
    let url: String
    let transport: HTTPTransport
    let receiver: TestReceiver

    /// The backend's host.
    var host: String { url.replacing("/readings", with: "") }
}

/// Runs a test with a backend that answers so.
func withBackend(
    _ answer: @escaping @Sendable (TestReceiver.Received) -> TestReceiver.Answer,
    _ body: (DeliveryPlace) async throws -> Void
) async throws {
    let receiver = TestReceiver(answer)
    let transport = HTTPTransport()
    let result: Result<Void, any Error>
    do {
        try await withTemporaryDirectory { directory in
            try await receiver.run { url in
                try await body(
                    DeliveryPlace(directory: directory, url: url, transport: transport, receiver: receiver))
            }
        }
        result = .success(())
    } catch {
        result = .failure(error)
    }
    try await transport.shutdown()
    try result.get()
}

extension SQLiteQueue {
    /// Adds records that wait to be delivered.
    func fill(_ added: [Record]) async throws {
        for record in added {
            try await add(record)
            try await records.freeze([record])
        }
    }
}

/// A secret that is replaced while a delivery runs.
final class SharedSecret: Sendable {
    private let text: Mutex<String>

    init(_ text: String) { self.text = Mutex(text) }

    var value: String { text.withLock { $0 } }
    func replace(by other: String) { text.withLock { $0 = other } }
}
