import FoundationEssentials
import GRDB

/// The requests that are on their way: the tables `batch`, of readings, and `image_batch`, of one image each.
enum BatchTable {
    /// The stored batches of all lanes: destination, first_position and positions.
    static let all = """
        (SELECT destination, first_position, positions FROM batch
        UNION ALL SELECT destination, first_position, CAST(first_position AS TEXT) FROM image_batch)
        """

    /// The first image of a destination before which nothing waits in the order of delivery.
    static let firstImage = """
        SELECT * FROM image_batch WHERE destination = :destination
            AND first_position <= (SELECT position FROM destination WHERE name = :destination)
        ORDER BY first_position LIMIT 1
        """

    /// The positions in the text of a stored batch.
    static func positions(_ text: String) -> [Int64] { text.split(separator: " ").compactMap { Int64($0) } }

    /// Whether readings are on their way to a destination.
    static let hasReadings = "SELECT EXISTS (SELECT 1 FROM batch WHERE destination = ?)"

    /// A row of the table `batch`.
    struct BatchRow {
        /// One at least.
        let positions: [Int64]
        let gateway: String
        let attempts: Int
        let lane: DeliveryLane

        /// - Throws: `DatabaseError`, as for a damaged file, when the row is not what was written.
        init(_ row: Row) throws {
            let text: String = try row.sound("positions")
            let first: Int64 = try row.sound("first_position")
            let parts = text.split(separator: " ")
            positions = parts.compactMap { Int64($0) }
            guard positions.count == parts.count, positions.first == first else {
                throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: "column positions")
            }
            gateway = try row.sound("gateway")
            attempts = try row.sound("attempts")
            lane = DeliveryLane(rawValue: try row.sound("lane")) ?? .backlog
        }
    }

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

    /// Stores a batch.
    static func insert(
        positions: [Int64], destination: String, lane: DeliveryLane, gateway: String, _ db: Database
    ) throws {
        guard let first = positions.first else { return }
        try db.cachedStatement(
            sql: """
                INSERT INTO batch (destination, first_position, positions, gateway, lane)
                VALUES (?, ?, ?, ?, ?)
                """
        ).execute(arguments: [
            destination, first, positions.map(String.init).joined(separator: " "), gateway, lane.rawValue,
        ])
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

    /// - Returns: whether it was there: a session that ended meanwhile has taken it away.
    static func remove(_ batch: StoredBatch, _ db: Database) throws -> Bool {
        try db.cachedStatement(
            sql: "DELETE FROM \(batch.table) WHERE destination = ? AND first_position = ?"
        ).execute(arguments: [batch.destination, batch.firstPosition])
        return db.changesCount > 0
    }

    /// The records of a destination's stored batches, by their `seq`.
    static func batched(_ destination: String, _ db: Database) throws -> [Int64] {
        let positions = try String.fetchAll(
            db, sql: "SELECT positions FROM \(all) WHERE destination = ? ORDER BY first_position",
            arguments: [destination])
        return try positions.flatMap(Self.positions).compactMap {
            try Int64.fetchOne(db, sql: "SELECT seq FROM record WHERE position = ?", arguments: [$0])
        }
    }

    static func removeAll(of destination: String, _ db: Database) throws {
        for table in ["batch", "image_batch"] {
            try db.execute(sql: "DELETE FROM \(table) WHERE destination = ?", arguments: [destination])
        }
    }

    /// Takes away the batches of destinations that are not configured, if they begin up to a position: their records are
    /// dropped for want of room. An image that stays, because somebody else waits for it, is owed to them still.
    static func giveUpBatchesOfAbsent(through position: Int64, _ db: Database) throws {
        let isDropped = "NOT EXISTS (SELECT 1 FROM record WHERE position = first_position)"
        for (table, condition) in [("batch", "TRUE"), ("image_batch", isDropped)] {
            try db.execute(
                sql: """
                    DELETE FROM \(table) WHERE first_position <= ? AND \(condition)
                        AND destination IN (SELECT name FROM destination WHERE state = ?)
                    """,
                arguments: [position, DestinationState.notConfigured.rawValue])
        }
    }

    // MARK: - Their records

    /// What `item` and its checksum look at. By ranges, because a row costs a third of what it does by itself.
    private static let recordsOfBatch = """
        SELECT id, kind, body, payload, checksum, undated, peripheral_id, alias, destinations, address, seq, position,
            (SELECT subject FROM assignment WHERE record_seq = record.seq AND destination = ?) AS assigned
        FROM record WHERE position >= ? AND position <= ? ORDER BY position
        """

    /// The records at these positions, in ascending order.
    /// - Returns: those that are what was written, and the numbers of the others; nil for what is not there any more.
    static func items(
        at positions: [Int64], for destination: String, _ db: Database
    ) throws -> (intact: [StoredBatch.Item], damaged: [Int64?]) {
        var intact: [StoredBatch.Item] = []
        var damaged: [Int64?] = []
        for run in runs(of: positions) {
            let rows = try Row.fetchCursor(
                try db.cachedStatement(sql: recordsOfBatch),
                arguments: [destination, run.lowerBound, run.upperBound])
            while let row = try rows.next() {
                if let item = item(row) {
                    intact.append(item)
                } else {
                    damaged.append(row["seq"])
                }
            }
        }
        let missing = positions.count - intact.count - damaged.count
        return (intact, damaged + [Int64?](repeating: nil, count: missing))
    }

    /// Positions that follow one another, together.
    private static func runs(of positions: [Int64]) -> [ClosedRange<Int64>] {
        var runs: [ClosedRange<Int64>] = []
        for position in positions {
            if let last = runs.last, last.upperBound == position - 1 {
                runs[runs.count - 1] = last.lowerBound...position
            } else {
                runs.append(position...position)
            }
        }
        return runs
    }

    /// A record of a batch, with the subject that it was given for the destination; nil when the row is not what was
    /// written.
    private static func item(_ row: Row) -> StoredBatch.Item? {
        guard RecordRow.isIntact(row), let header = RecordRow.header(row),
            let body: String = row.intact("body"),
            let position: Int64 = row.intact("position")
        else { return nil }
        let subject: String? = row.intact("assigned")
        return StoredBatch.Item(
            header: header, position: position,
            body: subject.map { RecordContent.assigning($0, to: body) } ?? body,
            imageOf: RecordRow.imageOf(row))
    }
}

extension StoredBatch {
    /// Where its row is.
    var table: String { lane == .image ? "image_batch" : "batch" }
}
