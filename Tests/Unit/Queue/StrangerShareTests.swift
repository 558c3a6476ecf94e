import FoundationEssentials
import GRDB
import QueueTestSupport
import Synchronization
import Testing

@testable import IngestQueue

/// What devices without an address in the allow-list may hold, and who is read.
@Suite struct StrangerShareTests {
    private typealias Bench = StrangerBench
    private static let share = Bench.share

    @Test func inventedAddressesFillTheirTenthAndAPinnedCuffIsReadAllTheSame() async throws {
        try await withMemoryDirectory { directory in
            let clock = DrivenClock()
            for start in 0..<2 {
                let store = try await SQLiteQueue.open(in: directory, clock: clock)
                let bench = Bench(store, clock)
                try await bench.keeper.look()
                var refused = 0
                for number in 0..<400 {
                    do {
                        try await bench.add("s\(start)-\(number)", from: number)
                    } catch let error as StoreError {
                        #expect(error.kind == .strangersFull)
                        #expect(!error.isPassing && !error.isFatal)
                        refused += 1
                    }
                    try await bench.keeper.look()
                }
                #expect(refused > 200)
                let held = try await bench.bytes()
                #expect(held <= Self.share.all)
                #expect(held > Self.share.all / 10 * 8)
                #expect(bench.keeper.fullStrangers.isAll)
                #expect(bench.full == [FullStrangers(isAll: true)])
                // What waits is there still, and the pinned cuff has its room.
                #expect(try await bench.store.counts().destinations[0].pending == bench.ids.count)
                try await store.fillAtOnce((0..<100).map { "cuff\(start)-\($0)" })
                try await bench.keeper.look()
                #expect(bench.keeper.level == .normal)
                #expect(bench.sink.names.isEmpty)
                #expect(try await bench.dropped.isEmpty)
                try await store.outbox.markOutbox(through: Int64.max)
                try await store.close()
            }
        }
    }

    /// The nine tenths are the pinned devices', to their end.
    @Test func strangersTakeNothingOfTheNineTenths() async throws {
        try await Bench.run { bench in
            let before = try await bench.store.retention.usedBytes()
            for number in 0..<400 { try? await bench.add("s\(number)", from: number) }
            try await bench.store.outbox.markOutbox(through: Int64.max)
            let strangers = try await bench.store.retention.usedBytes() - before
            #expect(strangers <= Bench.maximumSize / 10)
            var count = 0
            while bench.keeper.level.takesRecords {
                try await bench.store.fillAtOnce((0..<20).map { "cuff-\(count + $0)" })
                try await bench.store.outbox.markOutbox(through: Int64.max)
                try await bench.keeper.look()
                count += 20
            }
            let used = try await bench.store.retention.usedBytes()
            #expect(used - strangers >= Bench.maximumSize / 10 * 9)
            #expect(bench.sink.names == ["queue-high", "queue-full"])
        }
    }

    @Test func oneDeviceKeepsToItsEighthAndTheOthersHaveTheirs() async throws {
        try await Bench.run { bench in
            let count = try await bench.fill(from: 1)
            #expect(count > 5)
            let held = try await bench.bytes(of: 1)
            #expect(held <= Self.share.device && held > Self.share.device / 10 * 8)
            try await bench.keeper.look()
            let device = try #require(BluetoothAddress(Bench.address(1)))
            #expect(bench.full == [FullStrangers(devices: [device])])
            try await bench.add("other", from: 2)
            #expect(try await bench.ids.count == count + 1)
        }
    }

    /// A part of a memory is one transaction: it is there whole, or not at all.
    @Test func whatDoesNotFitWholeIsRefusedWhole() async throws {
        try await Bench.run { bench in
            let submissions = try (0..<60).map { number in
                RecordSubmission(
                    record: try record("m\(number)", address: Bench.address(1)), repetition: .stored,
                    received: bench.clock.now, decodeError: nil, isStranger: true)
            }
            let error = await #expect(throws: StoreError.self) {
                try await bench.store.records.commit(QueueTransaction(submissions: submissions))
            }
            #expect(error?.kind == .strangersFull)
            #expect(try await bench.ids.isEmpty)
            #expect(try await bench.bytes() == 0)
            // It was refused for what it needs, and there is room for that when nothing is held.
            try await bench.keeper.look()
            #expect(bench.keeper.fullStrangers.isEmpty)
            _ = try await bench.store.records.commit(
                QueueTransaction(submissions: Array(submissions.prefix(5))))
            // What is known already needs no room.
            _ = try await bench.fill(from: 1)
            bench.store.room.strangers.withLock { $0.admit(Bench.address(1)) }
            let outcomes = try await bench.store.records.commit(
                QueueTransaction(submissions: [submissions[0]]))
            #expect(outcomes == [.duplicate(RecordID(text: "m0"))])
        }
    }

    @Test func whoIsRefusedIsReadAgainOnceItsReadingsWereTaken() async throws {
        try await Bench.run { bench in
            let count = try await bench.fill(from: 1)
            try await bench.keeper.look()
            #expect(bench.full.count == 1)
            // Nothing was taken: nothing is tried, and nothing is told.
            for _ in 0..<5 {
                bench.clock.advance(by: .seconds(30))
                try await bench.keeper.look()
            }
            #expect(bench.full.count == 1)
            #expect(try await bench.ids.count == count)
            let refused = await #expect(throws: StoreError.self) { try await bench.add("more", from: 1) }
            #expect(refused?.kind == .strangersFull)

            try await bench.deliverAll()
            bench.clock.advance(by: .seconds(600))
            try await bench.keeper.look()
            #expect(bench.full.last == FullStrangers())
            #expect(try await bench.ids.count < count)
            // Its id stays: it is no new reading.
            #expect(
                try await bench.store.add(try record("f-1-0", address: Bench.address(1)))
                    == .duplicate(RecordID(text: "f-1-0")))
            try await bench.add("more", from: 1)
            #expect(try await bench.dropped.isEmpty)
            #expect(bench.sink.names.isEmpty)
        }
    }

    /// Readings of nobody that a destination sets aside for that, and payloads that nothing can decode.
    @Test(arguments: [RecordKind.bodyTemperature, .undecoded])
    func whatNoDestinationTakesGoesAndIsToldOnceAnHour(kind: RecordKind) async throws {
        try await Bench.run { bench in
            var added = 0
            func send(_ count: Int) async throws {
                for _ in 0..<count {
                    added += 1
                    try await bench.add("r\(added)", from: 1, kind: kind)
                    try await bench.refuseAll()
                    try await bench.keeper.look()
                }
            }
            try await send(40)
            let told = try await bench.dropped
            #expect(told.count == 1)
            try await send(40)
            #expect(try await bench.dropped == told)
            let left = try await bench.ids
            // The oldest go.
            #expect(left == (added - left.count + 1...added).map { "r\($0)" })
            let isLetter = kind != .undecoded
            #expect(try await bench.store.counts().destinations[0].dead == (isLetter ? left.count : 0))
            bench.clock.advance(by: .seconds(3600))
            try await bench.keeper.look()
            let both = try await bench.dropped
            #expect(both.count == 2)
            #expect(both.reduce(0, +) == added - left.count)
            #expect(bench.keeper.fullStrangers.isEmpty)
            let entry = try #require(try await bench.store.events.first { $0.name == "stranger-dropped" })
            #expect(entry.priority == .warning)
            #expect(!entry.message.contains("E0:00"))
        }
    }

    /// A sensor that broadcasts for years, and whose readings are taken, is read for years.
    @Test(arguments: [RecordSubmission.Repetition.undatedNotification, .identified])
    func whoseReadingsAreTakenIsNeverRefused(_ repetition: RecordSubmission.Repetition) async throws {
        try await Bench.run { bench in
            for number in 0..<200 {
                try await bench.add("r\(number)", from: 1, repetition: repetition)
                try await bench.deliverAll()
                try await bench.keeper.look()
            }
            #expect(bench.full.isEmpty)
            #expect(try await bench.dropped.isEmpty)
            #expect(try await bench.store.counts().destinations[0].delivered == 200)
            #expect(try await bench.bytes() <= Self.share.device)
            // An id is kept of what may come again.
            let known = try await bench.ids + bench.retained
            #expect(known.contains("r199"))
        }
    }

    /// Strangers are read on while a destination is dead, if it may go without the oldest.
    @Test(arguments: [WhenFull.stop, .dropOldest])
    func aDeadDestinationEndsTheReadingOfStrangersOnlyUnderStop(_ whenFull: WhenFull) async throws {
        let destinations = [
            DestinationRouting(name: "clinic"), DestinationRouting(name: "dead", whenFull: whenFull),
        ]
        try await Bench.run(destinations) { bench in
            var refused = 0
            for number in 0..<400 {
                do {
                    try await bench.add("r\(number)", from: number % 20)
                } catch let error as StoreError {
                    #expect(error.kind == .strangersFull)
                    refused += 1
                }
                try await bench.deliverAll(to: "clinic")
                try await bench.keeper.look()
                try await bench.store.outbox.markOutbox(through: Int64.max)
                bench.clock.advance(by: .seconds(60))
            }
            #expect(try await bench.bytes() <= Self.share.all)
            let ids = try await bench.ids
            #expect(ids.contains("r0") == (whenFull == .stop))
            #expect(ids.contains("r399") == (whenFull == .dropOldest))
            #expect((refused > 0) == (whenFull == .stop))
            #expect(bench.keeper.fullStrangers.isAll == (whenFull == .stop))
        }
    }

    /// What `when_full` permits now is dropped at once after a reload.
    @Test func aReloadThatPermitsDroppingMakesRoomAtOnce() async throws {
        try await Bench.run { bench in
            _ = try await bench.fill(from: 1)
            try await bench.keeper.look()
            #expect(bench.full.count == 1)
            bench.store.route([DestinationRouting(name: "clinic", whenFull: .dropOldest)])
            try await bench.keeper.look()
            #expect(bench.full.last == FullStrangers())
            #expect(try await bench.backlogDropped.map(\.destination) == ["clinic"])
        }
    }

    @Test func whatTheOperatorGivesUpMakesRoomAtOnce() async throws {
        try await Bench.run { bench in
            _ = try await bench.fill(from: 1)
            try await bench.keeper.look()
            #expect(bench.full.count == 1)
            _ = try await bench.store.sessions.signOut(of: "clinic")
            try await bench.keeper.look()
            #expect(bench.full.last == FullStrangers())
        }
    }

    /// What was dropped and not told of is told after the next start.
    @Test func theCountOutlivesARestart() async throws {
        try await withMemoryDirectory { directory in
            let clock = DrivenClock()
            let store = try await SQLiteQueue.open(in: directory, clock: clock)
            let bench = Bench(store, clock)
            for number in 0..<5 { try await bench.add("r\(number)", from: 1, kind: .undecoded) }
            try await bench.drop(of: 1, downTo: 0)
            #expect(try await bench.ids.isEmpty)
            try await store.close()
            let again = try await SQLiteQueue.open(in: directory, clock: clock)
            let next = Bench(again, clock)
            try await next.keeper.look()
            #expect(try await next.dropped == [5])
            try await again.close()
        }
    }

    /// Once the allow-list names the device by address, it is no stranger, and neither is what it gave.
    @Test func whatAPinnedDeviceGaveBeforeIsNotStrangers() async throws {
        try await Bench.run { bench in
            _ = try await bench.fill(from: 1)
            try await bench.add("other", from: 2)
            try await bench.deliverAll()
            try await bench.store.retireAll()
            try await bench.keeper.look()
            #expect(try await bench.fill(from: 1, "g") > 5)
            try await bench.keeper.look()
            let address = try #require(BluetoothAddress(Bench.address(1)))
            try await bench.store.devices.noteFirstSeen([
                AllowedPeripheral(model: .sample(), address: address)
            ])
            #expect(try await bench.bytes(of: 1) == 0)
            #expect(try await bench.bytes() == bench.bytes(of: 2))
            try await bench.keeper.look()
            #expect(bench.keeper.fullStrangers.isEmpty)
            try await bench.store.add(try record("pinned", address: Bench.address(1)))
        }
    }

    @Test func aMendedQueueIsCountedAnew() async throws {
        try await withMemoryDirectory { directory in
            let clock = DrivenClock()
            let store = try await SQLiteQueue.open(in: directory, clock: clock)
            let bench = Bench(store, clock)
            for number in 0..<9 { try await bench.add("d\(number)", from: number % 2) }
            try await bench.deliverAll()
            try await store.retireAll()
            for number in 0..<9 { try await bench.add("a\(number)", from: number % 2) }
            try await bench.refuseAll()
            for number in 0..<9 { try await bench.add("w\(number)", from: number % 2) }
            let kept = try await store.database.read { try StrangerCount(kept: $0) }
            #expect(kept.sums.count == 3)
            try await store.close()
            let mended = try DatabaseQueue()
            let found = try await mended.write { db in
                try QueueSchema.migrate(db, from: 0)
                _ = try QueueSalvage.copy(from: QueueFile(path: directory + "/queue.sqlite"), to: db)
                return (try StrangerCount(kept: db), try StrangerCount(counted: db))
            }
            #expect(found.0 == kept && found.1 == kept)
        }
    }

    @Test func aFullDiskIsLookedAtTwiceAMinuteAlsoWhileTheShareIsShort() async throws {
        try await Bench.run { bench in
            _ = try await bench.fill(from: 1)
            try await bench.keeper.look()
            #expect(bench.full.count == 1)
            bench.disk.fill()
            let task = Task { try await bench.keeper.run() }
            try await eventually("the keeper waits") { bench.clock.sleeperCount == 1 }
            for _ in 0..<3 {
                let before = bench.disk.looks
                bench.clock.advance(by: .seconds(30))
                try await eventually("it looks again") { bench.disk.looks > before }
                try await eventually("the keeper waits") { bench.clock.sleeperCount == 1 }
                #expect(bench.disk.looks == before + 1)
            }
            task.cancel()
            try await task.value
        }
    }

    @Test func pinnedDevicesAndEntriesAreNoStrangers() async throws {
        try await Bench.run { bench in
            try await bench.store.fill(["a", "b"])
            let entry = try #require(
                EnteredRecord(SampleEntries.glucose, gateway: "box", received: 1_795_166_107))
            _ = try await bench.store.entries.enter([entry])
            try await bench.deliverAll()
            try await bench.store.retireAll()
            #expect(try await bench.store.database.read { try StrangerCount(kept: $0).sums } == [:])
        }
    }
}
