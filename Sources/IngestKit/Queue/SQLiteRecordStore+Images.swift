import FoundationEssentials
import GRDB
import IngestEvents
import IngestRecords
import IngestStorage

/// What became of the image that came with an entry.
package enum ImageOutcome: Sendable, Equatable {
    /// It goes along to these destinations, one at least, in the order of their names.
    case goes(to: [String])
    /// It is, or was, in the queue already.
    case known
    /// It goes nowhere.
    case refused(error: String)
}

/// Whether an image may come into the queue.
package enum ImageRoom: Sendable, Equatable {
    case ample
    /// What peripherals send has the last of the room.
    case queueIsHigh
    /// With it images that are not delivered would take more than so many bytes.
    case imagesAreMany(most: UInt64)

    /// Why it does not; nil where it may.
    var refusal: String? {
        switch self {
        case .ample: nil
        case .queueIsHigh: "the queue is nearly full of what is not delivered"
        case .imagesAreMany(let most):
            "images that are not delivered may take a quarter of queue.max_size, \(most >> 20) MiB, and with this one "
                + "would take more; see why a destination does not take them (ingestd failed list), or allow more"
        }
    }
}

/// Images of entries. Each is a row of the table `record` behind its entry's, with its bytes as payload and the
/// destinations that get it.
extension SQLiteRecordStore {
    private static let notTaken = "the destination takes no images"
    private static let nobodyTakesIt = "no destination takes images"

    /// Puts an image behind its entry, in the entry's transaction. With a new entry each destination that this is for
    /// and that does not get the image is told of.
    /// - Parameter isNew: whether the entry is committed now, and not known from before.
    static func add(
        _ image: EnteredImage, of entry: EnteredRecord, isNew: Bool, _ room: ImageRoom, _ arrival: Arrival,
        _ routings: [DestinationRouting], _ db: Database
    ) throws -> ImageOutcome {
        guard try !isKnown(image.id, db) else { return .known }
        let meant = routings.filter { $0.accepts(entry.header) }.sorted { $0.name < $1.name }
        let takers = meant.filter(\.takesImages).map(\.name)
        let refusal = room.refusal
        for routing in meant where isNew {
            guard let error = routing.takesImages ? refusal : notTaken else { continue }
            try append(
                .mediaFailed(
                    recordID: entry.id, kind: entry.kind, destination: routing.name, error: error), db)
        }
        guard !takers.isEmpty else { return .refused(error: nobodyTakesIt) }
        if let refusal { return .refused(error: refusal) }
        try insert(
            EntryRow(
                id: image.id, kind: .image, payload: image.bytes, body: image.body,
                destinations: takers.joined(separator: "\n"), isLive: entry.origin == .manual),
            arrival, db)
        return .goes(to: takers)
    }

    /// The record that a row of the table `record` is the image of; nil for a reading, and where it does not say so.
    static func imageOf(_ row: Row) -> RecordReference? {
        guard row.intact("kind") == RecordKind.image.rawValue else { return nil }
        return (row.intact("body") as String?).flatMap(RecordContent.init)?.imageOf
    }
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
