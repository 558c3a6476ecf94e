import GRDB

/// Whose records a destination gets, where it files under one person for whom the gateway signs in.
///
/// What was read in one person's session is never delivered in another's: it is set aside when its turn comes.
package struct SessionTable: Sendable {
    let database: QueueDatabase
    let routings: DestinationRoutings
    let room: QueueRoom
    let overview: QueueOverview

    package func session(of destination: String) async throws -> SessionState {
        try await database.read { db in try Self.session(of: destination, db) }
    }

    /// Signs in at the start, which begins a session only where there was none yet.
    /// - Returns: what holds from now on: another's session, and one that was ended, stay as they are.
    package func adopt(_ account: String, at destination: String) async throws -> SessionState {
        defer { database.outboxWakeUp.raise() }
        return try await database.write { db in
            if case .none = try Self.session(of: destination, db) {
                try Self.begin(account, at: destination, db)
            }
            return try Self.session(of: destination, db)
        }
    }

    /// From now on records go to this person. What waits goes too where nobody was signed in before, or the same person;
    /// where it was another, it is set aside. Where the server had ended the session, it begins anew.
    /// - Returns: how many records wait that will be set aside.
    package func signIn(_ account: String, at destination: String) async throws -> Int {
        defer {
            database.outboxWakeUp.raise()
            routings.wakeUp(for: destination).raise()
        }
        // Before the transaction, for which all else would wait.
        let former = try await session(of: destination)
        let waiting =
            former.mayBeAnothers(than: account) ? try await overview.pendingCount(of: destination) : 0
        let wall = database.clock.wallNanoseconds
        return try await database.write { db in
            let before = try Self.session(of: destination, db)
            if case .open(account, _) = before {
                let state = try Self.state(of: destination, db)
                if state == .authRejected { try Self.begin(account, at: destination, db) }
                return 0
            }
            var others = 0
            if before.mayBeAnothers(than: account) {
                others = waiting
                for sequence in try BatchTable.batched(destination, db) {
                    try DeadLetterTable.setAside(readForAnother: sequence, for: destination, at: wall, db)
                }
                try BatchTable.removeAll(of: destination, db)
                try db.execute(
                    sql: """
                        UPDATE destination SET account_seq = (SELECT coalesce(max(seq), 0) FROM record)
                        WHERE name = ?
                        """,
                    arguments: [destination])
            }
            try Self.begin(account, at: destination, db)
            return others
        }
    }

    /// Ends a session and gives up what waits for it; nothing is delivered until the next one. Whose it was stays
    /// known, so that what is read meanwhile goes to nobody else.
    /// - Returns: how many records were given up.
    package func signOut(of destination: String) async throws -> Int {
        defer {
            room.noteOrder()
            database.outboxWakeUp.raise()
            routings.wakeUp(for: destination).raise()
        }
        let count = try await overview.pendingCount(of: destination)
        return try await database.write { db in
            try Self.clearPending(of: destination, db)
            let before = try Self.session(of: destination, db)
            try db.execute(
                sql: "UPDATE destination SET signed_out = 1 WHERE name = ? AND account IS NOT NULL",
                arguments: [destination])
            let isOpen = if case .open = before { true } else { false }
            if isOpen || count > 0 {
                try OutboxTable.append(
                    .sessionEnded(destination: destination, httpStatus: nil, count: count), db)
            }
            return count
        }
    }

    /// The server has ended the session: tells it once, with how many records are kept for the next.
    package func noteEnd(of destination: String, httpStatus: Int) async throws {
        if try await database.read({ try Self.hasToldEnd(of: destination, $0) }) { return }
        let count = try await overview.pendingCount(of: destination)
        try await database.write { db in
            if try Self.hasToldEnd(of: destination, db) { return }
            try db.execute(
                sql: "UPDATE destination SET state = ?, is_end_told = 1 WHERE name = ?",
                arguments: [DestinationState.authRejected.rawValue, destination])
            try OutboxTable.append(
                .sessionEnded(destination: destination, httpStatus: httpStatus, count: count), db)
        }
        database.outboxWakeUp.raise()
    }

    private static func hasToldEnd(of destination: String, _ db: Database) throws -> Bool {
        try Bool.fetchOne(
            db, sql: "SELECT state = ? AND is_end_told FROM destination WHERE name = ?",
            arguments: [DestinationState.authRejected.rawValue, destination]) ?? false
    }

    static func session(of destination: String, _ db: Database) throws -> SessionState {
        let row = try Row.fetchOne(
            db, sql: "SELECT account, session, signed_out FROM destination WHERE name = ?",
            arguments: [destination])
        return try row.map(SessionState.init) ?? SessionState.none
    }

    private static func begin(_ account: String, at destination: String, _ db: Database) throws {
        try db.execute(
            sql: """
                UPDATE destination SET account = ?, session = session + 1, signed_out = 0, state = ?,
                    is_end_told = 0
                WHERE name = ?
                """,
            arguments: [account, DestinationState.up.rawValue, destination])
        try OutboxTable.append(.signedIn(destination: destination), db)
    }

    private static func state(of destination: String, _ db: Database) throws -> DestinationState? {
        try String.fetchOne(db, sql: "SELECT state FROM destination WHERE name = ?", arguments: [destination])
            .flatMap(DestinationState.init(rawValue:))
    }

    private static func clearPending(of destination: String, _ db: Database) throws {
        try BatchTable.removeAll(of: destination, db)
        try db.execute(
            sql: """
                UPDATE destination SET cleared_seq = (SELECT coalesce(max(seq), 0) FROM record)
                WHERE name = ?
                """,
            arguments: [destination])
    }
}

extension SessionState {
    /// A row of the table `destination`.
    /// - Throws: `DatabaseError`, as for a damaged file, when the row is not what was written.
    fileprivate init(_ row: Row) throws {
        let number: Int64 = try row.sound("session")
        let isSignedOut: Int64 = try row.sound("signed_out")
        let account: String? = row.intact("account")
        switch (account, isSignedOut) {
        case (_, 1...): self = .ended(account: account)
        case (let account?, _): self = .open(account: account, number: number)
        // Nobody, though somebody was signed in.
        case (nil, _) where number > 0:
            throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: "column account")
        case (nil, _): self = .none
        }
    }
}
