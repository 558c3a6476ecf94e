import FoundationEssentials
import GRDB

/// Records that came while the gateway's clock was not known to be right, and what the queue knows of
/// that clock.
package struct UndatedRecords: DatedQueue {
    let database: QueueDatabase
    let routings: DestinationRoutings
    package let undatedWakeUp = WakeUp()

    package var bootID: String { database.bootID }

    /// Records that get their time in one transaction.
    private static let datedAtOnce = 200
    /// Records that are looked at in one transaction whether they were committed ahead.
    private static let correctedAtOnce = 500

    /// The column `released` of records that wait for their time.
    enum Release: Int {
        /// Still in the hands of its link.
        case open = 0
        /// For nothing but its time.
        case waiting = 1
        /// Its time cannot be decided, because what decides it cannot be read.
        case setAside = 2
    }

    /// What is kept of a record whose time is not decided.
    struct Undated: Codable {
        var dating: RecordDating
        var text: RecordText

        init?(_ record: Record) {
            guard let dating = record.dating else { return nil }
            self.dating = dating
            text = record.text
        }

        fileprivate init(stored: String) throws {
            self = try JSONDecoder().decode(Self.self, from: Data(stored.utf8))
        }

        var stored: String {
            get throws {
                let encoder = JSONEncoder()
                encoder.outputFormatting = .sortedKeys
                return String(decoding: try encoder.encode(self), as: UTF8.self)
            }
        }
    }

    /// Found through the index `record_unfrozen`. SQLite 3.40 reads each row of them, for the sake of `frozen`.
    static let waitingCount = """
        SELECT (SELECT count(*) FROM record WHERE frozen = 0 AND released > 0)
            + (SELECT count(*) FROM record WHERE frozen = 0 AND released = 0 AND undated IS NOT NULL)
        """

    /// How many records wait for the clock, released or not.
    static func count(_ db: Database) throws -> Int {
        try Int.fetchOne(db, sql: waitingCount) ?? 0
    }

    /// Decides the time of all released records that wait for it, and gives them their places in the
    /// order of delivery; also since when devices and users are known that were noted meanwhile. A
    /// record for which that cannot be read is set aside with an event.
    /// - Parameter time: of this boot.
    package func date(by time: BootTime, in zone: TimeZoneRules) async throws {
        try await database.write { db in try Self.reconcileFirstSeen(by: time, db) }
        while true {
            let now = database.clock.now
            let count = try await database.write { db in
                let rows = try Row.fetchAll(
                    db,
                    sql: """
                        SELECT * FROM record
                        WHERE frozen = 0 AND released = ? AND undated IS NOT NULL ORDER BY seq LIMIT ?
                        """,
                    arguments: [Release.waiting.rawValue, Self.datedAtOnce])
                for row in rows { try Self.date(row, by: time, in: zone, at: now, db) }
                return rows.count
            }
            if count > 0 {
                routings.wakeAll()
                database.outboxWakeUp.raise()
            }
            if count < Self.datedAtOnce { return }
        }
    }

    /// How far the wall clock was ahead of the monotonic clock when it was last found right in this
    /// boot, in nanoseconds; nil if it was not.
    package func foundLead() async throws -> Int64? {
        let bootID = database.bootID
        return try await database.read { db in
            try Int64.fetchOne(
                db, sql: "SELECT lead_ns FROM found_clock WHERE boot_id = ?", arguments: [bootID])
        }
    }

    /// Notes that the wall clock was found right while it was so far ahead of the monotonic clock.
    package func noteFound(lead: Int64) async throws {
        let bootID = database.bootID
        try await database.write { db in
            try db.execute(sql: "DELETE FROM found_clock")
            try db.execute(sql: "INSERT INTO found_clock VALUES (?, ?)", arguments: [bootID, lead])
        }
    }

    /// When the newest of those records was committed that have their place in the order of delivery, and so a time
    /// by a clock that was taken as right; in seconds since 1970.
    package func newestDatedCommit() async throws -> Int64? {
        try await database.read { db in
            try Int64.fetchOne(
                db,
                sql: """
                    SELECT committed_ns FROM record WHERE position IS NOT NULL ORDER BY position DESC LIMIT 1
                    """)
        }.map { $0 / 1_000_000_000 }
    }

    /// Since when a device or a person is known is set to `now` if it lies ahead, or before there was this program. Records
    /// that were committed ahead count from `now` on, so that they leave the queue in their time. What lies ahead by less
    /// than a minute was written while this was asked for.
    package func correctMoments(by now: Int64) async throws {
        let ahead = now + 60
        let isAhead = try await newestDatedCommit().map { $0 > ahead } ?? false
        let corrected = try await database.write { db in
            try db.execute(
                sql:
                    "UPDATE acquaintance SET since_s = ? WHERE boot_id IS NULL AND (since_s > ? OR since_s < ?)",
                arguments: [now, ahead, FirstSeen.earliest])
            let count = db.changesCount
            if count > 0 { try OutboxTable.append(.clockCorrected(count: count), db) }
            return count
        }
        if corrected > 0 { database.outboxWakeUp.raise() }
        var last: Int64? = isAhead ? 0 : nil
        while let after = last {
            last = try await database.write { db in
                let through = try Int64.fetchOne(
                    db, sql: "SELECT seq FROM record WHERE seq > ? ORDER BY seq LIMIT 1 OFFSET ?",
                    arguments: [after, Self.correctedAtOnce])
                try db.execute(
                    sql: "UPDATE record SET committed_ns = ? WHERE seq > ? AND seq <= ? AND committed_ns > ?",
                    arguments: [now * 1_000_000_000, after, through ?? Int64.max, ahead * 1_000_000_000])
                return through
            }
        }
    }

    // MARK: - Within a transaction

    private static func date(
        _ row: Row, by time: BootTime, in zone: TimeZoneRules, at now: MonotonicInstant,
        _ db: Database
    ) throws {
        guard RecordRow.isIntact(row), let stored: String = row.intact("undated") else {
            return try leaveDamaged(row, db)
        }
        // It is as it was written, so another version did: it is for that one, and stops no other record.
        guard let undated = try? Undated(stored: stored) else { return try setAside(row, db) }
        let decision = undated.dating.decide(by: time, in: zone)
        let body = undated.text.filled(stage: decision.stage, time: decision.time, subject: decision.subject)
        try db.execute(
            sql: """
                UPDATE record SET body = ?, checksum = ?, undated = NULL, committed_ns = ? WHERE seq = ?
                """,
            arguments: [
                body,
                RecordRow.checksum(
                    id: row["id"], kind: row["kind"], payload: row["payload"], body: body,
                    route: RecordRoute(row)),
                Int64(nanosecondsOfSeconds: time.latest(undated.dating.reception)), row["seq"] as Int64,
            ])
        try RecordTable.freeze(sequence: row["seq"], availableAt: now, db)
    }

    private static func setAside(_ row: Row, _ db: Database) throws {
        try db.execute(
            sql: "UPDATE record SET released = ? WHERE seq = ?",
            arguments: [Release.setAside.rawValue, row["seq"] as Int64])
        try OutboxTable.append(
            .storeError(
                recordID: RecordID(text: row["id"]),
                error: "what decides the time of a record cannot be read; it is kept and delivered "
                    + "to nobody, and tried again at the next start"), db)
    }

    /// A record whose time cannot be decided is kept, set aside for all destinations.
    private static func leaveDamaged(_ row: Row, _ db: Database) throws {
        let sequence: Int64 = row["seq"]
        try db.execute(sql: "UPDATE record SET frozen = 1, released = 0 WHERE seq = ?", arguments: [sequence])
        let header = try Row.fetchOne(db, sql: "SELECT * FROM record WHERE seq = ?", arguments: [sequence])
            .flatMap(RecordRow.header)
        for name in try String.fetchAll(db, sql: "SELECT name FROM destination ORDER BY name")
        where header?.destinations?.contains(name) ?? true {
            try DeadLetterTable.setAsideDamaged(sequence: sequence, for: name, db)
        }
    }

    private static func reconcileFirstSeen(by time: BootTime, _ db: Database) throws {
        let rows = try Row.fetchAll(db, sql: "SELECT * FROM acquaintance WHERE boot_id IS NOT NULL")
        for row in rows {
            let since = time.latest(NotedMoment(row))
            guard since >= FirstSeen.earliest else { continue }
            try db.execute(
                sql: """
                    UPDATE acquaintance SET since_s = ?, boot_id = NULL, monotonic_ns = NULL WHERE key = ?
                    """,
                arguments: [since, row["key"] as String])
        }
    }
}

extension NotedMoment {
    /// A row of the table `acquaintance`.
    init(_ row: Row) {
        if let id = row["boot_id"] as String? {
            let nanoseconds = UInt64(clamping: row["monotonic_ns"] as Int64)
            self = .boot(id: id, instant: MonotonicInstant(nanoseconds: nanoseconds))
        } else {
            self = .wall(row["since_s"])
        }
    }
}
