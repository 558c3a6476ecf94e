import GRDB
import IngestRecords
package import IngestStorage

extension SQLiteRecordStore {
    /// What is in the queue now. Looks at every record that a destination has not taken: for
    /// status, not for the way of a reading.
    package func counts() async throws -> QueueCounts {
        let routings = routings
        return try await read { db in
            let records = try Int.fetchOne(db, sql: "SELECT count(*) FROM record") ?? 0
            let undecoded =
                try Int.fetchOne(
                    db, sql: "SELECT count(*) FROM record WHERE kind = ?",
                    arguments: [RecordKind.undecoded.rawValue]) ?? 0
            let rows = try Row.fetchAll(db, sql: "SELECT * FROM destination ORDER BY name")
            let destinations = try rows.map { row in
                let name: String = try row.sound("name")
                return QueueCounts.Destination(
                    name: name, state: DestinationState(row),
                    pending: try Self.pending(name, routings[name], db),
                    delivered: try row.sound("delivered"),
                    dead: try Int.fetchOne(
                        db, sql: "SELECT count(*) FROM dead_letter WHERE destination = ?",
                        arguments: [name]) ?? 0,
                    skipped: try row.sound("skipped"))
            }
            return QueueCounts(records: records, undecoded: undecoded, destinations: destinations)
        }
    }

    /// How each configured destination fares, in the order of their names, and how many records it had no form for.
    /// Costs the same whatever waits.
    package func destinationStates() async throws -> [(name: String, state: DestinationState, skipped: Int)] {
        try await read { db in
            let rows = try Row.fetchAll(db, sql: "SELECT name, state, skipped FROM destination ORDER BY name")
            return try rows.compactMap { row in
                let state = DestinationState(row)
                return state == .notConfigured
                    ? nil : (try row.sound("name"), state, try row.sound("skipped"))
            }
        }
    }

    // MARK: - What waits

    /// Records that are looked at in one question about what waits.
    static let countedAtOnce = 5000

    /// Records with a place in the order of delivery, and whether the fresh lane took them.
    static let orderedRecords = """
        SELECT seq, id, kind, peripheral_id, address, alias, destinations, position AS place,
            position <= (SELECT last FROM ahead WHERE destination = ? AND first <= position
                ORDER BY first DESC LIMIT 1) AS is_taken
        FROM record WHERE position > ? ORDER BY position LIMIT ?
        """

    /// Records without one.
    static let unorderedRecords = """
        SELECT seq, id, kind, peripheral_id, address, alias, destinations, seq AS place, 0 AS is_taken
        FROM record WHERE frozen = 0 AND released = ? AND seq > ? ORDER BY seq LIMIT ?
        """

    /// What waits for a destination, as far as it was counted.
    private struct Count {
        let routing: DestinationRouting
        let clearedThrough: Int64
        var records = 0
        /// What was not looked at: the records in their order, or those without a place in it.
        var rest: [(release: Release?, after: Int64)]
    }

    /// How many records wait for a destination, those of a batch among them; of one that is not configured those
    /// alone. Others use the queue meanwhile, and what comes or goes then may be counted or not.
    func pendingCount(of destination: String, lookingAt limit: Int) async throws -> Int {
        let routing = routings[destination]
        let (batched, begun) = try await read { db in
            (try Self.batched(destination, db).count, try Self.beginCount(destination, routing, db))
        }
        var count = begun
        while let now = count, !now.rest.isEmpty {
            count = try await read { db in try Self.counted(now, lookingAt: limit, db) }
        }
        return batched + (count?.records ?? 0)
    }

    /// The same in one transaction.
    static func pending(_ destination: String, _ routing: DestinationRouting?, _ db: Database) throws -> Int {
        var count = try beginCount(destination, routing, db)
        while let now = count, !now.rest.isEmpty { count = try counted(now, lookingAt: countedAtOnce, db) }
        return try batched(destination, db).count + (count?.records ?? 0)
    }

    private static func beginCount(
        _ destination: String, _ routing: DestinationRouting?, _ db: Database
    ) throws -> Count? {
        let row = try Row.fetchOne(
            db, sql: "SELECT position, cleared_seq FROM destination WHERE name = ?", arguments: [destination])
        guard let row, let routing, let position: Int64 = row.intact("position"),
            let cleared: Int64 = row.intact("cleared_seq")
        else { return nil }
        return Count(
            routing: routing, clearedThrough: cleared,
            rest: [(nil, position), (.open, cleared), (.waiting, cleared), (.setAside, cleared)])
    }

    private static func counted(_ count: Count, lookingAt limit: Int, _ db: Database) throws -> Count {
        var count = count
        let (release, after) = count.rest.removeFirst()
        let rows =
            if let release {
                try Row.fetchCursor(db, sql: unorderedRecords, arguments: [release.rawValue, after, limit])
            } else {
                try Row.fetchCursor(db, sql: orderedRecords, arguments: [count.routing.name, after, limit])
            }
        var (seen, last) = (0, after)
        while let row = try rows.next() {
            (seen, last) = (seen + 1, row["place"])
            guard (row["seq"] as Int64) > count.clearedThrough, (row["is_taken"] as Bool?) != true,
                let header = header(row), header.kind != .undecoded, count.routing.accepts(header)
            else { continue }
            count.records += 1
        }
        if seen == limit { count.rest.insert((release, last), at: 0) }
        return count
    }
}

extension DestinationState {
    /// A row of the table `destination`; what is not a state is taken as up, and found out with the next request.
    fileprivate init(_ row: Row) {
        self = (row.intact("state") as String?).flatMap(Self.init(rawValue:)) ?? .up
    }
}
