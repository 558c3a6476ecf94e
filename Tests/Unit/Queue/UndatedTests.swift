import GRDB
import QueueTestSupport
import Testing

@testable import IngestQueue
@testable import IngestRecords

/// Records that wait for the gateway's clock.
@Suite(.timeLimit(.minutes(15))) struct UndatedTests {
    private static let settings = BatchSettings(maxWait: .zero)

    /// A clock that shows a wall time and is not known to be right.
    private final class DoubtedClock: GatewayClock {
        let base = DrivenClock()

        var now: MonotonicInstant { base.now }
        var wallNanoseconds: Int64 { base.wallNanoseconds }
        var trustedReading: ClockReading? { nil }
        func sleep(until deadline: MonotonicInstant) async throws { try await base.sleep(until: deadline) }
    }

    private static func open(
        _ directory: String, clock: any GatewayClock, bootID: String = "boot-1"
    ) async throws -> SQLiteQueue {
        try await .open(
            path: directory + "/queue.sqlite", bootID: bootID, clock: clock,
            destinations: [DestinationRouting(name: "clinic")])
    }

    /// A live record without a date that came now, and waits.
    private static func undated(
        _ id: String, at clock: any GatewayClock, kind: RecordKind = .bodyTemperature
    ) throws -> IngestRecords.Record {
        var record = try record(id, kind: kind)
        record.time = .undecided(device: nil)
        record.dating = RecordDating(
            reception: .boot(id: "boot-1", instant: clock.now), way: .live, deviceKnown: nil,
            subject: "patient-17", subjectSince: nil)
        return record
    }

    private static func bodies(_ store: SQLiteQueue) async throws -> [String] {
        let next = try await store.next(settings)
        guard case .batch(let batch) = next else { return [] }
        return batch.items.map(\.body)
    }

    /// 2026-11-20T09:15:00Z when the driven clock is at its start.
    private static func time(_ start: Int64, boot: String = "boot-1") -> BootTime {
        BootTime(
            bootID: boot, wallNanoseconds: (start + 1_000) * 1_000_000_000,
            at: MonotonicInstant(nanoseconds: 1_000_000_000_000))
    }

    @Test func aRecordIsDeliveredWhenItHasItsTimeAndNotBefore() async throws {
        try await withTemporaryDirectory { directory in
            let clock = DoubtedClock()
            let store = try await Self.open(directory, clock: clock)
            let first = try Self.undated("a", at: clock)
            try await store.add(first)
            clock.base.advance(by: .seconds(60))
            let second = try Self.undated("b", at: clock)
            try await store.add(second)
            // The first is still in the hands of its link.
            try await store.records.freeze([second])
            #expect(store.undated.undatedWakeUp.consume())
            // What comes with its time goes.
            try await store.fill(["c"])
            #expect(try await store.overview.status(of: []).undated == 2)
            #expect(try await Self.bodies(store).count == 1)

            // 1 795 166 100 is 2026-11-20T09:15:00Z.
            try await store.undated.date(by: Self.time(1_795_165_100), in: .utc)
            #expect(try await store.overview.status(of: []).undated == 1)
            var completed = first
            completed.device.model = "T-1"
            try await store.records.freeze([completed])
            try await store.undated.date(by: Self.time(1_795_165_100), in: .utc)
            let batch = try await store.next(Self.settings)
            guard case .batch(let taken) = batch else { throw TimedOut() }
            let next = try await store.take(taken, Self.settings)
            #expect(next.ids == ["b", "a"])
            let bodies = try await Self.bodies(store)
            for (body, minute) in zip(bodies, ["09:16", "09:15"]) {
                #expect(body.contains(#""stage":"live","time":{"value":"2026-11-20T\#(minute):00+00:00","#))
                #expect(body.contains(#""source":"received","received":"2026-11-20T\#(minute):00Z"}"#))
            }
            #expect(bodies[1].contains(#""subject":"patient-17","device":{"peripheral_id":1002"#))
            #expect(bodies[1].contains(#""model":"T-1""#))
            // What came last in the order of delivery says how late it is at least.
            #expect(try await store.undated.newestDatedCommit() == 1_795_166_100)
            try await store.close()
        }
    }

    @Test func whatAnEarlierBootLeftGetsTheLatestTimeThatItCanHave() async throws {
        try await withTemporaryDirectory { directory in
            let clock = DoubtedClock()
            var store = try await Self.open(directory, clock: clock)
            try await store.add(try Self.undated("left on its link", at: clock))
            try await store.add(try Self.undated("raw", at: clock, kind: .undecoded))
            try await store.close()
            store = try await Self.open(directory, clock: clock, bootID: "boot-2")
            #expect(try await Self.bodies(store).isEmpty)
            try await store.undated.date(by: Self.time(1_795_165_100, boot: "boot-2"), in: .utc)
            let bodies = try await Self.bodies(store)
            #expect(bodies.count == 1)
            #expect(
                bodies.first?.contains(
                    #""time":{"value":"2026-11-20T08:58:20+00:00","source":"unknown","received":"2026-11-20T08:58:20Z"}"#
                ) == true)
            #expect(try await store.overview.status(of: []).undated == 0)
            try await store.close()
        }
    }

    /// It was read before the clock was judged, and its link ended after that.
    @Test func aRecordThatWaitsForAClockOfTheConfigurationIsDatedAtOnce() async throws {
        try await withTemporaryDirectory { directory in
            let clock = DrivenClock()
            let store = try await Self.open(directory, clock: clock)
            let timekeeper = Timekeeper(
                clock: JudgedClock(clock), store: store.undated, zone: LocalZone(.utc),
                sources: Timekeeper.Sources(isSynchronized: { nil }, realTimeClocks: { [] }),
                isConfigured: true, released: 0, events: EventLog(sink: RecordingSink()), told: { _ in })
            let keeping = Task { try await timekeeper.run() }
            // It has judged the clock, and sleeps until it looks again.
            while clock.sleeperCount == 0 { await Task.yield() }
            let late = try Self.undated("late", at: clock)
            try await store.add(late)
            let wakeUp = store.routings.wakeUp(for: "clinic")
            _ = wakeUp.consume()
            try await store.records.freeze([late])
            while try await Self.bodies(store).isEmpty { await wakeUp.wait() }
            keeping.cancel()
            try await keeping.value
            try await store.close()
        }
    }

    @Test func manyGetTheirTimeInTheOrderOfTheirCommits() async throws {
        try await withTemporaryDirectory { directory in
            let clock = DoubtedClock()
            let store = try await Self.open(directory, clock: clock)
            let records = try (0..<450).map { try Self.undated("r\($0)", at: clock) }
            for record in records { try await store.add(record) }
            try await store.records.freeze(records.reversed())
            try await store.undated.date(by: Self.time(1_795_165_100), in: .utc)
            let next = try await store.next(BatchSettings(maxRecords: 1_000, maxWait: .zero))
            #expect(next.ids == records.map(\.id.text))
            try await store.close()
        }
    }

    /// Neither a start nor the look at the clock costs more for it.
    @Test func manyThatWaitAreNeitherRewrittenNorReadUntilTheyHaveTheirTime() async throws {
        func cost(of count: Int) async throws -> (changes: Int, steps: Int) {
            try await withTemporaryDirectory { directory in
                let clock = DoubtedClock()
                let before = try await Self.open(directory, clock: clock)
                try await before.fill(["dated"])
                let records = try (0..<count).map { try Self.undated("r\($0)", at: clock) }
                for record in records { try await before.add(record) }
                try await before.records.freeze(records)
                try await before.close()
                let store = try await Self.open(directory, clock: clock)
                let changes = try await store.database.read { $0.totalChangesCount }
                let steps = try await store.steps { () async throws in
                    #expect(
                        try await store.undated.newestDatedCommit() == clock.wallNanoseconds / 1_000_000_000)
                }
                #expect(try await store.overview.status(of: []).undated == count)
                try await store.close()
                return (changes, steps)
            }
        }
        let (few, many) = (try await cost(of: 10), try await cost(of: 100))
        #expect(few == many)
    }

    @Test func theyAreCountedInAnIndex() async throws {
        try await withTemporaryDirectory { directory in
            let store = try await Self.open(directory, clock: DoubtedClock())
            let plan = try await store.database.read { db in
                try Row.fetchAll(db, sql: "EXPLAIN QUERY PLAN " + UndatedRecords.waitingCount)
                    .map { $0["detail"] as String }
            }
            #expect(plan.contains("SEARCH record USING INDEX record_unfrozen (released>?)"))
            #expect(!plan.contains { $0.contains("SCAN record") })
            try await store.close()
        }
    }

    @Test func aRecordThatChangedUnseenGetsNoTime() async throws {
        try await withTemporaryDirectory { directory in
            let clock = DoubtedClock()
            let store = try await Self.open(directory, clock: clock)
            let record = try Self.undated("a", at: clock)
            try await store.add(record)
            try await store.records.freeze([record])
            try await store.database.write {
                try $0.execute(
                    sql: "UPDATE record SET undated = replace(undated, 'patient-17', 'patient-18')")
            }
            try await store.undated.date(by: Self.time(1_795_165_100), in: .utc)
            #expect(try await Self.bodies(store).isEmpty)
            // It is kept, and nobody waits for it.
            #expect(try await store.counts().destinations[0].dead == 1)
            #expect(try await store.overview.status(of: []).undated == 0)
            #expect(try await store.events.map(\.name) == ["read", "failed"])
            try await store.close()
        }
    }

    @Test func aRecordThatCannotBeReadIsSetAsideAndTheOthersGetTheirTime() async throws {
        try await withTemporaryDirectory { directory in
            let clock = DoubtedClock()
            var store = try await Self.open(directory, clock: clock)
            let records = try ["a", "b", "c"].map { try Self.undated($0, at: clock) }
            for record in records { try await store.add(record) }
            try await store.records.freeze(records)
            let written = try #require(try await Self.undated(of: "b", store))
            // As another version may write it: whole, but not what this one knows.
            try await store.setUndated(written.replacing(#""way":"#, with: #""ways":"#), of: "b")
            let broken = try await Self.undated(of: "b", store)
            for _ in 0..<2 {
                try await store.undated.date(by: Self.time(1_795_165_100), in: .utc)
                let next = try await store.next(Self.settings)
                #expect(next.ids == ["a", "c"])
                let told = try await store.events.filter { $0.name == "store-error" }
                // Once, by its field alone and with nothing of what it holds.
                #expect(told.map { $0[.recordID] } == ["b"])
                let words = try #require(told.first?.message)
                #expect(words.contains("the time of a record cannot") && !words.contains("patient"))
            }
            #expect(try await store.overview.status(of: []).undated == 1)
            #expect(try await Self.undated(of: "b", store) == broken)
            try await store.close()

            // The next start tries it again; a version that can read it gives it its time.
            store = try await Self.open(directory, clock: clock)
            try await store.undated.date(by: Self.time(1_795_165_100), in: .utc)
            #expect(try await store.events.count { $0.name == "store-error" } == 2)
            try await store.setUndated(written, of: "b")
            try await store.close()
            store = try await Self.open(directory, clock: clock)
            try await store.undated.date(by: Self.time(1_795_165_100), in: .utc)
            #expect(try await store.overview.status(of: []).undated == 0)
            #expect(try await store.events.count { $0.name == "store-error" } == 2)
            try await store.close()
        }
    }

    private static func undated(of id: String, _ store: SQLiteQueue) async throws -> String? {
        try await store.database.read {
            try String.fetchOne($0, sql: "SELECT undated FROM record WHERE id = ?", arguments: [id])
        }
    }

    @Test(arguments: [RecordTable.forgottenRecords.replacing("?", with: "1"), RecordTable.leftRecords])
    func onlyRecordsInTheHandsOfTheirLinksAreLookedAt(query: String) async throws {
        try await withTemporaryDirectory { directory in
            let store = try await Self.open(directory, clock: DoubtedClock())
            let plan = try await store.database.read { db in
                try Row.fetchAll(db, sql: "EXPLAIN QUERY PLAN " + query).map { $0["detail"] as String }
            }
            #expect(plan == ["SEARCH record USING INDEX record_unfrozen (released=?)"])
            try await store.close()
        }
    }

    @Test func aStepOfTheClockReleasesNoRecordOfALinkThatGoesOn() async throws {
        try await withTemporaryDirectory { directory in
            let clock = DrivenClock()
            let store = try await SQLiteQueue.open(in: directory, clock: clock)
            try await store.add(try record("on a link"))
            clock.step(by: .seconds(1_000_000_000))
            try await store.fill(["a"])
            #expect(try await Self.bodies(store).count == 1)
            // 10 min later it was forgotten, whatever the wall clock shows.
            clock.step(by: .seconds(-1_000_000_000))
            clock.advance(by: .seconds(601))
            try await store.fill(["b"])
            let batch = try await store.next(Self.settings)
            guard case .batch(let taken) = batch else { throw TimedOut() }
            let next = try await store.take(taken, Self.settings)
            #expect(next.ids == ["b", "on a link"])
            try await store.close()
        }
    }

    // MARK: Since when people are known

    @Test(
        arguments: [
            // the boot in which the time is known, since when the person is, in seconds after its start
            ("boot-1", 1_000), ("boot-2", 0),
        ] as [(String, Int64)])
    func aPersonWhoCameBeforeTheTimeWasKnownIsKnownSinceThen(boot: String, after: Int64) async throws {
        try await withTemporaryDirectory { directory in
            let clock = DoubtedClock()
            let entry = SampleCuff.entry(subject: "anna")
            var store = try await Self.open(directory, clock: clock)
            try await store.devices.noteFirstSeen([entry])
            let came = NotedMoment.boot(id: "boot-1", instant: clock.now)
            clock.base.advance(by: .seconds(500))
            let noted = FirstSeen(device: came, subjects: [nil: came])
            #expect(try await store.devices.firstSeen(of: [entry]) == [noted])
            try await store.close()

            store = try await Self.open(directory, clock: clock, bootID: boot)
            #expect(try await store.devices.firstSeen(of: [entry]) == [noted])
            let start: Int64 = 1_795_165_100
            try await store.undated.date(by: Self.time(start, boot: boot), in: .utc)
            #expect(
                try await store.devices.firstSeen(of: [entry])
                    == [FirstSeen(device: start + after, subjects: [nil: start + after])])
            try await store.close()
        }
    }

    @Test func whatTheClockWasFoundToBeHoldsForOneBoot() async throws {
        try await withTemporaryDirectory { directory in
            let clock = DrivenClock()
            var store = try await SQLiteQueue.open(in: directory, clock: clock)
            #expect(try await store.undated.foundLead() == nil)
            try await store.undated.noteFound(lead: 1)
            try await store.undated.noteFound(lead: 2)
            #expect(try await store.undated.foundLead() == 2)
            try await store.close()
            store = try await SQLiteQueue.open(in: directory, clock: clock, bootID: "boot-2")
            #expect(try await store.undated.foundLead() == nil)
            #expect(try await store.undated.newestDatedCommit() == nil)
            try await store.close()
        }
    }
}

extension SQLiteQueue {
    /// Writes what decides a record's time as if it had been written so.
    fileprivate func setUndated(_ text: String, of id: String) async throws {
        try await database.write { db in
            let row = try #require(
                try Row.fetchOne(db, sql: "SELECT * FROM record WHERE id = ?", arguments: [id]))
            let checksum = RecordRow.checksum(
                id: id, kind: row["kind"], payload: row["payload"], body: row["body"], undated: text)
            try db.execute(
                sql: "UPDATE record SET undated = ?, checksum = ? WHERE id = ?",
                arguments: [text, checksum, id])
        }
    }
}
