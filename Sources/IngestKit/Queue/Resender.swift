import FoundationEssentials
import GRDB

/// What became of a part of a range that is sent again.
package struct ResendOutcome: Sendable, Equatable {
    /// Records that go again.
    package var resent: Int
    /// Where the rest begins; nil when that was all.
    package var next: Int64?
}

/// Sending again what a destination has.
package struct Resender: Sendable {
    let database: QueueDatabase
    let routings: DestinationRoutings

    /// At most so many records are looked at in one transaction, fewer where there are images among them.
    private static let lookedAtOnce = 2000

    /// Sends what was measured in a range of time to a destination again, in the order of delivery. Records that are
    /// still to go there anyhow go once, and so do all when this is asked for twice. What is set aside for the
    /// destination stays so, and what is not for it, or was read for another person, does not go.
    ///
    /// A part of it: call again with `next`.
    /// - Parameters:
    ///   - measured: seconds since 1970.
    ///   - after: where the former part ended.
    package func resend(
        to destination: String, measured: Range<Int64>, batching: BatchSettings, gateway: String,
        after: Int64 = 0
    ) async throws -> ResendOutcome {
        guard let routing = routings[destination] else { return ResendOutcome(resent: 0, next: nil) }
        let outcome = try await database.write { db in
            let rows = try Row.fetchAll(
                db,
                sql: """
                    SELECT seq, position FROM record WHERE position > ? AND NOT EXISTS (
                        SELECT 1 FROM dead_letter WHERE record_seq = seq AND destination = ?)
                    ORDER BY position LIMIT ?
                    """,
                arguments: [after, destination, Self.lookedAtOnce])
            guard let first = rows.first?["position"] as Int64?, let last = rows.last?["position"] as Int64?
            else { return ResendOutcome(resent: 0, next: nil) }
            let delivered = try Delivered(destination, in: first...last, db)
            var batches: [[Int64]] = []
            var images: [Int64] = []
            var (reached, bytes) = (first, 0)
            for place in rows where bytes < LaneComposer.imageBytesAtOnce {
                let position: Int64 = place["position"]
                reached = position
                guard delivered.contains(place) else { continue }
                // One whole row at a time: an image is large.
                let row = try Row.fetchOne(
                    db, sql: "SELECT * FROM record WHERE seq = ?", arguments: [place["seq"] as Int64])
                bytes += (row?.intact("payload") as Data?)?.count ?? 0
                guard let row, let header = RecordRow.header(row), routing.accepts(header),
                    header.kind != .image || routing.takesImages,
                    let content = (row.intact("body") as String?).flatMap(RecordContent.init),
                    measured.contains(content.time), RecordRow.isIntact(row)
                else { continue }
                if header.kind == .image {
                    images.append(position)
                } else if let open = batches.last, open.count < batching.maxRecords {
                    batches[batches.count - 1].append(position)
                } else {
                    batches.append([position])
                }
            }
            for positions in batches {
                try BatchTable.insert(
                    positions: positions, destination: destination, lane: .backlog, gateway: gateway, db)
            }
            try BatchTable.insert(images: images, destination: destination, gateway: gateway, db)
            return ResendOutcome(
                resent: batches.reduce(images.count) { $0 + $1.count },
                next: rows.count == Self.lookedAtOnce || reached < last ? reached : nil)
        }
        routings.wakeUp(for: destination).raise()
        return outcome
    }
}

/// Which positions of a range a destination has dealt with.
private struct Delivered {
    private let through: Int64
    /// Of the session that is open, or of none.
    private let sequencesAfter: Int64
    private let ahead: [ClosedRange<Int64>]
    private let onTheirWay: Set<Int64>

    init(_ destination: String, in range: ClosedRange<Int64>, _ db: Database) throws {
        let row = try Row.fetchOne(
            db, sql: "SELECT * FROM destination WHERE name = ?", arguments: [destination])
        through = row?["position"] ?? 0
        sequencesAfter = max(row?["account_seq"] ?? 0, row?["cleared_seq"] ?? 0)
        ahead = try Row.fetchAll(
            db,
            sql: "SELECT first, last FROM ahead WHERE destination = ? AND last >= ? AND first <= ?",
            arguments: [destination, range.lowerBound, range.upperBound]
        ).map { ($0["first"] as Int64)...($0["last"] as Int64) }
        // The last of a batch's positions is what follows the last space.
        let batches = try String.fetchAll(
            db,
            sql: """
                SELECT positions FROM \(BatchTable.all)
                WHERE destination = ? AND first_position <= ?
                    AND CAST(substr(positions, length(rtrim(positions, '0123456789')) + 1) AS INTEGER) >= ?
                """,
            arguments: [destination, range.upperBound, range.lowerBound])
        onTheirWay = Set(batches.flatMap(BatchTable.positions))
    }

    func contains(_ row: Row) -> Bool {
        let (position, sequence): (Int64, Int64) = (row["position"], row["seq"])
        guard position <= through || ahead.contains(where: { $0.contains(position) }) else { return false }
        return sequence > sequencesAfter && !onTheirWay.contains(position)
    }
}
