import GRDB

extension SQLiteRecordStore {
    /// What is in the queue now. Looks at every record that a destination has not taken: for
    /// status, not for the way of a reading.
    public func counts() async throws -> QueueCounts {
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
    public func destinationStates() async throws -> [(name: String, state: DestinationState, skipped: Int)] {
        try await read { db in
            let rows = try Row.fetchAll(db, sql: "SELECT name, state, skipped FROM destination ORDER BY name")
            return try rows.compactMap { row in
                let state = DestinationState(row)
                return state == .notConfigured ? nil : (try row.sound("name"), state, try row.sound("skipped"))
            }
        }
    }

    /// Records for a destination that are in no batch yet, frozen or not; none for a destination
    /// that is not configured.
    static func waiting(
        after position: Int64, clearedThrough cleared: Int64, _ routing: DestinationRouting?, _ db: Database
    ) throws -> Int {
        guard let routing else { return 0 }
        var count = 0
        let rows = try Row.fetchCursor(
            db,
            sql: """
                SELECT id, kind, peripheral_id, address, alias, destinations FROM record
                WHERE (position > ? OR frozen = 0) AND seq > ? AND kind <> ? AND NOT EXISTS (
                    SELECT 1 FROM ahead WHERE destination = ? AND position BETWEEN first AND last)
                """,
            arguments: [position, cleared, RecordKind.undecoded.rawValue, routing.name])
        while let row = try rows.next() {
            if let header = header(row), routing.accepts(header) { count += 1 }
        }
        return count
    }
}

extension DestinationState {
    /// A row of the table `destination`; what is not a state is taken as up, and found out with the next request.
    fileprivate init(_ row: Row) {
        self = (row.intact("state") as String?).flatMap(Self.init(rawValue:)) ?? .up
    }
}
