import FoundationEssentials
import GRDB
import QueueTestSupport
import Testing

@testable import IngestQueue

/// The lane of images: behind their entries, and never before a reading.
@Suite struct ImageLaneTests {
    private let bench = ImageBench()
    private static let orders = [DeliveryOrder.fresh, .strict].map {
        DestinationRouting(name: "clinic", order: $0, takesImages: true)
    }

    /// What SQLite does for a query.
    private func plan(
        _ query: String, _ arguments: StatementArguments = [], _ store: SQLiteQueue
    ) async throws -> String {
        try await store.database.read { db in
            try Row.fetchAll(db, sql: "EXPLAIN QUERY PLAN " + query, arguments: arguments).map {
                $0["detail"] as String
            }
        }.joined(separator: "; ")
    }

    @Test(arguments: orders)
    func anImageIsOfferedOnceItsEntryWasDealtWith(routing: DestinationRouting) async throws {
        try await bench.withStore([routing]) { store, _ in
            _ = try await store.entries.enter([bench.entered(1)], image: bench.image(of: 1))
            #expect(try await bench.ask(store, .image) == .nothing)
            let entry = try #require(try await bench.next(store))
            // On its way is not dealt with.
            #expect(try await bench.ask(store, .image) == .nothing)
            try await bench.acknowledge(entry, store)
            #expect(try await bench.nextImage(store).items[0].imageOf?.id == entry.items[0].header.id)
        }
    }

    @Test(arguments: orders)
    func anEntryWaitsForCompanyAndItsImageForTheEntry(routing: DestinationRouting) async throws {
        let settings = BatchSettings(maxRecords: 10, maxWait: .seconds(60))
        try await bench.withStore([routing]) { store, _ in
            _ = try await store.entries.enter([bench.entered()], image: bench.image())
            for lane in routing.order.lanes {
                let next = try await bench.ask(store, lane, settings)
                #expect(lane == .backlog && routing.order == .fresh ? next == .nothing : next.ids == nil)
            }
            #expect(try await bench.ask(store, .image, settings) == .nothing)
            #expect(try await store.counts().destinations[0].pending == 2)
        }
    }

    @Test(arguments: orders)
    func readingsThatComeLaterPassAnImageThatWaits(routing: DestinationRouting) async throws {
        try await bench.withStore([routing]) { store, _ in
            _ = try await store.entries.enter([bench.entered(1)], image: bench.image(of: 1))
            try await bench.acknowledge(try #require(try await bench.next(store)), store)
            let image = try await bench.nextImage(store)
            _ = try await store.entries.enter([bench.entered(2)], image: bench.image(of: 2))
            let second = try #require(try await bench.next(store))
            #expect(second.items.map(\.header.id) == [try bench.entered(2).id])
            // Also when the image was refused meanwhile, the other one does not overtake its entry.
            #expect(try await bench.setAside(image, store) == .nothing)
            try await bench.acknowledge(second, store)
            #expect(try await bench.nextImage(store).items[0].imageOf?.id == second.items[0].header.id)
        }
    }

    /// An image may come long after its entry.
    @Test func aNewImageOfAnEntryInTheBacklogWaitsForIt() async throws {
        try await bench.withStore { store, _ in
            let old = try bench.entered(1)
            _ = try await store.entries.enter([old])
            clock.advance(by: .seconds(120))
            _ = try await store.entries.enter([old], image: bench.image(of: 1))
            // The image is fresh, and its entry is not.
            #expect(try await bench.ask(store, .fresh) == .nothing)
            #expect(try await bench.ask(store, .image) == .nothing)
            #expect(try await bench.deliver(store).map(\.ids).first == [old.id.text])
            #expect(try await store.counts().destinations[0].delivered == 2)
        }
    }

    private var clock: DrivenClock { bench.clock }

    @Test func anEntryThatIsTriedAgainGoesBeforeItsImage() async throws {
        try await bench.withStore { store, _ in
            _ = try await store.entries.enter([bench.entered()], image: bench.image())
            while let batch = try await bench.next(store) { try await bench.setAside(batch, store) }
            #expect(
                try await store.deadLetters.retry(DeadLetterSelection(), gateway: "box")
                    == RetryOutcome(released: 2))
            // Who asks for images at this moment gets none.
            #expect(try await bench.ask(store, .image) == .nothing)
            #expect(
                try await bench.deliver(store).map(\.ids) == [
                    [try bench.entered().id.text], [try bench.image().id.text],
                ])
        }
    }

    @Test func whoAsksForReadingsIsToldThatAnImageHasCome() async throws {
        try await bench.withStore { store, _ in
            _ = try await store.entries.enter([bench.entered()], image: bench.image())
            _ = store.routings.wakeUp(for: "clinic").consume()
            _ = try #require(try await bench.next(store))
            #expect(store.routings.wakeUp(for: "clinic").isRaised)
        }
    }

    @Test func attemptsAreKeptWithAnImageOverARestart() async throws {
        try await withTemporaryDirectory { directory in
            var store = try await bench.open(in: directory)
            _ = try await store.entries.enter([bench.entered()], image: bench.image())
            try await bench.acknowledge(try #require(try await bench.next(store)), store)
            let batch = try await bench.nextImage(store)
            let event = Event.retrying(destination: "clinic", httpStatus: 503, attempt: 7, error: "HTTP 503")
            try await store.batches.note(
                nil, of: "clinic", change: event, event: event, batch: batch, attempts: 7)
            try await store.close()
            store = try await bench.open(in: directory)
            #expect(try await bench.nextImage(store).attempts == 7)
            try await store.close()
        }
    }

    // MARK: - What others see of it

    @Test func whatWaitsThereIsCountedAndGivenUpWithASession() async throws {
        try await bench.withStore { store, _ in
            _ = try await store.sessions.signIn("first", at: "clinic")
            for number in 1...3 as ClosedRange<Int64> {
                _ = try await store.entries.enter([bench.entered(number)], image: bench.image(of: number))
            }
            try await bench.acknowledge(try #require(try await bench.next(store)), store)
            #expect(try await bench.nextImage(store).items.count == 1)
            #expect(try await store.counts().destinations[0].pending == 3)
            #expect(try await store.overview.status(of: []).destinations[0].pending == 3)
            #expect(try await store.sessions.signOut(of: "clinic") == 3)
            #expect(try await store.counts().destinations[0].pending == 0)
            _ = try await store.sessions.signIn("first", at: "clinic")
            #expect(try await bench.next(store) == nil)
        }
    }

    @Test func anotherPersonsImagesAreSetAside() async throws {
        try await bench.withStore { store, _ in
            _ = try await store.sessions.signIn("first", at: "clinic")
            _ = try await store.entries.enter([bench.entered()], image: bench.image())
            try await bench.acknowledge(try #require(try await bench.next(store)), store)
            #expect(try await bench.nextImage(store).items.count == 1)
            #expect(try await store.sessions.signIn("second", at: "clinic") == 1)
            #expect(try await bench.next(store) == nil)
            #expect(try await store.counts().destinations[0].dead == 1)
        }
    }

    @Test func itStaysUntilItIsDeliveredAndKeepsNoReading() async throws {
        try await bench.withStore { store, _ in
            _ = try await store.entries.enter([bench.entered(1)], image: bench.image(of: 1))
            _ = try await store.entries.enter([bench.entered(2)])
            try await bench.acknowledge(try #require(try await bench.next(store)), store)
            let image = try await bench.nextImage(store)
            try await store.retireAll()
            #expect(try await store.counts().records == 1)
            #expect(try await store.batches.image(of: image) != nil)
            try await bench.acknowledge(image, store)
            try await store.retireAll()
            #expect(try await store.counts().records == 0)
        }
    }

    @Test func itIsKeptForADestinationThatWasTakenOutWhileThereIsRoom() async throws {
        try await withTemporaryDirectory { directory in
            var store = try await bench.open(in: directory)
            _ = try await store.entries.enter([bench.entered(1)], image: bench.image(of: 1))
            try await bench.acknowledge(try #require(try await bench.next(store)), store)
            _ = try await bench.nextImage(store)
            try await store.close()

            let other = [DestinationRouting(name: "home")]
            store = try await bench.open(in: directory, other)
            #expect(try await store.destinations.absent().map(\.owed) == [1])
            _ = try await store.retention.retire(keeping: Int64.max...Int64.max, after: 0)
            #expect(try await store.counts().records == 1)
            try await store.close()
            store = try await bench.open(in: directory)
            #expect(try await bench.nextImage(store).items.count == 1)
            try await store.close()

            store = try await bench.open(in: directory, other)
            try await store.retireAll()
            #expect(try await store.counts().records == 0)
            #expect(try await store.destinations.absent().isEmpty)
            try await store.close()
        }
    }

    @Test func whatIsNotDeliveredIsMeasuredWhereverItIs() async throws {
        let home = DestinationRouting(name: "home", takesImages: true)
        try await bench.withStore([ImageBench.taking, home]) { store, _ in
            let image = try bench.image(of: 1)
            let size = UInt64(image.bytes.count)
            #expect(try await store.retention.undeliveredImageBytes() == 0)
            _ = try await store.entries.enter([bench.entered(1)], image: image)
            #expect(try await store.retention.undeliveredImageBytes() == size)
            try await bench.deliver(store, to: "home")
            #expect(try await store.retention.undeliveredImageBytes() == size)
            try await bench.acknowledge(try #require(try await bench.next(store)), store)
            let batch = try await bench.nextImage(store)
            #expect(try await store.retention.undeliveredImageBytes() == size)
            try await bench.setAside(batch, store)
            #expect(try await store.retention.undeliveredImageBytes() == size)
            _ = try await store.deadLetters.drop(DeadLetterSelection())
            #expect(try await store.retention.undeliveredImageBytes() == 0)
            // Once, where the fresh lane has come to it and the backlog has not.
            _ = try await store.entries.enter([bench.entered(2)])
            clock.advance(by: .seconds(120))
            _ = try await store.entries.enter([bench.entered(3)], image: bench.image(of: 3))
            try await bench.deliver(store, to: "home")
            #expect(try await bench.ask(store, .fresh).ids == [try bench.entered(3).id.text])
            #expect(try await store.retention.undeliveredImageBytes() == size)
        }
    }

    /// What is owed to nobody else is dropped where room is needed.
    @Test func whatADestinationIsOwedThatWasTakenOutLeavesRoomForOthers() async throws {
        let home = DestinationRouting(name: "home", takesImages: true)
        try await withTemporaryDirectory { directory in
            let first = try await bench.open(in: directory, [ImageBench.taking, home])
            _ = try await first.entries.enter([bench.entered(1)], image: bench.image(of: 1))
            try await bench.acknowledge(try #require(try await bench.next(first, of: "home")), first)
            // That one is on its way there; to this one it has not come.
            _ = try await first.entries.enter([bench.entered(2)], image: bench.image(of: 2))
            try await bench.deliver(first)
            #expect(try await first.retention.undeliveredImageBytes() > 0)
            try await first.close()
            let second = try await bench.open(in: directory)
            #expect(try await second.retention.undeliveredImageBytes() == 0)
            try await second.close()
        }
    }

    /// Where room is needed it stays for those who are there, and so for those who come back.
    @Test func anImageThatStaysIsOwedStillToADestinationThatWasTakenOut() async throws {
        let home = DestinationRouting(name: "home", takesImages: true)
        try await withTemporaryDirectory { directory in
            let first = try await bench.open(in: directory, [ImageBench.taking, home])
            for number in 1...3 as ClosedRange<Int64> {
                _ = try await first.entries.enter([bench.entered(number)], image: bench.image(of: number))
            }
            // All entries are taken, so that the images wait on both lanes.
            for name in ["clinic", "home"] {
                try await bench.acknowledge(try #require(try await bench.next(first, of: name)), first)
                _ = try await bench.next(first, of: name)
            }
            try await first.close()
            let second = try await bench.open(in: directory)
            try await bench.acknowledge(try await bench.nextImage(second), second)
            #expect(try await second.retention.retire(keeping: nil, after: 0).dropped > 0)
            try await second.close()
            let third = try await bench.open(in: directory, [ImageBench.taking, home])
            let image = try await bench.deliver(third, to: "home").compactMap(\.image)
            #expect(image == [try bench.image(of: 2).bytes, try bench.image(of: 3).bytes])
            try await third.close()
        }
    }

    // MARK: - What it costs

    @Test func composingCostsTheSameHoweverManyImagesWait() async throws {
        func cost(of images: Int64) async throws -> Int {
            try await withMemoryDirectory { directory in
                let store = try await bench.open(in: directory)
                for number in 1...images {
                    _ = try await store.entries.enter([bench.entered(number)], image: bench.image(of: number))
                }
                let settings = BatchSettings(maxRecords: Int(images), maxWait: .zero)
                let entries = try #require(try await bench.ask(store, .fresh, settings).batch)
                try await bench.acknowledge(entries, store)
                _ = try await bench.nextImage(store)
                _ = try await store.entries.enter([bench.entered(images + 1)])
                let steps = try await store.steps {
                    let batch = try #require(try await bench.next(store))
                    try await bench.acknowledge(batch, store)
                    _ = try await bench.nextImage(store)
                }
                try await store.close()
                return steps
            }
        }
        let (few, many) = (try await cost(of: 10), try await cost(of: 300))
        #expect(many == few)
    }

    @Test func itsQuestionsGoByIndexes() async throws {
        try await bench.withStore { store, _ in
            let first = try await plan(BatchTable.firstImage, ["destination": "clinic"], store)
            #expect(first.contains("image_batch USING PRIMARY KEY (destination=? AND first_position<?)"))
            #expect(!first.contains("SCAN image_batch") && !first.contains("TEMP B-TREE"))
            let readings = try await plan(BatchTable.hasReadings, ["clinic"], store)
            #expect(readings.contains("SEARCH batch USING PRIMARY KEY (destination=?)"))
            let bytes = try await plan(Retention.undeliveredImages, [], store)
            #expect(bytes.contains("record USING INDEX record_image"))
            for index in ["image_batch_position (first_position=?)", "dead_letter_record (record_seq=?)"] {
                #expect(bytes.contains(index))
            }
        }
    }

    /// Each is read whole where it is looked at, so not too many go in one transaction.
    @Test func largeImagesArePassedOverSentAgainAndDroppedAFewAtATime() async throws {
        let home = DestinationRouting(name: "home")
        try await withMemoryDirectory { directory in
            let store = try await bench.open(in: directory, [ImageBench.taking, home])
            for number in 1...3 as ClosedRange<Int64> {
                _ = try await store.entries.enter(
                    [bench.entered(number)],
                    image: bench.image(ImageBench.largest(UInt8(number)), of: number))
            }
            let settings = BatchSettings(maxRecords: 10, maxWait: .seconds(60))
            // Two of them are looked at, to see that they are not for it; what was found goes at once.
            #expect(try await bench.ask(store, .backlog, of: "home", settings).ids?.count == 2)
            #expect(try await bench.deliver(store, to: "home").map(\.ids.count) == [2, 1])
            #expect(try await bench.deliver(store).map(\.ids.count) == [3, 1, 1, 1])

            let part = try await store.resender.resend(
                to: "clinic", measured: 0..<Int64.max, batching: settings, gateway: "box")
            #expect(part.resent == 4)
            let rest = try await store.resender.resend(
                to: "clinic", measured: 0..<Int64.max, batching: settings, gateway: "box",
                after: try #require(part.next))
            #expect(rest == ResendOutcome(resent: 2, next: nil))
            while let batch = try await bench.next(store) { try await bench.setAside(batch, store) }
            let first = try await store.deadLetters.retry(DeadLetterSelection(), gateway: "box")
            #expect(first.next != nil && first.released < 6)
            let second = try await store.deadLetters.retry(
                DeadLetterSelection(), gateway: "box", after: try #require(first.next))
            #expect(second.next == nil && first.released + second.released == 6)
            try await bench.deliver(store)

            let step = try await store.retention.retire(keeping: nil, after: 0)
            #expect(step.dropped == 4 && !step.isDone)
            #expect(try await store.retention.retire(keeping: nil, after: step.position).isDone)
            #expect(try await store.counts().records == 0)
            try await store.close()
        }
    }

    // MARK: - Files of other versions

    /// What versions 8 and 7 added taken away, and images on the lanes of readings.
    private static let version6 =
        OpeningTests.version7 + """
            INSERT INTO batch (destination, first_position, positions, gateway, attempts, lane)
                SELECT destination, first_position, CAST(first_position AS TEXT), gateway, 5, 'fresh' FROM image_batch;
            DROP TABLE image_batch;
            DROP INDEX record_image;
            PRAGMA user_version = 6;
            """

    private func withVersion6(_ body: (String, EnteredImage) async throws -> Void) async throws {
        try await withTemporaryDirectory { directory in
            let old = try await bench.open(in: directory)
            let image = try bench.image(of: 1)
            _ = try await old.entries.enter([bench.entered(1)], image: image)
            try await bench.acknowledge(try #require(try await bench.next(old)), old)
            _ = try await bench.nextImage(old)
            _ = try await old.entries.enter([bench.entered(2)], image: bench.image(of: 2))
            try await old.database.write { try $0.execute(sql: Self.version6) }
            try await old.close()
            try await body(directory, image)
        }
    }

    @Test func whatVersion6HadAmongReadingsGoesBehindThem() async throws {
        try await withVersion6 { directory, image in
            let store = try await bench.open(in: directory)
            let second = try #require(try await bench.next(store))
            #expect(second.items.map(\.header.id) == [try bench.entered(2).id])
            try await bench.acknowledge(second, store)
            let first = try await bench.nextImage(store)
            #expect(first.items[0].header.id == image.id && first.attempts == 5)
            #expect(try await store.batches.image(of: first) == image.bytes)
            #expect(try await bench.deliver(store).count == 2)
            #expect(try await store.counts().destinations[0].delivered == 4)
            try await store.close()
        }
    }

    @Test func aDamagedFileOfVersion6IsMendedAndNothingGoesTwice() async throws {
        try await withVersion6 { directory, image in
            let path = directory + "/queue.sqlite"
            try await MendingTests.change(path, MendingTests.crossing)
            QueueFile(path: path).setMark()
            let store = try await bench.open(in: directory)
            #expect(try await store.events.contains { $0.name == "store-quarantined" })
            #expect(
                try await bench.deliver(store).map(\.ids) == [
                    [try bench.entered(2).id.text], [image.id.text], [try bench.image(of: 2).id.text],
                ])
            try await store.close()
        }
    }

    @Test func aDamagedFileKeepsWhatWaitsOnTheLane() async throws {
        try await withTemporaryDirectory { directory in
            let old = try await bench.open(in: directory)
            let image = try bench.image(of: 1)
            _ = try await old.entries.enter([bench.entered(1)], image: image)
            try await bench.acknowledge(try #require(try await bench.next(old)), old)
            _ = try await bench.nextImage(old)
            try await old.close()
            let path = directory + "/queue.sqlite"
            try await MendingTests.change(path, MendingTests.crossing)
            QueueFile(path: path).setMark()
            let store = try await bench.open(in: directory)
            #expect(try await store.events.contains { $0.name == "store-quarantined" })
            #expect(try await bench.deliver(store).map(\.ids) == [[image.id.text]])
            try await store.close()
        }
    }
}
