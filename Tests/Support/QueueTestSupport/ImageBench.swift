package import FoundationEssentials
package import Testing

@testable package import IngestQueue

/// A queue with entries and their images, asked as a delivery asks it.
package struct ImageBench {
    package static let taking = DestinationRouting(name: "clinic", order: .fresh, takesImages: true)
    package static let atOnce = BatchSettings(maxRecords: 10, maxWait: .zero)

    package let clock = DrivenClock()

    package init() {}

    package func entered(_ number: Int64 = 0, subject: String? = "patient-17") throws -> EnteredRecord {
        try #require(EnteredRecord(Self.entry(number, subject), gateway: "box", received: 1_795_166_107))
    }

    package func image(
        _ bytes: String = "1", of number: Int64 = 0, subject: String? = "patient-17"
    ) throws -> EnteredImage {
        try image(Self.bytes(bytes), of: number, subject: subject)
    }

    package func image(
        _ bytes: Data, of number: Int64 = 0, subject: String? = "patient-17"
    ) throws -> EnteredImage {
        try #require(
            EnteredImage(
                bytes, of: Self.entry(number, subject), gateway: "box", received: 1_795_166_107))
    }

    package static func bytes(_ text: String) -> Data { Data([0xFF, 0xD8, 0xFF]) + Data(text.utf8) }

    /// The largest image there is, each with other bytes.
    package static func largest(_ number: UInt8 = 0) -> Data {
        var bytes = Data([0xFF, 0xD8, 0xFF, number])
        bytes += Data((bytes.count..<EntryImage.largest).map { UInt8(truncatingIfNeeded: $0 / 251) })
        return bytes
    }

    private static func entry(_ number: Int64, _ subject: String?) -> RecordEntry {
        var entry = SampleEntries.glucose
        entry.start += number
        entry.name += "\(number)"
        entry.subject = subject
        return entry
    }

    package func withStore(
        _ destinations: [DestinationRouting] = [taking],
        _ body: (SQLiteQueue, String) async throws -> Void
    ) async throws {
        try await withQueue(clock, destinations: destinations, body)
    }

    package func open(
        in directory: String, _ destinations: [DestinationRouting] = [taking]
    ) async throws -> SQLiteQueue {
        try await SQLiteQueue.open(in: directory, clock: clock, destinations: destinations)
    }

    package func ask(
        _ store: SQLiteQueue, _ lane: DeliveryLane, of name: String = "clinic",
        _ settings: BatchSettings = atOnce
    ) async throws -> NextBatch {
        try await store.batches.nextBatch(for: name, lane: lane, settings: settings, gateway: "box")
    }

    /// What a destination gets next: an image where there is no reading.
    package func next(_ store: SQLiteQueue, of name: String = "clinic") async throws -> StoredBatch? {
        for lane in store.routings.order(of: name).lanes + [.image] {
            if case .batch(let batch) = try await ask(store, lane, of: name) { return batch }
        }
        return nil
    }

    /// The next, which is an image.
    package func nextImage(
        _ store: SQLiteQueue, sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> StoredBatch {
        let batch = try #require(try await next(store), sourceLocation: sourceLocation)
        try #require(batch.lane == .image, sourceLocation: sourceLocation)
        return batch
    }

    @discardableResult
    package func acknowledge(_ batch: StoredBatch, _ store: SQLiteQueue) async throws -> NextBatch {
        try await store.batches.acknowledge(
            batch, httpStatus: 200, attempt: 1, settings: Self.atOnce, gateway: "box")
    }

    @discardableResult
    package func setAside(
        _ batch: StoredBatch, _ store: SQLiteQueue, status: Int? = 422, reason: SetAsideReason = "HTTP 422"
    ) async throws -> NextBatch {
        try await store.batches.setAside(
            batch, httpStatus: status, attempt: status == nil ? 0 : 1, reason: reason, reply: nil,
            settings: Self.atOnce, gateway: "box")
    }

    /// All that a destination takes, each request with its image's bytes.
    @discardableResult
    package func deliver(
        _ store: SQLiteQueue, to name: String = "clinic"
    ) async throws -> [(ids: [String], image: Data?)] {
        var requests: [(ids: [String], image: Data?)] = []
        while let batch = try await next(store, of: name) {
            let image = batch.lane == .image ? try await store.batches.image(of: batch) : nil
            requests.append((batch.items.map(\.header.id.text), image))
            try await acknowledge(batch, store)
        }
        return requests
    }

    package func told(_ store: SQLiteQueue, _ names: EventName...) async throws -> [JournalEntry] {
        try await store.events.filter { names.map(\.rawValue).contains($0.name) }
    }
}
