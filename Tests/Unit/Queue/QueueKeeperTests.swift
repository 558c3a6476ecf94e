import FoundationEssentials
import GRDB
import QueueTestSupport
import Synchronization
import Testing

@testable import IngestQueue

@Suite struct QueueKeeperTests {
    /// A disk of which a test says how much is free, beside the reserve.
    private final class TestDisk: DiskSpace {
        private struct State {
            var free: UInt64
            var reserve: UInt64 = 0
            var looks = 0
        }
        private let state: Mutex<State>
        let total: UInt64

        init(total: UInt64 = 1 << 30, free: UInt64 = 512 << 20) {
            self.total = total
            state = Mutex(State(free: free))
        }

        var reserve: UInt64 { state.withLock { $0.reserve } }
        /// How often it was asked for what is free.
        var looks: Int { state.withLock { $0.looks } }
        func setFree(_ bytes: UInt64) { state.withLock { $0.free = bytes } }

        func totalBytes() -> UInt64 { total }
        func freeBytes() -> UInt64 {
            state.withLock { state in
                state.looks += 1
                return state.free - min(state.free, state.reserve)
            }
        }
        func makeReserve(bytes: UInt64) { state.withLock { $0.reserve = bytes } }
        func releaseReserve() { state.withLock { $0.reserve = 0 } }
    }

    private struct Bench {
        let store: SQLiteQueue
        let clock: DrivenClock
        let disk: TestDisk
        let sink = RecordingSink()
        let takesRecords = Notes<Bool>()

        func keeper(
            maximumSize: UInt64 = 1 << 30, keepSubmitted: Duration = .seconds(7 * 86400),
            clock: (any GatewayClock)? = nil
        ) -> QueueKeeper {
            QueueKeeper(
                store, disk: disk,
                settings: QueueKeeper.Settings(maximumSize: maximumSize, keepSubmitted: keepSubmitted),
                clock: clock ?? self.clock, events: EventLog(sink: sink),
                setTakesRecords: { takesRecords.append($0) })
        }

        func deliverAll() async throws {
            let settings = BatchSettings(maxRecords: 1000, maxWait: .zero)
            var next = try await store.next(settings)
            while case .batch(let batch) = next {
                next = try await store.take(batch, settings)
            }
            try await store.outbox.markOutbox(through: Int64.max)
        }
    }

    private final class Notes<Value: Sendable>: Sendable {
        private let values = Mutex<[Value]>([])
        var all: [Value] { values.withLock { $0 } }
        func append(_ value: Value) { values.withLock { $0.append(value) } }
    }

    private func withBench<Value>(
        _ disk: TestDisk = TestDisk(), _ body: (Bench) async throws -> Value
    ) async throws -> Value {
        try await withTemporaryDirectory { directory in
            let clock = DrivenClock()
            let store = try await SQLiteQueue.open(in: directory, clock: clock)
            let value = try await body(Bench(store: store, clock: clock, disk: disk))
            try await store.close()
            return value
        }
    }

    @Test func aDiskThatFillsStopsReadingAndRoomStartsItAgain() async throws {
        try await withBench { bench in
            let keeper = bench.keeper()
            try await keeper.look()
            #expect(bench.disk.reserve == 16 << 20)
            #expect(bench.sink.names.isEmpty)

            bench.disk.setFree((16 << 20) + (31 << 20))
            try await keeper.look()
            #expect(keeper.level == .diskFull)
            #expect(bench.disk.reserve == 0)
            #expect(bench.sink.names == ["queue-full"])
            #expect(bench.takesRecords.all == [false])
            let refused = await #expect(throws: StoreError.self) { try await bench.store.fill(["a"]) }
            #expect(refused?.kind == .noRoom(.diskFull))

            // The reserve itself is no room.
            try await keeper.look()
            #expect(keeper.level == .diskFull)
            bench.disk.setFree(64 << 20)
            try await keeper.look()
            #expect(keeper.level == .normal)
            #expect(bench.disk.reserve == 16 << 20)
            #expect(bench.sink.names == ["queue-full", "queue-normal"])
            #expect(bench.takesRecords.all == [false, true])
            try await bench.store.fill(["a"])
        }
    }

    @Test func ofASmallDiskLessIsKeptFree() async throws {
        try await withBench(TestDisk(total: 4 << 20, free: 3 << 20)) { bench in
            let keeper = bench.keeper()
            try await keeper.look()
            #expect(keeper.level == .normal)
            #expect(bench.disk.reserve == 512 << 10)
            bench.disk.setFree(1 << 20)
            try await keeper.look()
            #expect(keeper.level == .diskFull)
        }
    }

    /// Else the destination alone is suspected.
    @Test func eventsThatTheJournalDoesNotTakeAreNamedWhereTheyFillTheQueue() async throws {
        try await withBench { bench in
            try await bench.store.fillAtOnce((0..<1_200).map { "r-\($0)" })
            let keeper = bench.keeper(maximumSize: try await bench.store.retention.usedBytes())
            try await keeper.look()
            let error = bench.sink.entries.last?[.error]
            let waiting =
                ": 1200 records that clinic has not taken, 1200 events that the journal has not taken, 0 KiB"
            #expect(error?.contains(waiting) == true)
        }
    }

    @Test func deliveredRecordsMakeRoomAndUndeliveredOnesStopReading() async throws {
        try await withBench { bench in
            try await bench.store.fillAtOnce((0..<500).map { "old-\($0)" })
            try await bench.store.outbox.markOutbox(through: Int64.max)
            let size = try await bench.store.retention.usedBytes()
            let keeper = bench.keeper(maximumSize: size + size / 20)
            try await keeper.look()
            #expect(keeper.level == .high)
            #expect(try await bench.store.counts().records == 500)
            try await bench.store.fillAtOnce((0..<100).map { "more-\($0)" })
            try await keeper.look()
            #expect(keeper.level == .full)
            #expect(bench.sink.names == ["queue-high", "queue-full"])
            let errors = bench.sink.entries.compactMap { $0[.error] }
            #expect(errors.first?.contains(": 500 records that clinic has not taken, 0 KiB of ids") == true)
            #expect(errors.last?.contains(": 600 records that clinic has not taken, 0 KiB of ids") == true)
            let refused = await #expect(throws: StoreError.self) { try await bench.store.fill(["a"]) }
            #expect(refused?.kind == .noRoom(.full))
            #expect(try await bench.store.counts().destinations[0].pending == 600)

            try await bench.deliverAll()
            try await bench.store.outbox.markOutbox(through: Int64.max)
            try await keeper.look()
            #expect(keeper.level == .normal)
            #expect(bench.sink.names == ["queue-high", "queue-full", "queue-normal"])
            #expect(bench.takesRecords.all == [false, true])
            try await bench.store.fill(["a"])
        }
    }

    @Test func deliveredRecordsGoBeforeTheirTimeWhenRoomGetsShort() async throws {
        try await withBench { bench in
            try await bench.store.fillAtOnce((0..<500).map { "old-\($0)" })
            try await bench.deliverAll()
            try await bench.store.fillAtOnce((0..<10).map { "new-\($0)" })
            let size = try await bench.store.retention.usedBytes()
            let keeper = bench.keeper(maximumSize: size + size / 20)
            try await keeper.look()
            #expect(keeper.level == .normal)
            #expect(bench.sink.names.isEmpty)
            let counts = try await bench.store.counts()
            #expect(counts.records < 510)
            #expect(counts.destinations[0].pending == 10)
        }
    }

    @Test func deliveredRecordsAreDroppedWhenTheyWereKeptLongEnough() async throws {
        try await withBench { bench in
            try await bench.store.fill(["first"])
            bench.clock.advance(by: .seconds(6 * 86400))
            try await bench.store.fill(["second"])
            try await bench.deliverAll()
            let task = Task { try await bench.keeper().run() }
            try await eventually("the keeper waits") { bench.clock.sleeperCount == 1 }
            #expect(try await bench.store.counts().records == 2)
            bench.clock.advance(by: .seconds(86400 + 1))
            try await eventually("the first is dropped") { try await bench.store.counts().records == 1 }
            task.cancel()
            try await task.value
            #expect(try await bench.store.add(try record("first")) == .duplicate(RecordID(text: "first")))
        }
    }

    @Test func theAgeOfRecordsIsLookedAtHalfAMinuteAfterTheClockWasJudged() async throws {
        try await withBench { bench in
            try await bench.store.fill(["old"])
            try await bench.deliverAll()
            bench.clock.advance(by: .seconds(8 * 86400))
            let judged = JudgedClock(bench.clock)
            let keeper = bench.keeper(clock: judged)
            let task = Task { try await keeper.run() }
            // As long as it is in doubt.
            for _ in 0..<3 {
                try await eventually("the keeper waits") { bench.clock.sleeperCount == 1 }
                #expect(try await bench.store.counts().records == 1)
                #expect(bench.clock.nextDeadline == bench.clock.now + .seconds(30))
                bench.clock.advance(by: .seconds(30))
                try await eventually("it has looked") {
                    bench.clock.nextDeadline.map { $0 > bench.clock.now } ?? false
                }
            }
            judged.judge(.synchronized, lead: judged.reading.lead)
            bench.clock.advance(by: .seconds(30))
            try await eventually("it is dropped") { try await bench.store.counts().records == 0 }
            // And then once an hour.
            try await eventually("the keeper waits") {
                bench.clock.nextDeadline == bench.clock.now + .seconds(3600)
            }
            task.cancel()
            try await task.value
        }
    }

    @Test func aDiskThatTakesNothingIsLookedAtFirstAndTriedAgainHalfAMinuteLater() async throws {
        try await withBench { bench in
            try await bench.store.fill(["old"])
            try await bench.deliverAll()
            bench.clock.advance(by: .seconds(8 * 86400))
            let keeper = bench.keeper()
            try await keeper.look()
            // Nothing can be dropped.
            try await bench.store.database.write { db in
                try db.execute(
                    sql: """
                        CREATE TEMP TRIGGER refusal BEFORE DELETE ON record
                        BEGIN SELECT raise(ABORT, 'refused'); END
                        """)
            }
            bench.disk.setFree(0)
            let task = Task { try await keeper.run() }
            try await eventually("the keeper waits") { bench.clock.sleeperCount == 1 }
            #expect(keeper.level == .diskFull)
            #expect(bench.disk.reserve == 0)
            #expect(bench.sink.names == ["queue-full"])
            // Once in each half minute.
            for _ in 0..<3 {
                let before = bench.disk.looks
                bench.clock.advance(by: .seconds(30))
                try await eventually("it looks again") { bench.disk.looks > before }
                try await eventually("the keeper waits") { bench.clock.sleeperCount == 1 }
                #expect(bench.disk.looks == before + 1)
            }
            bench.disk.setFree(1 << 30)
            try await bench.store.database.write { try $0.execute(sql: "DROP TRIGGER refusal") }
            bench.clock.advance(by: .seconds(30))
            try await eventually("it is dropped") { try await bench.store.counts().records == 0 }
            #expect(keeper.level == .normal)
            task.cancel()
            try await task.value
        }
    }

    @Test func whatIsPassedOverForItsAgeGoesWhenRoomGetsShort() async throws {
        try await withBench { bench in
            // Committed by a clock that was wrong.
            bench.clock.step(by: .seconds(1_000_000_000))
            try await bench.store.fillAtOnce((0..<200).map { "old-\($0)" })
            bench.clock.step(by: .seconds(-1_000_000_000))
            try await bench.deliverAll()
            let size = try await bench.store.retention.usedBytes()
            let keeper = bench.keeper(maximumSize: size + size / 2)
            let task = Task { try await keeper.run() }
            try await eventually("the keeper waits") { bench.clock.sleeperCount == 1 }
            #expect(try await bench.store.counts().records == 200)
            var count = 0
            while try await bench.store.counts().records == 200 + count, count < 400 {
                try await bench.store.fillAtOnce((0..<20).map { "new-\(count + $0)" })
                count += 20
                try await eventually("the keeper has seen it") {
                    !bench.store.room.growth.isRaised && bench.clock.sleeperCount == 1
                }
            }
            #expect(keeper.level == .normal)
            #expect(bench.sink.names.isEmpty)
            #expect(try await bench.store.counts().destinations[0].pending == count)
            task.cancel()
            try await task.value
        }
    }

    /// A keeper of a queue that is nearly full of records that are set aside.
    private func keeper(behind setAside: Int, _ bench: Bench) async throws -> QueueKeeper {
        try await bench.store.fillAtOnce((0..<setAside).map { "bad-\($0)" })
        try await bench.deliverAll()
        try await bench.store.database.write { db in
            try db.execute(
                sql: """
                    INSERT INTO dead_letter (destination, record_seq, attempt, error, failed_ns)
                    SELECT 'clinic', seq, 1, 'HTTP 400', 0 FROM record
                    """)
        }
        let size = try await bench.store.retention.usedBytes()
        return bench.keeper(maximumSize: size + size / 20)
    }

    @Test func whatStaysIsNotLookedAtAfterEachCommit() async throws {
        func costs(behind setAside: Int) async throws -> (first: Int, second: Int) {
            try await withBench { bench in
                let keeper = try await keeper(behind: setAside, bench)
                let first = try await bench.store.steps { try await keeper.look() }
                return (first, try await bench.store.steps { try await keeper.look() })
            }
        }
        let (few, many) = (try await costs(behind: 200), try await costs(behind: 400))
        #expect(many.first > few.first + 200)
        #expect(many.second == few.second)
    }

    @Test func whatStaysIsLookedAtOnceADay() async throws {
        try await withBench { bench in
            let keeper = try await keeper(behind: 400, bench)
            try await keeper.look()
            #expect(keeper.level == .high)
            // All but one are set aside no more: that makes room within a day.
            try await bench.store.database.write {
                try $0.execute(sql: "UPDATE dead_letter SET record_seq = 1")
            }
            let task = Task { try await keeper.run() }
            for _ in 0..<26 where keeper.level == .high {
                try await eventually("the keeper waits") { bench.clock.sleeperCount == 1 }
                bench.clock.advance(by: .seconds(3600))
            }
            try await eventually("the keeper waits") { bench.clock.sleeperCount == 1 }
            #expect(keeper.level == .normal)
            task.cancel()
            try await task.value
        }
    }

    @Test func aCommitIsLookedAtWithoutWaitingForTheHour() async throws {
        try await withBench { bench in
            let keeper = bench.keeper()
            let task = Task { try await keeper.run() }
            try await eventually("the keeper waits") { bench.clock.sleeperCount == 1 }
            bench.disk.setFree(0)
            try await bench.store.fill(["a"])
            try await eventually("it was seen") { keeper.level == .diskFull }
            // From then on twice a minute, though nothing is committed.
            try await eventually("the keeper waits") { bench.clock.sleeperCount == 1 }
            bench.disk.setFree(1 << 30)
            bench.clock.advance(by: .seconds(30))
            try await eventually("it was seen") { keeper.level == .normal }
            task.cancel()
            try await task.value
        }
    }

    @Test func theReserveTakesRoomOnARealDisk() async throws {
        try await withTemporaryDirectory { directory in
            let space = DirectorySpace(directory: directory)
            #expect(try space.totalBytes() > 0)
            #expect(try space.freeBytes() > 0)
            try space.makeReserve(bytes: 1 << 20)
            let reserve = directory + "/reserve"
            #expect(try FileManager.default.attributesOfItem(atPath: reserve)[.size] as? UInt64 == 1 << 20)
            try space.makeReserve(bytes: 1 << 20)
            try space.releaseReserve()
            #expect(!FileManager.default.fileExists(atPath: reserve))
            try space.releaseReserve()
        }
    }

    /// Whatever becomes of images, readings have the better part of the queue.
    @Test func imagesThatAreNotDeliveredTakeAQuarterAtMost() async throws {
        let images = ImageBench()
        try await images.withStore { store, _ in
            let keeper = Bench(store: store, clock: images.clock, disk: TestDisk())
                .keeper(maximumSize: 4 << 20)
            let bytes = ImageBench.bytes(String(repeating: "x", count: 600_000))
            #expect(await keeper.room(forImageOfBytes: 1 << 20) == .ample)
            #expect(await keeper.room(forImageOfBytes: (1 << 20) + 1) == .imagesAreMany(most: 1 << 20))
            _ = try await store.entries.enter([images.entered(1)], image: images.image(bytes, of: 1))
            #expect(await keeper.room(forImageOfBytes: 600_000) == .imagesAreMany(most: 1 << 20))
            #expect(await keeper.room(forImageOfBytes: 400_000) == .ample)
            try await images.deliver(store)
            #expect(await keeper.room(forImageOfBytes: 600_000) == .ample)
            #expect(await keeper.room(forImageOfBytes: 4 << 20) == .queueIsHigh)
        }
    }

    @Test func anImageThatStayedIsDroppedOnceItWasDelivered() async throws {
        let images = ImageBench()
        try await images.withStore { store, _ in
            let bytes = ImageBench.bytes(String(repeating: "x", count: 60_000))
            _ = try await store.entries.enter([images.entered(1)], image: images.image(bytes, of: 1))
            try await images.acknowledge(try #require(try await images.next(store)), store)
            let image = try await images.nextImage(store)
            let size = try await store.retention.usedBytes()
            let keeper = Bench(store: store, clock: images.clock, disk: TestDisk()).keeper(maximumSize: size)
            try await keeper.look()
            #expect(try await store.counts().records == 1)
            try await images.acknowledge(image, store)
            store.batches.noteImageDelivered()
            try await keeper.look()
            #expect(try await store.counts().records == 0)
        }
    }
}
