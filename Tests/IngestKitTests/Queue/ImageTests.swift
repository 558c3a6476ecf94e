import FoundationEssentials
import GRDB
import Testing

@testable import IngestKit

/// Images of entries in the queue.
@Suite struct ImageTests {
    private static let settings = BatchSettings(maxRecords: 10, maxWait: .seconds(60))
    private static let atOnce = BatchSettings(maxRecords: 10, maxWait: .zero)
    private static let taking = DestinationRouting(name: "clinic", order: .fresh, takesImages: true)

    private let clock = DrivenClock()

    private func entered(_ number: Int64 = 0, subject: String? = "patient-17") throws -> EnteredRecord {
        try #require(EnteredRecord(Self.entry(number, subject), gateway: "box", received: 1_795_166_107))
    }

    private func image(_ bytes: String = "1", of number: Int64 = 0) throws -> EnteredImage {
        try #require(
            EnteredImage(
                Self.bytes(bytes), of: Self.entry(number, "patient-17"), gateway: "box",
                received: 1_795_166_107))
    }

    private static func bytes(_ text: String) -> Data { Data([0xFF, 0xD8, 0xFF]) + Data(text.utf8) }

    private static func entry(_ number: Int64, _ subject: String?) -> RecordEntry {
        var entry = EnteredRecordTests.glucose
        entry.start += number
        entry.name += "\(number)"
        entry.subject = subject
        return entry
    }

    private func withStore(
        _ destinations: [DestinationRouting] = [taking],
        _ body: (SQLiteRecordStore, String) async throws -> Void
    ) async throws {
        try await withTemporaryDirectory { directory in
            let store = try await SQLiteRecordStore.open(
                in: directory, clock: clock, destinations: destinations)
            try await body(store, directory)
            try await store.close()
        }
    }

    private func next(
        _ store: SQLiteRecordStore, lane: DeliveryLane = .fresh, of name: String = "clinic"
    ) async throws -> NextBatch {
        try await store.nextBatch(for: name, lane: lane, settings: Self.settings, gateway: "box")
    }

    /// What a destination takes on a lane, each request with its images' bytes.
    private func delivered(
        _ store: SQLiteRecordStore, lane: DeliveryLane = .fresh, of name: String = "clinic"
    ) async throws -> [(ids: [String], image: Data?)] {
        var requests: [(ids: [String], image: Data?)] = []
        var following = try await store.nextBatch(
            for: name, lane: lane, settings: Self.atOnce, gateway: "box")
        while case .batch(let batch) = following {
            let image = batch.isImage ? try await store.image(of: batch) : nil
            requests.append((batch.items.map(\.header.id.text), image))
            following = try await store.acknowledge(
                batch, httpStatus: 200, attempt: 1, settings: Self.atOnce, gateway: "box")
        }
        return requests
    }

    private func told(_ store: SQLiteRecordStore, _ names: EventName...) async throws -> [JournalEntry] {
        try await store.events.filter { names.map(\.rawValue).contains($0.name) }
    }

    @Test func anImageGoesBehindItsEntryAloneAndIsToldUnderItsEntry() async throws {
        try await withStore { store, _ in
            let (first, second) = (try entered(1), try entered(2))
            let image = try image(of: 1)
            let outcome = try await store.enter([first], image: image)
            #expect(outcome == EntryOutcome(news: [true], image: .goes(to: ["clinic"])))
            _ = try await store.enter([second])
            #expect(try await told(store, .mediaFailed, .mediaSubmitted).isEmpty)
            let requests = try await delivered(store)
            #expect(requests.map(\.ids) == [[first.id.text], [image.id.text], [second.id.text]])
            #expect(requests.map(\.image) == [nil, image.bytes, nil])
            let events = try await told(store, .mediaSubmitted, .submitted)
            #expect(events.map(\.name) == ["submitted", "media-submitted", "submitted"])
            #expect(events[1][.recordID] == first.id.text && events[1][.kind] == "glucose")
            #expect(events[1][.destination] == "clinic" && events[1][.httpStatus] == "200")
            #expect(events[1][.attempt] == "1" && events[1][.sequence] != nil)
        }
    }

    @Test(arguments: [DeliveryOrder.fresh, .strict])
    func whatAnImageEndsWaitsForNoCompany(order: DeliveryOrder) async throws {
        let routing = DestinationRouting(name: "clinic", order: order, takesImages: true)
        try await withStore([routing]) { store, _ in
            let lane = order.lanes[0]
            let (entry, image) = (try entered(), try image())
            _ = try await store.enter([entry], image: image)
            // Both at once, though a reading may wait for a minute.
            #expect(try await next(store, lane: lane).ids == [entry.id.text])
            guard case .batch(let batch) = try await next(store, lane: lane) else { return }
            let following = try await store.acknowledge(
                batch, httpStatus: 200, attempt: 1, settings: Self.settings, gateway: "box")
            #expect(following.ids == [image.id.text])
        }
    }

    @Test func theBacklogHasImagesAloneToo() async throws {
        try await withStore { store, _ in
            let entries = try (1...3).map { try entered($0) }
            let image = try image(of: 2)
            _ = try await store.enter([entries[0]])
            _ = try await store.enter([entries[1]], image: image)
            _ = try await store.enter([entries[2]])
            clock.advance(by: .seconds(120))
            #expect(try await next(store) == .nothing)
            let requests = try await delivered(store, lane: .backlog)
            #expect(
                requests.map(\.ids) == [
                    entries[0...1].map(\.id.text), [image.id.text], [entries[2].id.text],
                ])
        }
    }

    @Test func onlyThoseThatTakeImagesAndTheEntryGetIt() async throws {
        let routings = [
            Self.taking, DestinationRouting(name: "archive"),
            DestinationRouting(name: "home", order: .fresh, takesImages: true),
            DestinationRouting(name: "scales", kinds: [.weight], takesImages: true),
            DestinationRouting(name: "ward", peripherals: [.model(1001)], takesImages: true),
        ]
        try await withStore(routings) { store, _ in
            let (entry, image) = (try entered(), try image())
            let outcome = try await store.enter([entry], image: image)
            #expect(outcome.image == .goes(to: ["clinic", "home"]))
            let events = try await told(store, .mediaFailed)
            #expect(events.map { $0[.destination] } == ["archive"])
            #expect(events.map { $0[.error] } == ["the destination takes no images"])
            #expect(events.map { $0[.recordID] } == [entry.id.text])
            #expect(events[0][.attempt] == nil && events[0][.sequence] != nil)
            // Neither what a configuration says later of kinds, nor of peripherals, changes where it goes.
            store.route(routings.map { DestinationRouting(name: $0.name, kinds: []) })
            #expect(try await delivered(store).map(\.ids) == [[image.id.text]])
            #expect(try await delivered(store, of: "home").map(\.ids) == [[image.id.text]])
            for name in ["archive", "scales", "ward"] {
                #expect(try await delivered(store, lane: .backlog, of: name).isEmpty)
            }
            let counts = try await store.counts().destinations
            #expect(counts.map(\.skipped) == [0, 0, 0, 0, 0])
        }
    }

    @Test func whereNobodyTakesItNothingIsKept() async throws {
        try await withStore([DestinationRouting(name: "clinic")]) { store, _ in
            let outcome = try await store.enter([entered()], image: image())
            #expect(outcome.image == .refused(error: "no destination takes images"))
            #expect(try await store.counts().records == 1)
            #expect(try await told(store, .mediaFailed).map { $0[.destination] } == ["clinic"])
        }
    }

    @Test func whereRoomIsShortTheEntryIsTakenAndItsImageIsNot() async throws {
        try await withStore { store, _ in
            let outcome = try await store.enter([entered()], image: image(), hasRoomForImage: false)
            let words = "the queue is nearly full of what is not delivered"
            #expect(outcome == EntryOutcome(news: [true], image: .refused(error: words)))
            #expect(try await store.counts().records == 1)
            #expect(try await told(store, .mediaFailed).map { $0[.error] } == [words])
        }
    }

    @Test func anImageIsThereWithItsEntryOrNeitherIs() async throws {
        try await withStore { store, _ in
            try await store.write { db in
                try db.execute(
                    sql: """
                        CREATE TRIGGER refuse BEFORE INSERT ON record WHEN new.kind = 'image'
                        BEGIN SELECT RAISE(ABORT, 'no'); END
                        """)
            }
            await #expect(throws: (any Error).self) { try await store.enter([entered()], image: image()) }
            #expect(try await store.counts().records == 0)
            #expect(try await store.events.isEmpty)
        }
    }

    @Test func anImageThatComesAgainIsKnownAndAnotherIsTaken() async throws {
        try await withStore { store, _ in
            let entry = try entered()
            _ = try await store.enter([entry], image: image("1"))
            #expect(
                try await store.enter([entry], image: image("1"))
                    == EntryOutcome(news: [false], image: .known))
            #expect(
                try await store.enter([entry], image: image("2")).image == .goes(to: ["clinic"]))
            #expect(try await delivered(store).count == 3)
            try await store.retireAll()
            #expect(try await store.counts().records == 0)
            // Also when they have left the queue, entry and image.
            #expect(
                try await store.enter([entry], image: image("2"))
                    == EntryOutcome(news: [false], image: .known))
            #expect(try await store.counts().records == 0)
            #expect(
                try await store.enter([entry], image: image("3"))
                    == EntryOutcome(news: [false], image: .goes(to: ["clinic"])))
            let requests = try await delivered(store)
            #expect(requests.map(\.image) == [Self.bytes("3")])
        }
    }

    @Test func aRestartSendsTheSameAgain() async throws {
        try await withTemporaryDirectory { directory in
            let image = try image()
            var items: [StoredBatch.Item] = []
            for _ in 1...2 {
                let store = try await SQLiteRecordStore.open(
                    in: directory, clock: clock, destinations: [Self.taking])
                _ = try await store.enter([entered()], image: image)
                if items.isEmpty { _ = try await acknowledgeFirst(store) }
                guard case .batch(let batch) = try await next(store) else { throw TimedOut() }
                #expect(try await store.image(of: batch) == image.bytes)
                items += batch.items
                try await store.close()
            }
            #expect(items.count == 2 && items[0] == items[1] && items[0].body == image.body)
        }
    }

    private func acknowledgeFirst(_ store: SQLiteRecordStore) async throws -> NextBatch {
        guard case .batch(let batch) = try await next(store) else { throw TimedOut() }
        return try await store.acknowledge(
            batch, httpStatus: 200, attempt: 1, settings: Self.settings, gateway: "box")
    }

    @Test func oneThatIsRefusedIsSetAsideAndSentAgain() async throws {
        try await withStore { store, directory in
            let (entry, image) = (try entered(), try image())
            _ = try await store.enter([entry], image: image)
            guard case .batch(let batch) = try await acknowledgeFirst(store) else { return }
            _ = try await store.setAside(
                batch, httpStatus: 422, attempt: 1, error: "HTTP 422", reply: "no", settings: Self.settings,
                gateway: "box")
            let event = try #require(try await told(store, .mediaFailed, .failed).first)
            #expect(event.name == "media-failed" && event[.recordID] == entry.id.text)
            #expect(event[.kind] == "glucose" && event[.httpStatus] == "422" && event[.attempt] == "1")
            var letters: [DeadLetter] = []
            try QueueReader(path: directory + "/queue.sqlite")
                .forEachDeadLetter(DeadLetterSelection()) { letters.append($0) }
            #expect(letters.map(\.id) == [image.id] && letters.map(\.kind) == ["image"])
            #expect(
                try await store.retry(DeadLetterSelection(), gateway: "box") == RetryOutcome(released: 1))
            #expect(try await delivered(store, lane: .backlog).map(\.image) == [image.bytes])
        }
    }

    @Test func nobodysImageBecomesSomeonesByTheOperatorsWord() async throws {
        try await withStore { store, _ in
            let entry = Self.entry(0, nil)
            let image = try #require(
                EnteredImage(Self.bytes("1"), of: entry, gateway: "box", received: 1_795_166_107))
            _ = try await store.enter([entered(subject: nil)], image: image)
            guard case .batch(let batch) = try await acknowledgeFirst(store) else { return }
            _ = try await store.setAside(
                batch, httpStatus: nil, attempt: 0, error: DeadLetter.unassigned, reply: nil,
                settings: Self.settings, gateway: "box")
            #expect(
                try await store.retry(DeadLetterSelection(), subject: "patient-18", gateway: "box")
                    == RetryOutcome(released: 1))
            guard case .batch(let again) = try await next(store, lane: .backlog) else { return }
            #expect(again.items.first.flatMap { RecordContent(json: $0.body) }?.subject == "patient-18")
            #expect(try await store.image(of: again) == image.bytes)
        }
    }

    @Test(arguments: ["payload = x'FFD8FF00'", "body = '{}'", "destinations = 'home'"])
    func aDamagedOneIsSetAsideAlone(change: String) async throws {
        try await withStore { store, _ in
            let entry = try entered()
            _ = try await store.enter([entry], image: image())
            try await store.write { try $0.execute(sql: "UPDATE record SET \(change) WHERE kind = 'image'") }
            #expect(try await delivered(store).map(\.ids) == [[entry.id.text]])
            let events = try await told(store, .mediaFailed, .failed)
            // Without its body nobody knows whose it is.
            #expect(events.map(\.name) == [change.hasPrefix("body") ? "failed" : "media-failed"])
            #expect(events.map { $0[.error] } == ["the record is damaged in the queue"])
            #expect(try await store.counts().destinations[0].dead == 1)
            var outcome = RetryOutcome()
            outcome.left = [.damaged: 1]
            #expect(try await store.retry(DeadLetterSelection(), gateway: "box") == outcome)
        }
    }

    @Test func oneThatIsDamagedOnItsWayHasNoBytes() async throws {
        try await withStore { store, _ in
            _ = try await store.enter([entered()], image: image())
            guard case .batch(let batch) = try await acknowledgeFirst(store) else { return }
            try await store.write {
                try $0.execute(sql: "UPDATE record SET payload = x'00' WHERE kind = 'image'")
            }
            #expect(try await store.image(of: batch) == nil)
            #expect(try await next(store) == .nothing)
            #expect(try await told(store, .mediaFailed).count == 1)
        }
    }

    @Test func aRangeIsSentAgainWithItsImages() async throws {
        try await withStore { store, _ in
            let entries = try (1...3).map { try entered($0) }
            let image = try image(of: 2)
            for entry in entries {
                _ = try await store.enter([entry], image: entry == entries[1] ? image : nil)
            }
            #expect(try await delivered(store).count == 3)
            let outcome = try await store.resend(
                to: "clinic", measured: 1_795_162_500..<1_795_162_600, batching: Self.settings, gateway: "box"
            )
            #expect(outcome == ResendOutcome(resent: 4, next: nil))
            let requests = try await delivered(store, lane: .backlog)
            #expect(
                requests.map(\.ids) == [
                    entries[0...1].map(\.id.text), [image.id.text], [entries[2].id.text],
                ])
            #expect(requests[1].image == image.bytes)
        }
    }

    @Test func imagesAreNoReadings() async throws {
        try await withStore { store, directory in
            let entry = try entered()
            _ = try await store.enter([entry], image: image())
            var seen: [String] = []
            let omitted = try QueueReader(path: directory + "/queue.sqlite")
                .forEachRecord(measured: .min ..< .max) { seen.append($0.id) }
            #expect(seen == [entry.id.text] && omitted == QueueReader.Omitted())
            #expect(!RecordKind.image.isDelivered)
        }
    }

    /// Page by page, as from a file whose tables lead nowhere.
    @Test func theLargestIsTakenOutOfADamagedFile() async throws {
        try await withMemoryDirectory { directory in
            let path = directory + "/queue.sqlite"
            let store = try await SQLiteRecordStore.open(
                in: directory, clock: clock, destinations: [Self.taking])
            var bytes = Data([0xFF, 0xD8, 0xFF])
            bytes += Data((bytes.count..<EntryImage.largest).map { UInt8(truncatingIfNeeded: $0 / 251) })
            let image = try #require(
                EnteredImage(bytes, of: Self.entry(0, nil), gateway: "box", received: 1_795_166_107))
            _ = try await store.enter([entered(subject: nil)], image: image)
            try await store.close()
            var found: [Data] = []
            DatabasePages(path: path, log: path + "-wal").forEachRow { _, values in
                // After seq, id, kind, peripheral_id, address, alias and characteristic.
                guard values.count > 7, String.fromDatabaseValue(values[2]) == "image" else { return }
                found += Data.fromDatabaseValue(values[7]).map { [$0] } ?? []
            }
            #expect(found == [bytes])
        }
    }
}
