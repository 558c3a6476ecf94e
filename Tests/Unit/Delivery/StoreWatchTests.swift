import FoundationEssentials
import GRDB
import QueueTestSupport
import Testing

@testable import IngestDelivery
@testable import IngestQueue

/// A queue that goes wrong while it is open.
@Suite struct StoreWatchTests {
    private struct Bench {
        let directory: String
        let store: SQLiteQueue
        let sink = RecordingSink()
        let watch: Task<Void, any Error>
        let clock: DrivenClock
        /// Signs of life that the watchdog gets.
        let signs = WorkerHarness.Counter()

        var path: String { directory + "/queue.sqlite" }
        var told: [String] { sink.entries.compactMap { $0[.error] } }

        init(_ directory: String) async throws {
            self.directory = directory
            let clock = DrivenClock()
            let store = try await SQLiteQueue.open(in: directory, clock: clock)
            let watch = StoreWatch(store, events: EventLog(sink: sink), keepAlive: signs.increase)
            (self.store, self.clock) = (store, clock)
            self.watch = Task { try await watch.run() }
        }

        /// The file cannot be written, or can again.
        func setReadOnly(_ isReadOnly: Bool) async throws {
            try await store.database.connection.writeWithoutTransaction {
                try $0.execute(sql: "PRAGMA query_only = \(isReadOnly ? 1 : 0)")
            }
        }
    }

    @Test func whatMayPassIsToldOnceEachTimeItBegins() async throws {
        try await withTemporaryDirectory { directory in
            let bench = try await Bench(directory)
            for episode in 1...2 {
                try await bench.setReadOnly(true)
                for _ in 0..<3 {
                    let error = await #expect(throws: StoreError.self) { try await bench.store.fill(["a"]) }
                    #expect(error?.kind == .readOnly)
                    try await eventually("it is told") { bench.told.count == episode }
                }
                try await bench.setReadOnly(false)
                try await bench.store.fill(["a-\(episode)"])
            }
            #expect(bench.told.count == 2)
            bench.watch.cancel()
            try await bench.watch.value
            try await bench.store.close()
        }
    }

    @Test func deliveryWaitsForADiskThatCannotBeWritten() async throws {
        try await withHarness(TestReceiver.Answer(status: 200)) { harness, receiver in
            let running = try await harness.start(ids: ["a"])
            try await running.eventually(1, .submitted)
            try await running.untilWaiting()
            try await running.store.fill(["b"])
            try await running.eventually(2, .submitted)
            try await running.untilWaiting()
            let record = try record("c")
            try await running.store.add(record)
            try await running.store.database.connection.writeWithoutTransaction {
                try $0.execute(sql: "PRAGMA query_only = 1")
            }
            running.store.routings.wakeAll()
            try await eventually("it waits for 30 s") {
                if case .waiting = running.worker.activity { running.clock.sleeperCount == 1 } else { false }
            }
            try await running.store.database.connection.writeWithoutTransaction {
                try $0.execute(sql: "PRAGMA query_only = 0")
            }
            try await running.store.records.freeze([record])
            harness.clock.advance(by: .seconds(30))
            try await running.eventually(3, .submitted)
            #expect(try receiver.received.map { try $0.ids } == [["a"], ["b"], ["c"]])
            try await running.stop()
        }
    }

    @Test func anErrorOfTheDiskIsToldOnceAndNothingIsWrittenAfterIt() async throws {
        try await withTemporaryDirectory { directory in
            let bench = try await Bench(directory)
            try await bench.store.fill(["a"])
            let failure = DatabaseError(resultCode: .SQLITE_IOERR_FSYNC)
            let error = await #expect(throws: StoreError.self) {
                try await bench.store.database.write { _ in throw failure }
            }
            #expect(error?.kind == .ioError)
            let known = try #require(error)
            await #expect(throws: known) { try await bench.store.fill(["b"]) }
            await #expect(throws: known) { try await bench.watch.value }
            #expect(bench.told.count == 1)
            #expect(bench.sink.entries.map(\.priority) == [.critical])
            #expect(QueueFile(path: bench.path).isMarked)
            try await bench.store.close()
        }
    }

    @Test func damageThatAReadFindsEndsTheService() async throws {
        try await withTemporaryDirectory { directory in
            let bench = try await Bench(directory)
            let failure = DatabaseError(resultCode: .SQLITE_CORRUPT)
            await #expect(throws: StoreError.self) {
                try await bench.store.database.read { _ in throw failure }
            }
            let error = await #expect(throws: StoreError.self) { try await bench.watch.value }
            #expect(error?.kind == .corrupt)
            #expect(bench.told.count == 1)
            #expect(QueueFile(path: bench.path).isMarked)
            try await bench.store.close()
        }
    }

    /// As SQLite finds it in a row of which another column is set.
    @Test func aValueOfAnotherTypeThanWasWrittenEndsTheService() async throws {
        try await withTemporaryDirectory { directory in
            let bench = try await Bench(directory)
            try await bench.store.fill(["a"])
            let failure = DatabaseError(resultCode: .SQLITE_CONSTRAINT_DATATYPE)
            await #expect(throws: StoreError.self) {
                try await bench.store.database.write { _ in throw failure }
            }
            let error = await #expect(throws: StoreError.self) { try await bench.watch.value }
            #expect(error?.kind == .corrupt)
            #expect(QueueFile(path: bench.path).isMarked)
            try await bench.store.close()
        }
    }

    @Test func damageIsFoundInTheBackgroundAndMendedAtTheNextStart() async throws {
        try await withTemporaryDirectory { directory in
            let whole = try await SQLiteQueue.open(in: directory, clock: DrivenClock())
            try await whole.fill((0..<100).map { "record-\($0)" })
            try await whole.close()
            let path = directory + "/queue.sqlite"
            var data = try Data(contentsOf: URL(filePath: path))
            // A leaf of the table of records, which no start looks at.
            let pages = stride(from: 0, to: data.count, by: 4096).map { $0..<$0 + 4096 }
            let leaf = try #require(
                pages.first { page in
                    data[page.lowerBound] == 13 && data[page].firstRange(of: Data("record-50".utf8)) != nil
                        && data[page].firstRange(of: Data("36.60".utf8)) != nil
                })
            data.replaceSubrange(leaf, with: repeatElement(0xFF, count: 4096))
            try data.write(to: URL(filePath: path))

            let bench = try await Bench(directory)
            let check = Task { try await StoreCheck(bench.store).run() }
            try await eventually("it waits for the start to be over") { bench.clock.sleeperCount == 1 }
            bench.clock.advance(by: .seconds(10))
            await #expect(throws: StoreError.self) { try await check.value }
            await #expect(throws: StoreError.self) { try await bench.watch.value }
            try await bench.store.close()

            let mended = try await SQLiteQueue.open(in: directory, clock: DrivenClock())
            #expect(try await mended.events.contains { $0.name == "store-quarantined" })
            let records = try await mended.counts().records
            #expect(records >= 80)
            try await mended.close()
        }
    }

    @Test func aSoundFileIsLookedAtOnceAWeek() async throws {
        try await withTemporaryDirectory { directory in
            let bench = try await Bench(directory)
            try await bench.store.fill(["a"])
            try await StoreCheck(bench.store).check()
            let check = Task { try await StoreCheck(bench.store).run() }
            for pause in [Duration.seconds(10), .seconds(7 * 24 * 3600)] {
                try await eventually("it waits") { bench.clock.sleeperCount == 1 }
                bench.clock.advance(by: pause)
            }
            try await eventually("it waits again") { bench.clock.sleeperCount == 1 }
            // Nobody but the store has the file open any more, and the log can be emptied.
            let busy = try await bench.store.database.connection.writeWithoutTransaction {
                try Int.fetchOne($0, sql: "PRAGMA wal_checkpoint(TRUNCATE)")
            }
            #expect(busy == 0)
            check.cancel()
            try await check.value
            bench.watch.cancel()
            try await bench.watch.value
            try await bench.store.close()
        }
    }

    @Test(arguments: [[""], ["-wal"], ["-shm"], ["", "-wal", "-shm"]])
    func aFileThatIsDeletedIsWrittenAnewAndNothingIsLost(suffixes: [String]) async throws {
        try await withTemporaryDirectory { directory in
            let bench = try await Bench(directory)
            try await bench.store.fill(["a", "b"])
            for suffix in suffixes { try FileManager.default.removeItem(atPath: bench.path + suffix) }
            let error = await #expect(throws: StoreError.self) { try await bench.store.fill(["c"]) }
            #expect(error?.kind == .replaced)
            await #expect(throws: try #require(error)) { try await bench.watch.value }
            #expect(bench.told.count == 1)
            try await bench.store.close()

            let again = try await SQLiteQueue.open(in: directory, clock: DrivenClock())
            #expect(try await again.add(try record("a")) == .duplicate(RecordID(text: "a")))
            #expect(try await again.add(try record("b")) == .duplicate(RecordID(text: "b")))
            #expect(
                try await again.database.read { try String.fetchOne($0, sql: "PRAGMA integrity_check") }
                    == "ok")
            try await again.close()
        }
    }

    @Test func aFileThatIsReplacedIsPutAsideAtTheNextStart() async throws {
        try await withTemporaryDirectory { directory in
            let bench = try await Bench(directory)
            try await bench.store.fill(["a"])
            let other = Data("another".utf8)
            try FileManager.default.removeItem(atPath: bench.path)
            try other.write(to: URL(filePath: bench.path))
            // Nothing is written any more before it is closed.
            try await bench.store.close()
            bench.watch.cancel()
            _ = await bench.watch.result

            let again = try await SQLiteQueue.open(in: directory, clock: DrivenClock())
            #expect(try await again.counts().records == 1)
            try await again.close()
            #expect(try Data(contentsOf: URL(filePath: bench.path + ".damaged-1")) == other)
        }
    }

    @Test func aRescueThatIsNotPossibleIsTriedAgain() async throws {
        try await withTemporaryDirectory { directory in
            let state = directory + "/state"
            try FileManager.default.createDirectory(atPath: state, withIntermediateDirectories: true)
            let bench = try await Bench(state)
            try await bench.store.fill(["a"])
            #expect(bench.signs.value == 0)
            try FileManager.default.moveItem(atPath: state, toPath: directory + "/away")
            // An error would end the part of the gateway that writes, and with it all others.
            let write = Task { try await bench.store.fill(["b"]) }
            try await eventually("it waits") { bench.clock.sleeperCount == 2 }
            #expect(bench.told.count == 2 && bench.store.database.commits.heldCount == 1)
            bench.clock.advance(by: .seconds(30))
            try await eventually("it waits again") { bench.clock.sleeperCount == 2 }
            #expect(bench.signs.value == 2)
            #expect(bench.told.count == 2 && bench.store.database.commits.heldCount == 1)
            try FileManager.default.createDirectory(atPath: state, withIntermediateDirectories: true)
            bench.clock.advance(by: .seconds(30))
            await #expect(throws: StoreError.self) { try await bench.watch.value }
            let error = await #expect(throws: StoreError.self) { try await write.value }
            #expect(error?.kind == .replaced)
            #expect(bench.told.count == 2)
            try await bench.store.close()

            let again = try await SQLiteQueue.open(in: state, clock: DrivenClock())
            #expect(try await again.add(try record("a")) == .duplicate(RecordID(text: "a")))
            try await again.close()
        }
    }

    @Test func whoStopsTheGatewayEndsTheRescueAndTheWaiting() async throws {
        try await withTemporaryDirectory { directory in
            let state = directory + "/state"
            try FileManager.default.createDirectory(atPath: state, withIntermediateDirectories: true)
            let bench = try await Bench(state)
            try await bench.store.fill(["a"])
            try FileManager.default.moveItem(atPath: state, toPath: directory + "/away")
            let write = Task { try await bench.store.fill(["b"]) }
            try await eventually("it waits") { bench.clock.sleeperCount == 2 }
            bench.watch.cancel()
            await #expect(throws: StoreError.self) { try await bench.watch.value }
            await #expect(throws: StoreError.self) { try await write.value }
            // Nor does anybody wait who comes later.
            await #expect(throws: StoreError.self) { try await bench.store.fill(["c"]) }
        }
    }

    @Test func anothersFileInItsPlaceIsNoDamageOfOurs() async throws {
        try await withTemporaryDirectory { directory in
            let bench = try await Bench(directory)
            try await bench.store.fill(["a"])
            try FileManager.default.removeItem(atPath: bench.path)
            try Data(repeating: 0x41, count: 8192).write(to: URL(filePath: bench.path))
            try await StoreCheck(bench.store).check()
            #expect(bench.store.database.commits.failure == nil && !QueueFile(path: bench.path).isMarked)
            await #expect(throws: StoreError.self) { try await bench.store.fill(["b"]) }
            await #expect(throws: StoreError.self) { try await bench.watch.value }
            try await bench.store.close()
            let again = try await SQLiteQueue.open(in: directory, clock: DrivenClock())
            #expect(try await again.counts().records >= 1)
            try await again.close()
        }
    }
}
