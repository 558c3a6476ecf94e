import QueueTestSupport
import Testing

@testable import IngestQueue

/// Whose records a destination gets after its queue was mended.
@Suite struct MendedSessionTests {
    private let settings = BatchSettings(maxRecords: 10, maxWait: .zero)
    private let clock = DrivenClock()

    /// Fills a queue, damages it, and opens it again, which mends it.
    private func withMended(
        _ damage: String, destinations: [DestinationRouting] = [DestinationRouting(name: "clinic")],
        fill: (SQLiteQueue) async throws -> Void,
        then body: (SQLiteQueue) async throws -> Void
    ) async throws {
        try await withTemporaryDirectory { directory in
            let before = try await SQLiteQueue.open(in: directory, clock: clock, destinations: destinations)
            try await fill(before)
            try await before.close()
            let path = directory + "/queue.sqlite"
            try await MendingTests.change(path, damage)
            try await MendingTests.change(path, MendingTests.crossing)
            QueueFile(path: path).setMark()
            let store = try await SQLiteQueue.open(in: directory, clock: clock, destinations: destinations)
            #expect(try await store.events.contains { $0.name == "store-quarantined" })
            try await body(store)
            try await store.close()
        }
    }

    @Test func aSessionAndWhatIsNotForItStay() async throws {
        try await withMended("DROP TABLE batch") { store in
            _ = try await store.sessions.signIn("first", at: "clinic")
            try await store.fill(["firsts"])
            #expect(try await store.sessions.signIn("second", at: "clinic") == 1)
            try await store.fill(["seconds"])
        } then: { store async throws in
            #expect(
                try await store.sessions.adopt("third", at: "clinic") == .open(account: "second", number: 2))
            #expect(try await store.next(settings).ids == ["seconds"])
            #expect(try await store.counts().destinations[0].dead == 1)
        }
    }

    @Test func theEndOfASessionIsToldAgain() async throws {
        try await withMended("DROP TABLE batch") { store in
            _ = try await store.sessions.signIn("first", at: "clinic")
            try await store.sessions.noteEnd(of: "clinic", httpStatus: 401)
        } then: { store async throws in
            #expect(try await !store.events.contains { $0.name == "session-ended" })
            try await store.sessions.noteEnd(of: "clinic", httpStatus: 401)
            #expect(try await store.events.contains { $0.name == "session-ended" })
        }
    }

    @Test func whatWasGivenUpStaysSo() async throws {
        try await withMended("DROP TABLE batch") { store in
            _ = try await store.sessions.signIn("first", at: "clinic")
            try await store.fill(["given up"])
            #expect(try await store.sessions.signOut(of: "clinic") == 1)
            try await store.fill(["since"])
        } then: { store async throws in
            #expect(try await store.sessions.adopt("first", at: "clinic") == .ended(account: "first"))
            #expect(try await store.sessions.signIn("first", at: "clinic") == 0)
            #expect(try await store.next(settings).ids == ["since"])
        }
    }

    @Test func whoseSessionItWasIsNotGuessed() async throws {
        try await withMended("DROP TABLE destination") { store in
            _ = try await store.sessions.signIn("first", at: "clinic")
            try await store.fill(["firsts"])
        } then: { store async throws in
            #expect(try await store.sessions.adopt("second", at: "clinic") == .ended(account: nil))
            try await store.fill(["since"])
            #expect(try await store.sessions.signIn("second", at: "clinic") == 2)
            try await store.fill(["seconds"])
            #expect(try await store.next(settings).ids == ["seconds"])
            #expect(try await store.counts().destinations[0].dead == 2)
        }
    }

    /// It is not taken for a new one either, which would get what comes from now on.
    @Test func aDestinationWithoutSessionsGetsEverythingAgain() async throws {
        let destinations = [DestinationRouting(name: "clinic"), DestinationRouting(name: "home")]
        let damage = """
            PRAGMA writable_schema = 1;
            UPDATE sqlite_master SET sql = replace(sql, 'NOT NULL', '') WHERE name = 'destination';
            PRAGMA writable_schema = RESET;
            UPDATE destination SET session = NULL WHERE name = 'clinic'
            """
        try await withMended(damage, destinations: destinations) { store in
            try await store.fill(["a", "b"])
        } then: { store async throws in
            #expect(try await store.next(settings).ids == ["a", "b"])
        }
    }
}
