import FoundationEssentials
import GRDB
import QueueTestSupport
import Testing

@testable import IngestQueue

/// One flipped bit in the head of the queue's file never keeps the service from starting, and costs nothing.
@Suite struct HeaderDamageTests {
    private static let device = DeviceAddress(BluetoothAddress(value: 0xF1F1_F1F1_F1F1), .public)

    private static func fill(_ directory: String) async throws {
        let store = try await SQLiteQueue.open(in: directory, clock: DrivenClock())
        try await store.fillAtOnce((0..<30).map { "old-\($0)" })
        try await store.take(try #require(try await store.next().batch))
        try await store.retireAll()
        try await store.fillAtOnce((0..<12).map { "new-\($0)" })
        try await store.devices.remember(DeviceMemory(serial: "T-1"), of: device)
        try await store.outbox.markOutbox(through: Int64.max)
        try await store.close()
    }

    /// Everything that the file held is there, and it takes more.
    private static func check(_ store: SQLiteQueue, _ place: String) async throws {
        #expect(try await store.counts().records == 12, "\(place)")
        #expect(try await store.devices.recall(device)?.serial == "T-1", "\(place)")
        #expect(try await store.add(try record("old-3")) == .duplicate(RecordID(text: "old-3")), "\(place)")
        try await store.fill(["more"])
        #expect(try await store.next().ids == (0..<12).map { "new-\($0)" } + ["more"], "\(place)")
        #expect(try await store.counts().destinations.map(\.delivered) == [30], "\(place)")
    }

    @Test func eachBitInTurnCostsNothing() async throws {
        try await withMemoryDirectory { directory in
            try await Self.fill(directory)
            let path = directory + "/queue.sqlite"
            let whole = try Data(contentsOf: URL(filePath: path))
            let numbers = try Data(contentsOf: URL(filePath: directory + "/queue.numbers"))
            for bit in 0..<800 {
                for name in try FileManager.default.contentsOfDirectory(atPath: directory) {
                    try FileManager.default.removeItem(atPath: directory + "/" + name)
                }
                var damaged = whole
                damaged[bit / 8] ^= 1 << UInt8(bit % 8)
                try damaged.write(to: URL(filePath: path))
                try numbers.write(to: URL(filePath: directory + "/queue.numbers"))
                let place = "byte \(bit / 8), bit \(bit % 8)"
                // What the first start does not find, the work does, and the second start mends.
                var lastError: (any Error)?
                var isGood = false
                for _ in 0..<2 where !isGood {
                    do {
                        let store = try await SQLiteQueue.open(in: directory, clock: DrivenClock())
                        do {
                            try await Self.check(store, place)
                            isGood = true
                        } catch {
                            lastError = error
                        }
                        try? await store.close()
                    } catch {
                        lastError = error
                    }
                }
                #expect(isGood, "\(place): \(lastError.map { "\($0)" } ?? "")")
            }
        }
    }

    @Test(arguments: [18, 47, 60, 69])
    func aHeaderThatWasSetRightIsTold(byte: Int) async throws {
        try await withTemporaryDirectory { directory in
            try await Self.fill(directory)
            let path = directory + "/queue.sqlite"
            var content = try Data(contentsOf: URL(filePath: path))
            content[byte] ^= 8
            try content.write(to: URL(filePath: path))
            let store = try await SQLiteQueue.open(in: directory, clock: DrivenClock())
            let events = try await store.events
            #expect(events.map(\.name) == ["store-error"])
            #expect(events.first?.message.contains("the head of the file was damaged") == true)
            try await Self.check(store, "byte \(byte)")
            try await store.close()
            let again = try await SQLiteQueue.open(in: directory, clock: DrivenClock())
            #expect(try await again.events.count { $0.name == "store-error" } == 1)
            try await again.close()
        }
    }
}
