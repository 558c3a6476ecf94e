import Dispatch
import GRDB

/// Looks through the queue's file for damage while the gateway runs, so that the start need not wait for it.
///
/// A connection of its own reads, in a transaction for each table; it never writes and never checkpoints
/// (`QueueDatabase` has the reason). The log is not emptied while a table is looked at.
package struct StoreCheck: Sendable {
    private let database: QueueDatabase

    /// What is urgent at a start is done by then.
    private static let delay = Duration.seconds(10)
    /// A service may run for years.
    private static let interval = Duration.seconds(7 * 24 * 3600)

    package init(_ queue: SQLiteQueue) {
        database = queue.database
    }

    /// Looks soon after the start and once a week, until the task is cancelled.
    /// - Throws: the `StoreError` for what was found, after which the next start mends the file.
    package func run() async throws {
        var pause = Self.delay
        while (try? await database.clock.sleep(for: pause)) != nil {
            pause = Self.interval
            do {
                try await check()
            } catch is CancellationError {
                return
            } catch let error as StoreError where error.isFatal {
                throw error
            } catch {
                // What is in the way of reading is told by others; the next time is soon enough.
            }
        }
    }

    func check() async throws {
        let path = database.path
        var configuration = GRDB.Configuration()
        configuration.label = "ingestd.queue.check"
        configuration.qos = .default
        configuration.readonly = true
        configuration.busyMode = .timeout(5)
        do {
            let copy = try await BlockingCall.run { [configuration] in
                try DatabaseQueue(path: path, configuration: configuration)
            }
            let tables = try await copy.read { db in
                try String.fetchAll(db, sql: "SELECT name FROM sqlite_master WHERE type = 'table'")
            }
            for table in tables {
                let verdict = try await copy.read { db in
                    try String.fetchOne(db, sql: "PRAGMA quick_check(\(table.quotedDatabaseIdentifier))")
                }
                guard verdict == "ok" else { throw StoreError(.corrupt, path: path) }
            }
            try await BlockingCall.run { try copy.close() }
        } catch {
            // Another's file in its place says nothing of ours, which the next commit finds gone.
            guard database.commits.isInPlace else { return }
            let error = StoreError.of(error, path: path)
            if let store = error as? StoreError, store.isFatal { database.commits.note(store) }
            throw error
        }
    }
}
