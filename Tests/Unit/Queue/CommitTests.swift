import GRDB
import QueueTestSupport
import Testing

@testable import IngestQueue

@Suite struct CommitTests {
    @Test func aRecordAndItsEventAreCommittedTogetherAndOnce() async throws {
        try await withQueue { store in
            let one = try record("a", alias: "bedroom")
            #expect(try await store.add(one) == .committed(one.id))
            #expect(try await store.add(one) == .duplicate(one.id))
            let events = try await store.events
            #expect(events.map(\.name) == ["read", "duplicate-ignored"])
            #expect(events.map { $0[.sequence] } == ["1", "2"])
            #expect(events.map { $0[.recordID] } == ["a", "a"])
            #expect(try await store.counts().records == 1)
        }
    }

    @Test func whatCannotBeDecodedIsKeptAndNotDelivered() async throws {
        try await withQueue { store in
            let raw = try record("raw", kind: .undecoded)
            let submission = RecordSubmission(
                record: raw, repetition: .identified, received: store.database.clock.now,
                decodeError: "ends after 1 byte")
            #expect(try await store.records.commit(submission) == .committed(raw.id))
            try await store.records.freeze([raw])
            let events = try await store.events
            #expect(events.map(\.name) == ["decode-error"])
            #expect(events[0][.error] == "ends after 1 byte")
            #expect(try await store.next() == .nothing)
            let counts = try await store.counts()
            #expect(counts.undecoded == 1)
            #expect(counts.destinations[0].pending == 0)
        }
    }

    @Test func aCancelledCommitCommitsNothing() async throws {
        try await withQueue { store in
            let one = try record("a")
            let task = Task {
                unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
                return try await store.add(one)
            }
            await #expect(throws: CancellationError.self) { try await task.value }
            #expect(try await store.counts().records == 0)
            #expect(try await store.events.isEmpty)
        }
    }

    struct Repeat: Sendable, CustomTestStringConvertible {
        let testDescription: String
        var after = Duration.seconds(60)
        var isFirstOnLink = true
        var bytes: [UInt8] = [1, 2, 3]
        var address = "F1:F1:F1:F1:F1:F1"
        var bootID = "boot-1"
        var isConfirmed = false
        var isNotification = false
        let isDuplicate: Bool
    }

    @Test(arguments: [
        Repeat(testDescription: "the same bytes first on the next link", isDuplicate: true),
        Repeat(testDescription: "after exactly 10 min", after: .seconds(600), isDuplicate: true),
        Repeat(testDescription: "after more than 10 min", after: .seconds(601), isDuplicate: false),
        Repeat(testDescription: "not the first on its link", isFirstOnLink: false, isDuplicate: false),
        Repeat(testDescription: "other bytes", bytes: [1, 2, 4], isDuplicate: false),
        Repeat(testDescription: "another device", address: "F1:F1:F1:F1:F1:F2", isDuplicate: false),
        Repeat(testDescription: "after a boot of the gateway", bootID: "boot-2", isDuplicate: false),
        Repeat(testDescription: "after the confirmation", isConfirmed: true, isDuplicate: false),
        Repeat(testDescription: "a notification", isNotification: true, isDuplicate: false),
    ])
    func anUnconfirmedIndicationComesAgain(_ second: Repeat) async throws {
        try await withTemporaryDirectory { directory in
            let clock = DrivenClock()
            let first = try record("a", bytes: [1, 2, 3])
            var store = try await SQLiteQueue.open(in: directory, clock: clock)
            _ = try await store.records.commit(
                RecordSubmission(
                    record: first, repetition: .undatedIndication(isFirstOnLink: true), received: clock.now,
                    decodeError: nil))
            if second.isConfirmed { try await store.records.markConfirmed(first.id) }
            // A crash in between changes nothing.
            try await store.close()
            store = try await SQLiteQueue.open(in: directory, clock: clock, bootID: second.bootID)

            clock.advance(by: second.after)
            let again = try record("b", address: second.address, bytes: second.bytes)
            let outcome = try await store.records.commit(
                RecordSubmission(
                    record: again,
                    repetition: second.isNotification
                        ? .undatedNotification : .undatedIndication(isFirstOnLink: second.isFirstOnLink),
                    received: clock.now, decodeError: nil))
            #expect(outcome == (second.isDuplicate ? .duplicate(first.id) : .committed(again.id)))
            try await store.close()
        }
    }

    @Test func whatALinkLearnedIsKept() async throws {
        try await withTemporaryDirectory { directory in
            let clock = DrivenClock()
            let device = DeviceAddress(try #require(BluetoothAddress("F1:F1:F1:F1:F1:F1")), .random)
            let other = DeviceAddress(device.address, .public)
            var memory = DeviceMemory(model: "T-1", hasDeviceInformation: true, battery: 90)
            memory.layout = AttributeLayout(
                services: ["1809": .init(firstHandle: 1, lastHandle: 9, characteristics: [:]), "180F": nil])
            let first = try await SQLiteQueue.open(in: directory, clock: clock)
            #expect(try await first.devices.recall(device) == nil)
            try await first.devices.remember(memory, of: device)
            memory.battery = 80
            try await first.devices.remember(memory, of: device)
            try await first.close()
            let second = try await SQLiteQueue.open(in: directory, clock: clock)
            #expect(try await second.devices.recall(device) == memory)
            #expect(try await second.devices.recall(other) == nil)
            try await second.close()
        }
    }
}
