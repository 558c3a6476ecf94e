import GRDB
import QueueTestSupport
import Testing

@testable import IngestQueue

@Suite struct RestartTests {
    typealias Answer = TestReceiver.Answer

    @Test func theBatchInFlightGoesOutAgainWithTheSameBytesAndKey() async throws {
        try await withHarness(Answer(status: 200, hangs: true)) { harness, receiver in
            let first = try await harness.start(ids: ["a", "b"])
            try await eventually("the first request") { receiver.received.count == 1 }
            // More records, another limit: the stored composition stands.
            try await first.store.fill(["c"])
            try await first.stop()
            #expect(harness.sink.names.isEmpty)

            receiver.change { _ in Answer(status: 200) }
            let second = try await harness.start(batching: BatchSettings(maxRecords: 1, maxWait: .zero))
            try await second.eventually(3, .submitted)
            #expect(try receiver.received.map { try $0.ids } == [["a", "b"], ["a", "b"], ["c"]])
            #expect(receiver.received[0].body == receiver.received[1].body)
            #expect(receiver.received[0].key == receiver.received[1].key)
            try await second.stop()
        }
    }

    @Test func aDestinationThatWasDownIsToldOnceAcrossRestarts() async throws {
        try await withHarness(Answer(status: 503)) { harness, receiver in
            let first = try await harness.start(ids: ["a"])
            try await first.eventually(1, .retrying)
            try await first.stop()
            let second = try await harness.start()
            try await second.eventually(2, .retrying)
            try await second.untilWaiting()
            receiver.change { _ in Answer(status: 200) }
            harness.clock.advance(by: .seconds(1))
            try await second.eventually(1, .submitted)
            #expect(try await second.count(.destinationDown) == 1)
            #expect(try await second.count(.destinationUp) == 1)
            // Attempts go on counting.
            let submitted = try await second.store.events.last { $0.name == "submitted" }
            #expect(submitted?[.attempt] == "3")
            try await second.stop()
        }
    }

    @Test func aStoreThatFailsEndsTheWorkerAndIsTold() async throws {
        try await withHarness(Answer(status: 200)) { harness, _ in
            let running = try await harness.start()
            try await running.store.database.write { try $0.execute(sql: "DROP TABLE batch") }
            try await running.store.fill(["a"])
            await #expect(throws: StoreError.self) { try await running.task.value }
            #expect(harness.sink.names == ["store-error"])
            try await running.store.close()
        }
    }
}
