import GRDB

/// What leaves the queue, and how much it holds.
extension SQLiteRecordStore {
    /// Records that leave in one transaction.
    private static let retiredAtOnce = 500
    /// Free pages that are given back to the disk in one transaction.
    private static let pagesGivenBackAtOnce = 1000

    /// What the queue takes on the disk, without pages that are free for the next records, in bytes.
    public func usedBytes() async throws -> UInt64 {
        try await read { db in
            func pragma(_ name: String) throws -> UInt64 {
                try UInt64(clamping: Int64.fetchOne(db, sql: "PRAGMA \(name)") ?? 0)
            }
            let pages = try pragma("page_count")
            return try (pages - min(pages, pragma("freelist_count"))) * pragma("page_size")
        }
    }

    /// Drops records that every configured destination has taken, oldest first. Their ids stay, so that a reading which
    /// comes again is known. Records that are set aside for a destination stay whole, and so does the newest numbered
    /// one of each device, by which its memory is known again.
    /// - Parameter cutoff: only those committed before it, in nanoseconds since 1970, and not owed to a destination that
    ///   is not configured any more; nil is any, for want of room.
    /// - Returns: how many were dropped; with 0 there are no more.
    func retire(committedBefore cutoff: Int64?) async throws -> Int {
        let names = routings.keys.sorted()
        let owed = cutoff == nil ? "" : "AND NOT \(Self.isOwedToAbsent)"
        return try await write { db in
            guard let end = try Self.firstUndelivered(of: names, db) else { return 0 }
            let sequences = try Int64.fetchAll(
                db,
                sql: """
                    SELECT seq FROM record WHERE position < ? AND committed_ns < ? \(owed)
                        AND NOT EXISTS (SELECT 1 FROM dead_letter WHERE record_seq = record.seq)
                        AND (device_sequence IS NULL OR EXISTS (
                            SELECT 1 FROM record AS newer WHERE newer.address = record.address
                                AND newer.device_sequence IS NOT NULL AND newer.kind = record.kind
                                AND newer.seq > record.seq))
                    ORDER BY position LIMIT ?
                    """,
                arguments: [end, cutoff ?? Int64.max, Self.retiredAtOnce])
            if cutoff == nil, let last = sequences.last { try Self.giveUpBatchesOfAbsent(through: last, db) }
            for sequence in sequences { try Self.retire(sequence, db) }
            return sequences.count
        }
    }

    /// Drops one record; its id stays.
    static func retire(_ sequence: Int64, _ db: Database) throws {
        try db.execute(
            sql: """
                INSERT OR IGNORE INTO retired (id, address, characteristic, undated_payload)
                SELECT id, iif(undated_payload IS NULL, NULL, address),
                    iif(undated_payload IS NULL, NULL, characteristic), undated_payload
                FROM record WHERE seq = ?
                """,
            arguments: [sequence])
        try db.execute(sql: "DELETE FROM record WHERE seq = ?", arguments: [sequence])
    }

    /// Gives the space of dropped records back to the disk, step by step.
    func giveBackSpace() async throws {
        while true {
            let rest = try await write { db in
                try db.execute(sql: "PRAGMA incremental_vacuum(\(Self.pagesGivenBackAtOnce))")
                return try Int.fetchOne(db, sql: "PRAGMA freelist_count") ?? 0
            }
            // A file of an earlier version gives nothing back, and uses its free pages again.
            let isIncremental = try await read { try Int.fetchOne($0, sql: "PRAGMA auto_vacuum") == 2 }
            if rest == 0 || !isIncremental { return }
        }
    }

    /// The first position that one of these destinations has not taken; nil without destinations.
    private static func firstUndelivered(of names: [String], _ db: Database) throws -> Int64? {
        var first: Int64?
        for name in names {
            let own = try Int64.fetchOne(
                db,
                sql: """
                    SELECT min(position + 1, coalesce(
                        (SELECT min(first_position) FROM batch WHERE destination = name), position + 1))
                    FROM destination WHERE name = ?
                    """,
                arguments: [name])
            guard let own else { return nil }
            first = min(first ?? own, own)
        }
        return first
    }
}
