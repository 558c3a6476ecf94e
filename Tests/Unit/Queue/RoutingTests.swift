import QueueTestSupport
import Testing

@testable import IngestQueue

/// What goes to a destination is changed while the queue is open.
@Suite struct RoutingTests {
    private let settings = BatchSettings(maxRecords: 1, maxWait: .zero)
    private let clock = DrivenClock()

    private func add(_ ids: [String], kind: RecordKind, to store: SQLiteQueue) async throws {
        let records = try ids.map { try record($0, kind: kind) }
        for record in records { try await store.add(record) }
        try await store.records.freeze(records)
    }

    private func next(_ store: SQLiteQueue) async throws -> NextBatch {
        try await store.batches.nextBatch(for: "clinic", settings: settings, gateway: "box")
    }

    @Test func aNewSetOfKindsTakesThePlaceOfTheOldOneAndDropsNoRequest() async throws {
        try await withTemporaryDirectory { directory in
            let store = try await SQLiteQueue.open(
                in: directory, clock: clock,
                destinations: [DestinationRouting(name: "clinic", kinds: [.bloodPressure])])
            try await add(["cuff"], kind: .bloodPressure, to: store)
            guard case .batch(let sent) = try await next(store) else { throw TimedOut() }
            store.route([DestinationRouting(name: "clinic", kinds: [.weight])])
            #expect(store.routings.wakeUp(for: "clinic").consume())
            try await add(["cuff 2"], kind: .bloodPressure, to: store)
            try await add(["scale"], kind: .weight, to: store)
            #expect(try await next(store) == .batch(sent))
            let after = try await store.batches.acknowledge(
                sent, httpStatus: 200, attempt: 1, settings: settings, gateway: "box")
            #expect(after.ids == ["scale"])
            #expect(try await store.counts().destinations[0].pending == 1)
            try await store.close()
        }
    }

    @Test func anEmptySetStopsTheDestinationAndAnotherOneStartsItAgain() async throws {
        try await withTemporaryDirectory { directory in
            let store = try await SQLiteQueue.open(in: directory, clock: clock)
            store.route([DestinationRouting(name: "clinic", peripherals: [])])
            try await store.fill(["a"])
            #expect(try await next(store) == .nothing)
            #expect(try await store.counts().destinations[0].pending == 0)
            store.route([DestinationRouting(name: "clinic")])
            try await store.fill(["b"])
            #expect(try await next(store).ids == ["b"])
            try await store.close()
        }
    }

    @Test func recordsThatADestinationHasNoFormForArePassedOverAndCounted() async throws {
        try await withTemporaryDirectory { directory in
            let store = try await SQLiteQueue.open(
                in: directory, clock: clock,
                destinations: [
                    DestinationRouting(
                        name: "clinic", kinds: [.weight, .glucose], forms: [.glucose], order: .fresh)
                ])
            try await add(["w1", "w2"], kind: .weight, to: store)
            // Not asked for, so not missed.
            try await add(["t"], kind: .bodyTemperature, to: store)
            for _ in 0..<2 {
                for lane in [DeliveryLane.fresh, .backlog] {
                    let next = try await store.batches.nextBatch(
                        for: "clinic", lane: lane, settings: settings, gateway: "box")
                    #expect(next == .nothing)
                }
            }
            #expect(try await store.counts().destinations[0].skipped == 2)
            #expect(try await store.destinationStates().map(\.skipped) == [2])
            try await store.close()
        }
    }
}
