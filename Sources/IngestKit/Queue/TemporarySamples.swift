import FoundationEssentials
import GRDB

/// Equal samples in a SQLite database without a name: in memory while they are few, and in a file without a name, which
/// is gone with the process, when they are many.
package final class TemporarySamples: EqualSamples {
    /// In KiB.
    private static let mostMemory = 8192

    private let database: DatabaseQueue
    /// The last row that was given; nil while they are not in order.
    private var last: Int64?

    package init() throws {
        var configuration = GRDB.Configuration()
        configuration.prepareDatabase { db in
            // Nothing of it outlives the process, so nothing needs to be undone or synced.
            try db.execute(
                sql: """
                    PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA temp_store = FILE;
                    PRAGMA cache_size = -\(Self.mostMemory)
                    """)
        }
        database = try DatabaseQueue(path: "", configuration: configuration)
        try database.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE sample (name TEXT NOT NULL, source TEXT NOT NULL, created INTEGER, entry TEXT NOT NULL)
                    """)
        }
    }

    package func add(_ samples: [(entry: RecordEntry, created: Int64?)]) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        try database.write { db in
            for (entry, created) in samples {
                try db.cachedStatement(sql: "INSERT INTO sample VALUES (?, ?, ?, ?)").execute(arguments: [
                    entry.name, entry.source.name ?? "", created,
                    String(decoding: try encoder.encode(entry), as: UTF8.self),
                ])
            }
        }
    }

    package func next(_ count: Int) throws -> [RecordEntry] {
        try database.write { db in
            if last == nil {
                try db.execute(
                    sql: """
                        CREATE TABLE numbered AS SELECT entry, row_number() OVER (
                            PARTITION BY name ORDER BY source, created, entry) AS number FROM sample;
                        DROP TABLE sample
                        """)
            }
            let rows = try Row.fetchAll(
                db, sql: "SELECT rowid, entry, number FROM numbered WHERE rowid > ? ORDER BY rowid LIMIT ?",
                arguments: [last ?? 0, count])
            let newest: Int64? = rows.last?["rowid"]
            last = newest ?? last ?? 0
            return try rows.map { row in
                var entry = try JSONDecoder().decode(
                    RecordEntry.self, from: Data((row["entry"] as String).utf8))
                entry.name += "|\(row["number"] as Int)"
                return entry
            }
        }
    }
}
