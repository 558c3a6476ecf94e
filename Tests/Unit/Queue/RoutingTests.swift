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

    @Test func aNewSetOfKindsTakesThePlaceOfTheOldOneAndDropsNoRequest() async throws {
        try await withQueue(
            clock, destinations: [DestinationRouting(name: "clinic", kinds: [.bloodPressure])]
        ) { store in
            try await add(["cuff"], kind: .bloodPressure, to: store)
            guard case .batch(let sent) = try await store.next(settings) else { throw TimedOut() }
            store.route([DestinationRouting(name: "clinic", kinds: [.weight])])
            #expect(store.routings.wakeUp(for: "clinic").consume())
            try await add(["cuff 2"], kind: .bloodPressure, to: store)
            try await add(["scale"], kind: .weight, to: store)
            #expect(try await store.next(settings) == .batch(sent))
            let after = try await store.take(sent, settings)
            #expect(after.ids == ["scale"])
            #expect(try await store.counts().destinations[0].pending == 1)
        }
    }

    @Test func anEmptySetStopsTheDestinationAndAnotherOneStartsItAgain() async throws {
        try await withQueue(clock) { store in
            store.route([DestinationRouting(name: "clinic", peripherals: [])])
            try await store.fill(["a"])
            #expect(try await store.next(settings) == .nothing)
            #expect(try await store.counts().destinations[0].pending == 0)
            store.route([DestinationRouting(name: "clinic")])
            try await store.fill(["b"])
            #expect(try await store.next(settings).ids == ["b"])
        }
    }

    @Test func recordsThatADestinationHasNoFormForArePassedOverAndCounted() async throws {
        let clinic = DestinationRouting(
            name: "clinic", kinds: [.weight, .glucose], forms: [.glucose], order: .fresh)
        try await withQueue(clock, destinations: [clinic]) { store in
            try await add(["w1", "w2"], kind: .weight, to: store)
            // Not asked for, so not missed.
            try await add(["t"], kind: .bodyTemperature, to: store)
            for _ in 0..<2 {
                for lane in [DeliveryLane.fresh, .backlog] {
                    let next = try await store.next(settings, lane: lane)
                    #expect(next == .nothing)
                }
            }
            #expect(try await store.counts().destinations[0].skipped == 2)
        }
    }
}
