import FoundationEssentials
import GRDB
import QueueTestSupport
import Testing

@testable import IngestQueue

/// Rows that are not what was written, in a file that is sound.
@Suite struct RowDamageTests {
    private static let settings = BatchSettings(maxRecords: 3, maxWait: .zero)

    @Test(arguments: [
        "body = replace(body, '36.60', '63.60')", "payload = x'00'", "kind = 'weight'", "kind = 'nothing'",
        "address = 'nowhere'", "checksum = x''", "id = 'another'", "destinations = 'another'",
        "peripheral_id = 1", "alias = 'cuff'",
    ])
    func onlyTheDamagedRecordIsSetAside(change: String) async throws {
        try await withQueue { store in
            try await store.fill(["a", "b", "c", "d"])
            try await store.database.write {
                try $0.execute(sql: "UPDATE record SET \(change) WHERE id = 'b'")
            }
            var seen: [String] = []
            var next = try await store.next(Self.settings)
            while case .batch(let batch) = next {
                seen += batch.items.map(\.header.id.text)
                next = try await store.take(batch, Self.settings)
            }
            #expect(seen == ["a", "c", "d"])
            let counts = try await store.counts()
            #expect(counts.records == 4)
            #expect(counts.destinations[0].dead == 1)
            let told = try await store.events.map(\.name)
            #expect(told.count { $0 == "failed" || $0 == "store-error" } == 1)
            #expect(told.count { $0 == "submitted" } == 3)
            #expect(store.database.commits.failure == nil)
        }
    }

    /// Rows of before their checksums held where a record goes.
    @Test func anEarlierChecksumIsGoodForWhatItHolds() async throws {
        try await withQueue { store in
            try await store.fill(["a", "b"])
            try await store.database.write { db in
                for id in ["a", "b"] {
                    let row = try Row.fetchOne(db, sql: "SELECT * FROM record WHERE id = ?", arguments: [id])
                    guard let row else { throw TimedOut() }
                    let checksum = RecordRow.checksum(
                        id: id, kind: row["kind"], payload: row["payload"], body: row["body"])
                    #expect(checksum.count == 16)
                    try db.execute(
                        sql: "UPDATE record SET checksum = ? WHERE id = ?", arguments: [checksum, id])
                }
                try db.execute(sql: "UPDATE record SET payload = x'00' WHERE id = 'b'")
            }
            #expect(try await store.next(Self.settings).ids == ["a"])
            #expect(try await store.counts().destinations[0].dead == 1)
        }
    }

    @Test func aBatchOfDamagedRecordsAloneHoldsUpNothing() async throws {
        try await withQueue { store in
            try await store.fill(["a", "b", "c", "d"])
            #expect(try await store.next(Self.settings).ids == ["a", "b", "c"])
            try await store.database.write {
                try $0.execute(sql: "UPDATE record SET body = '{}' WHERE id <> 'd'")
            }
            #expect(try await store.next(Self.settings).ids == ["d"])
            try await store.database.write {
                try $0.execute(sql: "DELETE FROM dead_letter; DELETE FROM record")
            }
            #expect(try await store.next(Self.settings) == .nothing)
            let told = try await store.events.map(\.name).filter { $0 != "read" }
            #expect(told == ["failed", "failed", "failed", "store-error"])
        }
    }

    @Test func aDamagedEntryOfTheOutboxKeepsItsNumber() async throws {
        try await withQueue { store in
            try await store.fill(["a", "b", "c"])
            try await store.database.write {
                try $0.execute(sql: "UPDATE outbox SET entry = '{' WHERE sequence = 2")
            }
            let sink = RecordingSink()
            try await EventOutbox(store: store.outbox, sink: sink, clock: store.database.clock).drain()
            #expect(sink.names == ["read", "store-error", "read"])
            #expect(sink.entries.map { $0[.sequence] } == ["1", "2", "3"])
        }
    }

    @Test func numbersGoOnWhenTheirCounterIsLost() async throws {
        try await withTemporaryDirectory { directory in
            let first = try await SQLiteQueue.open(in: directory, clock: DrivenClock())
            try await first.fill(["a", "b"])
            try await first.database.write { try $0.execute(sql: "DELETE FROM counter") }
            try await first.close()
            let second = try await SQLiteQueue.open(in: directory, clock: DrivenClock())
            try await second.fill(["c"])
            #expect(try await second.events.map { $0[.sequence] } == ["1", "2", "3"])
            #expect(try await second.next(Self.settings).ids == ["a", "b", "c"])
            try await second.close()
        }
    }
}
