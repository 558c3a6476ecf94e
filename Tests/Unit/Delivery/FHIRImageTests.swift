import FoundationEssentials
import GRDB
import QueueTestSupport
import Testing

@testable import IngestDelivery

/// Images of entries on their way to a FHIR server.
@Suite struct FHIRImageTests {
    private struct Running: RunningDelivery {
        static let destination = "clinic"

        let store: SQLiteQueue
        let worker: DeliveryWorker<LoggedDestination>
        let task: Task<Void, any Error>
        let clock: DrivenClock
    }

    /// Takes what comes, and no images.
    private struct Plain: Destination {
        func deliver(_ batch: OutgoingBatch) async -> DeliveryAnswer { .taken(httpStatus: 200) }
    }

    private static let bytes =
        Data([0xFF, 0xD8, 0xFF]) + Data((0..<100_000).map { UInt8(truncatingIfNeeded: $0) })

    private let fake = FakeFHIR()
    private let clock = DrivenClock()

    private static func entry(subject: String?) -> RecordEntry {
        var entry = SampleEntries.glucose
        entry.subject = subject
        return entry
    }

    /// Runs a gateway's part with an entry and its image waiting.
    private func run(
        subject: String? = "patient-17", plain: Bool = false, order: DeliveryOrder = .strict,
        _ body: (Running, _ record: RecordID, _ image: RecordID) async throws -> Void
    ) async throws {
        try await withBackend(fake.answer) { place in
            let store = try await SQLiteQueue.open(
                in: place.directory, clock: clock,
                destinations: [DestinationRouting(name: "clinic", order: order, takesImages: true)])
            let entry = Self.entry(subject: subject)
            let record = try #require(EnteredRecord(entry, gateway: "box", received: 1_795_166_107))
            let image = try #require(
                EnteredImage(Self.bytes, of: entry, gateway: "box", received: 1_795_166_107))
            _ = try await store.entries.enter([record], image: image)
            let fhir = FHIR(
                settings: FHIRSettings(url: place.host + "/r4", patientSystem: "urn:oid:2.999.1"),
                transport: place.transport, clock: clock)
            let destination = LoggedDestination(
                plain ? Plain() as any Destination : fhir, name: "clinic", clock: clock, log: .silent)
            let worker = DeliveryWorker(
                name: "clinic", gateway: "box", store: store.batches, destination: destination,
                batching: BatchSettings(maxRecords: 100, maxWait: .zero), clock: clock, random: { 1 },
                events: EventLog(sink: RecordingSink()))
            let running = Running(
                store: store, worker: worker, task: Task { try await worker.run() }, clock: clock)
            try await body(running, record.id, image.id)
            try await running.stop()
        }
    }

    /// The image that each run submits.
    private static func image() throws -> EnteredImage {
        try #require(
            EnteredImage(bytes, of: entry(subject: "patient-17"), gateway: "box", received: 1_795_166_107))
    }

    private var images: [FakeFHIR.Kept] { fake.kept.filter { $0.type == "Media" } }

    @Test func anImageArrivesAsMediaOfItsPerson() async throws {
        try await run { running, record, image in
            try await running.eventually(1, .mediaSubmitted)
            #expect(fake.requests == 2 && fake.faults.isEmpty)
            #expect(images.map(\.identifiers) == [["\(FHIRSystem.own)|\(image)"]])
            #expect(images.map(\.image) == [Self.bytes])
            #expect(fake.kept.filter { $0.type == "Patient" }.count == 1)
            let event = try #require(try await running.names(.mediaSubmitted).first)
            #expect(event[.recordID] == record.text && event[.httpStatus] == "200")
            #expect(event[.location] == "Media/\(fake.kept.count)/_history/1")
            let submitted = try await running.names(.submitted)
            #expect(submitted.map { $0[.recordID] } == [record.text])
            #expect(submitted.allSatisfy { $0[.location] == nil })
            #expect(try await running.store.counts().destinations[0].delivered == 2)
        }
    }

    @Test(arguments: [400, 403, 404, 405, 412, 413, 422])
    func aRefusedOneCostsNoReading(status: Int) async throws {
        let image = try Self.image()
        fake.refuse(identifier: "\(FHIRSystem.own)|\(image.id)", status)
        try await run { running, record, _ in
            try await running.eventually(1, .mediaFailed)
            let event = try #require(try await running.names(.mediaFailed).first)
            #expect(event[.recordID] == record.text && event[.httpStatus] == "\(status)")
            #expect(try await running.names(.submitted).map { $0[.recordID] } == [record.text])
            #expect(try await running.names(.failed).isEmpty && images.isEmpty)
            #expect(try await running.names(.authRejected, .destinationMisconfigured).isEmpty)
            // As any that is set aside it goes out by an operator's word.
            fake.refuse(identifier: "\(FHIRSystem.own)|\(image.id)", nil)
            _ = try await running.store.deadLetters.retry(DeadLetterSelection(), gateway: "box")
            try await running.eventually(1, .mediaSubmitted)
            #expect(images.map(\.image) == [Self.bytes])
        }
    }

    @Test func oneThatNeverGetsThroughIsSetAside() async throws {
        let image = try Self.image()
        fake.refuse(identifier: "\(FHIRSystem.own)|\(image.id)", 503)
        try await run { running, record, _ in
            while try await running.names(.mediaFailed).isEmpty {
                try await running.untilWaiting()
                running.clock.advance(by: .seconds(300))
            }
            let event = try #require(try await running.names(.mediaFailed).first)
            #expect(event[.recordID] == record.text && event[.attempt] == "50")
            #expect(try await running.names(.submitted).map { $0[.recordID] } == [record.text])
        }
    }

    @Test func oneThatFoundNoServerComesWithTheSameBytes() async throws {
        fake.answer(TestReceiver.Answer(status: 503))
        try await run { running, _, _ in
            try await running.eventually(1, .retrying)
            fake.answer(nil)
            try await running.untilWaiting()
            running.clock.advance(by: .seconds(2))
            try await running.eventually(1, .submitted)
            try await running.eventually(1, .mediaSubmitted)
            #expect(images.map(\.image) == [Self.bytes])
        }
    }

    /// Its request is large, and may not get through where others do.
    @Test(arguments: DeliveryOrder.allCases, [401, 429, 503])
    func anImageThatDoesNotArriveHoldsUpNoReading(order: DeliveryOrder, status: Int) async throws {
        let image = try Self.image()
        fake.refuse(identifier: "\(FHIRSystem.own)|\(image.id)", status)
        try await run(order: order) { running, _, _ in
            try await running.eventually(1, .retrying)
            var entry = Self.entry(subject: "patient-17")
            entry.name += "another"
            let record = try #require(EnteredRecord(entry, gateway: "box", received: 1_795_166_107))
            _ = try await running.store.entries.enter([record])
            try await running.eventually(2, .submitted)
            #expect(images.isEmpty)
            #expect(try await running.names(.destinationDown, .authRejected, .mediaFailed).isEmpty)
            fake.refuse(identifier: "\(FHIRSystem.own)|\(image.id)", nil)
            try await running.untilIdle()
            running.clock.advance(by: .seconds(900))
            try await running.eventually(1, .mediaSubmitted)
            #expect(images.map(\.image) == [Self.bytes])
        }
    }

    /// The journal gets a place, and nothing else that a server may write there.
    @Test(
        arguments: [
            ("Media/4711/_history/1", "Media/4711/_history/1"),
            ("https://fhir.example/r4/Media/a-1.2", "https://fhir.example/r4/Media/a-1.2"),
            ("", nil), ("Media/1?name=Anna", nil), ("Media/Anna M", nil), ("Media/1\\u001b[2J", nil),
            ("Media/%41", nil), (String(repeating: "a", count: 256), String(repeating: "a", count: 256)),
            (String(repeating: "a", count: 257), nil),
        ] as [(String, String?)])
    func aLocationIsAPlainPlace(text: String, expected: String?) {
        let reply =
            #"{"resourceType":"Bundle","type":"transaction-response","entry":[{"response":{"status":"200"}},"#
            + #"{"response":{"status":"201 Created","location":"\#(text)"}}]}"#
        #expect(FHIRAnswer.location(in: reply) == expected)
    }

    /// Of a server that gives back what it created, only the beginning is kept.
    @Test func aLongAnswerWithTheImageInItIsBelieved() {
        let reply =
            #"{"resourceType":"Bundle","type":"transaction-response","entry":[{"resource":{"#
            + #""resourceType":"Media","content":{"data":""# + String(repeating: "A", count: 60_000)
        #expect(FHIRAnswer.meaning(httpStatus: 200, reply: reply, entries: 7) == .taken(httpStatus: 200))
        let batch = reply.replacing("transaction-response", with: "batch-response")
        #expect(
            FHIRAnswer.meaning(httpStatus: 200, reply: batch, entries: 7)
                == .misplaced(httpStatus: 200, error: "answers with no Bundle of responses"))
    }

    @Test func nobodysImageWaitsForItsPersonWithItsEntry() async throws {
        try await run(subject: nil) { running, record, _ in
            try await running.eventually(1, .failed)
            try await running.eventually(1, .mediaFailed)
            #expect(try await running.names(.mediaFailed).map { $0[.error] } == ["unassigned"])
            let selection = DeadLetterSelection(records: [record.text])
            _ = try await running.store.deadLetters.retry(selection, subject: "patient-18", gateway: "box")
            try await running.eventually(1, .mediaSubmitted)
            #expect(fake.faults.isEmpty && images.map(\.image) == [Self.bytes])
            #expect(
                fake.kept.filter { $0.type == "Patient" }.map(\.identifiers) == [
                    ["urn:oid:2.999.1|patient-18"]
                ])
        }
    }

    @Test func whileAnotherDestinationSendsAnImageThisOneWaits() async throws {
        try await run { running, _, _ in
            try await running.eventually(1, .submitted)
            try await running.eventually(1, .mediaSubmitted)
            try await running.untilIdle()
            #expect(running.store.batches.beginImage())
            var entry = Self.entry(subject: "patient-17")
            entry.name += "another"
            let record = try #require(EnteredRecord(entry, gateway: "box", received: 1_795_166_107))
            let image = EnteredImage(Self.bytes, of: entry, gateway: "box", received: 1_795_166_107)
            _ = try await running.store.entries.enter([record], image: image)
            try await running.eventually(2, .submitted)
            try await running.untilWaiting()
            #expect(images.count == 1)
            running.store.batches.endImage()
            running.clock.advance(by: .seconds(1))
            try await running.eventually(2, .mediaSubmitted)
            #expect(images.count == 2)
            try await eventually("it is the next one's turn") { running.store.batches.beginImage() }
        }
    }

    /// Its name may stand for another type since the image was taken.
    @Test func aDestinationThatTakesNoneIsSentNone() async throws {
        try await run(plain: true) { running, _, _ in
            try await running.eventually(1, .mediaFailed)
            let event = try #require(try await running.names(.mediaFailed).first)
            #expect(event[.error] == "the destination takes no images" && event[.attempt] == "0")
            #expect(try await running.names(.submitted).count == 1)
        }
    }
}
