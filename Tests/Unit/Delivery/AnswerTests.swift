import QueueTestSupport
import Testing

@testable import IngestDelivery

/// What a worker makes of answers that did not come by HTTP.
@Suite struct AnswerTests {
    /// Answers as it is told.
    private struct Scripted: Destination {
        let answer: @Sendable (OutgoingBatch) -> DeliveryAnswer

        func deliver(_ batch: OutgoingBatch) async -> DeliveryAnswer { answer(batch) }
    }

    private struct Running {
        let store: SQLiteQueue
        let worker: DeliveryWorker<Scripted>
        let clock: DrivenClock

        func untilWaiting(sourceLocation: SourceLocation = #_sourceLocation) async throws {
            try await TestSupport.eventually("the worker waits", sourceLocation: sourceLocation) {
                if case .sending = worker.activity { return false }
                return clock.sleeperCount == 1
            }
        }

        func events(_ name: EventName) async throws -> [JournalEntry] {
            try await store.events.filter { $0.name == name.rawValue }
        }

        func eventually(_ count: Int, _ name: EventName, sourceLocation: SourceLocation = #_sourceLocation)
            async throws
        {
            try await TestSupport.eventually("\(count) \(name.rawValue)", sourceLocation: sourceLocation) {
                try await events(name).count >= count
            }
        }
    }

    private func withWorker(
        _ destination: Scripted, ids: [String], order: DeliveryOrder = .strict, maxRecords: Int = 4,
        _ body: (Running) async throws -> Void
    ) async throws {
        try await withTemporaryDirectory { directory in
            let clock = DrivenClock()
            let store = try await SQLiteQueue.open(
                in: directory, clock: clock, destinations: [DestinationRouting(name: "clinic", order: order)])
            try await store.fill(ids)
            let worker = DeliveryWorker(
                name: "clinic", gateway: "box", store: store.batches, destination: destination,
                batching: BatchSettings(maxRecords: maxRecords, maxWait: .zero), clock: clock, random: { 1 },
                events: EventLog(sink: RecordingSink()))
            let task = Task { try await worker.run() }
            try await body(Running(store: store, worker: worker, clock: clock))
            task.cancel()
            try await task.value
            try await store.close()
        }
    }

    @Test func whatIsTakenWithoutAStatusIsToldWithoutOne() async throws {
        try await withWorker(Scripted { _ in .taken() }, ids: ["a", "b"]) { running in
            try await running.eventually(2, .submitted)
            #expect(try await running.events(.submitted).allSatisfy { $0[.httpStatus] == nil })
        }
    }

    @Test func whatIsTooLargeWithoutAStatusIsSetAsideAlone() async throws {
        let destination = Scripted { batch in
            batch.records.contains { $0.contains("large") } ? .tooLarge() : .taken()
        }
        try await withWorker(destination, ids: ["a", "large", "b"]) { running in
            try await running.eventually(2, .submitted)
            try await running.eventually(1, .failed)
            let failed = try await running.events(.failed)
            #expect(failed.map { $0[.error] } == ["too large"])
            #expect(failed.allSatisfy { $0[.httpStatus] == nil })
        }
    }

    @Test func aRejectionWithoutAStatusSaysWhy() async throws {
        let destination = Scripted { _ in .unauthorized(httpStatus: nil, error: "not authorized") }
        try await withWorker(destination, ids: ["a"]) { running in
            try await running.eventually(1, .authRejected)
            let told = try #require(try await running.events(.authRejected).first)
            #expect(told[.httpStatus] == nil && told[.error] == "not authorized")
            #expect(told.message == "clinic rejects the credential (not authorized), records are kept")
        }
    }

    @Test func aBatchThatMayBeAtFaultHoldsUpNoNewReading() async throws {
        let destination = Scripted { batch in
            batch.records.contains { $0.contains("poison") } ? .failing(error: "could not") : .taken()
        }
        try await withWorker(destination, ids: [], order: .fresh, maxRecords: 1) { running in
            try await running.untilWaiting()
            try await running.store.fill(["poison"])
            try await running.eventually(1, .retrying)
            try await running.untilWaiting()
            running.clock.advance(by: .seconds(2))
            try await running.eventually(2, .retrying)
            // From here on the clock stands still: what waits for its time does not go out.
            try await running.store.fill(["new"])
            try await running.eventually(1, .submitted)
            #expect(try await running.events(.destinationDown).map { $0[.error] } == ["could not"])
        }
    }
}
