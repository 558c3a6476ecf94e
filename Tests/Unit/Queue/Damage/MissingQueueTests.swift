import FoundationEssentials
import GRDB
import QueueTestSupport
import Testing

@testable import IngestQueue

/// A start that finds less than there was says so, and no event has a number again.
@Suite struct MissingQueueTests {
    private static let log = "queue.sqlite-wal"

    /// What a process leaves that is killed after so many readings, each in a commit of its own.
    private static func kill(after count: Int, in directory: String, bootID: String = "boot-1") async throws
        -> Int64
    {
        try await withTemporaryDirectory { other in
            let store = try await SQLiteQueue.open(in: other, clock: DrivenClock(), bootID: bootID)
            for number in 0..<count { try await store.add(try record("r\(number)")) }
            let last = try await store.database.read { try CounterTable.last("event", $0) }
            for name in try FileManager.default.contentsOfDirectory(atPath: other) {
                try? FileManager.default.removeItem(atPath: directory + "/" + name)
                try FileManager.default.copyItem(atPath: other + "/" + name, toPath: directory + "/" + name)
            }
            try await store.close()
            return last
        }
    }

    private static func change(_ name: String, in directory: String, _ body: (inout Data) -> Void) throws {
        let url = URL(filePath: directory + "/" + name)
        var content = try Data(contentsOf: url)
        body(&content)
        try content.write(to: url)
    }

    /// The events of the next start.
    private static func start(
        in directory: String, bootID: String = "boot-1", _ body: (SQLiteQueue) async throws -> Void = { _ in }
    ) async throws -> [JournalEntry] {
        let store = try await SQLiteQueue.open(in: directory, clock: DrivenClock(), bootID: bootID)
        let events = try await store.events.filter { $0.name.hasPrefix("store-") }
        try await body(store)
        try await store.close()
        return events
    }

    @Test(arguments: ["deleted", "empty", "of one byte"])
    func aQueueThatIsGoneIsMissed(how: String) async throws {
        try await withTemporaryDirectory { directory in
            let store = try await SQLiteQueue.open(in: directory, clock: DrivenClock())
            try await store.fill((0..<43).map { "r\($0)" })
            let last = try await store.database.read { try CounterTable.last("event", $0) }
            try await store.close()
            let path = directory + "/queue.sqlite"
            switch how {
            case "deleted": try FileManager.default.removeItem(atPath: path)
            case "empty": try Data().write(to: URL(filePath: path))
            default: try Data([0x53]).write(to: URL(filePath: path))
            }
            let events = try await Self.start(in: directory)
            #expect(events.map(\.name) == [how == "of one byte" ? "store-quarantined" : "store-error"])
            #expect(events.first?[.sequence].flatMap { Int64($0) } ?? 0 > last)
            // It is told once.
            #expect(try await Self.start(in: directory).count == 1)
        }
    }

    @Test(arguments: [true, false])
    func aLogThatIsGoneIsMissed(isKilled: Bool) async throws {
        try await withTemporaryDirectory { directory in
            let last = try await Self.kill(after: 43, in: directory)
            try FileManager.default.removeItem(atPath: directory + "/" + Self.log)
            let events = try await Self.start(in: directory, bootID: isKilled ? "boot-1" : "boot-2")
            #expect(events.map(\.name) == ["store-error"])
            #expect(events.first?.message.contains("the log of the queue is gone") == true)
            #expect(events.first?[.sequence].flatMap { Int64($0) } ?? 0 > last)
        }
    }

    @Test func aLogThatWasEmptiedIsMissed() async throws {
        try await withTemporaryDirectory { directory in
            let last = try await Self.kill(after: 43, in: directory)
            try Self.change(Self.log, in: directory) { $0 = Data() }
            let events = try await Self.start(in: directory)
            #expect(events.map(\.name) == ["store-error"])
            #expect(events.first?[.sequence].flatMap { Int64($0) } ?? 0 > last)
        }
    }

    /// A disk loses bytes, sectors or blocks. What can be read of a damaged log is taken over.
    @Test(arguments: [1, 32, 40, 64, 512, 4096, 65_536, Int.max], [0, 0xA5])
    func aLogThatIsDamagedAtItsHeadIsMended(bytes: Int, by damage: UInt8) async throws {
        try await withTemporaryDirectory { directory in
            let last = try await Self.kill(after: 43, in: directory)
            try Self.change(Self.log, in: directory) { content in
                for index in 0..<min(bytes, content.count) { content[index] = damage }
            }
            var records = 0
            let events = try await Self.start(in: directory) { records = try await $0.counts().records }
            #expect(events.map(\.name) == ["store-quarantined"])
            // Each page is in the log many times.
            if bytes <= 4096 { #expect(records == 43) }
            #expect(events.first?[.sequence].flatMap { Int64($0) } ?? 0 > last)
        }
    }

    /// SQLite begins the log anew when all of it is in the file. If the write of the new header fails half way, and the
    /// process is killed, nothing is missing.
    @Test func aLogWhoseNewHeaderCouldNotBeWrittenIsNoDamage() async throws {
        try await withTemporaryDirectory { directory in
            try await withTemporaryDirectory { other in
                let store = try await SQLiteQueue.open(in: other, clock: DrivenClock(), bootID: "boot-1")
                for number in 0..<20 { try await store.add(try record("r\(number)")) }
                _ = try store.database.connection.writeWithoutTransaction { db in
                    try Row.fetchOne(db, sql: "PRAGMA wal_checkpoint(FULL)")
                }
                for name in try FileManager.default.contentsOfDirectory(atPath: other) {
                    try FileManager.default.copyItem(
                        atPath: other + "/" + name, toPath: directory + "/" + name)
                }
                try await store.close()
            }
            // New salts, and the checksum of the old ones.
            try Self.change(Self.log, in: directory) {
                $0.replaceSubrange(16..<24, with: [1, 2, 3, 4, 5, 6, 7, 8])
            }
            var count = 0
            let events = try await Self.start(in: directory) { count = try await $0.counts().records }
            #expect(count == 20)
            #expect(events.map(\.name) == [])
        }
    }

    @Test func aLogThatIsDamagedInItsMiddleIsMended() async throws {
        try await withTemporaryDirectory { directory in
            let last = try await Self.kill(after: 43, in: directory)
            try Self.change(Self.log, in: directory) { content in
                content[32 + (content.count - 32) / 4120 / 2 * 4120 + 3000] ^= 0x10
            }
            var records = 0
            let events = try await Self.start(in: directory) { records = try await $0.counts().records }
            #expect(events.map(\.name) == ["store-quarantined"])
            #expect(records >= 42)
            #expect(events.first?[.sequence].flatMap { Int64($0) } ?? 0 > last)
        }
    }

    private struct NoRoom: Error {}

    /// SQLite removes the log at each close.
    @Test func aStartThatFailsIsNoReasonToMissALog() async throws {
        try await withTemporaryDirectory { directory in
            _ = try await Self.kill(after: 20, in: directory)
            let opening = QueueOpening(file: QueueFile(path: directory + "/queue.sqlite"))
            #expect(throws: NoRoom.self) {
                _ = try opening.open { _ in throw NoRoom() } as QueueOpening.Opened<Int>
            }
            var records = 0
            let events = try await Self.start(in: directory) { records = try await $0.counts().records }
            #expect(events.isEmpty)
            #expect(records == 20)
        }
    }

    /// Nobody closed it, as where the service gives up after it has opened the queue.
    @Test func aQueueThatWasLetGoIsNotMissed() async throws {
        try await withTemporaryDirectory { directory in
            _ = try await SQLiteQueue.open(in: directory, clock: DrivenClock()).fill(["a"])
            #expect(try await Self.start(in: directory).isEmpty)
        }
    }

    /// A write that comes too late must not reach the closed connection.
    @Test func whatIsWrittenAfterTheCloseFails() async throws {
        try await withTemporaryDirectory { directory in
            let store = try await SQLiteQueue.open(in: directory, clock: DrivenClock())
            try await store.fill(["a"])
            try await store.close()
            await #expect(throws: CancellationError.self) {
                try await store.outbox.markOutbox(through: Int64.max)
            }
        }
    }

    /// Each was interrupted, and behind the second one lies what is left of the first.
    @Test func twoInterruptedCommitsAreNoDamage() async throws {
        try await withTemporaryDirectory { directory in
            let log = URL(filePath: directory + "/" + Self.log)
            func copy(_ store: SQLiteQueue, from other: String) throws {
                for name in try FileManager.default.contentsOfDirectory(atPath: other) {
                    try? FileManager.default.removeItem(atPath: directory + "/" + name)
                    try FileManager.default.copyItem(
                        atPath: other + "/" + name, toPath: directory + "/" + name)
                }
            }
            /// Damages the first page of what has changed in the log since then.
            func interrupt(since before: Data) throws {
                var content = try Data(contentsOf: log)
                let changed = try #require(
                    zip(content, before + Data(count: max(0, content.count - before.count)))
                        .enumerated().first { $0.element.0 != $0.element.1 }?.offset)
                content[32 + (changed - 32) / 4120 * 4120 + 2000] ^= 0x10
                try content.write(to: log)
            }
            for commits in [60, 1] {
                try await withTemporaryDirectory { other in
                    if FileManager.default.fileExists(atPath: directory + "/queue.sqlite") {
                        for name in try FileManager.default.contentsOfDirectory(atPath: directory) {
                            try FileManager.default.copyItem(
                                atPath: directory + "/" + name, toPath: other + "/" + name)
                        }
                    }
                    let store = try await SQLiteQueue.open(in: other, clock: DrivenClock())
                    try await store.fill(["before-\(commits)"])
                    let before = try Data(contentsOf: URL(filePath: other + "/" + Self.log))
                    let records = try (0..<commits).map { try record("r\(commits)-\($0)") }
                    _ = try await store.records.commit(
                        QueueTransaction(
                            submissions: records.map {
                                RecordSubmission(
                                    record: $0, repetition: .identified, received: store.database.clock.now,
                                    decodeError: nil)
                            }))
                    try copy(store, from: other)
                    try interrupt(since: before)
                    try await store.close()
                }
            }
            var records = 0
            let events = try await Self.start(in: directory) { records = try await $0.counts().records }
            #expect(events.isEmpty)
            #expect(records == 2)
        }
    }

    /// A power cut may cut off the end of the last commit. Its readings were not confirmed.
    @Test func aCommitThatAPowerCutInterruptedIsNoDamage() async throws {
        try await withTemporaryDirectory { directory in
            for cut in [1, 2000, 4120, 5000] {
                _ = try await Self.kill(after: 20, in: directory)
                try Self.change(Self.log, in: directory) { $0.removeLast(cut) }
                #expect(try await Self.start(in: directory, bootID: "boot-2").isEmpty)
            }
            // Not in the order of its pages.
            _ = try await Self.kill(after: 20, in: directory)
            try Self.change(Self.log, in: directory) { content in
                content.replaceSubrange(content.count - 4096..<content.count - 2048, with: Data(count: 2048))
            }
            #expect(try await Self.start(in: directory, bootID: "boot-2").isEmpty)
        }
    }

    @Test func aKillLosesNothingAndLeavesNoGap() async throws {
        try await withTemporaryDirectory { directory in
            let last = try await Self.kill(after: 43, in: directory)
            var found: (records: Int, event: Int64) = (0, 0)
            let events = try await Self.start(in: directory) { store in
                found.records = try await store.counts().records
                found.event = try await store.database.read { try CounterTable.last("event", $0) }
            }
            #expect(events.isEmpty)
            #expect(found.records == 43 && found.event == last)
        }
    }

    @Test func anEarlierCopyInItsPlaceIsMissed() async throws {
        try await withTemporaryDirectory { directory in
            let path = directory + "/queue.sqlite"
            let first = try await SQLiteQueue.open(in: directory, clock: DrivenClock())
            try await first.fill(["a"])
            try await first.close()
            let copy = try Data(contentsOf: URL(filePath: path))
            let second = try await SQLiteQueue.open(in: directory, clock: DrivenClock())
            try await second.fill(["b", "c"])
            let last = try await second.database.read { try CounterTable.last("event", $0) }
            try await second.close()
            try copy.write(to: URL(filePath: path))
            let events = try await Self.start(in: directory)
            #expect(events.map(\.name) == ["store-error"])
            #expect(events.first?.message.contains("older than it was") == true)
            #expect(events.first?[.sequence].flatMap { Int64($0) } ?? 0 > last)
        }
    }

    /// Many commits share one write of the file.
    @Test func numbersAreReservedInBlocks() async throws {
        try await withTemporaryDirectory { directory in
            let store = try await SQLiteQueue.open(in: directory, clock: DrivenClock())
            func noted() throws -> QueueNumbers? {
                QueueNumbers.read(QueueFile(path: directory + "/queue.sqlite"))
            }
            let first = try #require(try noted())
            #expect(first.isOpen && first.reserved >= QueueNumbers.block)
            try await store.fillAtOnce((0..<Int(first.reserved)).map { "r\($0)" })
            #expect(try noted() == first)
            try await store.fill(["one more"])
            #expect(try noted()?.reserved ?? 0 > first.reserved)
            try await store.close()
            let last = first.reserved + 1
            #expect(try noted() == QueueNumbers(reserved: last, used: last, isOpen: false))
        }
    }

    @Test(arguments: ["queue.sqlite", "queue.sqlite-wal", "queue.numbers"])
    func somethingElseInTheirPlaceIsNamed(name: String) async throws {
        try await withTemporaryDirectory { directory in
            try FileManager.default.createDirectory(
                atPath: directory + "/" + name, withIntermediateDirectories: true)
            let error = await #expect(throws: StoreError.self) {
                try await SQLiteQueue.open(in: directory, clock: DrivenClock())
            }
            #expect(error?.description.hasPrefix(directory + "/" + name + ": expected a file") == true)
        }
    }
}
