import GRDB
import Testing

@testable import IngestKit

/// What the status asks of the queue, again and again.
@Suite struct StatusQuestionsTests {
    @Test func theNewestRecordOfADeviceIsFoundFromTheEnd() async throws {
        try await withTemporaryDirectory { directory in
            let clock = DrivenClock()
            let store = try await SQLiteRecordStore.open(in: directory, clock: clock, destinations: [])
            let cuff = try #require(BluetoothAddress("F1:F1:F1:F1:F1:F1"))
            #expect(try await store.newestCommit(of: cuff) == nil)
            try await store.add(try record("first"))
            clock.advance(by: .seconds(60))
            let newest = clock.wallNanoseconds
            try await store.add(try record("second"))
            clock.advance(by: .seconds(60))
            try await store.add(try record("another's", address: "F1:F1:F1:F1:F1:F2"))
            #expect(try await store.newestCommit(of: cuff) == newest)
            let plan = try await store.read { db in
                try Row.fetchAll(
                    db, sql: "EXPLAIN QUERY PLAN " + SQLiteRecordStore.newestCommit,
                    arguments: [10_000, cuff.description]
                ).map { $0["detail"] as String }
            }
            #expect(plan.contains { $0.hasPrefix("SEARCH record USING INTEGER PRIMARY KEY") }, "\(plan)")
            #expect(!plan.contains { $0.contains("TEMP B-TREE") }, "\(plan)")
            try await store.close()
        }
    }
}
