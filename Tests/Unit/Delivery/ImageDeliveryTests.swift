import FoundationEssentials
import QueueTestSupport
import Synchronization
import Testing

@testable import IngestDelivery

/// What images are answered, and what of that concerns readings: nothing.
@Suite struct ImageDeliveryTests {
    /// Answers readings and images as a test says.
    private final class Backend: Destination {
        private struct State {
            var answers: (readings: DeliveryAnswer, images: DeliveryAnswer)
            var requests: [String] = []
        }
        private let state: Mutex<State>

        init(images: DeliveryAnswer) {
            state = Mutex(State(answers: (.taken(httpStatus: 200), images)))
        }

        var takesImages: Bool { true }
        /// Of each request the ids, or that it was an image.
        var requests: [String] { state.withLock { $0.requests } }
        func answer(readings: DeliveryAnswer) { state.withLock { $0.answers.readings = readings } }
        func answer(images: DeliveryAnswer) { state.withLock { $0.answers.images = images } }

        func deliver(_ batch: OutgoingBatch) async -> DeliveryAnswer {
            state.withLock { state in
                let ids = batch.records.compactMap { RecordContent(json: $0)?.id }
                state.requests.append(batch.image == nil ? ids.joined(separator: " ") : "image")
                return batch.image == nil ? state.answers.readings : state.answers.images
            }
        }
    }

    private struct Running: RunningDelivery {
        static let destination = "clinic"

        let store: SQLiteQueue
        let worker: DeliveryWorker<Backend>
        let task: Task<Void, any Error>
        let clock: DrivenClock
    }

    /// What holds an image, and for how many seconds.
    private static let held: [(DeliveryAnswer, Int)] = [
        (.unauthorized(httpStatus: 401), 1), (.misplaced(httpStatus: 307, error: "redirects"), 1),
        (.busy(httpStatus: 429, error: "HTTP 429", retryAfter: .seconds(900)), 900),
        (.unavailable(httpStatus: 503, error: "HTTP 503", retryAfter: .seconds(900)), 900),
        (.inProgress(httpStatus: 409, retryAfter: .seconds(900)), 900),
    ]

    private let bench = ImageBench()

    /// Runs a gateway's part with an entry and its image waiting.
    private func run(
        _ backend: Backend, order: DeliveryOrder = .strict, maxWait: Duration = .zero,
        _ body: (Running) async throws -> Void
    ) async throws {
        let routing = DestinationRouting(name: "clinic", order: order, takesImages: true)
        try await bench.withStore([routing]) { store, _ in
            _ = try await store.entries.enter([bench.entered()], image: bench.image())
            let worker = DeliveryWorker(
                name: "clinic", gateway: "box", store: store.batches, destination: backend,
                batching: BatchSettings(maxRecords: 100, maxWait: maxWait), clock: bench.clock,
                random: { 1 }, events: EventLog(sink: RecordingSink()))
            let running = Running(
                store: store, worker: worker, task: Task { try await worker.run() }, clock: bench.clock)
            try await body(running)
            running.task.cancel()
            try await running.task.value
        }
    }

    private func id(_ number: Int64) throws -> String { try bench.entered(number).id.text }

    /// At the same moment of the clock.
    private func expectReadingsPass(_ running: Running, _ backend: Backend) async throws {
        for number in 1...3 as ClosedRange<Int64> {
            _ = try await running.store.entries.enter([bench.entered(number)])
            try await running.eventually(Int(number) + 1, .submitted)
        }
        #expect(try backend.requests == [id(0), "image", id(1), id(2), id(3)])
        #expect(
            try await running.names(.destinationDown, .authRejected, .destinationMisconfigured, .failed)
                .isEmpty)
    }

    @Test(arguments: DeliveryOrder.allCases, held)
    func anImageThatIsHeldHoldsNoReading(
        order: DeliveryOrder, held: (answer: DeliveryAnswer, seconds: Int)
    ) async throws {
        let answer = held.answer
        let backend = Backend(images: answer)
        try await run(backend, order: order) { running in
            try await running.eventually(1, .retrying)
            try await expectReadingsPass(running, backend)
            try await running.untilIdle()
            // Its wait begins anew neither for readings nor for what they did.
            backend.answer(images: .taken(httpStatus: 201))
            running.clock.advance(by: .seconds(held.seconds) - .milliseconds(1))
            try await running.untilIdle()
            #expect(backend.requests.count == 5)
            running.clock.advance(by: .milliseconds(1))
            try await running.eventually(1, .mediaSubmitted)
            #expect(backend.requests.last == "image")
        }
    }

    @Test(arguments: DeliveryOrder.allCases)
    func anImageThatDoesNotGetThroughHoldsNoReadingAndIsSetAside(order: DeliveryOrder) async throws {
        let backend = Backend(
            images: .unavailable(httpStatus: nil, error: "no answer in time", retryAfter: nil))
        try await run(backend, order: order) { running in
            try await running.eventually(1, .retrying)
            try await expectReadingsPass(running, backend)
            while try await running.names(.mediaFailed).isEmpty {
                try await running.untilWaiting()
                running.clock.advance(by: .seconds(300))
            }
            #expect(try await running.names(.mediaFailed).map { $0[.attempt] } == ["50"])
            #expect(backend.requests.count { $0 == "image" } == 50)
            #expect(try await running.names(.destinationDown).isEmpty)
        }
    }

    /// What an operator can mend costs no image.
    @Test func anImageWhoseCredentialIsRejectedIsNeverSetAside() async throws {
        let backend = Backend(images: .unauthorized(httpStatus: 401))
        try await run(backend) { running in
            for count in 1...60 {
                try await eventually("request \(count)") {
                    backend.requests.count { $0 == "image" } == count
                }
                try await running.untilIdle()
                running.clock.advance(by: .seconds(900))
            }
            #expect(try await running.names(.mediaFailed, .authRejected).isEmpty)
            // Another credential, or configuration, has it tried at once.
            try await eventually("one more") { backend.requests.count { $0 == "image" } == 61 }
            try await running.untilIdle()
            backend.answer(images: .taken(httpStatus: 201))
            running.worker.retryNow()
            try await running.eventually(1, .mediaSubmitted)
        }
    }

    @Test(arguments: [
        DeliveryAnswer.unauthorized(httpStatus: 401),
        .unavailable(httpStatus: 503, error: "HTTP 503", retryAfter: nil), .failing(error: "no"),
    ])
    func whatHoldsReadingsHoldsImages(answer: DeliveryAnswer) async throws {
        let backend = Backend(images: .taken(httpStatus: 201))
        backend.answer(readings: answer)
        try await run(backend, order: .fresh) { running in
            try await eventually("the first request") { !backend.requests.isEmpty }
            for _ in 1...5 {
                try await running.untilIdle()
                running.clock.advance(by: .seconds(300))
            }
            #expect(!backend.requests.contains("image"))
            backend.answer(readings: .taken(httpStatus: 200))
            running.worker.retryNow()
            try await running.eventually(1, .mediaSubmitted)
            #expect(backend.requests.suffix(2) == [try id(0), "image"])
        }
    }

    @Test func noImageGoesWhileAReadingWaitsForCompany() async throws {
        let backend = Backend(images: .busy(httpStatus: 429, error: "HTTP 429", retryAfter: .seconds(60)))
        try await run(backend, maxWait: .seconds(90)) { running in
            try await running.untilIdle()
            #expect(backend.requests.isEmpty)
            running.clock.advance(by: .seconds(90))
            try await running.eventually(1, .retrying)
            #expect(try backend.requests == [id(0), "image"])
            backend.answer(images: .taken(httpStatus: 201))
            _ = try await running.store.entries.enter([bench.entered(1)])
            try await running.untilIdle()
            // The image's time has come, and the reading's has not.
            running.clock.advance(by: .seconds(80))
            try await running.untilIdle()
            #expect(backend.requests.count == 2)
            running.clock.advance(by: .seconds(10))
            try await running.eventually(1, .mediaSubmitted)
            #expect(try backend.requests == [id(0), "image", id(1), "image"])
        }
    }

    /// A server that takes images no more says nothing of the readings' place.
    @Test(arguments: [403, 404, 405, 410])
    func aRefusalOfImagesSetsThemAside(status: Int) async throws {
        let backend = Backend(
            images: status == 403
                ? .unauthorized(httpStatus: status) : .misplaced(httpStatus: status, error: "HTTP \(status)"))
        try await run(backend) { running in
            try await running.eventually(1, .mediaFailed)
            #expect(try await running.names(.mediaFailed).map { $0[.httpStatus] } == ["\(status)"])
            #expect(try await running.names(.authRejected, .destinationMisconfigured, .retrying).isEmpty)
        }
    }
}
