import GRDB
import QueueTestSupport
import Testing

@testable import IngestQueue

/// One destination is dead for a year, beside one that works.
@Suite struct WhenFullTests {
    private static let days = 365
    private static let readingsADay = 24
    private static let size: UInt64 = 4 << 20

    private struct NoDiskBound: DiskSpace {
        func totalBytes() -> UInt64 { 1 << 40 }
        func freeBytes() -> UInt64 { 1 << 39 }
        func makeReserve(bytes: UInt64) {}
        func releaseReserve() {}
    }

    /// What a year has come to.
    private struct Year {
        let store: SQLiteQueue
        let keeper: QueueKeeper
        let sink: RecordingSink
        /// Readings that were taken, and those that were refused for want of room.
        var taken = 0
        var refused = 0

        /// Delivers all that waits for a destination.
        /// - Returns: the ids in their order.
        func deliver(to name: String) async throws -> [String] {
            var ids: [String] = []
            let settings = BatchSettings(maxRecords: 100, maxWait: .zero)
            var next = try await store.next(settings, for: name)
            while case .batch(let batch) = next {
                ids += batch.items.map(\.header.id.text)
                next = try await store.take(batch, settings)
            }
            return ids
        }
    }

    private static func year(
        whenFull: WhenFull, _ body: (Year) async throws -> Void
    ) async throws {
        let clock = DrivenClock()
        let destinations = [
            DestinationRouting(name: "works"), DestinationRouting(name: "dead", whenFull: whenFull),
        ]
        try await withQueue(clock, destinations: destinations) { store in
            let sink = RecordingSink()
            let keeper = QueueKeeper(
                store, disk: NoDiskBound(),
                settings: QueueKeeper.Settings(maximumSize: size, keepSubmitted: .seconds(7 * 86_400)),
                clock: clock,
                events: EventLog(sink: sink), setTakesRecords: { _ in })
            var year = Year(store: store, keeper: keeper, sink: sink)
            var delivered = 0
            for day in 0..<days {
                do {
                    try await store.fillAtOnce((0..<readingsADay).map { "\(day * readingsADay + $0)" })
                    year.taken += readingsADay
                } catch let error as StoreError {
                    #expect(error.kind == .noRoom(.full))
                    year.refused += readingsADay
                }
                // A request to the dead one is on its way all the time.
                if day == 0 {
                    _ = try await store.next(BatchSettings(maxRecords: 10, maxWait: .zero), for: "dead")
                }
                delivered += try await year.deliver(to: "works").count
                try await store.outbox.markOutbox(through: Int64.max)
                clock.advance(by: .seconds(86_400))
                try await keeper.look()
            }
            #expect(delivered == year.taken)
            try await body(year)
        }
    }

    @Test func underStopReadingStopsAndNothingIsLost() async throws {
        try await Self.year(whenFull: .stop) { year in
            #expect(year.keeper.level == .full)
            #expect(year.refused > 0)
            let marks = year.sink.entries.filter { $0.name == "queue-high" }.compactMap { $0[.error] }
            #expect(
                marks.map { $0.contains("hold 50 %") || $0.contains("hold 75 %") } == [true, true, false])
            for words in marks { #expect(words.contains("dead")) }
            #expect(marks.last?.contains("records that dead has not taken") == true)
            #expect(year.sink.names.last == "queue-full")
            let came = try await year.deliver(to: "dead")
            #expect(came == (0..<year.taken).map { "\($0)" })
        }
    }

    @Test func underDropOldestReadingGoesOnAndTheNewestStay() async throws {
        try await Self.year(whenFull: .dropOldest) { year in
            #expect(year.refused == 0)
            #expect(year.taken == Self.days * Self.readingsADay)
            #expect(year.sink.names.contains("queue-full") == false)
            #expect(year.sink.names.prefix(2) == ["queue-high", "queue-high"])
            let pending = try await year.store.counts().destinations.first { $0.name == "dead" }?.pending ?? 0
            let came = try await year.deliver(to: "dead").compactMap { Int($0) }
            #expect(came.count == pending)
            // The request that was on its way, and the newest without a gap.
            #expect(came.prefix(10) == Array(0..<10)[...])
            let rest = came.dropFirst(10)
            #expect(Array(rest) == Array((rest.first ?? 0)..<year.taken))
            #expect(rest.count > 1_000)
            // What was dropped is known all the same, as far as the bound of the ids goes.
            let dropped = (rest.first ?? 0) - 1
            let again = try await year.store.add(try record("\(dropped)"))
            #expect(again == .duplicate(RecordID(text: "\(dropped)")))
        }
    }

    /// Each time as an event with the destination and how many.
    @Test func whatIsDroppedIsTold() async throws {
        let clock = DrivenClock()
        let destinations = [
            DestinationRouting(name: "works"),
            DestinationRouting(name: "dead", whenFull: .dropOldest),
            DestinationRouting(name: "alive", whenFull: .dropOldest),
        ]
        try await withQueue(clock, destinations: destinations) { store in
            let settings = BatchSettings(maxRecords: 1_000, maxWait: .zero)
            try await store.fillAtOnce((0..<30).map { "\($0)" })
            for name in ["works", "alive"] {
                guard case .batch(let batch) = try await store.next(settings, for: name) else {
                    Issue.record("nothing waits for \(name)")
                    return
                }
                _ = try await store.take(batch, settings)
            }
            let before = try await store.outbox.untoldEvents(limit: 1_000)
            try await store.outbox.markOutbox(through: before.last?.sequence ?? 0)
            let step = try await store.retention.retire(
                keeping: nil, givingUp: store.routings.droppingOldest, after: 0)
            #expect(step.isDone)
            #expect(step.dropped == 30)
            let told = try await store.outbox.untoldEvents(limit: 100).map(\.entry)
            #expect(told.map(\.name) == ["backlog-dropped"])
            #expect(told.first?[.destination] == "dead")
            #expect(told.first?[.count] == "30")
            #expect(try await store.counts().destinations.map(\.pending) == [0, 0, 0])
        }
    }

    /// What a destination with `stop` has not taken stays for the others too.
    @Test func whatADestinationWithStopNeedsIsNotDropped() async throws {
        let clock = DrivenClock()
        let destinations = [
            DestinationRouting(name: "stops"), DestinationRouting(name: "drops", whenFull: .dropOldest),
        ]
        try await withQueue(clock, destinations: destinations) { store in
            try await store.fillAtOnce((0..<20).map { "\($0)" })
            let settings = BatchSettings(maxRecords: 8, maxWait: .zero)
            guard case .batch(let batch) = try await store.next(settings, for: "stops") else {
                Issue.record("nothing waits")
                return
            }
            _ = try await store.take(batch, settings)
            let step = try await store.retention.retire(
                keeping: nil, givingUp: store.routings.droppingOldest, after: 0)
            #expect(step.dropped == 8)
            #expect(try await store.counts().destinations.map(\.pending) == [12, 12])
        }
    }
}
