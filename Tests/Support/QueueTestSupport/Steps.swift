import CFaultyDisk
import GRDB

@testable package import IngestQueue

extension SQLiteQueue {
    /// About how many rows SQLite goes through in what the store does in `body`.
    package func steps(_ body: () async throws -> Void) async throws -> Int {
        try await database.connection.writeWithoutTransaction { db in
            unsafe cfaultydisk_count_steps(db.sqliteConnection)
        }
        try await body()
        return try await database.connection.writeWithoutTransaction { db in
            unsafe cfaultydisk_steps(db.sqliteConnection)
        }
    }
}
