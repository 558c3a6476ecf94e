import GRDB
import QueueTestSupport
import Synchronization
import Testing

@testable import IngestQueue

@Suite struct OutboxTests {
    @Test func aCrashBeforeTheMarkRepeatsTheEventUnderItsNumber() async throws {
        try await withTemporaryDirectory { directory in
            let clock = DrivenClock()
            let journal = RecordingSink()
            let first = try await SQLiteQueue.open(in: directory, clock: clock)
            try await first.fill(["a", "b"])
            try await EventOutbox(store: first.outbox, sink: journal, clock: first.database.clock).drain()
            try await first.fill(["c"])
            // Written, and the process ends before the mark.
            for item in try await first.outbox.outboxEntries(limit: 10) { journal.write(item.entry) }
            try await first.close()

            let second = try await SQLiteQueue.open(in: directory, clock: clock)
            try await EventOutbox(store: second.outbox, sink: journal, clock: second.database.clock).drain()
            try await second.fill(["d"])
            try await EventOutbox(store: second.outbox, sink: journal, clock: second.database.clock).drain()
            #expect(journal.entries.map { $0[.sequence] } == ["1", "2", "3", "3", "4"])
            #expect(journal.entries.map { $0[.recordID] } == ["a", "b", "c", "c", "d"])
            #expect(try await second.events.isEmpty)
            try await second.close()
        }
    }

    @Test func theMeasurementsAreToldOnlyWhileTheConfigurationAsksForThem() async throws {
        try await withQueue { store in
            let glucose = try #require(
                EnteredRecord(SampleEntries.glucose, gateway: "box", received: 1_795_166_107))
            let steps = try #require(
                EnteredRecord(SampleEntries.steps, gateway: "box", received: 1_795_166_107))
            try await store.fill(["a"])
            store.tellMeasurements(true)
            try await store.fill(["b"])
            _ = try await store.entries.enter([glucose, steps])
            let settings = BatchSettings(maxRecords: 10, maxWait: .zero)
            let batch = try #require(try await store.next(settings).batch)
            try await store.take(batch, settings)
            store.tellMeasurements(false)
            try await store.fill(["c"])
            let told = try await store.events.map { ($0.name, $0[.measurements]) }
            let reading = try #require(RecordContent.measurements(of: try TestSupport.record("b").json))
            #expect(reading.hasPrefix("[{\"type\":"))
            let entry = try #require(RecordContent.measurements(of: glucose.body))
            #expect(
                told.map(\.0) == [
                    "read", "read", "read", "imported", "submitted", "submitted", "submitted", "submitted",
                    "read",
                ])
            // Whether `submitted` has measurements is decided when the destination takes the record, also for one that was
            // read before the change. Imported records have one event for all of them, without measurements.
            #expect(told.map(\.1) == [nil, reading, entry, nil, reading, reading, entry, nil, nil])
        }
    }

    @Test func aStopBetweenTheWriteAndTheMarkRepeatsNothing() async throws {
        try await withTemporaryDirectory { directory in
            let clock = DrivenClock()
            let first = try await SQLiteQueue.open(in: directory, clock: clock)
            try await first.fill(["a", "b"])
            let journal = StoppingSink()
            let pump = Task {
                await journal.stop.wait()
                try await EventOutbox(store: first.outbox, sink: journal, clock: first.database.clock).run()
            }
            journal.stops.withLock { $0 = { pump.cancel() } }
            journal.stop.raise()
            try await pump.value
            #expect(journal.entries.map { $0[.recordID] } == ["a", "b"])
            try await first.close()

            let second = try await SQLiteQueue.open(in: directory, clock: clock)
            #expect(try await second.outbox.outboxEntries(limit: 10).isEmpty)
            try await second.close()
        }
    }

    /// journald drops what comes faster, and says so to nobody.
    @Test func neverMoreIsToldInHalfAMinuteThanTheUnitMayWrite() {
        let pace = TellingPace()
        var now = MonotonicInstant(nanoseconds: 0)
        var told: [(at: MonotonicInstant, count: Int)] = []
        for round in 0..<3_000 {
            // A backlog, and now and then a rest.
            if round % 500 == 499 { now = now + .seconds(60) }
            let count = round % 7 == 0 ? 1 : 100
            now = now + pace.take(count, at: now)
            told.append((now, count))
        }
        for (index, entry) in told.enumerated() {
            let window = told[index...].prefix { $0.at.since(entry.at) < .seconds(30) }
            #expect(window.reduce(0) { $0 + $1.count } <= 16_100)
        }
    }

    @Test func whatIsBeyondThePaceIsToldLaterAndWithoutAGap() async throws {
        let clock = DrivenClock()
        let start = clock.now
        try await withQueue(clock) { store in
            try await store.fill((0..<250).map { "\($0)" })
            let journal = RecordingSink()
            let pump = Task {
                try await EventOutbox(
                    store: store.outbox, sink: journal, clock: clock,
                    pace: TellingPace(burst: 100, perSecond: 10)
                ).run()
            }
            while journal.entries.count < 100 { await Task.yield() }
            #expect(journal.entries.count == 100)
            while journal.entries.count < 250 {
                clock.advance(by: .seconds(1))
                _ = try await store.counts()
            }
            #expect(clock.now.since(start) >= .seconds(15))
            #expect(journal.entries.map { $0[.sequence] } == (1...250).map { "\($0)" })
            pump.cancel()
            try await pump.value
        }
    }

    @Test func aCommitWakesThePump() async throws {
        try await withQueue { store in
            let journal = RecordingSink()
            let pump = Task {
                try await EventOutbox(store: store.outbox, sink: journal, clock: store.database.clock).run()
            }
            for id in ["a", "b", "c"] {
                try await store.add(try record(id))
                try await eventually("\(id) is written") { journal.entries.last?[.recordID] == id }
            }
            pump.cancel()
            try await pump.value
            #expect(journal.names == ["read", "read", "read"])
        }
    }

    /// Commits of so many events each, told after each or only after several: what is at hand has an end, and some
    /// events never are.
    @Test(arguments: [[1, 2, 3], [400, 200, 1], [700, 1, 499, 2], [3, 700, 3]], [1, 2, 5])
    func whateverIsAtHandEachEventIsToldOnceAndInOrder(sizes: [Int], commitsBetween: Int) async throws {
        try await withMemoryDirectory { directory in
            let store = try await SQLiteQueue.open(in: directory, clock: DrivenClock())
            let journal = RecordingSink()
            let outbox = EventOutbox(store: store.outbox, sink: journal, clock: store.database.clock)
            var expected: [String] = []
            for (number, size) in (sizes + sizes).enumerated() {
                let ids = (0..<size).map { "\(number)-\($0)" }
                try await store.fillAtOnce(ids)
                // Goes past what is kept at hand.
                try await store.database.write { db in
                    try OutboxTable.append(.destinationUp(destination: "clinic"), db)
                }
                expected += ids + ["up"]
                if (number + 1).isMultiple(of: commitsBetween) { try await outbox.drain() }
            }
            try await outbox.drain()
            #expect(journal.entries.map { $0[.recordID] ?? "up" } == expected)
            #expect(journal.entries.map { $0[.sequence] } == (1...expected.count).map(String.init))
            #expect(try await store.events.isEmpty)
            try await store.close()
        }
    }

    /// As where the disk is full: SQLite has then ended the transaction before anybody can.
    @Test func whatSQLiteRolledBackByItselfIsNotTold() async throws {
        try await withQueue { store in
            let journal = RecordingSink()
            let outbox = EventOutbox(store: store.outbox, sink: journal, clock: store.database.clock)
            try await store.fill(["a"])
            try await outbox.drain()
            let failure = await #expect(throws: StoreError.self) {
                try await store.database.write { db in
                    try store.outbox.tell([.destinationUp(destination: "clinic")], db)
                    try db.execute(sql: "PRAGMA max_page_count = 1")
                    defer { #expect(!db.isInsideTransaction) }
                    try db.execute(sql: "INSERT INTO outbox VALUES (1000, hex(zeroblob(500000)))")
                }
            }
            #expect(failure?.kind == .full)
            try await store.database.write { try $0.execute(sql: "PRAGMA max_page_count = 1000000") }
            try await store.fill(["b"])
            try await outbox.drain()
            #expect(journal.entries.map { $0[.recordID] } == ["a", "b"])
            #expect(journal.entries.map { $0[.sequence] } == ["1", "2"])
            #expect(try await store.outbox.outboxEntries(limit: 10).isEmpty)
        }
    }

    @Test func whatWasRolledBackIsNotTold() async throws {
        struct Refused: Error {}
        try await withMemoryDirectory { directory in
            let store = try await SQLiteQueue.open(in: directory, clock: DrivenClock())
            let journal = RecordingSink()
            let outbox = EventOutbox(store: store.outbox, sink: journal, clock: store.database.clock)
            try await store.fill(["a"])
            try await outbox.drain()
            await #expect(throws: Refused.self) {
                try await store.database.write { db in
                    try store.outbox.tell([.destinationUp(destination: "clinic")], db)
                    throw Refused()
                }
            }
            try await store.fill(["b"])
            try await outbox.drain()
            #expect(journal.entries.map { $0[.recordID] } == ["a", "b"])
            #expect(journal.entries.map { $0[.sequence] } == ["1", "2"])
            try await store.close()
        }
    }

    /// Most events are told without being read from the outbox: read they would have to be the same.
    @Test func whatIsAtHandIsWhatTheOutboxHolds() async throws {
        try await withMemoryDirectory { directory in
            let store = try await SQLiteQueue.open(in: directory, clock: DrivenClock())
            let outbox = EventOutbox(store: store.outbox, sink: RecordingSink(), clock: store.database.clock)
            try await store.fill(["a"])
            try await outbox.drain()
            try await store.add(try record("b", alias: "\"kitchen\" \u{1F9C2}\n"))
            let atHand = store.database.recentEvents.next(10)
            #expect(atHand.map(\.sequence) == [2])
            #expect(try await store.events == atHand.map(\.entry))
            try await store.close()
        }
    }
}

/// Has the pump stopped as soon as something is written.
private final class StoppingSink: EventSink {
    /// Raised when `stops` is set.
    let stop = WakeUp()
    let stops = Mutex<(@Sendable () -> Void)?>(nil)
    private let written = Mutex<[JournalEntry]>([])

    var entries: [JournalEntry] { written.withLock { $0 } }

    func write(_ entry: JournalEntry) {
        written.withLock { $0.append(entry) }
        stops.withLock { $0 }?()
    }
}
