import FoundationEssentials
import GRDB
import QueueTestSupport
import Testing

@testable import IngestQueue

/// Images of entries in the queue.
@Suite struct ImageTests {
    private let bench = ImageBench()

    @Test func anImageGoesAloneAndIsToldUnderItsEntry() async throws {
        try await bench.withStore { store, _ in
            let (first, second) = (try bench.entered(1), try bench.entered(2))
            let image = try bench.image(of: 1)
            let outcome = try await store.entries.enter([first], image: image)
            #expect(outcome == EntryOutcome(news: [true], image: .goes(to: ["clinic"])))
            _ = try await store.entries.enter([second])
            #expect(try await bench.told(store, .mediaFailed, .mediaSubmitted).isEmpty)
            let requests = try await bench.deliver(store)
            #expect(requests.map(\.ids) == [[first.id.text, second.id.text], [image.id.text]])
            #expect(requests.map(\.image) == [nil, image.bytes])
            let events = try await bench.told(store, .mediaSubmitted, .submitted)
            #expect(events.map(\.name) == ["submitted", "submitted", "media-submitted"])
            #expect(events[2][.recordID] == first.id.text && events[2][.kind] == "glucose")
            #expect(events[2][.destination] == "clinic" && events[2][.httpStatus] == "200")
            #expect(events[2][.attempt] == "1" && events[2][.sequence] != nil)
        }
    }

    @Test func onlyThoseThatTakeImagesAndTheEntryGetIt() async throws {
        let routings = [
            ImageBench.taking, DestinationRouting(name: "archive"),
            DestinationRouting(name: "home", order: .fresh, takesImages: true),
            DestinationRouting(name: "scales", kinds: [.weight], takesImages: true),
            DestinationRouting(name: "ward", peripherals: [.model(1001)], takesImages: true),
        ]
        try await bench.withStore(routings) { store, _ in
            let (entry, image) = (try bench.entered(), try bench.image())
            let outcome = try await store.entries.enter([entry], image: image)
            #expect(outcome.image == .goes(to: ["clinic", "home"]))
            let events = try await bench.told(store, .mediaFailed)
            #expect(events.map { $0[.destination] } == ["archive"])
            #expect(events.map { $0[.error] } == ["the destination takes no images"])
            #expect(events.map { $0[.recordID] } == [entry.id.text])
            #expect(events[0][.attempt] == nil && events[0][.sequence] != nil)
            // Neither what a configuration says later of kinds, nor of peripherals, changes where it goes.
            store.route(routings.map { DestinationRouting(name: $0.name, kinds: []) })
            #expect(try await bench.deliver(store).map(\.ids) == [[image.id.text]])
            #expect(try await bench.deliver(store, to: "home").map(\.ids) == [[image.id.text]])
            for name in ["archive", "scales", "ward"] {
                #expect(try await bench.deliver(store, to: name).isEmpty)
            }
            let counts = try await store.counts().destinations
            #expect(counts.map(\.skipped) == [0, 0, 0, 0, 0])
        }
    }

    @Test func whereNobodyTakesItNothingIsKeptAndItIsToldOnce() async throws {
        try await bench.withStore([DestinationRouting(name: "clinic")]) { store, _ in
            for isNew in [true, false] {
                let outcome = try await store.entries.enter([bench.entered()], image: bench.image())
                #expect(outcome.news == [isNew])
                #expect(outcome.image == .refused(error: "no destination takes images"))
            }
            #expect(try await store.counts().records == 1)
            #expect(try await bench.told(store, .mediaFailed).map { $0[.destination] } == ["clinic"])
        }
    }

    @Test(arguments: [ImageRoom.queueIsHigh, .imagesAreMany(most: 256 << 20)])
    func whereRoomIsShortTheEntryIsTakenAndItsImageIsNot(room: ImageRoom) async throws {
        try await bench.withStore { store, _ in
            let outcome = try await store.entries.enter([bench.entered()], image: bench.image(), room: room)
            let words = try #require(room.refusal)
            #expect(outcome == EntryOutcome(news: [true], image: .refused(error: words)))
            #expect(try await store.counts().records == 1)
            #expect(try await bench.told(store, .mediaFailed).map { $0[.error] } == [words])
            // It is taken when there is room.
            #expect(
                try await store.entries.enter([bench.entered()], image: bench.image()).image
                    == .goes(to: ["clinic"]))
        }
    }

    @Test func theRefusalNamesTheBoundAndTheWayOut() throws {
        let words = try #require(ImageRoom.imagesAreMany(most: 256 << 20).refusal)
        #expect(words.contains("a quarter of queue.max_size, 256 MiB"))
        #expect(words.contains("ingestd failed list") && words.contains("allow more"))
        #expect(ImageRoom.ample.refusal == nil)
    }

    @Test func anImageIsThereWithItsEntryOrNeitherIs() async throws {
        try await bench.withStore { store, _ in
            try await store.database.write { db in
                try db.execute(
                    sql: """
                        CREATE TRIGGER refuse BEFORE INSERT ON record WHEN new.kind = 'image'
                        BEGIN SELECT RAISE(ABORT, 'no'); END
                        """)
            }
            await #expect(throws: (any Error).self) {
                try await store.entries.enter([bench.entered()], image: bench.image())
            }
            #expect(try await store.counts().records == 0)
            #expect(try await store.events.isEmpty)
        }
    }

    @Test func anImageThatComesAgainIsKnownAndAnotherIsTaken() async throws {
        try await bench.withStore { store, _ in
            let entry = try bench.entered()
            _ = try await store.entries.enter([entry], image: bench.image("1"))
            #expect(
                try await store.entries.enter([entry], image: bench.image("1"))
                    == EntryOutcome(news: [false], image: .known))
            #expect(
                try await store.entries.enter([entry], image: bench.image("2")).image == .goes(to: ["clinic"])
            )
            #expect(try await bench.deliver(store).count == 3)
            try await store.retireAll()
            #expect(try await store.counts().records == 0)
            // Also when they have left the queue, entry and image.
            #expect(
                try await store.entries.enter([entry], image: bench.image("2"))
                    == EntryOutcome(news: [false], image: .known))
            #expect(try await store.counts().records == 0)
            #expect(
                try await store.entries.enter([entry], image: bench.image("3"))
                    == EntryOutcome(news: [false], image: .goes(to: ["clinic"])))
            #expect(try await bench.deliver(store).map(\.image) == [ImageBench.bytes("3")])
        }
    }

    @Test func aRestartSendsTheSameAgain() async throws {
        try await withTemporaryDirectory { directory in
            let image = try bench.image()
            var items: [StoredBatch.Item] = []
            for _ in 1...2 {
                let store = try await bench.open(in: directory)
                _ = try await store.entries.enter([bench.entered()], image: image)
                if items.isEmpty {
                    try await bench.acknowledge(try #require(try await bench.next(store)), store)
                }
                let batch = try await bench.nextImage(store)
                #expect(try await store.batches.image(of: batch) == image.bytes)
                items += batch.items
                try await store.close()
            }
            #expect(items.count == 2 && items[0] == items[1] && items[0].body == image.body)
        }
    }

    @Test func oneThatIsRefusedIsSetAsideAndSentAgain() async throws {
        try await bench.withStore { store, directory in
            let (entry, image) = (try bench.entered(), try bench.image())
            _ = try await store.entries.enter([entry], image: image)
            try await bench.acknowledge(try #require(try await bench.next(store)), store)
            try await bench.setAside(try await bench.nextImage(store), store)
            let event = try #require(try await bench.told(store, .mediaFailed, .failed).first)
            #expect(event.name == "media-failed" && event[.recordID] == entry.id.text)
            #expect(event[.kind] == "glucose" && event[.httpStatus] == "422" && event[.attempt] == "1")
            var letters: [DeadLetter] = []
            try QueueReader(path: directory + "/queue.sqlite")
                .forEachDeadLetter(DeadLetterSelection()) { letters.append($0) }
            #expect(letters.map(\.id) == [image.id] && letters.map(\.kind) == ["image"])
            #expect(
                try await store.deadLetters.retry(DeadLetterSelection(), gateway: "box")
                    == RetryOutcome(released: 1))
            #expect(try await bench.deliver(store).map(\.image) == [image.bytes])
        }
    }

    /// Sets an entry of nobody aside, and its two images.
    private func withNobodys(
        _ body: (SQLiteQueue, EnteredRecord, [EnteredImage]) async throws -> Void
    ) async throws {
        try await bench.withStore { store, _ in
            let entry = try bench.entered(subject: nil)
            let images = try ["1", "2"].map { try bench.image($0, subject: nil) }
            for image in images { _ = try await store.entries.enter([entry], image: image) }
            // Another's, of nobody too.
            _ = try await store.entries.enter(
                [bench.entered(5, subject: nil)], image: bench.image("5", of: 5, subject: nil))
            while let batch = try await bench.next(store) {
                if batch.items.count > 1 {
                    _ = try await store.batches.split(batch, settings: ImageBench.atOnce, gateway: "box")
                } else {
                    try await bench.setAside(batch, store, status: nil, reason: .unassigned)
                }
            }
            try await body(store, entry, images)
        }
    }

    @Test func anEntryOfNobodyTakesItsImagesAlongToItsPerson() async throws {
        try await withNobodys { store, entry, images in
            let selection = DeadLetterSelection(records: [entry.id.text])
            #expect(
                try await store.deadLetters.retry(selection, subject: "patient-18", gateway: "box")
                    == RetryOutcome(released: 3))
            #expect(try await store.counts().destinations[0].dead == 2)
            var subjects: [String?] = []
            var ids: [String] = []
            while let batch = try await bench.next(store) {
                ids += batch.items.map(\.header.id.text)
                subjects += batch.items.map { RecordContent(json: $0.body)?.subject }
                try await bench.acknowledge(batch, store)
            }
            #expect(ids == [entry.id.text] + images.map(\.id.text))
            #expect(subjects == ["patient-18", "patient-18", "patient-18"])
        }
    }

    @Test func anEntryOfNobodyTakesAnImageAlongThatWaitsStill() async throws {
        try await bench.withStore { store, _ in
            let entry = try bench.entered(subject: nil)
            for text in ["1", "2"] {
                _ = try await store.entries.enter([entry], image: bench.image(text, subject: nil))
            }
            // The first is on its way by then, the second not yet.
            let batch = try #require(try await bench.next(store))
            #expect(batch.items.map(\.header.id) == [entry.id])
            try await bench.setAside(batch, store, status: nil, reason: .unassigned)
            let selection = DeadLetterSelection(records: [entry.id.text])
            #expect(
                try await store.deadLetters.retry(selection, subject: "patient-18", gateway: "box")
                    == RetryOutcome(released: 1))
            var subjects: [String?] = []
            while let batch = try await bench.next(store) {
                subjects += batch.items.map { RecordContent(json: $0.body)?.subject }
                try await bench.acknowledge(batch, store)
            }
            #expect(subjects == ["patient-18", "patient-18", "patient-18"])
        }
    }

    @Test func anEntryAndItsImageMayBothBeNamed() async throws {
        try await withNobodys { store, entry, images async throws in
            let selection = DeadLetterSelection(records: [entry.id.text, images[1].id.text])
            #expect(
                try await store.deadLetters.retry(selection, subject: "patient-18", gateway: "box")
                    == RetryOutcome(released: 3))
        }
    }

    @Test func anImageThatIsNamedGoesAlone() async throws {
        try await withNobodys { store, _, images in
            let selection = DeadLetterSelection(records: [images[0].id.text])
            #expect(
                try await store.deadLetters.retry(selection, subject: "patient-18", gateway: "box")
                    == RetryOutcome(released: 1))
            let batch = try await bench.nextImage(store)
            #expect(batch.items.first.flatMap { RecordContent(json: $0.body) }?.subject == "patient-18")
            #expect(try await store.batches.image(of: batch) == images[0].bytes)
        }
    }

    @Test(arguments: ["payload = x'FFD8FF00'", "body = '{}'", "destinations = 'home'"])
    func aDamagedOneIsSetAsideAlone(change: String) async throws {
        try await bench.withStore { store, _ in
            let entry = try bench.entered()
            _ = try await store.entries.enter([entry], image: bench.image())
            try await store.database.write {
                try $0.execute(sql: "UPDATE record SET \(change) WHERE kind = 'image'")
            }
            #expect(try await bench.deliver(store).map(\.ids) == [[entry.id.text]])
            let events = try await bench.told(store, .mediaFailed, .failed)
            // Without its body nobody knows whose it is.
            #expect(events.map(\.name) == [change.hasPrefix("body") ? "failed" : "media-failed"])
            #expect(events.map { $0[.error] } == ["the record is damaged in the queue"])
            #expect(try await store.counts().destinations[0].dead == 1)
            var outcome = RetryOutcome()
            outcome.left = [.damaged: 1]
            #expect(try await store.deadLetters.retry(DeadLetterSelection(), gateway: "box") == outcome)
        }
    }

    @Test func oneThatIsDamagedOnItsWayHasNoBytes() async throws {
        try await bench.withStore { store, _ in
            _ = try await store.entries.enter([bench.entered()], image: bench.image())
            try await bench.acknowledge(try #require(try await bench.next(store)), store)
            let batch = try await bench.nextImage(store)
            try await store.database.write {
                try $0.execute(sql: "UPDATE record SET payload = x'00' WHERE kind = 'image'")
            }
            #expect(try await store.batches.image(of: batch) == nil)
            #expect(try await bench.ask(store, .image) == .nothing)
            #expect(try await bench.told(store, .mediaFailed).count == 1)
        }
    }

    @Test func aRangeIsSentAgainWithItsImages() async throws {
        try await bench.withStore { store, _ in
            let entries = try (1...3).map { try bench.entered($0) }
            let image = try bench.image(of: 2)
            for entry in entries {
                _ = try await store.entries.enter([entry], image: entry == entries[1] ? image : nil)
            }
            #expect(try await bench.deliver(store).count == 2)
            for count in [4, 0] {
                let outcome = try await store.resender.resend(
                    to: "clinic", measured: 1_795_162_500..<1_795_162_600, batching: ImageBench.atOnce,
                    gateway: "box")
                #expect(outcome == ResendOutcome(resent: count, next: nil))
            }
            let requests = try await bench.deliver(store)
            #expect(requests.map(\.ids) == [entries.map(\.id.text), [image.id.text]])
            #expect(requests.last?.image == image.bytes)
        }
    }

    @Test func imagesAreNoReadings() async throws {
        try await bench.withStore { store, directory in
            let entry = try bench.entered()
            _ = try await store.entries.enter([entry], image: bench.image())
            var seen: [String] = []
            let omitted = try QueueReader(path: directory + "/queue.sqlite")
                .forEachRecord(RecordFilter(), routings: nil) { record, _ in seen.append(record.id) }
            #expect(seen == [entry.id.text] && omitted == QueueReader.Omitted())
            #expect(!RecordKind.image.isDelivered)
        }
    }

    /// Page by page, as from a file whose tables lead nowhere.
    @Test func theLargestIsTakenOutOfADamagedFile() async throws {
        try await withMemoryDirectory { directory in
            let path = directory + "/queue.sqlite"
            let store = try await bench.open(in: directory)
            let image = try bench.image(ImageBench.largest(), subject: nil)
            _ = try await store.entries.enter([bench.entered(subject: nil)], image: image)
            try await store.close()
            var found: [Data] = []
            DatabasePages(path: path, log: path + "-wal").forEachRow { _, values in
                // After seq, id, kind, peripheral_id, address, alias and characteristic.
                guard values.count > 7, String.fromDatabaseValue(values[2]) == "image" else { return }
                found += Data.fromDatabaseValue(values[7]).map { [$0] } ?? []
            }
            #expect(found == [image.bytes])
        }
    }
}
