import FoundationEssentials
import GRDB
import QueueTestSupport
import Testing

@testable import IngestQueue

/// A queue that is damaged when it is opened.
@Suite struct MendingTests {
    private static let settings = BatchSettings(maxRecords: 1000, maxWait: .zero)
    private static let pageSize = 4096

    /// A closed queue with 80 delivered and 40 other records.
    private static func fill(_ directory: String) async throws -> [String: String] {
        let store = try await SQLiteQueue.open(in: directory, clock: DrivenClock())
        let ids = (0..<120).map { "record-\($0)" }
        let records = try ids.map { try record($0) }
        for record in records.prefix(80) { try await store.add(record) }
        try await store.records.freeze(Array(records.prefix(80)))
        try await store.take(try #require(try await store.next(settings).batch), settings)
        for record in records.dropFirst(80) { try await store.add(record) }
        try await store.records.freeze(Array(records.dropFirst(80)))
        try await store.outbox.markOutbox(through: 150)
        try await store.devices.remember(DeviceMemory(serial: "T-1"), of: Self.device)
        try await store.close()
        return Dictionary(uniqueKeysWithValues: records.map { ($0.id.text, $0.json) })
    }

    private static var device: DeviceAddress {
        get throws {
            DeviceAddress(try #require(BluetoothAddress("F1:F1:F1:F1:F1:F1")), .public)
        }
    }

    /// What is still to be delivered.
    private static func waiting(_ store: SQLiteQueue) async throws -> [String: String] {
        guard let batch = try await store.next(settings).batch else { return [:] }
        return Dictionary(uniqueKeysWithValues: batch.items.map { ($0.header.id.text, $0.body) })
    }

    private static func names(_ directory: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: directory).sorted()
    }

    @Test func aFileThatIsNoDatabaseIsPutAsideAndTheServiceGoesOn() async throws {
        try await withTemporaryDirectory { directory in
            let garbage = Data(repeating: 0x41, count: 8192)
            for number in 1...4 {
                try garbage.write(to: URL(filePath: directory + "/queue.sqlite"))
                let store = try await SQLiteQueue.open(in: directory, clock: DrivenClock())
                try await store.fill(["a"])
                let event = try #require(try await store.events.first)
                #expect(event.name == "store-quarantined")
                #expect(event[.count] == "0")
                #expect(event.message.contains("queue.sqlite.damaged-\(number): 0 records taken over"))
                #expect(try await Self.waiting(store).keys.sorted() == ["a"])
                try await store.close()
                let aside = URL(filePath: directory + "/queue.sqlite.damaged-\(number)")
                #expect(try Data(contentsOf: aside) == garbage)
                try FileManager.default.removeItem(atPath: directory + "/queue.sqlite")
            }
            // The newest three stay.
            #expect(
                try Self.names(directory).filter { $0.contains("damaged") }
                    == (2...4).map { "queue.sqlite.damaged-\($0)" })
        }
    }

    /// Each page in turn is overwritten. Whatever page it is, the queue opens, holds nothing that was not written, and
    /// counts on.
    @Test(arguments: [UInt8(0x00), 0x0D, 0xFF])
    func whateverPageIsDamagedWhatIsIntactIsKept(filler: UInt8) async throws {
        try await withMemoryDirectory { directory in
            let bodies = try await Self.fill(directory)
            let path = directory + "/queue.sqlite"
            let whole = try Data(contentsOf: URL(filePath: path))
            let count = whole.count / Self.pageSize
            #expect(count > 30)
            for page in stride(from: 0, to: count, by: ProofSize.stride(3)) {
                for name in try Self.names(directory) {
                    try FileManager.default.removeItem(atPath: directory + "/" + name)
                }
                var damaged = whole
                damaged.replaceSubrange(
                    page * Self.pageSize..<(page + 1) * Self.pageSize,
                    with: repeatElement(filler, count: Self.pageSize))
                try damaged.write(to: URL(filePath: path))
                QueueFile(path: path).setMark()

                let store = try await SQLiteQueue.open(in: directory, clock: DrivenClock())
                let counts = try await store.counts()
                #expect(counts.records >= 120 - 15, "page \(page + 1)")
                let waiting = try await Self.waiting(store)
                #expect(waiting.allSatisfy { bodies[$0.key] == $0.value }, "page \(page + 1)")
                #expect(waiting.count >= 40 - 15, "page \(page + 1)")
                let told = try await store.events
                let quarantined = told.filter { $0.name == "store-quarantined" }
                #expect(quarantined.count <= 1)
                if let event = quarantined.first {
                    #expect(event[.sequence].flatMap { Int($0) } ?? 0 > 200, "page \(page + 1)")
                    #expect(try Data(contentsOf: URL(filePath: path + ".damaged-1")) == damaged)
                } else {
                    #expect(counts.records == 120)
                }
                #expect(!QueueFile(path: path).isMarked)
                let verdict = try await store.database.read {
                    try String.fetchOne($0, sql: "PRAGMA integrity_check")
                }
                #expect(verdict == "ok", "page \(page + 1)")
                try await store.close()
            }
        }
    }

    @Test func aRowThatFailsItsChecksumIsLeftInTheDamagedFile() async throws {
        try await withTemporaryDirectory { directory in
            _ = try await Self.fill(directory)
            let path = directory + "/queue.sqlite"
            try await Self.change(
                path, "UPDATE record SET body = replace(body, '36.60', '63.60') WHERE seq = 110")
            try await Self.change(path, Self.crossing)
            QueueFile(path: path).setMark()
            let store = try await SQLiteQueue.open(in: directory, clock: DrivenClock())
            #expect(try await store.counts().records == 119)
            #expect(try await Self.waiting(store)["record-109"] == nil)
            try await store.close()
        }
    }

    @Test func aMarkedFileThatIsSoundStays() async throws {
        try await withTemporaryDirectory { directory in
            _ = try await Self.fill(directory)
            QueueFile(path: directory + "/queue.sqlite").setMark()
            let store = try await SQLiteQueue.open(in: directory, clock: DrivenClock())
            #expect(try await store.counts().records == 120)
            #expect(try await store.devices.recall(try Self.device)?.serial == "T-1")
            try await store.close()
            #expect(try Self.names(directory) == ["queue.numbers", "queue.sqlite"])
        }
    }

    @Test func aMendingThatWasInterruptedIsFinished() async throws {
        try await withTemporaryDirectory { directory in
            _ = try await Self.fill(directory)
            let path = directory + "/queue.sqlite"
            // The new one is whole, and the damaged one has its number already, without its file.
            try FileManager.default.moveItem(atPath: path, toPath: path + ".mended")
            try Data("damaged".utf8).write(to: URL(filePath: path))
            try Data("log".utf8).write(to: URL(filePath: path + ".damaged-1-wal"))
            try Data("half".utf8).write(to: URL(filePath: path + ".draft"))
            let store = try await SQLiteQueue.open(in: directory, clock: DrivenClock())
            #expect(try await store.counts().records == 120)
            try await store.close()
            #expect(
                try Self.names(directory) == [
                    "queue.numbers", "queue.sqlite", "queue.sqlite.damaged-1", "queue.sqlite.damaged-1-wal",
                ])
            #expect(try Data(contentsOf: URL(filePath: path + ".damaged-1")) == Data("damaged".utf8))
        }
    }

    @Test func aLogWithoutItsFileIsPutAside() async throws {
        try await withTemporaryDirectory { directory in
            let path = directory + "/queue.sqlite"
            try Data("log".utf8).write(to: URL(filePath: path + "-wal"))
            let store = try await SQLiteQueue.open(in: directory, clock: DrivenClock())
            #expect(try await store.events.map(\.name) == ["store-quarantined"])
            try await store.close()
            #expect(try Data(contentsOf: URL(filePath: path + ".damaged-1-wal")) == Data("log".utf8))
            // And so is the next one.
            try FileManager.default.removeItem(atPath: path)
            try Data("other".utf8).write(to: URL(filePath: path + "-wal"))
            try await SQLiteQueue.open(in: directory, clock: DrivenClock()).close()
            #expect(try Data(contentsOf: URL(filePath: path + ".damaged-2-wal")) == Data("other".utf8))
        }
    }

    /// An event has named it.
    @Test func theNewestFileThatWasPutAsideStaysHoweverLargeItIs() async throws {
        try await withTemporaryDirectory { directory in
            let file = QueueFile(path: directory + "/queue.sqlite")
            for number in 1...3 {
                try Data("damaged".utf8).write(to: URL(filePath: file.path + ".damaged-\(number)"))
            }
            file.pruneAside(downTo: 0)
            #expect(
                try FileManager.default.contentsOfDirectory(atPath: directory) == ["queue.sqlite.damaged-3"])
        }
    }

    @Test(arguments: ["batch", "dead_letter"])
    func whatIsNotKnownToBeDeliveredIsDeliveredAgain(lost: String) async throws {
        try await withTemporaryDirectory { directory in
            let bodies = try await Self.fill(directory)
            let path = directory + "/queue.sqlite"
            try await Self.change(path, "DROP TABLE \(lost)")
            try await Self.change(path, Self.crossing)
            QueueFile(path: path).setMark()
            let store = try await SQLiteQueue.open(in: directory, clock: DrivenClock())
            #expect(try await Self.waiting(store) == bodies)
            let told = try await store.events.filter { $0.name == "store-quarantined" }
            let words = ": 120 records taken over, 0 lost, all are delivered again"
            #expect(told.first?.message.hasSuffix(words) == true)
            try await store.close()
        }
    }

    /// Version 8 told by the words of its error that a record had nobody.
    @Test func aRecordOfADamagedEarlierFileStillHasNobody() async throws {
        try await withTemporaryDirectory { directory in
            let old = try await SQLiteQueue.open(in: directory, clock: DrivenClock())
            try await old.fill(["a", "b"])
            for reason in [SetAsideReason.unassigned, "no such patient"] {
                let next = try await old.next(BatchSettings(maxRecords: 1, maxWait: .zero))
                _ = try await old.batches.setAside(
                    try #require(next.batch), httpStatus: nil, attempt: 0, reason: reason, reply: nil,
                    settings: BatchSettings(), gateway: "box")
            }
            try await old.close()
            let path = directory + "/queue.sqlite"
            try await Self.change(path, OpeningTests.version8)
            try await Self.change(path, Self.crossing)
            QueueFile(path: path).setMark()

            let store = try await SQLiteQueue.open(in: directory, clock: DrivenClock())
            let letters = DeadLetterSelection(destination: "clinic")
            let outcome = try await store.deadLetters.retry(letters, subject: "user-a", gateway: "box")
            #expect(outcome.released == 1)
            #expect(try await Self.waiting(store).keys.sorted() == ["a"])
            try await store.close()
        }
    }

    @Test func aFileThatCannotBeBroughtToThisVersionIsMended() async throws {
        try await withTemporaryDirectory { directory in
            let bodies = try await Self.fill(directory)
            try await Self.change(
                directory + "/queue.sqlite", OpeningTests.version8 + "DROP TABLE dead_letter")
            let store = try await SQLiteQueue.open(in: directory, clock: DrivenClock())
            #expect(try await Self.waiting(store) == bodies)
            try await store.close()
        }
    }

    /// Two tables on one page: damage that the first look finds.
    static let crossing =
        "PRAGMA writable_schema = 1; UPDATE sqlite_master SET rootpage = 3 WHERE name = 'outbox'"

    /// Changes a file behind the store's back.
    static func change(_ path: String, _ sql: String) async throws {
        var configuration = GRDB.Configuration()
        configuration.foreignKeysEnabled = false
        let database = try DatabaseQueue(path: path, configuration: configuration)
        try await database.writeWithoutTransaction { try $0.execute(sql: sql) }
        try database.close()
    }
}
