import FoundationEssentials
import GRDB
import Synchronization

/// What became of the image that came with an entry.
public enum ImageOutcome: Sendable, Equatable {
    /// It goes along to these destinations, one at least, in the order of their names.
    case goes(to: [String])
    /// It is, or was, in the queue already.
    case known
    /// It goes nowhere.
    case refused(error: String)
}

/// Images of entries. Each is a row of the table `record` behind its entry's, with its bytes as payload and the
/// destinations that get it.
extension SQLiteRecordStore {
    private static let notTaken = "the destination takes no images"
    private static let nobodyTakesIt = "no destination takes images"
    private static let noRoom = "the queue is nearly full of what is not delivered"

    /// Puts an image behind its entry, in the entry's transaction. Each destination that the entry is for and that does
    /// not get it is told of.
    /// - Parameters:
    ///   - entry: committed now, or known from before.
    ///   - hasRoom: what peripherals send has the last of the room.
    static func add(
        _ image: EnteredImage, of entry: EnteredRecord, hasRoom: Bool, _ arrival: Arrival,
        _ routings: [DestinationRouting], _ db: Database
    ) throws -> ImageOutcome {
        guard try !isKnown(image.id, db) else { return .known }
        let meant = routings.filter { $0.accepts(entry.header) }.sorted { $0.name < $1.name }
        let takers = hasRoom ? meant.filter(\.takesImages).map(\.name) : []
        for routing in meant where !takers.contains(routing.name) {
            try append(
                .mediaFailed(
                    recordID: entry.id, kind: entry.kind, destination: routing.name,
                    error: routing.takesImages ? noRoom : notTaken), db)
        }
        guard !takers.isEmpty else {
            return .refused(error: meant.contains(where: \.takesImages) ? noRoom : nobodyTakesIt)
        }
        try insert(
            EntryRow(
                id: image.id, kind: .image, payload: image.bytes, body: image.body,
                destinations: takers.joined(separator: "\n"), isLive: entry.origin == .manual),
            arrival, db)
        return .goes(to: takers)
    }

    /// Has whoever asks send an image, if no other destination does: one at a time is in memory, with all that is made of
    /// it for a request. `endImage` goes with it.
    /// - Returns: whether it is their turn.
    func beginImage() -> Bool {
        isImageUnderWay.compareExchange(expected: false, desired: true, ordering: .relaxed).exchanged
    }

    func endImage() { isImageUnderWay.store(false, ordering: .relaxed) }

    /// The bytes of the image that a batch is; nil where that is not there any more, or not what was written.
    func image(of batch: StoredBatch) async throws -> Data? {
        let position = batch.firstPosition
        return try await read { db in
            let row = try Row.fetchOne(
                db, sql: "SELECT * FROM record WHERE position = ?", arguments: [position])
            return row.flatMap { Self.isIntact($0) ? $0.intact("payload") : nil }
        }
    }

    /// The record that a row of the table `record` is the image of; nil for a reading, and where it does not say so.
    static func imageOf(_ row: Row) -> RecordReference? {
        guard row.intact("kind") == RecordKind.image.rawValue else { return nil }
        return (row.intact("body") as String?).flatMap(RecordContent.init)?.imageOf
    }
}

extension StoredBatch {
    /// Whether it is an image, which is always alone.
    var isImage: Bool { items.first?.header.kind == .image }
}

extension Event {
    /// That a destination has taken a record.
    static func taken(
        _ item: StoredBatch.Item, by destination: String, httpStatus: Int?, attempt: Int
    ) -> Event {
        if let entry = item.imageOf {
            return .mediaSubmitted(
                recordID: entry.id, kind: entry.kind, destination: destination, httpStatus: httpStatus,
                attempt: attempt)
        }
        return .submitted(
            recordID: item.header.id, kind: item.header.kind, item.header.peripheral,
            destination: destination, httpStatus: httpStatus, attempt: attempt)
    }

    /// That a record is set aside for a destination.
    /// - Parameter entry: the record that an image belongs to; nil for a reading, and where that is not known.
    static func setAside(
        _ record: RecordHeader, imageOf entry: RecordReference?, for destination: String,
        httpStatus: Int? = nil, attempt: Int, error: String, submission: FailedSubmission? = nil
    ) -> Event {
        if let entry {
            return .mediaFailed(
                recordID: entry.id, kind: entry.kind, destination: destination, httpStatus: httpStatus,
                attempt: attempt, error: error)
        }
        return .failed(
            recordID: record.id, kind: record.kind, record.peripheral, destination: destination,
            httpStatus: httpStatus, attempt: attempt, error: error, submission: submission)
    }
}
