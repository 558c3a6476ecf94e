package import FoundationEssentials
import GRDB
import IngestCore
package import IngestStorage
import Synchronization

/// The lane of images. What the lanes of readings come to of them they put here, in the table `image_batch`; it goes
/// out behind all readings, so that an image that does not get through holds up none.
extension SQLiteRecordStore {
    /// The stored batches of all lanes: destination, first_position and positions.
    static let allBatches = """
        (SELECT destination, first_position, positions FROM batch
        UNION ALL SELECT destination, first_position, CAST(first_position AS TEXT) FROM image_batch)
        """

    /// The first image of a destination before which nothing waits in the order of delivery.
    static let firstImage = """
        SELECT * FROM image_batch WHERE destination = :destination
            AND first_position <= (SELECT position FROM destination WHERE name = :destination)
        ORDER BY first_position LIMIT 1
        """

    /// Whether readings are on their way to a destination.
    static let hasReadings = "SELECT EXISTS (SELECT 1 FROM batch WHERE destination = ?)"

    /// A row of the table `image_batch`.
    struct ImageRow {
        let position: Int64
        let gateway: String
        let attempts: Int

        /// - Throws: `DatabaseError`, as for a damaged file, when the row is not what was written.
        init(_ row: Row) throws {
            position = try row.sound("first_position")
            gateway = try row.sound("gateway")
            attempts = try row.sound("attempts")
        }
    }

    /// Puts images on their lane. Those that are there stay as they are.
    static func insert(
        images positions: [Int64], destination: String, gateway: String, _ db: Database
    ) throws {
        for position in positions {
            try db.execute(
                sql: """
                    INSERT OR IGNORE INTO image_batch (destination, first_position, gateway) VALUES (?, ?, ?)
                    """,
                arguments: [destination, position, gateway])
        }
    }

    /// The first image whose entry was dealt with: it does not wait, nor is it on its way, for the first time or again,
    /// as no reading is.
    func storedImage(for request: Composition, _ db: Database) throws -> StoredBatch? {
        let name = request.destination
        guard try Bool.fetchOne(db, sql: Self.hasReadings, arguments: [name]) == false else { return nil }
        while let row = try Row.fetchOne(db, sql: Self.firstImage, arguments: ["destination": name]) {
            let image = try ImageRow(row)
            let (intact, damaged) = try Self.items(at: [image.position], for: name, db)
            if !intact.isEmpty {
                return StoredBatch(
                    destination: name, lane: .image, gateway: image.gateway, items: intact,
                    attempts: image.attempts)
            }
            for sequence in damaged { try Self.setAsideDamaged(sequence: sequence, for: name, db) }
            try db.execute(
                sql: "DELETE FROM image_batch WHERE destination = ? AND first_position = ?",
                arguments: [name, image.position])
            outboxWakeUp.raise()
        }
        return nil
    }

    /// Has whoever asks send an image, if no other destination does: one at a time is in memory, with all that is made of
    /// it for a request. `endImage` goes with it.
    /// - Returns: whether it is their turn.
    package func beginImage() -> Bool {
        isImageUnderWay.compareExchange(expected: false, desired: true, ordering: .relaxed).exchanged
    }

    package func endImage() { isImageUnderWay.store(false, ordering: .relaxed) }

    /// The bytes of the image that a batch is; nil where that is not there any more, or not what was written.
    package func image(of batch: StoredBatch) async throws -> Data? {
        let position = batch.firstPosition
        return try await read { db in
            let row = try Row.fetchOne(
                db, sql: "SELECT * FROM record WHERE position = ?", arguments: [position])
            return row.flatMap { Self.isIntact($0) ? $0.intact("payload") : nil }
        }
    }
}

extension StoredBatch {
    /// Where its row is.
    var table: String { lane == .image ? "image_batch" : "batch" }
}
