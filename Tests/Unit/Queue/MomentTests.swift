import GRDB
import QueueTestSupport
import Testing

@testable import IngestQueue

/// Moments that a wrong clock has written do not decide whose a reading is for years.
@Suite struct MomentTests {
    /// 2026-11-20T09:15:00Z, and a clock that is ahead by years; in seconds since 1970.
    private static let (today, ahead): (Int64, Int64) = (1_795_166_100, 2_147_483_000)
    /// 2026-11-01T00:00:00Z.
    private static let released: Int64 = 1_793_491_200

    /// A box with the sample cuff, whose clock the configuration may trust.
    private struct Bench {
        let clock: DrivenClock
        let store: SQLiteQueue
        private let timekeeper: Timekeeper
        private let entry = SampleCuff.entry(subject: "anna")

        init(_ clock: DrivenClock, _ store: SQLiteQueue, isSynchronized: Bool) {
            (self.clock, self.store) = (clock, store)
            timekeeper = Timekeeper(
                clock: JudgedClock(clock), store: store.undated, zone: LocalZone(.utc),
                sources: Timekeeper.Sources(
                    isSynchronized: { isSynchronized }, realTimeClocks: { [] }),
                isConfigured: true, released: MomentTests.released, events: EventLog(sink: RecordingSink()),
                told: { _ in })
        }

        func judge() async { _ = await timekeeper.judge() }

        func noteFirstSeen() async throws { try await store.devices.noteFirstSeen([entry]) }

        var known: FirstSeen {
            get async throws {
                try #require(try await store.devices.firstSeen(of: [entry]).first)
            }
        }

        var corrections: [String] {
            get async throws {
                try await store.events.filter { $0.name == "clock-corrected" }.compactMap { $0[.count] }
            }
        }
    }

    private func withBench(
        wall: Int64, isSynchronized: Bool = true, _ body: (Bench) async throws -> Void
    ) async throws {
        let clock = DrivenClock(wall: wall * 1_000_000_000)
        try await withQueue(clock) { store in
            try await body(Bench(clock, store, isSynchronized: isSynchronized))
        }
    }

    @Test func whatAClockAheadHasNotedIsLoweredWhenItIsSetRight() async throws {
        try await withBench(wall: Self.ahead) { bench in
            try await bench.noteFirstSeen()
            #expect(try await bench.known == FirstSeen(device: Self.ahead, subjects: [nil: Self.ahead]))
            bench.clock.set(wall: Self.today)
            await bench.judge()
            #expect(try await bench.known == FirstSeen(device: Self.today, subjects: [nil: Self.today]))
            #expect(try await bench.corrections == ["2"])
            // Once is enough, and what is right stays.
            bench.clock.advance(by: .seconds(3600))
            await bench.judge()
            #expect(try await bench.known == FirstSeen(device: Self.today, subjects: [nil: Self.today]))
            #expect(try await bench.corrections == ["2"])
        }
    }

    @Test func aClockThatOnlyTheConfigurationTrustsLowersNothing() async throws {
        try await withBench(wall: Self.ahead, isSynchronized: false) { bench in
            try await bench.noteFirstSeen()
            bench.clock.set(wall: Self.today)
            await bench.judge()
            #expect(try await bench.known == FirstSeen(device: Self.ahead, subjects: [nil: Self.ahead]))
            #expect(try await bench.corrections.isEmpty)
        }
    }

    /// Nor does one that shows less than when this version was made.
    @Test func aSynchronizedClockBeforeTheReleaseLowersNothing() async throws {
        try await withBench(wall: Self.today) { bench in
            try await bench.noteFirstSeen()
            bench.clock.set(wall: Self.released - 1)
            await bench.judge()
            #expect(try await bench.known == FirstSeen(device: Self.today, subjects: [nil: Self.today]))
        }
    }

    /// A former owner's readings would be the present one's.
    @Test func aMomentBeforeTheClockWasEverSetIsNone() async throws {
        try await withBench(wall: 0, isSynchronized: false) { bench in
            try await bench.noteFirstSeen()
            let moment = NotedMoment.boot(id: "boot-1", instant: bench.clock.now)
            #expect(try await bench.known == FirstSeen(device: moment, subjects: [nil: moment]))
            func date() async throws {
                let time = BootTime(bootID: "boot-1", bench.clock.reading)
                try await bench.store.undated.date(by: time, in: .utc)
            }
            try await date()
            #expect(try await bench.known == FirstSeen(device: moment, subjects: [nil: moment]))
            bench.clock.set(wall: Self.today)
            try await date()
            #expect(try await bench.known == FirstSeen(device: Self.today, subjects: [nil: Self.today]))
        }
    }

    /// An earlier version has noted it.
    @Test func aMomentBeforeThereWasThisProgramIsRaised() async throws {
        try await withBench(wall: Self.today) { bench in
            try await bench.noteFirstSeen()
            try await bench.store.database.write {
                try $0.execute(sql: "UPDATE acquaintance SET since_s = 7")
            }
            await bench.judge()
            #expect(try await bench.known == FirstSeen(device: Self.today, subjects: [nil: Self.today]))
        }
    }

    /// The system was asked for the time before it came.
    @Test func whatHasJustComeIsNotAhead() async throws {
        try await withBench(wall: Self.today) { bench in
            try await bench.noteFirstSeen()
            try await bench.store.fill(["a"])
            try await bench.store.undated.correctMoments(by: Self.today - 30)
            #expect(try await bench.known == FirstSeen(device: Self.today, subjects: [nil: Self.today]))
            #expect(try await bench.corrections.isEmpty)
            let committed = try await bench.store.database.read {
                try Int64.fetchOne($0, sql: "SELECT committed_ns FROM record")
            }
            #expect(committed == Self.today * 1_000_000_000)
        }
    }

    @Test func manyThatWereCommittedAheadAreAllSetRight() async throws {
        try await withBench(wall: Self.ahead) { bench in
            try await bench.store.fillAtOnce((0..<1_203).map { "r\($0)" })
            bench.clock.set(wall: Self.today)
            await bench.judge()
            let ahead = try await bench.store.database.read {
                try Int.fetchOne(
                    $0, sql: "SELECT count(*) FROM record WHERE committed_ns > ?",
                    arguments: [Self.today * 1_000_000_000])
            }
            #expect(ahead == 0)
        }
    }

    /// Else they would stay in the queue until then.
    @Test func recordsThatWereCommittedAheadAreKeptAsLongAsOthers() async throws {
        try await withBench(wall: Self.ahead) { bench in
            try await bench.store.fill(["a"])
            try await bench.store.take(try #require(try await bench.store.next().batch))
            bench.clock.set(wall: Self.today)
            await bench.judge()
            let committed = try await bench.store.database.read {
                try Int64.fetchOne($0, sql: "SELECT committed_ns FROM record")
            }
            #expect(committed == Self.today * 1_000_000_000)
        }
    }
}
