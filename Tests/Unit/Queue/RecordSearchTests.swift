import GRDB
import QueueTestSupport
import Testing

@testable import IngestQueue

/// From what names a record elsewhere to where it stands at each destination.
@Suite struct RecordSearchTests {
    private let settings = BatchSettings(maxRecords: 1, maxWait: .zero)
    private let clock = DrivenClock()
    private let key = TagKey.random()

    private func batch(_ store: SQLiteQueue, _ name: String) async throws -> StoredBatch {
        let batch = try #require(try await store.next(settings, for: name).batch)
        return batch
    }

    private func find(
        _ name: String, _ directory: String, _ routings: [DestinationRouting] = []
    ) throws -> FoundRecord {
        try QueueReader(path: directory + "/queue.sqlite").find(name, by: key, routings: routings)
    }

    private static let a = "aa11aa11-0000-5000-8000-000000000000"
    private static let b = "bb22bb22-0000-5000-8000-000000000000"

    @Test func aRecordIsFoundByItsIdTheBeginningOfItAndItsTag() async throws {
        let routings = [DestinationRouting(name: "clinic")]
        try await withQueue(clock, destinations: routings) { store, directory in
            try await store.fill([Self.a, Self.b])
            for name in [Self.a, "aa11", String(Self.a.prefix(13)), key.tag(ofRecord: Self.a)] {
                #expect(try find(name, directory, routings).id == Self.a)
            }
            for name in ["ffff", TagKey.random().tag(ofRecord: Self.a)] {
                #expect(throws: RecordRefusal.unknown(name)) { try find(name, directory, routings) }
            }
            // Without a key there are no tags.
            let tag = key.tag(ofRecord: Self.a)
            #expect(throws: RecordRefusal.unknown(tag)) {
                try QueueReader(path: directory + "/queue.sqlite").find(tag, by: nil, routings: routings)
            }
            try await store.fill(["aa11aa99-0000-5000-8000-000000000000"])
            #expect(throws: RecordRefusal.ambiguous("aa11")) { try find("aa11", directory, routings) }
        }
    }

    @Test func eachStateIsTold() async throws {
        let routings = [
            DestinationRouting(name: "1-waiting"), DestinationRouting(name: "2-under-way"),
            DestinationRouting(name: "3-taken"), DestinationRouting(name: "4-refused"),
            DestinationRouting(name: "5-other-kind", kinds: [.weight]),
            DestinationRouting(name: "6-no-form", forms: [.weight]),
        ]
        try await withQueue(clock, destinations: routings) { store, directory in
            try await store.fill([Self.a])
            _ = try await batch(store, "2-under-way")
            try await store.take(try await batch(store, "3-taken"), settings)
            _ = try await store.batches.setAside(
                try await batch(store, "4-refused"), httpStatus: 422, attempt: 3, reason: "HTTP 422",
                reply: "no",
                settings: settings, gateway: "box")
            for passes in [false, true] {
                if passes {
                    // Those that it is not for come to it and pass it over.
                    for name in ["5-other-kind", "6-no-form"] {
                        _ = try await store.next(settings, for: name)
                    }
                }
                let found = try find(key.tag(ofRecord: Self.a), directory, routings)
                #expect(found.obstacle == nil && found.record?.kind == .bodyTemperature)
                #expect(
                    found.standings == [
                        RecordStanding(destination: "1-waiting", state: .waiting),
                        RecordStanding(destination: "2-under-way", state: .onItsWay),
                        RecordStanding(destination: "3-taken", state: .done),
                        RecordStanding(
                            destination: "4-refused", state: .setAside, attempt: 3, httpStatus: 422,
                            error: "HTTP 422"),
                        RecordStanding(destination: "5-other-kind", state: .notForIt),
                        RecordStanding(destination: "6-no-form", state: .withoutForm),
                    ])
            }
            // What the configuration names no more.
            let states = try find(Self.a, directory, Array(routings.dropFirst(2))).standings.map(\.state)
            #expect(states.prefix(3) == [.notConfigured, .notConfigured, .done])
        }
    }

    /// What the fresh lane took is dealt with, although older records wait.
    @Test func whatWentAheadIsDone() async throws {
        let routings = [DestinationRouting(name: "clinic", order: .fresh)]
        try await withQueue(clock, destinations: routings) { store, directory in
            try await store.fill([Self.a])
            clock.advance(by: .seconds(120))
            try await store.fill([Self.b])
            let fresh = try #require(try await store.next(settings, lane: .fresh).batch)
            #expect(try find(Self.b, directory, routings).standings.map(\.state) == [.onItsWay])
            try await store.take(fresh, settings)
            #expect(try find(Self.b, directory, routings).standings.map(\.state) == [.done])
            #expect(try find(Self.a, directory, routings).standings.map(\.state) == [.waiting])
        }
    }

    @Test func whatGoesNowhereForNowSaysWhy() async throws {
        let routings = [DestinationRouting(name: "clinic")]
        try await withQueue(clock, destinations: routings) { store, directory in
            try await store.add(try record(Self.a))
            #expect(try find(Self.a, directory, routings).obstacle == .incomplete)
            #expect(try find(Self.a, directory, routings).standings.map(\.state) == [.waiting])
            var undecoded = try record(Self.b)
            undecoded.kind = .undecoded
            try await store.add(undecoded)
            let found = try find(Self.b, directory, routings)
            #expect(found.obstacle == .undecoded && found.standings.isEmpty)
            try await store.database.write {
                try $0.execute(sql: "UPDATE record SET body = '{}' WHERE id = ?", arguments: [Self.a])
            }
            let damaged = try find(Self.a, directory, routings)
            #expect(damaged.obstacle == .damaged && damaged.record == nil)
        }
    }

    /// Its event outlives it in the journal.
    @Test func whatHasLeftTheQueueIsFoundStill() async throws {
        try await withQueue(clock) { store, directory in
            try await store.fill([Self.a])
            try await store.take(try await batch(store, "clinic"), settings)
            try await store.retireAll()
            for name in [Self.a, key.tag(ofRecord: Self.a)] {
                let found = try find(name, directory)
                #expect(found.id == Self.a && found.obstacle == .gone && found.standings.isEmpty)
            }
        }
    }

    @Test func theOperatorsOrdersTakeTags() async throws {
        try await withQueue(clock) { store, directory in
            try await store.fill([Self.a, Self.b])
            for _ in 0..<2 {
                _ = try await store.batches.setAside(
                    try await batch(store, "clinic"), httpStatus: 422, attempt: 1, reason: "HTTP 422",
                    reply: nil,
                    settings: settings, gateway: "box")
            }
            let tags = [key.tag(ofRecord: Self.b), "aa11", TagKey.random().tag(ofRecord: Self.a)]
            let resolved = try await store.deadLetters.resolve(DeadLetterSelection(records: tags), by: key)
            #expect(resolved.records == [Self.b, "aa11", tags[2]])
            #expect(
                try QueueReader(path: directory + "/queue.sqlite").resolve(
                    DeadLetterSelection(records: tags), by: key) == resolved)
            let selection = DeadLetterSelection(records: [tags[0]], destination: "clinic")
            #expect(
                try await store.deadLetters.drop(try await store.deadLetters.resolve(selection, by: key)) == 1
            )
            // It is not set aside any more.
            #expect(try await store.deadLetters.resolve(selection, by: key) == selection)
            #expect(try await store.deadLetters.resolve(selection, by: nil) == selection)
        }
    }
}
