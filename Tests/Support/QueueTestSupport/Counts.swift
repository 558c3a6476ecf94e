import GRDB

@testable package import IngestQueue

/// What is in a queue.
package struct QueueCounts: Sendable, Equatable {
    package struct Destination: Sendable, Equatable {
        package let name: String
        package let state: DestinationState
        /// Records that it has not taken yet.
        package let pending: Int
        /// Records that it has taken.
        package let delivered: Int
        /// Records set aside, because it does not take them.
        package let dead: Int
        /// Records passed over, because it has no form for their kind.
        package let skipped: Int
    }

    /// Records held, of every kind.
    package let records: Int
    /// Of those, the ones that could not be decoded.
    package let undecoded: Int
    /// By name.
    package let destinations: [Destination]
}

extension SQLiteQueue {
    package func counts() async throws -> QueueCounts {
        let names = try await database.read { try String.fetchAll($0, sql: "SELECT name FROM destination") }
        var pending: [String: Int] = [:]
        for name in names { pending[name] = try await overview.pendingCount(of: name) }
        return try await database.read { [pending] db in
            let rows = try Row.fetchAll(
                db,
                sql: """
                    SELECT *, (SELECT count(*) FROM dead_letter WHERE destination = name) AS dead
                    FROM destination ORDER BY name
                    """)
            return QueueCounts(
                records: try Int.fetchOne(db, sql: "SELECT count(*) FROM record") ?? 0,
                undecoded: try Int.fetchOne(db, sql: "SELECT count(*) FROM record WHERE kind = 'undecoded'")
                    ?? 0,
                destinations: try rows.map { row in
                    QueueCounts.Destination(
                        name: row["name"],
                        state: row.intact("state").flatMap(DestinationState.init(rawValue:)) ?? .up,
                        pending: pending[row["name"]] ?? 0,
                        delivered: try row.sound("delivered"), dead: row["dead"],
                        skipped: try row.sound("skipped"))
                })
        }
    }
}
