import GRDB

/// Whose records a destination gets, where it files under one person for whom the gateway signs in.
///
/// What was read in one person's session is never delivered in another's: it is set aside when its turn comes.
extension SQLiteRecordStore {
    /// The person for whom the gateway was signed in last; nil if it never was.
    public func account(of destination: String) async throws -> String? {
        try await read { db in
            try String.fetchOne(
                db, sql: "SELECT account FROM destination WHERE name = ?", arguments: [destination])
        }
    }

    /// From now on records go to this person. What waits goes too where nobody was signed in before, or the same person;
    /// where it was another, it is set aside.
    /// - Returns: how many records wait that will be set aside.
    public func signIn(_ account: String, at destination: String) async throws -> Int {
        let routing = routings[destination]
        defer { outboxWakeUp.raise() }
        return try await write { db in
            let known = try String.fetchOne(
                db, sql: "SELECT account FROM destination WHERE name = ?", arguments: [destination])
            if known == account { return 0 }
            let others = known == nil ? 0 : try Self.pending(destination, routing, db)
            if known != nil {
                for sequence in try Self.batched(destination, db) {
                    try self.setAside(otherAccounts: sequence, of: destination, db)
                }
                try Self.removeBatches(of: destination, db)
                try db.execute(
                    sql: """
                        UPDATE destination SET account_seq = (SELECT coalesce(max(seq), 0) FROM record)
                        WHERE name = ?
                        """,
                    arguments: [destination])
            }
            try db.execute(
                sql: "UPDATE destination SET account = ? WHERE name = ?", arguments: [account, destination])
            return others
        }
    }

    /// How many records wait for a destination, those of a batch among them.
    public func pendingCount(of destination: String) async throws -> Int {
        let routing = routings[destination]
        return try await read { db in try Self.pending(destination, routing, db) }
    }

    /// Gives up the records that wait for a destination, because their session has ended. They stay in the queue as long
    /// as other destinations need them.
    /// - Returns: how many.
    public func clearPending(of destination: String) async throws -> Int {
        let routing = routings[destination]
        return try await write { db in
            let count = try Self.pending(destination, routing, db)
            try Self.removeBatches(of: destination, db)
            try db.execute(
                sql: """
                    UPDATE destination SET cleared_seq = (SELECT coalesce(max(seq), 0) FROM record)
                    WHERE name = ?
                    """,
                arguments: [destination])
            return count
        }
    }

    static func pending(_ destination: String, _ routing: DestinationRouting?, _ db: Database) throws -> Int {
        let row = try Row.fetchOne(
            db, sql: "SELECT position, cleared_seq FROM destination WHERE name = ?", arguments: [destination])
        guard let row else { return 0 }
        return try batched(destination, db).count
            + waiting(after: row["position"], clearedThrough: row["cleared_seq"], routing, db)
    }

    /// The records of a destination's stored batches, by their `seq`.
    private static func batched(_ destination: String, _ db: Database) throws -> [Int64] {
        let positions = try String.fetchAll(
            db, sql: "SELECT positions FROM batch WHERE destination = ? ORDER BY first_position",
            arguments: [destination])
        return try positions.flatMap { $0.split(separator: " ").compactMap { Int64($0) } }.compactMap {
            try Int64.fetchOne(db, sql: "SELECT seq FROM record WHERE position = ?", arguments: [$0])
        }
    }

    private static func removeBatches(of destination: String, _ db: Database) throws {
        try db.execute(sql: "DELETE FROM batch WHERE destination = ?", arguments: [destination])
    }

    /// A record that was read in another's session.
    func setAside(otherAccounts sequence: Int64, of destination: String, _ db: Database) throws {
        let row = try Row.fetchOne(db, sql: "SELECT * FROM record WHERE seq = ?", arguments: [sequence])
        guard let row, let header = Self.header(row) else { return }
        let error = "was read while the gateway was signed in for another person"
        try db.execute(
            sql: """
                INSERT INTO dead_letter (destination, record_seq, attempt, error, failed_ns)
                VALUES (?, ?, 0, ?, ?)
                """,
            arguments: [destination, sequence, error, clock.wallNanoseconds])
        try Self.append(
            .failed(
                recordID: header.id, kind: header.kind, header.peripheral, destination: destination,
                httpStatus: nil, attempt: 0, error: error), db)
    }
}
