import GRDB
import QueueTestSupport
import Testing

@testable import IngestQueue

/// What is kept of destinations and batches, where it is not what was written.
@Suite struct StandingDamageTests {
    private let settings = BatchSettings(maxRecords: 10, maxWait: .zero)
    private let clock = DrivenClock()

    private func open(_ directory: String) async throws -> SQLiteQueue {
        try await SQLiteQueue.open(in: directory, clock: clock)
    }

    /// A closed queue with a batch of three records, in the session of one person.
    private func fill(_ directory: String) async throws {
        let store = try await open(directory)
        _ = try await store.sessions.signIn("first", at: "clinic")
        try await store.fill(["a", "b", "c"])
        #expect(try await store.next(settings).ids == ["a", "b", "c"])
        try await store.close()
    }

    /// Changes a row to what its table would not take, as a flipped bit does.
    private func flip(_ change: String, in table: String, _ path: String) async throws {
        let database = try DatabaseQueue(path: path)
        let sql = try await database.read {
            try String.fetchOne($0, sql: "SELECT sql FROM sqlite_master WHERE name = ?", arguments: [table])
        }
        try database.close()
        let strict = try #require(sql)
        let loose = strict.replacing(" STRICT,", with: "").replacing(" STRICT", with: "")
            .replacing("NOT NULL", with: "")
        try await setSchema(loose, of: table, path)
        try await MendingTests.change(path, "UPDATE \(table) SET \(change)")
        try await setSchema(strict, of: table, path)
    }

    private func setSchema(_ sql: String, of table: String, _ path: String) async throws {
        let text = sql.replacing("'", with: "''")
        try await MendingTests.change(
            path,
            "PRAGMA writable_schema = 1; UPDATE sqlite_master SET sql = '\(text)' WHERE name = '\(table)'")
    }

    /// It is damage, which is mended at the next start. Nothing is passed over.
    @Test(arguments: [
        ("destination", "position = NULL", true), ("destination", "position = 'x'", true),
        ("destination", "fresh_position = NULL", true), ("destination", "account_seq = NULL", false),
        ("destination", "cleared_seq = 'x'", false), ("destination", "session = NULL", false),
        ("destination", "account = NULL", false), ("batch", "positions = NULL", true),
        ("batch", "positions = '1 x 3'", true), ("batch", "positions = ''", true),
        ("batch", "positions = '2 3'", true), ("batch", "gateway = NULL", true),
        ("batch", "attempts = 'x'", true),
    ])
    func whatIsNotReadableIsMended(table: String, change: String, keepsSession: Bool) async throws {
        try await withTemporaryDirectory { directory in
            let path = directory + "/queue.sqlite"
            try await fill(directory)
            try await flip(change, in: table, path)

            let mended = try await open(directory)
            let told = try await mended.events.filter { $0.name == "store-quarantined" }
            #expect(told.first?.message.contains(": 3 records taken over, 0 lost") == true)
            let session = try await mended.sessions.session(of: "clinic")
            #expect(session == (keepsSession ? .open(account: "first", number: 1) : .ended(account: nil)))
            #expect(try await mended.next(settings).ids == ["a", "b", "c"])
            let failures = try await mended.events.filter { ["store-error", "failed"].contains($0.name) }
            #expect(failures.isEmpty)
            try await mended.close()
        }
    }

    @Test func whatDoesNotDecideAnythingEndsNothing() async throws {
        try await withTemporaryDirectory { directory in
            try await fill(directory)
            try await flip("state = NULL", in: "destination", directory + "/queue.sqlite")
            try await flip("lane = 'back'", in: "batch", directory + "/queue.sqlite")
            let store = try await open(directory)
            #expect(try await store.counts().destinations.map(\.state) == [.up])
            #expect(try await store.counts().destinations[0].pending == 3)
            #expect(try await store.next(settings).ids == ["a", "b", "c"])
            try await store.close()
        }
    }

    @Test func aDeadLetterThatDoesNotSayWhetherItHasSomebodyIsTriedAgain() async throws {
        try await withTemporaryDirectory { directory in
            try await fill(directory)
            var store = try await open(directory)
            let batch = try #require(try await store.next(settings).batch)
            _ = try await store.batches.setAside(
                batch, httpStatus: 400, attempt: 1, reason: "HTTP 400", reply: nil, settings: settings,
                gateway: "box")
            try await store.close()
            try await flip("is_unassigned = NULL", in: "dead_letter", directory + "/queue.sqlite")
            store = try await open(directory)
            #expect(try await store.deadLetters.retry(DeadLetterSelection(), gateway: "box").released == 3)
            try await store.close()
        }
    }

    /// A dead letter that is not taken over would make its record count as delivered.
    @Test func aDeadLetterThatCannotBeTakenIsNotForgotten() async throws {
        try await withTemporaryDirectory { directory in
            let path = directory + "/queue.sqlite"
            let store = try await open(directory)
            try await store.fill(["a"])
            guard case .batch(let batch) = try await store.next(settings) else { throw TimedOut() }
            _ = try await store.batches.setAside(
                batch, httpStatus: 400, attempt: 1, reason: "HTTP 400", reply: nil, settings: settings,
                gateway: "box")
            try await store.close()
            try await flip("attempt = NULL", in: "dead_letter", path)
            QueueFile(path: path).setMark()
            let mended = try await open(directory)
            #expect(try await mended.next(settings).ids == ["a"])
            try await mended.close()
        }
    }
}
