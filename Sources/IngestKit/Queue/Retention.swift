import GRDB

/// What leaves the queue, and how much it holds.
struct Retention: Sendable {
    let database: QueueDatabase
    let routings: DestinationRoutings
    let outbox: OutboxTable

    /// Records that are looked at in one transaction, fewer where there are images among those that are dropped.
    private static let lookedAtOnce = 500
    /// Free pages that are given back to the disk in one transaction.
    private static let pagesGivenBackAtOnce = 1000

    /// What the queue takes on the disk, without pages that are free for the next records, in bytes.
    func usedBytes() async throws -> UInt64 {
        try await database.read { db in try Self.usedBytes(db) }
    }

    static func usedBytes(_ db: Database) throws -> UInt64 {
        func pragma(_ name: String) throws -> UInt64 {
            try UInt64(clamping: Int64.fetchOne(db, sql: "PRAGMA \(name)") ?? 0)
        }
        let pages = try pragma("page_count")
        return try (pages - min(pages, pragma("freelist_count"))) * pragma("page_size")
    }

    /// What one step of dropping records came to.
    struct Retirement: Sendable, Equatable {
        var dropped = 0
        /// Up to here everything was dropped, or is not for now.
        var position: Int64
        /// Whether there is no more to look at.
        var isDone = false
    }

    /// Looks at the next records that every configured destination has taken, oldest first, and drops them. The ids
    /// of those that may come again stay, so that they are known. Records that are set aside for a destination stay
    /// whole, and so do images that are on their way to one, and the newest numbered record of each device, by which its
    /// memory is known again.
    /// - Parameters:
    ///   - givingUp: destinations that go without what they have not taken, the requests that are on their way apart. How
    ///     many records those are is told.
    ///   - recent: when those were committed that stay, in nanoseconds since 1970; at the first of them it ends, because
    ///     others came later. What claims to be from later still was written by a clock that was wrong: it stays, and
    ///     so does what is owed to a destination that is not configured any more. Nil: none stays for these reasons.
    ///   - position: what is up to it was looked at.
    func retire(
        keeping recent: ClosedRange<Int64>?, givingUp: [DestinationRouting] = [], after position: Int64,
        lookingAt limit: Int = lookedAtOnce
    ) async throws -> Retirement {
        let names = Set(routings.all.keys).subtracting(givingUp.map(\.name)).sorted()
        let step = try await database.write { db in
            var step = Retirement(position: position)
            let undelivered =
                names.isEmpty && !givingUp.isEmpty ? Int64.max : try Self.firstUndelivered(of: names, db)
            guard let end = undelivered else { return Retirement(position: position, isDone: true) }
            var losers = try givingUp.map { try Loser($0, db) }
            let rows = try Row.fetchAll(
                db, sql: Self.deliveredRecords(keepsOwed: recent != nil), arguments: [position, end, limit])
            var bytes = 0
            for row in rows where bytes < LaneComposer.imageBytesAtOnce {
                guard let sequence: Int64 = row.intact("seq"), let place: Int64 = row.intact("position"),
                    let committed: Int64 = row.intact("committed_ns")
                else { throw DatabaseError(resultCode: .SQLITE_CORRUPT) }
                if let recent, recent.contains(committed) {
                    step.isDone = true
                    return step
                }
                step.position = place
                let isLater = recent.map { committed > $0.upperBound } ?? false
                if isLater || row["stays"] || losers.contains(where: { $0.sent.contains(place) }) { continue }
                for index in losers.indices { try losers[index].lose(sequence, at: place, db) }
                try RecordTable.retire(sequence, db)
                step.dropped += 1
                bytes += row["image_bytes"]
            }
            step.isDone = rows.count < limit && bytes < LaneComposer.imageBytesAtOnce
            if recent == nil, step.dropped > 0 {
                try BatchTable.giveUpBatchesOfAbsent(through: step.position, db)
            }
            try outbox.tell(losers.compactMap(\.event), db)
            return step
        }
        if !givingUp.isEmpty { database.outboxWakeUp.raise() }
        return step
    }

    /// A destination that goes without what is dropped.
    private struct Loser {
        let routing: DestinationRouting
        /// Up to here it has dealt with what came, but for the requests that are on their way.
        let cursor: Int64
        /// The positions of those requests' records.
        let sent: Set<Int64>
        var count = 0

        init(_ routing: DestinationRouting, _ db: Database) throws {
            self.routing = routing
            let row = try Row.fetchOne(
                db, sql: "SELECT position FROM destination WHERE name = ?", arguments: [routing.name])
            cursor = try row?.sound("position") ?? 0
            sent = Set(
                try String.fetchAll(
                    db, sql: "SELECT positions FROM \(BatchTable.all) WHERE destination = ?",
                    arguments: [routing.name]
                ).flatMap(BatchTable.positions))
        }

        /// Counts a record that is dropped, if it was for the destination.
        mutating func lose(_ sequence: Int64, at position: Int64, _ db: Database) throws {
            guard position > cursor else { return }
            let row = try Row.fetchOne(
                try db.cachedStatement(
                    sql: """
                        SELECT id, kind, peripheral_id, address, alias, destinations FROM record WHERE seq = ?
                            AND NOT EXISTS (SELECT 1 FROM ahead WHERE destination = ? AND ? BETWEEN first AND last)
                        """),
                arguments: [sequence, routing.name, position])
            guard let row, RecordRow.header(row).map(routing.accepts) ?? true else { return }
            count += 1
        }

        var event: Event? {
            count > 0 ? .backlogDropped(destination: routing.name, count: count) : nil
        }
    }

    private static func deliveredRecords(keepsOwed: Bool) -> String {
        """
        SELECT seq, position, committed_ns, iif(kind = 'image', length(payload), 0) AS image_bytes,
            EXISTS (SELECT 1 FROM dead_letter WHERE record_seq = record.seq)
            OR (device_sequence IS NOT NULL AND NOT EXISTS (
                SELECT 1 FROM record AS newer WHERE newer.address = record.address
                    AND newer.device_sequence IS NOT NULL AND newer.kind = record.kind
                    AND newer.seq > record.seq))
            OR (kind = 'image' AND EXISTS (
                SELECT 1 FROM image_batch JOIN destination AS receiver ON name = destination
                WHERE first_position = record.position \(keepsOwed ? "" : "AND state <> 'not-configured'")))
            \(keepsOwed ? "OR \(DestinationTable.isOwedToAbsent)" : "") AS stays
        FROM record WHERE position > ? AND position < ? ORDER BY position LIMIT ?
        """
    }

    /// Forgets ids of delivered records until they take no more than so many bytes, those that were not met for the longest
    /// first.
    func forgetIDs(lookingAt limit: Int = lookedAtOnce, downTo most: UInt64) async throws {
        var isDone = false
        while !isDone {
            isDone = try await database.write { db in
                guard try RetainedTable.bytes(db) > most else { return true }
                return try !RetainedTable.forget(lookingAt: limit, db)
            }
        }
    }

    /// What the queue takes, and what the ids of delivered records take of that, in bytes.
    func use() async throws -> (all: UInt64, ids: UInt64) {
        try await database.read { db in (try Self.usedBytes(db), try RetainedTable.bytes(db)) }
    }

    /// How much of the queue holds what some destination has not taken, in bytes: an estimate, for which records count as
    /// equally large. What delivered records leave behind is no part of it.
    func undeliveredBytes() async throws -> UInt64 {
        let names = routings.all.keys.sorted()
        return try await database.read { db in
            let first = try Self.firstUndelivered(of: names, db) ?? 0
            let counts = try Row.fetchOne(
                db,
                sql: "SELECT count(*) AS records, count(iif(position >= ?, 1, NULL)) AS waiting FROM record",
                arguments: [first])
            guard let records: Int64 = counts?["records"], let waiting: Int64 = counts?["waiting"],
                records > 0
            else { return 0 }
            let (used, ids) = (try Self.usedBytes(db), try RetainedTable.bytes(db))
            return UInt64(Double(used - min(used, ids)) * Double(waiting) / Double(records))
        }
    }

    /// How many records stay that no destination waits for, how many events wait for the journal, and what the ids of
    /// delivered records take, in bytes.
    func kept() async throws -> (setAside: Int, undecoded: Int, untold: Int, idBytes: UInt64) {
        try await database.read { db in
            (
                try Int.fetchOne(db, sql: "SELECT count(DISTINCT record_seq) FROM dead_letter") ?? 0,
                try Int.fetchOne(db, sql: "SELECT count(*) FROM record WHERE kind = 'undecoded'") ?? 0,
                try Int.fetchOne(db, sql: "SELECT count(*) FROM outbox") ?? 0,
                try RetainedTable.bytes(db)
            )
        }
    }

    /// Gives the space of dropped records back to the disk, step by step.
    func giveBackSpace() async throws {
        while true {
            let rest = try await database.write { db in
                try db.execute(sql: "PRAGMA incremental_vacuum(\(Self.pagesGivenBackAtOnce))")
                return try Int.fetchOne(db, sql: "PRAGMA freelist_count") ?? 0
            }
            // A file of an earlier version gives nothing back, and uses its free pages again.
            let isIncremental = try await database.read {
                try Int.fetchOne($0, sql: "PRAGMA auto_vacuum") == 2
            }
            if rest == 0 || !isIncremental { return }
        }
    }

    /// What images take that some destination has not taken, of those that are configured, and those that are set aside,
    /// in bytes: what is not dropped for want of room. Goes through all images.
    func undeliveredImageBytes() async throws -> UInt64 {
        try await database.read { db in
            UInt64(clamping: try Int64.fetchOne(db, sql: Self.undeliveredImages) ?? 0)
        }
    }

    static let undeliveredImages = """
        SELECT sum(length(payload)) FROM record
        WHERE kind = 'image' AND (
            EXISTS (
                SELECT 1 FROM image_batch JOIN destination AS receiver ON name = destination
                WHERE first_position = record.position AND state <> 'not-configured')
            OR EXISTS (SELECT 1 FROM dead_letter WHERE record_seq = record.seq)
            OR EXISTS (
                SELECT 1 FROM destination AS receiver
                WHERE state <> 'not-configured' AND record.position > receiver.position
                    AND record.seq > receiver.cleared_seq
                    AND instr(char(10) || record.destinations || char(10), char(10) || name || char(10)) > 0))
        """

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
