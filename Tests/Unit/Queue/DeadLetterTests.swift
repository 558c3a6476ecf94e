import GRDB
import QueueTestSupport
import Testing

@testable import IngestQueue

/// What the operator does with records that are set aside.
@Suite struct DeadLetterTests {
    private let settings = BatchSettings(maxRecords: 1, maxWait: .zero)
    private let clock = DrivenClock()
    private let both = [DestinationRouting(name: "clinic"), DestinationRouting(name: "home")]

    /// Sets aside what waits for a destination.
    private func setAside(
        _ store: SQLiteQueue, of name: String = "clinic", status: Int? = 422,
        reason: SetAsideReason = "HTTP 422"
    ) async throws {
        var next = try await store.next(settings, for: name)
        while case .batch(let batch) = next {
            next = try await store.batches.setAside(
                batch, httpStatus: status, attempt: 1, reason: reason, reply: "no, thanks",
                settings: settings,
                gateway: "box")
        }
    }

    /// What a destination gets, and takes, in its order.
    private func delivered(
        _ store: SQLiteQueue, to name: String = "clinic"
    ) async throws -> [StoredBatch.Item] {
        var items: [StoredBatch.Item] = []
        var next = try await store.next(settings, for: name)
        while case .batch(let batch) = next {
            items += batch.items
            next = try await store.take(batch, settings)
        }
        return items
    }

    private func letters(
        _ directory: String, _ selection: DeadLetterSelection = DeadLetterSelection()
    ) throws -> [DeadLetter] {
        var letters: [DeadLetter] = []
        try QueueReader(path: directory + "/queue.sqlite").forEachDeadLetter(selection) { letters.append($0) }
        return letters
    }

    @Test func whatIsTriedAgainKeepsItsIdItsBytesAndItsOrderAndGoesOnce() async throws {
        try await withQueue(clock) { store, directory in
            try await store.fill(["a", "b", "c"])
            try await setAside(store)
            let bodies = try letters(directory).map(\.record)
            try await store.fill(["new"])
            #expect(
                try await store.deadLetters.retry(DeadLetterSelection(), gateway: "box")
                    == RetryOutcome(released: 3))
            #expect(
                try await store.deadLetters.retry(DeadLetterSelection(), gateway: "box")
                    == RetryOutcome(released: 0))
            #expect(try letters(directory).isEmpty)
            let items = try await delivered(store)
            #expect(items.map(\.header.id.text) == ["a", "b", "c", "new"])
            #expect(items.prefix(3).map(\.body) == bodies)
            let counts = try await store.counts().destinations[0]
            #expect(counts.delivered == 4 && counts.dead == 0 && counts.pending == 0)
            #expect(try await store.events.filter { $0.name == "submitted" }.count == 4)
        }
    }

    @Test func oneThatIsNamedTwiceIsTriedAgainOnce() async throws {
        try await withQueue(clock) { store, directory in
            try await store.fill(["aa11", "bb33"])
            try await setAside(store)
            let selection = DeadLetterSelection(records: ["aa11", "bb33", "aa"])
            let named = try letters(directory, selection)
            #expect(named.map(\.id.text) == ["aa11", "bb33"])
            #expect(try await store.deadLetters.retry(selection, gateway: "box").released == 2)
        }
    }

    @Test func oneIsTriedAgainByTheBeginningOfItsIdAndTheOthersStay() async throws {
        try await withQueue(clock) { store, directory in
            try await store.fill(["aa11", "aa22", "bb33"])
            try await setAside(store)
            let selection = DeadLetterSelection(records: ["bb"])
            #expect(try await store.deadLetters.retry(selection, gateway: "box").released == 1)
            #expect(try letters(directory).map(\.id.text) == ["aa11", "aa22"])
            await #expect(throws: DeadLetterRefusal.ambiguous("aa")) {
                try await store.deadLetters.retry(DeadLetterSelection(records: ["aa"]), gateway: "box")
            }
            await #expect(throws: DeadLetterRefusal.unknown("bb")) {
                try await store.deadLetters.retry(
                    DeadLetterSelection(records: ["aa11", "bb"]), gateway: "box")
            }
            // A refusal takes nothing along.
            #expect(try letters(directory).count == 2)
            #expect(try await delivered(store).map(\.header.id.text) == ["bb33"])
        }
    }

    @Test func whatFailsAgainIsSetAsideAgain() async throws {
        try await withQueue(clock) { store, directory in
            try await store.fill(["a"])
            try await setAside(store)
            _ = try await store.deadLetters.retry(DeadLetterSelection(), gateway: "box")
            try await setAside(store, status: 400, reason: "HTTP 400")
            let letters = try letters(directory)
            #expect(letters.map(\.error) == ["HTTP 400"] && letters[0].reply == "no, thanks")
            #expect(try await store.events.filter { $0.name == "failed" }.count == 2)
        }
    }

    @Test func aRecordOfNobodyGoesOutUnderThePersonThatTheOperatorNames() async throws {
        try await withQueue(clock, destinations: both) { store, directory in
            try await store.fill(["a"])
            try await setAside(store, status: nil, reason: .unassigned)
            let plain = try letters(directory)[0].record
            // Without a name it would only be set aside again.
            #expect(
                try await store.deadLetters.retry(DeadLetterSelection(), gateway: "box")
                    == RetryOutcome(left: [.unassigned: 1]))
            await #expect(throws: DeadLetterRefusal.stays(RecordID(text: "a"), .unassigned)) {
                try await store.deadLetters.retry(DeadLetterSelection(records: ["a"]), gateway: "box")
            }
            #expect(
                try await store.deadLetters.retry(
                    DeadLetterSelection(), subject: "patient-17", gateway: "box"
                ).released
                    == 1)
            let body = try #require(try await delivered(store).first?.body)
            #expect(RecordContent(json: body)?.subject == "patient-17")
            #expect(RecordContent(json: body)?.id == "a")
            #expect(body == plain.replacing(#""device":{"#, with: #""subject":"patient-17","device":{"#))
            // Nobody else is told whose it is.
            #expect(try await delivered(store, to: "home").map(\.body) == [plain])
        }
    }

    @Test func thePersonStaysWithTheRecordOverARestartAndAFurtherFailure() async throws {
        try await withTemporaryDirectory { directory in
            var store = try await SQLiteQueue.open(in: directory, clock: clock)
            try await store.fill(["a"])
            try await setAside(store, status: nil, reason: .unassigned)
            _ = try await store.deadLetters.retry(DeadLetterSelection(), subject: "wrong", gateway: "box")
            let first = try await store.next(settings)
            try await store.close()
            store = try await SQLiteQueue.open(in: directory, clock: clock)
            #expect(try await store.next(settings) == first)
            try await setAside(store, status: 412, reason: "HTTP 412")
            #expect(try letters(directory).map(\.subject) == ["wrong"])
            #expect(
                try await store.deadLetters.retry(DeadLetterSelection(), subject: "right", gateway: "box")
                    .released == 1)
            #expect(try await delivered(store).map { RecordContent(json: $0.body)?.subject } == ["right"])
            try await store.close()
        }
    }

    @Test func onlyRecordsOfNobodyAreGivenAPerson() async throws {
        try await withQueue(clock) { store, directory in
            try await store.fill(["a"])
            try await setAside(store)
            #expect(
                try await store.deadLetters.retry(DeadLetterSelection(), subject: "s", gateway: "box")
                    == RetryOutcome())
            await #expect(throws: DeadLetterRefusal.stays(RecordID(text: "a"), .notUnassigned)) {
                try await store.deadLetters.retry(
                    DeadLetterSelection(records: ["a"]), subject: "s", gateway: "box")
            }
            var control = try record("b")
            control.flags = ["type-control-solution"]
            try await store.add(control)
            try await store.records.freeze([control])
            try await setAside(store, status: nil, reason: .unassigned)
            #expect(
                try await store.deadLetters.retry(DeadLetterSelection(), subject: "s", gateway: "box")
                    == RetryOutcome(left: [.controlSolution: 1]))
            #expect(try letters(directory).count == 2)
        }
    }

    @Test func nothingIsDeliveredInAnotherPersonsSession() async throws {
        try await withQueue(clock) { store, _ in
            _ = try await store.sessions.signIn("first", at: "clinic")
            try await store.fill(["a"])
            try await setAside(store)
            try await store.fill(["b"])
            try await setAside(store, status: nil, reason: .unassigned)
            _ = try await store.sessions.signIn("second", at: "clinic")
            #expect(
                try await store.deadLetters.retry(
                    DeadLetterSelection(records: ["b"]), subject: "second", gateway: "box"
                )
                .released == 1)
            await #expect(throws: DeadLetterRefusal.stays(RecordID(text: "a"), .anotherPerson)) {
                try await store.deadLetters.retry(DeadLetterSelection(records: ["a"]), gateway: "box")
            }
            try await store.fill(["c"])
            try await setAside(store, status: nil, reason: .unassigned)
            await #expect(throws: DeadLetterRefusal.stays(RecordID(text: "c"), .anotherSession)) {
                try await store.deadLetters.retry(
                    DeadLetterSelection(records: ["c"]), subject: "first", gateway: "box")
            }
        }
    }

    @Test func whatIsDroppedIsGoneForThatDestinationAndStaysKnown() async throws {
        try await withQueue(clock, destinations: both) { store, directory in
            var undecoded = try record("u", kind: .undecoded)
            undecoded.measurements = []
            try await store.add(undecoded)
            try await store.records.freeze([undecoded])
            try await store.fill(["a"])
            try await setAside(store)
            try await setAside(store, of: "home")
            #expect(try letters(directory).map(\.destination) == [nil, "clinic", "home"])
            #expect(
                try await store.deadLetters.drop(DeadLetterSelection(records: ["a"], destination: "home"))
                    == 1)
            #expect(try await store.deadLetters.drop(DeadLetterSelection(records: ["u"])) == 1)
            #expect(try letters(directory).map(\.destination) == ["clinic"])
            #expect(try await store.add(undecoded) == .duplicate(RecordID(text: "u")))
            await #expect(throws: DeadLetterRefusal.unknown("x")) {
                try await store.deadLetters.drop(DeadLetterSelection(records: ["x"]))
            }
            #expect(try await store.deadLetters.drop(DeadLetterSelection()) == 1)
            // Nothing holds it any more.
            #expect(try await store.retention.retire(keeping: nil, after: 0).dropped == 1)
        }
    }

    @Test func whatCouldNotBeDecodedOrIsDamagedStays() async throws {
        try await withQueue(clock) { store, _ in
            let undecoded = try record("u", kind: .undecoded)
            try await store.add(undecoded)
            try await store.fill(["a"])
            try await setAside(store)
            try await store.database.write {
                try $0.execute(sql: "UPDATE record SET body = '{}' WHERE id = 'a'")
            }
            for (id, obstacle) in [("u", DeadLetterObstacle.undecoded), ("a", .damaged)] {
                await #expect(throws: DeadLetterRefusal.stays(RecordID(text: id), obstacle)) {
                    try await store.deadLetters.retry(DeadLetterSelection(records: [id]), gateway: "box")
                }
            }
        }
    }

    @Test func aSelectionMayBeNarrowedToAPeripheral() async throws {
        try await withQueue(clock) { store, _ in
            let records = [
                try record("a", alias: "kitchen"), try record("b", peripheralID: 1001),
                try record("c", address: "C0:00:00:00:00:01"),
            ]
            for record in records { try await store.add(record) }
            try await store.records.freeze(records)
            try await setAside(store)
            for peripheral in ["kitchen", "1001", "c0:00:00:00:00:01"] {
                let selection = DeadLetterSelection(peripheral: peripheral)
                #expect(
                    try await store.deadLetters.retry(selection, gateway: "box").released == 1,
                    "\(peripheral)")
            }
        }
    }

    @Test func manyAreTriedAgainPartByPart() async throws {
        try await withQueue(clock) { store, directory in
            try await store.fillAtOnce((0..<1200).map { "r\($0)" })
            try await store.database.write { db in
                try db.execute(
                    sql: """
                        INSERT INTO dead_letter (destination, record_seq, attempt, error, failed_ns)
                        SELECT 'clinic', seq, 1, 'HTTP 422', 0 FROM record;
                        UPDATE destination SET position = 1200, fresh_position = 1200
                        """)
            }
            var released = 0
            var parts = 0
            var after: Int64? = 0
            while let start = after {
                let part = try await store.deadLetters.retry(
                    DeadLetterSelection(), gateway: "box", after: start)
                released += part.released
                parts += 1
                after = part.next
            }
            #expect(released == 1200 && parts == 3)
            #expect(try await store.counts().destinations[0].pending == 1200)
            #expect(try letters(directory).isEmpty)
        }
    }

    @Test func aQueueThatIsNotThereIsSaid() throws {
        #expect(throws: StoreError(.missing, path: "/nowhere/queue.db")) {
            _ = try QueueReader(path: "/nowhere/queue.db")
        }
    }
}
