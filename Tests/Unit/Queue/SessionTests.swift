import GRDB
import QueueTestSupport
import Testing

@testable import IngestQueue

/// Whose records a destination gets.
@Suite struct SessionTests {
    private let settings = BatchSettings(maxRecords: 2, maxWait: .zero)
    private let clock = DrivenClock()

    @Test func whatWaitedForTheFirstSignInGoesToIt() async throws {
        try await withQueue(clock) { store in
            try await store.fill(["a"])
            #expect(try await store.sessions.session(of: "clinic") == .none)
            #expect(try await store.sessions.signIn("first", at: "clinic") == 0)
            #expect(try await store.sessions.signIn("first", at: "clinic") == 0)
            #expect(try await store.sessions.session(of: "clinic") == .open(account: "first", number: 1))
            #expect(try await store.events.filter { $0.name == "signed-in" }.count == 1)
            #expect(try await store.next(settings).ids == ["a"])
        }
    }

    @Test func whatWasReadForOnePersonIsNeverDeliveredForAnother() async throws {
        try await withQueue(clock) { store in
            _ = try await store.sessions.signIn("first", at: "clinic")
            try await store.fill(["a", "b", "c"])
            guard case .batch(let sent) = try await store.next(settings) else { throw TimedOut() }
            // One that has no place in the order of delivery yet, too.
            let unreleased = try record("d")
            try await store.add(unreleased)

            #expect(try await store.sessions.signIn("second", at: "clinic") == 4)
            try await store.records.freeze([unreleased])
            try await store.fill(["new"])
            // The answer to what was under way comes too late.
            let afterwards = try await store.take(sent, settings)
            #expect(afterwards.ids == ["new"])
            let counts = try await store.counts().destinations[0]
            #expect(counts.delivered == 0 && counts.dead == 4 && counts.pending == 1)
            let failed = try await store.events.filter { $0.name == "failed" }
            #expect(failed.map { $0[.recordID] } == ["a", "b", "c", "d"])
        }
    }

    @Test func whatIsSetAsideForAnotherPersonIsToldAtOnce() async throws {
        try await withQueue(clock) { store in
            _ = try await store.sessions.signIn("first", at: "clinic")
            try await store.fill(["a"])
            #expect(try await store.sessions.signIn("second", at: "clinic") == 1)
            _ = store.outbox.outboxWakeUp.consume()
            #expect(try await store.next(settings) == .nothing)
            #expect(store.outbox.outboxWakeUp.isRaised)
        }
    }

    @Test func aDamagedRecordOfAnotherPersonIsSetAsideAndToldToo() async throws {
        try await withQueue(clock) { store in
            _ = try await store.sessions.signIn("first", at: "clinic")
            try await store.fill(["a", "b"])
            _ = try await store.sessions.signIn("second", at: "clinic")
            try await store.database.write {
                try $0.execute(sql: "UPDATE record SET kind = 'nothing' WHERE id = 'a'")
            }
            #expect(try await store.next(settings) == .nothing)
            #expect(try await store.counts().destinations[0].dead == 2)
            let told = try await store.events.map(\.name).filter { $0 == "failed" || $0 == "store-error" }
            #expect(told == ["store-error", "failed"])
        }
    }

    @Test func whatWaitsIsClearedWithTheSessionAndCounted() async throws {
        try await withQueue(clock) { store in
            _ = try await store.sessions.signIn("first", at: "clinic")
            try await store.fill(["a", "b", "c"])
            _ = try await store.next(settings)
            let unreleased = try record("d")
            try await store.add(unreleased)
            #expect(try await store.overview.pendingCount(of: "clinic") == 4)
            #expect(try await store.sessions.signOut(of: "clinic") == 4)
            let ended = try await store.events.filter { $0.name == "session-ended" }
            #expect(ended.map { $0[.count] } == ["4"] && ended[0][.httpStatus] == nil)
            #expect(try await store.overview.pendingCount(of: "clinic") == 0)
            try await store.records.freeze([unreleased])
            #expect(try await store.next(settings) == .nothing)
            try await store.fill(["new"])
            #expect(try await store.next(settings).ids == ["new"])
        }
    }

    @Test func whatWaitsIsCountedPieceByPiece() async throws {
        try await withQueue(clock) { store in
            try await fillBehind(delivered: 40, store)
            for limit in [1, 2, 5, 100] {
                #expect(try await store.overview.pendingCount(of: "clinic", lookingAt: limit) == 8)
            }
            try await store.sessions.noteEnd(of: "clinic", httpStatus: 401)
            #expect(try await store.events.last?[.count] == "8")
        }
    }

    /// A 401 must not hold up commits for as long as all that was ever delivered takes to be read.
    @Test func onlyWhatWaitsIsCounted() async throws {
        func cost(behind delivered: Int) async throws -> (count: Int, event: Int) {
            try await withQueue(clock) { store in
                try await fillBehind(delivered: delivered, store)
                let count = try await store.steps { _ = try await store.overview.pendingCount(of: "clinic") }
                let event = try await store.steps {
                    try await store.sessions.noteEnd(of: "clinic", httpStatus: 401)
                }
                return (count, event)
            }
        }
        let (few, many) = (try await cost(behind: 40), try await cost(behind: 400))
        #expect(few == many)
    }

    /// Seven records that wait and one on its link, one that is not for the destination, and before them delivered ones.
    private func fillBehind(delivered: Int, _ store: SQLiteQueue) async throws {
        try await store.fillAtOnce((0..<delivered).map { "old-\($0)" })
        let whole = BatchSettings(maxRecords: delivered, maxWait: .zero)
        let old = try #require(try await store.next(whole).batch)
        try await store.take(old, whole)
        try await store.fillAtOnce((0..<7).map { "new-\($0)" })
        try await store.add(try record("on its link"))
        try await store.add(try record("raw", kind: .undecoded))
        _ = try await store.next(settings)
    }

    @Test func aSessionThatWasEndedStaysSoOverRestarts() async throws {
        try await withTemporaryDirectory { directory in
            let first = try await SQLiteQueue.open(in: directory, clock: clock)
            #expect(
                try await first.sessions.adopt("first", at: "clinic") == .open(account: "first", number: 1))
            try await first.fill(["a"])
            #expect(try await first.sessions.signOut(of: "clinic") == 1)
            #expect(try await first.sessions.signOut(of: "clinic") == 0)
            try await first.fill(["b"])
            try await first.close()

            let second = try await SQLiteQueue.open(in: directory, clock: clock)
            #expect(try await second.sessions.adopt("first", at: "clinic") == .ended(account: "first"))
            #expect(try await second.sessions.signIn("first", at: "clinic") == 0)
            #expect(try await second.sessions.session(of: "clinic") == .open(account: "first", number: 2))
            #expect(try await second.next(settings).ids == ["b"])
            let names = try await second.events.map(\.name).filter { $0 != "read" }
            #expect(names == ["signed-in", "session-ended", "signed-in"])
            try await second.close()
        }
    }

    @Test func anEndIsToldOnceAlsoAfterACredentialThatWasRejected() async throws {
        try await withQueue(clock) { store in
            func reject() async throws {
                try await store.batches.note(
                    .authRejected, of: "clinic",
                    change: .authRejected(destination: "clinic", httpStatus: 401))
            }
            func end() async throws { try await store.sessions.noteEnd(of: "clinic", httpStatus: 400) }
            _ = try await store.sessions.signIn("first", at: "clinic")
            try await reject()
            try await end()
            try await end()
            try await reject()
            try await end()
            let told = ["signed-in", "auth-rejected", "session-ended"]
            #expect(try await store.events.map(\.name) == told)
            _ = try await store.sessions.signIn("first", at: "clinic")
            try await reject()
            try await end()
            #expect(try await store.events.map(\.name) == told + told)
        }
    }

    @Test func whatIsReadAfterASignOutGoesToNobodyElse() async throws {
        try await withQueue(clock) { store in
            _ = try await store.sessions.signIn("first", at: "clinic")
            _ = try await store.sessions.signOut(of: "clinic")
            try await store.fill(["between"])
            #expect(try await store.sessions.adopt("second", at: "clinic") == .ended(account: "first"))
            #expect(try await store.sessions.signIn("second", at: "clinic") == 1)
            try await store.fill(["new"])
            #expect(try await store.next(settings).ids == ["new"])
            #expect(try await store.counts().destinations[0].dead == 1)
        }
    }

    @Test func anotherPersonsSessionIsNotTakenOverAtTheStart() async throws {
        try await withQueue(clock) { store in
            _ = try await store.sessions.signIn("first", at: "clinic")
            #expect(
                try await store.sessions.adopt("second", at: "clinic") == .open(account: "first", number: 1))
        }
    }
}
