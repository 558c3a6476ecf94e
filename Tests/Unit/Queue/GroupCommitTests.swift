import Dispatch
import GRDB
import QueueTestSupport
import Synchronization
import Testing

@testable import IngestQueue

@Suite struct GroupCommitTests {
    private struct Refused: Error {}

    /// Counts commits that changed something.
    private final class CommitCounter: TransactionObserver, Sendable {
        private let count = Mutex(0)
        var value: Int { count.withLock { $0 } }

        func observes(eventsOfKind eventKind: DatabaseEventKind) -> Bool { true }
        func databaseDidChange(with event: DatabaseEvent) {}
        func databaseDidCommit(_ db: Database) { count.withLock { $0 += 1 } }
        func databaseDidRollback(_ db: Database) {}
    }

    /// A queue whose disk is busy with one write until `body` has submitted others.
    private func whileWriting(
        _ body: (SQLiteQueue, inout [Task<Void, any Error>]) throws -> Void
    ) async throws -> (commits: Int, names: [String], results: [Bool]) {
        try await withTemporaryDirectory { directory in
            let store = try await SQLiteQueue.open(in: directory, clock: DrivenClock())
            let counter = CommitCounter()
            store.database.connection.add(transactionObserver: counter, extent: .databaseLifetime)
            let (hasBegun, mayEnd) = (WakeUp(), DispatchSemaphore(value: 0))
            let slow = Task {
                try await store.database.write { db in
                    hasBegun.raise()
                    mayEnd.wait()
                    try Self.insert("slow", db)
                }
            }
            await hasBegun.wait()
            var tasks: [Task<Void, any Error>] = []
            try body(store, &tasks)
            let expected = tasks.count
            try await eventually("the writes wait") { store.database.commits.waitingCount == expected }
            mayEnd.signal()
            try await slow.value
            var results: [Bool] = []
            for task in tasks { results.append((try? await task.value) != nil) }
            let names = try await store.database.read {
                try String.fetchAll($0, sql: "SELECT name FROM counter WHERE value = 7 ORDER BY name")
            }
            try await store.close()
            return (counter.value, names, results)
        }
    }

    private static func insert(_ name: String, _ db: Database) throws {
        try db.execute(sql: "INSERT INTO counter (name, value) VALUES (?, 7)", arguments: [name])
    }

    @Test func writesThatArriveDuringACommitShareTheNext() async throws {
        let outcome = try await whileWriting { store, tasks in
            for number in 0..<10 {
                tasks.append(Task { try await store.database.write { try Self.insert("\(number)", $0) } })
            }
        }
        #expect(outcome.commits == 2)
        #expect(outcome.names == (0..<10).map { "\($0)" } + ["slow"])
        #expect(outcome.results == Array(repeating: true, count: 10))
    }

    @Test func oneThatFailsTakesNoOtherWithIt() async throws {
        let outcome = try await whileWriting { store, tasks in
            for number in 0..<4 {
                tasks.append(
                    Task {
                        try await store.database.write { db in
                            try Self.insert("\(number)", db)
                            if number == 2 { throw Refused() }
                        }
                    })
            }
        }
        #expect(outcome.names == ["0", "1", "3", "slow"])
        #expect(outcome.results == [true, true, false, true])
    }
}
