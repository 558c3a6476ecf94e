import GRDB
import QueueTestSupport
import Testing

@testable import IngestQueue

@Suite struct LaneTests {
    private static let fresh = [DestinationRouting(name: "clinic", order: .fresh)]
    private let clock = DrivenClock()

    private func next(_ store: SQLiteQueue, _ lane: DeliveryLane, maxRecords: Int = 2) async throws
        -> NextBatch
    {
        try await store.next(BatchSettings(maxRecords: maxRecords, maxWait: .zero), lane: lane)
    }

    private func take(_ store: SQLiteQueue, _ next: NextBatch) async throws -> NextBatch {
        guard case .batch(let batch) = next else { throw TimedOut() }
        return try await store.take(batch, BatchSettings(maxRecords: 2, maxWait: .zero))
    }

    /// A queue that was left with these records by an earlier run.
    private func withBacklog(
        _ ids: [String], _ body: (SQLiteQueue, String) async throws -> Void
    ) async throws {
        try await withTemporaryDirectory { directory in
            let before = try await SQLiteQueue.open(in: directory, clock: clock, destinations: Self.fresh)
            try await before.fillAtOnce(ids)
            try await before.close()
            let store = try await SQLiteQueue.open(in: directory, clock: clock, destinations: Self.fresh)
            try await body(store, directory)
            try await store.close()
        }
    }

    private func ahead(_ store: SQLiteQueue) async throws -> [String] {
        try await store.database.read { db in
            try Row.fetchAll(db, sql: "SELECT first, last FROM ahead ORDER BY first").map {
                "\($0["first"] as Int64)-\($0["last"] as Int64)"
            }
        }
    }

    @Test func aNewReadingPassesTheBacklogAndIsNotSentAgainByIt() async throws {
        try await withBacklog(["a", "b", "c"]) { store, _ in
            try await store.fill(["new"])
            let backlog = try await next(store, .backlog)
            #expect(backlog.ids == ["a", "b"])
            let fresh = try await next(store, .fresh)
            #expect(fresh.ids == ["new"])
            #expect(try await ahead(store) == ["4-4"])
            #expect(try await store.counts().destinations[0].pending == 4)
            #expect(try await take(store, fresh) == .nothing)
            #expect(try await store.counts().destinations[0].pending == 3)
            let rest = try await take(store, backlog)
            #expect(rest.ids == ["c"])
            #expect(try await take(store, rest) == .nothing)
            // The backlog has come to the range, which is of no use any more.
            #expect(try await ahead(store).isEmpty)
            #expect(try await store.counts().destinations[0].pending == 0)
        }
    }

    @Test func whatIsNotFreshWhenItIsPickedIsLeftToTheBacklog() async throws {
        try await withBacklog([]) { store, _ in
            try await store.fill(["a"])
            clock.advance(by: .seconds(61))
            try await store.fill(["b"])
            _ = store.routings.wakeUp(for: "clinic").consume()
            #expect(try await next(store, .fresh).ids == ["b"])
            // Who asked for the backlog before that got nothing, and is to ask again.
            #expect(store.routings.wakeUp(for: "clinic").isRaised)
            #expect(try await next(store, .backlog).ids == ["a"])
            #expect(try await ahead(store).isEmpty)
        }
    }

    @Test func theBacklogHasNothingThatTheFreshLaneWasNotAskedFor() async throws {
        try await withBacklog([]) { store, _ in
            try await store.fill(["a"])
            #expect(try await next(store, .backlog) == .nothing)
            #expect(try await next(store, .fresh).ids == ["a"])
        }
    }

    @Test func rangesThatFollowEachOtherAreOne() async throws {
        try await withBacklog(["a"]) { store, _ in
            for id in ["b", "c", "d"] {
                try await store.fill([id])
                _ = try await take(store, try await next(store, .fresh))
            }
            #expect(try await ahead(store) == ["2-4"])
            #expect(try await take(store, try await next(store, .backlog)) == .nothing)
            #expect(try await ahead(store).isEmpty)
        }
    }

    @Test func aLongBacklogIsSentOnceEachAroundWhatWentAhead() async throws {
        try await withBacklog((0..<7).map { "old\($0)" }) { store, directory in
            var sent: [String] = []
            for round in 0..<3 {
                try await store.fill(["new\(round)"])
                let fresh = try await next(store, .fresh)
                sent += fresh.ids ?? []
                _ = try await take(store, fresh)
                clock.advance(by: .seconds(30))
                try await store.fill(["late\(round)"])
                clock.advance(by: .seconds(61))
            }
            try await store.close()
            // A restart, and one lane from now on.
            let strict = try await SQLiteQueue.open(in: directory, clock: clock)
            var batch = try await next(strict, .backlog)
            while let ids = batch.ids {
                sent += ids
                batch = try await take(strict, batch)
            }
            #expect(
                sent == ["new0", "new1", "new2"] + (0..<7).map { "old\($0)" } + ["late0", "late1", "late2"])
            #expect(try await strict.counts().destinations[0].pending == 0)
            try await strict.close()
        }
    }

    @Test func aBatchOfTheFreshLaneIsSentWhenThereIsOneLane() async throws {
        try await withBacklog(["a"]) { store, directory in
            try await store.fill(["new"])
            #expect(try await next(store, .fresh).ids == ["new"])
            try await store.close()
            let strict = try await SQLiteQueue.open(in: directory, clock: clock)
            let first = try await next(strict, .backlog)
            #expect(first.ids == ["new"])
            #expect(try await take(strict, first).ids == ["a"])
            try await strict.close()
        }
    }

    /// What came while the destination was away is stale, and every second record is for another one: to pass over them
    /// costs each of them the same, however many there are.
    @Test func passingOverMuchThatIsStaleOrForOthersCostsEachTheSame() async throws {
        func cost(of count: Int) async throws -> (scan: Int, batch: Int) {
            try await withTemporaryDirectory { directory in
                let store = try await SQLiteQueue.open(
                    in: directory, clock: clock,
                    destinations: [
                        DestinationRouting(name: "clinic", kinds: [.bodyTemperature], order: .fresh)
                    ])
                let records = try (0..<count).map {
                    try record("\($0)", kind: $0.isMultiple(of: 2) ? .bodyTemperature : .heartRate)
                }
                for record in records { try await store.add(record) }
                try await store.records.freeze(records)
                clock.advance(by: .seconds(61))
                let scan = try await store.steps { () async throws in
                    #expect(try await next(store, .fresh) == .nothing)
                }
                #expect(try await ahead(store).count == count / 2)
                var batch = try await next(store, .backlog)
                #expect(batch.ids == ["0", "2"])
                let steps = try await store.steps { batch = try await take(store, batch) }
                #expect(batch.ids == ["4", "6"])
                try await store.close()
                return (scan, steps)
            }
        }
        let (few, many) = (try await cost(of: 100), try await cost(of: 400))
        #expect(many.scan < 5 * few.scan)
        #expect(many.batch == few.batch)
    }

    @Test func composingLooksAtNoMoreThanTheBatch() async throws {
        try await withBacklog((0..<300).map { "old\($0)" }) { store, _ in
            func steps(_ body: () async throws -> Void) async throws -> Int {
                let before = try await store.database.read { db in db.totalChangesCount }
                try await body()
                return try await store.database.read { db in db.totalChangesCount } - before
            }
            var batch = try await next(store, .backlog)
            let first = try await steps { batch = try await take(store, batch) }
            for _ in 0..<100 { batch = try await take(store, batch) }
            let later = try await steps { batch = try await take(store, batch) }
            #expect(first == later)
        }
    }
}
