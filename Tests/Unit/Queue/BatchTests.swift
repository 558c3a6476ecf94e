import GRDB
import QueueTestSupport
import Testing

@testable import IngestQueue

@Suite struct BatchTests {
    let settings = BatchSettings(maxRecords: 3, maxWait: .seconds(2))

    @Test func aBatchWaitsForCompanyFromTheFirstRecordOn() async throws {
        try await withTemporaryDirectory { directory in
            let clock = DrivenClock()
            let store = try await SQLiteQueue.open(in: directory, clock: clock)
            let start = clock.now
            try await store.fill(["a"])
            clock.advance(by: .seconds(1))
            try await store.fill(["b"])
            func next() async throws -> NextBatch {
                try await store.next(settings)
            }
            #expect(try await next() == .waiting(until: start + .seconds(2)))
            clock.advance(by: .seconds(1))
            #expect(try await next().ids == ["a", "b"])
            // Its composition stands, whatever comes.
            try await store.fill(["c"])
            #expect(try await next().ids == ["a", "b"])
            try await store.close()
        }
    }

    @Test func aFullBatchDoesNotWait() async throws {
        try await withQueue { store in
            try await store.fill(["a", "b", "c", "d"])
            let next = try await store.next(settings)
            #expect(next.ids == ["a", "b", "c"])
        }
    }

    @Test func recordsGoInTheOrderInWhichTheyWereFrozen() async throws {
        try await withTemporaryDirectory { directory in
            let clock = DrivenClock()
            let store = try await SQLiteQueue.open(in: directory, clock: clock)
            let (a, b) = (try record("a"), try record("b"))
            try await store.add(a)
            try await store.add(b)
            try await store.records.freeze([b])
            try await store.records.freeze([a])
            clock.advance(by: .seconds(2))
            let next = try await store.next(settings)
            #expect(next.ids == ["b", "a"])
            try await store.close()
        }
    }

    @Test func theCompletedDeviceBlockIsDelivered() async throws {
        try await withTemporaryDirectory { directory in
            let clock = DrivenClock()
            let store = try await SQLiteQueue.open(in: directory, clock: clock)
            try await store.add(try record("a"))
            try await store.records.freeze([try record("a", model: "T-1")])
            clock.advance(by: .seconds(2))
            let batch = try #require(try await store.next(settings).batch)
            #expect(batch.items[0].body == (try record("a", model: "T-1").json))
            try await store.close()
        }
    }

    @Test func aDestinationGetsWhatItsConditionsAdmit() async throws {
        let routings = [
            DestinationRouting(name: "kinds", kinds: [.bloodPressure]),
            DestinationRouting(name: "models", peripherals: [.model(1001)]),
            DestinationRouting(name: "aliases", peripherals: [.alias("kitchen")]),
        ]
        try await withQueue(destinations: routings) { store in
            let records = [
                try record("a", kind: .bloodPressure),
                try record("b", peripheralID: 1001),
                try record("c", alias: "kitchen"),
            ]
            for record in records { try await store.add(record) }
            try await store.records.freeze(records)
            for (name, id) in [("kinds", "a"), ("models", "b"), ("aliases", "c")] {
                let next = try await store.next(for: name)
                #expect(next.ids == [id], "\(name)")
            }
            let counts = try await store.counts()
            #expect(counts.destinations.map(\.pending) == [1, 1, 1])
        }
    }

    @Test func aRecordGoesWhereItWasMeantForWhateverTheConfigurationSaysLater() async throws {
        let both = [DestinationRouting(name: "clinic"), DestinationRouting(name: "home")]
        try await withTemporaryDirectory { directory in
            let clock = DrivenClock()
            let record = try record("a")
            do {
                let store = try await SQLiteQueue.open(in: directory, clock: clock, destinations: both)
                _ = try await store.records.commit(
                    RecordSubmission(
                        record: record, repetition: .identified, received: clock.now, decodeError: nil,
                        destinations: ["clinic"]))
                try await store.records.freeze([record])
                try await store.close()
            }
            let store = try await SQLiteQueue.open(in: directory, clock: clock, destinations: both)
            #expect(try await store.next(for: "home") == .nothing)
            #expect(try await store.next().ids == ["a"])
            try await store.close()
        }
    }

    @Test func aRecordThatWasNotForADestinationStaysSoWhenItsConditionsChange() async throws {
        try await withTemporaryDirectory { directory in
            var store = try await SQLiteQueue.open(
                in: directory, clock: DrivenClock(),
                destinations: [DestinationRouting(name: "cuffs", kinds: [.bloodPressure])])
            try await store.fill(["temperature"])
            #expect(try await store.next(for: "cuffs") == .nothing)
            try await store.close()
            store = try await SQLiteQueue.open(
                in: directory, clock: DrivenClock(), destinations: [DestinationRouting(name: "cuffs")])
            #expect(try await store.next(for: "cuffs") == .nothing)
            try await store.close()
        }
    }

    @Test func aRecordWhoseReleaseWasForgottenIsReleasedWithALaterOne() async throws {
        try await withTemporaryDirectory { directory in
            let clock = DrivenClock()
            let store = try await SQLiteQueue.open(in: directory, clock: clock)
            try await store.add(try record("forgotten"))
            clock.advance(by: .seconds(601))
            try await store.fill(["later"])
            let next = try await store.next()
            #expect(next.ids == ["later", "forgotten"])
            try await store.close()
        }
    }

    @Test func manyRecordsForOthersArePassedOverOnce() async throws {
        try await withQueue(destinations: [DestinationRouting(name: "cuffs", kinds: [.bloodPressure])]) {
            store in
            let others = try (0..<200).map { try record("other-\($0)") }
            for record in others { try await store.add(record) }
            try await store.records.freeze(others)
            #expect(try await store.next(for: "cuffs") == .nothing)
            let position = try await store.position(of: "cuffs")
            #expect(position == 200)
        }
    }

    @Test func acknowledgingStoresTheNextBatchAtOnce() async throws {
        try await withTemporaryDirectory { directory in
            let clock = DrivenClock()
            let store = try await SQLiteQueue.open(in: directory, clock: clock)
            try await store.fill(["a", "b", "c", "d", "e", "f"])
            let first = try #require(try await store.next(settings).batch)
            let second = try await store.take(first, settings)
            #expect(second.ids == ["d", "e", "f"])
            try await store.close()

            // Another name of the gateway and other settings change nothing in what is stored.
            let again = try await SQLiteQueue.open(in: directory, clock: clock)
            let stored = try await again.batches.nextBatch(
                for: "clinic", settings: BatchSettings(maxRecords: 1), gateway: "renamed")
            #expect(stored == second)
            let submitted = try await again.events.filter { $0.name == "submitted" }
            #expect(submitted.map { $0[.recordID] } == ["a", "b", "c"])
            #expect(submitted.allSatisfy { $0[.httpStatus] == "200" && $0[.destination] == "clinic" })
            #expect(try await again.counts().destinations[0].delivered == 3)
            try await again.close()
        }
    }

    @Test func halvesKeepTheOrder() async throws {
        try await withQueue { store in
            try await store.fill(["a", "b", "c", "d"])
            var next = try await store.next(settings)
            var seen: [[String]] = []
            while case .batch(let batch) = next {
                seen.append(batch.items.map(\.header.id.text))
                next =
                    batch.items.count > 1
                    ? try await store.batches.split(batch, settings: settings, gateway: "box")
                    : try await store.batches.setAside(
                        batch, httpStatus: 400, attempt: 1, reason: "HTTP 400", reply: "no",
                        settings: BatchSettings(maxWait: .zero), gateway: "box")
            }
            #expect(seen == [["a", "b", "c"], ["a", "b"], ["a"], ["b"], ["c"], ["d"]])
            #expect(try await store.counts().destinations[0].dead == 4)
        }
    }
}

extension SQLiteQueue {
    /// How far a destination has got.
    func position(of destination: String) async throws -> Int64? {
        try await database.read { db in
            try Int64.fetchOne(
                db, sql: "SELECT position FROM destination WHERE name = ?", arguments: [destination])
        }
    }
}
