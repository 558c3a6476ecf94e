import FoundationEssentials
import GRDB
import QueueTestSupport
import Testing

@testable import IngestQueue

@Suite struct RetentionTests {
    private let clock = DrivenClock()
    private let settings = BatchSettings(maxRecords: 2, maxWait: .zero)

    /// Delivers what waits for a destination; the record named `bad` is refused.
    private func deliver(_ store: SQLiteQueue, to name: String = "clinic") async throws {
        var next = try await store.next(settings, for: name)
        while case .batch(let batch) = next {
            if batch.items.contains(where: { $0.header.id.text == "bad" }) {
                next =
                    batch.items.count == 1
                    ? try await store.batches.setAside(
                        batch, httpStatus: 400, attempt: 1, reason: "HTTP 400", reply: nil,
                        settings: settings,
                        gateway: "box")
                    : try await store.batches.split(batch, settings: settings, gateway: "box")
            } else {
                next = try await store.take(batch, settings)
            }
        }
    }

    private func ids(_ store: SQLiteQueue) async throws -> [String] {
        try await store.database.read { try String.fetchAll($0, sql: "SELECT id FROM record ORDER BY seq") }
    }

    @Test func whatEveryDestinationHasIsDroppedAndStaysKnown() async throws {
        let both = [DestinationRouting(name: "clinic"), DestinationRouting(name: "home")]
        try await withQueue(clock, destinations: both) { store in
            try await store.fill(["a", "b", "c"])
            try await deliver(store)
            try await store.retireAll()
            #expect(try await ids(store) == ["a", "b", "c"])
            try await deliver(store, to: "home")
            try await store.fill(["d"])
            try await store.retireAll()
            #expect(try await ids(store) == ["d"])
            #expect(try await store.add(try record("b")) == .duplicate(RecordID(text: "b")))
            try await deliver(store)
            #expect(try await store.counts().destinations.map(\.delivered) == [4, 3])
        }
    }

    /// Drops what is old enough, which everything is.
    private func retireOld(_ store: SQLiteQueue) async throws {
        var step = Retention.Retirement(position: 0)
        repeat {
            step = try await store.retention.retire(keeping: Int64.max...Int64.max, after: step.position)
        } while !step.isDone
    }

    @Test func whatIsOwedToADestinationThatWasTakenOutIsKept() async throws {
        let clinic = DestinationRouting(name: "clinic")
        let home = DestinationRouting(name: "home")
        try await withTemporaryDirectory { directory in
            func open(_ destinations: DestinationRouting...) async throws -> SQLiteQueue {
                try await SQLiteQueue.open(in: directory, clock: clock, destinations: destinations)
            }
            let both = try await open(clinic, home)
            try await both.fill(["a"])
            try await deliver(both)
            try await deliver(both, to: "home")
            try await both.fill(["b", "c"])
            let elsewhere = try record("elsewhere")
            _ = try await both.records.commit(
                RecordSubmission(
                    record: elsewhere, repetition: .identified, received: clock.now, decodeError: nil,
                    destinations: ["clinic"]))
            try await both.records.freeze([elsewhere])
            try await deliver(both)
            #expect(try await both.destinations.absent().isEmpty)
            try await both.close()

            // What comes after it was taken out is not owed to it, however often the gateway starts.
            for id in ["d", "e"] {
                let one = try await open(clinic)
                let absent = try await one.destinations.absent()
                #expect(absent.map(\.name) == ["home"] && absent.map(\.owed) == [2])
                #expect(
                    try await one.counts().destinations.filter { $0.state == .up }.map(\.name) == [
                        "clinic"
                    ])
                try await one.fill([id])
                try await deliver(one)
                try await retireOld(one)
                #expect(try await ids(one) == ["b", "c"])
                try await one.close()
            }

            let again = try await open(clinic, home)
            #expect(try await again.destinations.absent().isEmpty)
            let next = try await again.next(settings, for: "home")
            #expect(next.ids == ["b", "c"])
            try await again.close()

            // One that left with a batch is owed that batch.
            let last = try await open(clinic)
            #expect(try await last.destinations.absent().map(\.owed) == [2])
            try await retireOld(last)
            #expect(try await ids(last) == ["b", "c"])
            // Where there is no room, reading comes first.
            #expect(try await last.retention.retire(keeping: nil, after: 0).isDone)
            #expect(try await ids(last).isEmpty)
            try await last.close()
            let without = try await open(clinic, home)
            let nothing = try await without.next(settings, for: "home")
            #expect(nothing == .nothing)
            #expect(try await without.events.allSatisfy { $0.name != "store-error" })
            try await without.close()
        }
    }

    @Test func whatIsInABatchOrSetAsideIsKept() async throws {
        try await withQueue(clock) { store in
            try await store.fill(["a", "bad", "c"])
            let next = try await store.next(settings)
            #expect(next.ids == ["a", "bad"])
            try await store.retireAll()
            #expect(try await ids(store) == ["a", "bad", "c"])
            try await deliver(store)
            try await store.retireAll()
            #expect(try await ids(store) == ["bad"])
        }
    }

    /// Whatever stays, one step looks at so many records and no more, and the next goes on from there.
    @Test func eachStepLooksAtSoManyRecordsAndNoMore() async throws {
        func cost(staying count: Int) async throws -> [Int] {
            try await withTemporaryDirectory { directory in
                let store = try await SQLiteQueue.open(in: directory, clock: clock)
                try await store.fillAtOnce((0..<count).map { "\($0)" })
                try await deliver(store)
                try await store.database.write { db in
                    try db.execute(
                        sql: """
                            INSERT INTO dead_letter (destination, record_seq, attempt, error, failed_ns)
                            SELECT 'clinic', seq, 1, 'HTTP 400', 0 FROM record
                            """)
                }
                try await store.fill(["new"])
                try await deliver(store)
                var step = Retention.Retirement(position: 0)
                var costs: [Int] = []
                while !step.isDone {
                    let before = step.position
                    costs.append(
                        try await store.steps {
                            step = try await store.retention.retire(
                                keeping: nil, after: before, lookingAt: 20)
                        })
                    #expect(step.position <= before + 20)
                }
                #expect(try await ids(store) == (0..<count).map { "\($0)" })
                try await store.close()
                return costs
            }
        }
        let (few, many) = (try await cost(staying: 50), try await cost(staying: 150))
        #expect(few.count == 3 && many.count == 8)
        #expect(try #require(many.max()) <= few[0] + 5)
    }

    @Test func whatClaimsToBeFromTheFutureHoldsNothingUp() async throws {
        try await withQueue(clock) { store in
            try await store.fill(["a"])
            clock.step(by: .seconds(1_000_000_000))
            try await store.fill(["late"])
            clock.step(by: .seconds(-1_000_000_000))
            try await store.fill(["b"])
            clock.advance(by: .seconds(100))
            try await store.fill(["new", "newer"])
            try await deliver(store)
            let now = clock.wallNanoseconds
            let step = try await store.retention.retire(keeping: (now - 50_000_000_000)...now, after: 0)
            #expect(step == Retention.Retirement(dropped: 2, position: 3, isDone: true))
            #expect(try await ids(store) == ["late", "new", "newer"])
        }
    }

    @Test func whatWentAheadOfABacklogWaitsForIt() async throws {
        try await withTemporaryDirectory { directory in
            let routing = [DestinationRouting(name: "clinic", order: .fresh)]
            let before = try await SQLiteQueue.open(in: directory, clock: clock, destinations: routing)
            try await before.fill(["old"])
            try await before.close()
            let store = try await SQLiteQueue.open(in: directory, clock: clock, destinations: routing)
            try await store.fill(["new"])
            let fresh = try await store.next(settings, lane: .fresh)
            guard case .batch(let batch) = fresh else { throw TimedOut() }
            try await store.take(batch, settings)
            try await store.retireAll()
            #expect(try await ids(store) == ["old", "new"])
            try await deliver(store)
            try await store.retireAll()
            #expect(try await ids(store).isEmpty)
            try await store.close()
        }
    }

    @Test func whatCouldNotBeDecodedIsKept() async throws {
        try await withQueue(clock) { store in
            let raw = try record("raw", kind: .undecoded)
            try await store.add(raw)
            try await store.records.freeze([raw])
            try await store.fill(["a"])
            try await deliver(store)
            try await store.retireAll()
            #expect(try await ids(store) == ["raw"])
        }
    }

    @Test func aStoredReadingWithoutADateIsKnownAfterItsRecordIsGone() async throws {
        try await withQueue(clock) { store in
            func commit(_ id: String, ordinal: Int) async throws -> CommitOutcome {
                try await store.records.commit(
                    RecordSubmission(
                        record: try record(id), repetition: .storedUndated(ordinal: ordinal),
                        received: clock.now, decodeError: nil))
            }
            #expect(try await commit("first", ordinal: 0) == .committed(RecordID(text: "first")))
            #expect(try await commit("second", ordinal: 1) == .committed(RecordID(text: "second")))
            try await store.records.freeze([try record("first"), try record("second")])
            try await deliver(store)
            try await store.retireAll()
            #expect(try await ids(store).isEmpty)
            // The memory is read again: two that are known, and a third equal one that is new.
            for ordinal in 0..<2 {
                guard case .duplicate = try await commit("again\(ordinal)", ordinal: ordinal) else {
                    Issue.record("a reading that is known made a record")
                    continue
                }
            }
            #expect(try await commit("third", ordinal: 2) == .committed(RecordID(text: "third")))
        }
    }

    /// What a sensor broadcasts for years must not fill the queue with ids.
    @Test func noIdIsKeptThatCannotComeAgain() async throws {
        try await withQueue(clock) { store in
            let repetitions: [(String, RecordSubmission.Repetition)] = [
                ("dated", .identified), ("notified", .undatedNotification),
                ("indicated", .undatedIndication(isFirstOnLink: true)), ("stored", .stored),
                ("undated", .storedUndated(ordinal: 0)),
            ]
            for (id, repetition) in repetitions {
                let record = try record(id)
                let submission = RecordSubmission(
                    record: record, repetition: repetition, received: clock.now, decodeError: nil)
                #expect(try await store.records.commit(submission) == .committed(record.id))
                try await store.records.freeze([record])
            }
            try await deliver(store)
            try await store.retireAll()
            #expect(try await ids(store).isEmpty)
            let kept = try await store.database.read {
                try $0.retainedIDs
            }
            #expect(kept == ["dated", "stored", "undated"])
            // The one whose confirmation may not have arrived is known all the same.
            let again = RecordSubmission(
                record: try record("again"), repetition: .undatedIndication(isFirstOnLink: true),
                received: clock.now, decodeError: nil)
            #expect(try await store.records.commit(again) == .duplicate(RecordID(text: "indicated")))
        }
    }

    @Test func theNewestNumberedRecordOfADeviceIsKept() async throws {
        try await withQueue(clock) { store in
            let address = try #require(BluetoothAddress("F1:F1:F1:F1:F1:F1"))
            for number in 1...3 {
                var numbered = try record("n\(number)", kind: .glucose, bytes: [UInt8(number)])
                numbered.sequence = number
                try await store.add(numbered)
                try await store.records.freeze([numbered])
            }
            try await deliver(store)
            try await store.retireAll()
            #expect(try await ids(store) == ["n3"])
            let known = try await store.records.record(numbered: 3, kind: .glucose, of: address)
            #expect(known?.bytes == [3])
        }
    }

    @Test func theFileShrinks() async throws {
        try await withTemporaryDirectory { directory in
            let store = try await SQLiteQueue.open(in: directory, clock: clock)
            try await store.fillAtOnce((0..<500).map { "record-\($0)" })
            try await deliver(store)
            try await store.outbox.markOutbox(through: Int64.max)
            let before = try await store.retention.usedBytes()
            try await store.retireAll()
            let after = try await store.retention.usedBytes()
            #expect(after < before / 2)
            try await store.retention.giveBackSpace()
            let free = try await store.database.read { try Int.fetchOne($0, sql: "PRAGMA freelist_count") }
            #expect(free == 0)
            try await store.close()
            let size = try #require(
                try FileManager.default.attributesOfItem(atPath: directory + "/queue.sqlite")[.size]
                    as? UInt64)
            #expect(size < before / 2)
        }
    }
}
