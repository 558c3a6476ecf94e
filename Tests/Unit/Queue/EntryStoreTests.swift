import GRDB
import QueueTestSupport
import Testing

@testable import IngestQueue

@Suite struct EntryStoreTests {
    private let clock = DrivenClock()

    private func entered(_ entry: RecordEntry) throws -> EnteredRecord {
        try #require(EnteredRecord(entry, gateway: "box", received: 1_795_166_107))
    }

    @Test func whatIsEnteredTwiceIsThereOnce() async throws {
        try await withQueue(clock) { store in
            let glucose = try entered(SampleEntries.glucose)
            #expect(try await store.entries.enter([glucose]) == [true])
            #expect(try await store.entries.enter([glucose]) == [false])
            #expect(try await store.counts().records == 1)
            let entries = try await store.outbox.outboxEntries(limit: 10).map(\.entry)
            #expect(entries.map(\.name) == ["read", "duplicate-ignored"])
            #expect(entries[0][.kind] == "glucose")
            #expect(entries[0][.peripheralID] == nil)
        }
    }

    @Test func aCommitOfAnImportIsBacklogAndIsToldOnceWithWhatWasNew() async throws {
        try await withTemporaryDirectory { directory in
            let destination = DestinationRouting(name: "clinic", order: .fresh)
            let store = try await SQLiteQueue.open(in: directory, clock: clock, destinations: [destination])
            let steps = try entered(SampleEntries.steps)
            // Twice in one commit, too.
            #expect(try await store.entries.enter([steps, steps]) == [true, false])
            // Nothing came of it.
            #expect(try await store.entries.enter([steps]) == [false])
            let told = try await store.outbox.outboxEntries(limit: 10).map(\.entry)
            #expect(told.map(\.name) == ["imported"])
            #expect(told.first?[.count] == "1")

            let settings = BatchSettings(maxRecords: 10, maxWait: .zero)
            #expect(try await store.next(settings, lane: .fresh) == .nothing)
            let batch = try #require(try await store.next(settings).batch)
            #expect(batch.items.map(\.body) == [steps.body])
            try await store.close()
        }
    }

    @Test func theImportedRecordsOfARequestAreToldTogetherAndAllOthersOneByOne() async throws {
        try await withTemporaryDirectory { directory in
            let store = try await SQLiteQueue.open(
                in: directory, clock: clock, destinations: [DestinationRouting(name: "clinic", order: .fresh)]
            )
            var second = SampleEntries.steps
            second.start += 86_400
            second.end = second.end.map { $0 + 86_400 }
            second.name = second.name.replacing("|1795162500|1795163100|", with: "|1795248900|1795249500|")
            _ = try await store.entries.enter([
                entered(SampleEntries.steps), entered(second), entered(SampleEntries.glucose),
            ])
            let settings = BatchSettings(maxRecords: 10, maxWait: .zero)
            for lane in [DeliveryLane.fresh, .backlog] {
                let batch = try #require(try await store.next(settings, lane: lane).batch)
                _ = try await store.batches.acknowledge(
                    batch, httpStatus: 201, attempt: 1, settings: settings, gateway: "box")
            }
            let told = try await store.outbox.outboxEntries(limit: 10).map(\.entry)
                .filter { $0.name == "submitted" }
            #expect(told.map { $0[.count] } == [nil, "2"])
            #expect(told.map { $0[.kind] } == ["glucose", nil])
            #expect(told.map { $0[.destination] } == ["clinic", "clinic"])
            #expect(told.map { $0[.httpStatus] } == ["201", "201"])
            #expect(told.last?.message == "Submitted 2 imported records to clinic")
            try await store.close()
        }
    }

    @Test func whatWasDeliveredAndDroppedIsNotTakenAgain() async throws {
        try await withQueue(clock, destinations: []) { store in
            let steps = try entered(SampleEntries.steps)
            _ = try await store.entries.enter([steps])
            try await store.database.write { try RecordTable.retire(1, $0) }
            #expect(try await store.counts().records == 0)
            #expect(try await store.entries.enter([steps]) == [false])
        }
    }

    @Test func aFullQueueTakesNone() async throws {
        try await withQueue(clock) { store in
            store.room.refuseRecords(.full)
            await #expect(throws: StoreError.self) {
                try await store.entries.enter([entered(SampleEntries.steps)])
            }
        }
    }
}
