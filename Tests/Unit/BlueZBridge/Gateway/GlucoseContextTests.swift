import PeripheralSimulator
import Testing

@testable import IngestRecords

/// Contexts and the glucose that they belong to, through the whole gateway.
@Suite(.timeLimit(.minutes(15)))
struct GlucoseContextTests {
    private static func related(_ bench: GatewayBench) -> [Int: Bool] {
        let records = bench.noted.committed.all
        var related: [Int: Bool] = [:]
        for context in records where context.kind == .glucoseContext {
            let glucose = records.first { $0.kind == .glucose && $0.sequence == context.sequence }
            related[context.sequence ?? -1] =
                glucose != nil && context.related == glucose?.id
                && context.time.device == glucose?.time.device
        }
        return related
    }

    @Test(arguments: [GlucoseMeter.Script.ContextOrder.beforeItsRecord, .afterItsRecord, .afterAllRecords])
    func contextIsRelatedToItsGlucoseInAnyOrder(order: GlucoseMeter.Script.ContextOrder) async throws {
        let meter = StoredRecordsTests.meter(20, context: .init(carbohydrate: 1, grams: 30, meal: 2)) {
            $0.script.contexts = order
        }
        try await StoredRecordsTests.run(meter) { bench in
            try await bench.readOnce()
            #expect(bench.kinds() == [.glucose: 20, .glucoseContext: 20])
            #expect(Self.related(bench) == Dictionary(uniqueKeysWithValues: (0..<20).map { ($0, true) }))
            await bench.measure(2, context: .init(meal: 1))
            try await bench.readAgain()
            #expect(bench.kinds() == [.glucose: 22, .glucoseContext: 22])
            #expect(Self.related(bench).values.allSatisfy { $0 })
            #expect(try await bench.outbox() == [String](repeating: "read", count: 44))
        }
    }

    /// More than are kept for each other: the queue holds the others.
    @Test func contextsAfterThousandsOfReadingsAreRelated() async throws {
        let count = 2_040
        let meter = StoredRecordsTests.meter(count, context: .init(meal: 2)) {
            $0.script.contexts = .afterAllRecords
        }
        try await StoredRecordsTests.run(meter) { bench in
            try await bench.readOnce()
            #expect(bench.kinds() == [.glucose: count, .glucoseContext: count])
            #expect(Self.related(bench).values.count { $0 } == count)
        }
    }

    /// The link breaks between a glucose and its context, which then comes on the next link.
    @Test(arguments: [
        (GlucoseMeter.Script.ContextOrder.afterItsRecord, 7), (.beforeItsRecord, 7), (.afterAllRecords, 12),
    ])
    func contextOfAnEarlierLinkIsRelatedAllTheSame(
        order: GlucoseMeter.Script.ContextOrder, breaksAfter: Int
    ) async throws {
        let meter = StoredRecordsTests.meter(10, context: .init(meal: 2)) {
            $0.script.contexts = order
            $0.script.breaksAfter = breaksAfter
        }
        try await StoredRecordsTests.run(meter) { bench in
            await bench.readUntilDropped()
            await bench.told("read-failed")
            try await bench.readAgain()
            #expect(bench.kinds() == [.glucose: 10, .glucoseContext: 10])
            #expect(Self.related(bench) == Dictionary(uniqueKeysWithValues: (0..<10).map { ($0, true) }))
            #expect(try await bench.outbox() == [String](repeating: "read", count: 20))
        }
    }

    @Test func contextBelongsToThePersonOfItsGlucose() async throws {
        let meter = StoredRecordsTests.meter(4, context: .init(meal: 2))
        try await StoredRecordsTests.run(
            meter,
            entry: .init(subject: "patient-17", since: "2026-11-01")
        ) { bench in
            try await bench.readOnce()
            #expect(bench.noted.committed.all.count == 8)
            #expect(bench.noted.committed.all.allSatisfy { $0.subject == "patient-17" })
        }
    }
}
