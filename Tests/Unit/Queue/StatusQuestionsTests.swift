import GRDB
import QueueTestSupport
import Testing

@testable import IngestQueue

/// What the status asks of the queue, again and again.
@Suite struct StatusQuestionsTests {
    private static let cuff = device("F1:F1:F1:F1:F1:F1")
    private static let scale = device("F1:F1:F1:F1:F1:F2")
    private static let silent = device("F1:F1:F1:F1:F1:F3")

    private static func device(_ address: String) -> DeviceAddress {
        DeviceAddress(BluetoothAddress(address) ?? BluetoothAddress(value: 0), .random)
    }

    @Test func theNewestRecordOfEachDeviceIsFoundFromTheEnd() async throws {
        try await withTemporaryDirectory { directory in
            let clock = DrivenClock()
            let store = try await SQLiteQueue.open(in: directory, clock: clock, destinations: [])
            let devices = [Self.cuff, Self.scale, Self.silent]
            #expect(try await store.overview.status(of: devices).newestCommits.isEmpty)
            try await store.add(try record("first"))
            clock.advance(by: .seconds(60))
            let newest = clock.wallNanoseconds
            try await store.add(try record("second"))
            clock.advance(by: .seconds(60))
            let another = clock.wallNanoseconds
            try await store.add(try record("another's", address: "F1:F1:F1:F1:F1:F2"))
            #expect(
                try await store.overview.status(of: devices).newestCommits
                    == [Self.cuff.address: newest, Self.scale.address: another])
            #expect(
                try await store.overview.status(of: [Self.cuff]).newestCommits == [Self.cuff.address: newest])
            #expect(try await store.overview.status(of: []).newestCommits.isEmpty)
            let plan = try await store.database.read { db in
                try Row.fetchAll(
                    db, sql: "EXPLAIN QUERY PLAN " + QueueOverview.newestRecords(ofDevices: 2),
                    arguments: [10_000, Self.cuff.address.description, Self.scale.address.description]
                ).map { $0["detail"] as String }
            }
            #expect(plan.contains { $0.hasPrefix("SEARCH record USING INTEGER PRIMARY KEY") }, "\(plan)")
            #expect(!plan.contains { $0.contains("TEMP B-TREE") }, "\(plan)")
            try await store.close()
        }
    }

    /// Nor when the record itself was dropped after its delivery.
    @Test func anImportDoesNotHideTheNewestRecordOfADevice() async throws {
        try await withMemoryDirectory { directory in
            let clock = DrivenClock()
            let store = try await SQLiteQueue.open(in: directory, clock: clock, destinations: [])
            let read = clock.wallNanoseconds
            var memory = DeviceMemory()
            memory.lastCommit = read
            try await store.devices.remember(memory, of: Self.scale)
            clock.advance(by: .seconds(60))
            for part in 0..<11 {
                try await store.fillAtOnce((0..<1_000).map { "\(part)-\($0)" })
            }
            let newest = clock.wallNanoseconds
            #expect(
                try await store.overview.status(of: [Self.cuff, Self.scale]).newestCommits
                    == [Self.cuff.address: newest, Self.scale.address: read])
            // A record that is newer than what the memory says is of a link that lasts.
            memory.lastCommit = read - 1
            try await store.devices.remember(memory, of: Self.cuff)
            #expect(
                try await store.overview.status(of: [Self.cuff]).newestCommits == [Self.cuff.address: newest])
            try await store.close()
        }
    }

    @Test func whatIsKnownOfDevicesAndDestinationsIsInOneAnswer() async throws {
        try await withTemporaryDirectory { directory in
            let former = try await SQLiteQueue.open(
                in: directory, clock: DrivenClock(),
                destinations: [DestinationRouting(name: "clinic"), DestinationRouting(name: "trial")])
            try await former.fill(["a", "b"])
            _ = try await former.sessions.adopt("patient-17", at: "clinic")
            try await former.close()
            let store = try await SQLiteQueue.open(in: directory, clock: DrivenClock())
            try await store.devices.remember(DeviceMemory(battery: 80), of: Self.cuff)
            let status = try await store.overview.status(of: [Self.cuff, Self.silent])
            #expect(status.memories.mapValues(\.battery) == [Self.cuff: 80])
            #expect(try await store.retention.usedBytes() == status.usedBytes)
            #expect(status.destinations.map(\.name) == ["clinic", "trial"])
            #expect(
                status.destinations.map(\.session) == [
                    .open(account: "patient-17", number: 1), SessionState.none,
                ])
            #expect(status.destinations.map(\.pending) == [2, 0])
            #expect(status.destinations.map(\.owed) == [0, 2])
            try await store.close()
        }
    }
    /// The records of the fresh lane's batch lie behind the first 1,000 that wait, which alone are looked at.
    @Test(arguments: [900, 1_500])
    func aBatchOfTheFreshLaneIsCountedOnce(stale: Int) async throws {
        let clock = DrivenClock()
        try await withQueue(clock, destinations: [DestinationRouting(name: "clinic", order: .fresh)]) {
            store in
            try await store.fillAtOnce((0..<stale).map { "stale-\($0)" })
            clock.advance(by: .seconds(61))
            try await store.fillAtOnce((0..<10).map { "fresh-\($0)" })
            let batch = try await store.next(lane: .fresh)
            #expect(batch.ids?.count == 10)
            #expect(try await store.overview.status(of: []).destinations.map(\.pending) == [stale + 10])
            #expect(try await store.overview.pendingCount(of: "clinic") == stale + 10)
        }
    }
}
