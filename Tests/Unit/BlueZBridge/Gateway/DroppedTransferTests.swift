import PeripheralSimulator
import Testing

@testable import IngestRecords

/// A link that is lost anywhere in a procedure of several values: nothing is lost, nothing doubled.
@Suite(.timeLimit(.minutes(15)))
struct DroppedTransferTests {
    /// Runs the gateway with the first link lost after each number of PDUs that a healthy one has, and
    /// has it read until nothing is left.
    /// - Parameter isKept: whether the peripheral goes on having what it gave.
    private static func dropAnywhere(
        _ sensor: some SimulatedSensor, as profile: String, isKept: Bool,
        check: (GatewayBench, Int) async throws -> Void
    ) async throws {
        var count = 0
        try await GatewayBench.run(sensor: sensor, as: profile) { bench in
            try await bench.readOnce()
            count = await bench.peripheral.traces.first?.pdus.count ?? 0
        }
        #expect(count > 20)
        for dropAfter in 0...count {
            try await GatewayBench.run(sensor: sensor, as: profile) { bench in
                await bench.peripheral.script([.dropping(after: dropAfter)])
                try await bench.readOnce()
                for _ in 0..<3 {
                    let isGiven = await bench.radio.report().confirmed == sensor.tally.readings
                    if isKept || !isGiven { try await bench.readAgain() }
                }
                try await check(bench, dropAfter)
            }
        }
    }

    @Test(arguments: [GlucoseMeter.Script.ContextOrder.beforeItsRecord, .afterItsRecord, .afterAllRecords])
    func storedRecordsAndTheirContextsComeOnce(order: GlucoseMeter.Script.ContextOrder) async throws {
        let meter = StoredRecordsTests.meter(4, context: .init(meal: 1)) { $0.script.contexts = order }
        try await Self.dropAnywhere(meter, as: "glucose", isKept: true) { bench, dropAfter in
            #expect(bench.kinds() == [.glucose: 4, .glucoseContext: 4], "after \(dropAfter)")
            let events = try await bench.outbox()
            #expect(events == [String](repeating: "read", count: 8), "after \(dropAfter)")
            let records = bench.noted.committed.all
            let glucose = Dictionary(
                uniqueKeysWithValues: records.filter { $0.kind == .glucose }.map { ($0.sequence, $0.id) })
            #expect(
                records.filter { $0.kind == .glucoseContext }
                    .allSatisfy { $0.related == glucose[$0.sequence] },
                "after \(dropAfter)")
            let request = await bench.meter.requests.last
            #expect(request == StoredRecordsTests.from(3), "after \(dropAfter)")
        }
    }

    @Test(arguments: [4, 19])
    func storedObservationsComeOnce(segmentLength: Int) async throws {
        let sensor = StoredObservationsTests.sensor(4) { $0.segmentLength = segmentLength }
        try await Self.dropAnywhere(sensor, as: "generic-health-sensor", isKept: true) { bench, dropAfter in
            #expect(bench.kinds() == [.pulseOximetry: 4], "after \(dropAfter)")
            #expect(bench.values == [1, 2, 3, 4], "after \(dropAfter)")
            let events = try await bench.outbox()
            #expect(events == [String](repeating: "read", count: 4), "after \(dropAfter)")
            let request = await bench.healthSensor.requests.last
            #expect(request == StoredObservationsTests.from(4), "after \(dropAfter)")
        }
    }

    @Test(arguments: [(true, false), (true, true), (false, false)])
    func weighingInPartsComesOnce(isDated: Bool, isCompositionFirst: Bool) async throws {
        let time = isDated ? GatewayBench.deviceTime : nil
        let later = isDated ? StoredRecordsTests.time(9 * 60 + 15, day: 20) : nil
        var script = Scale.Script()
        script.isCompositionFirst = isCompositionFirst
        let scale = Scale(
            [
                .init(
                    .init(15_000, at: time),
                    .init(fat: 215, at: time, metabolism: 6_900, weight: 15_000, isSplit: true))
            ], script: script)
        try await Self.dropAnywhere(scale, as: "body-composition", isKept: false) { bench, dropAfter in
            #expect(bench.kinds() == [.weight: 1, .bodyComposition: 1], "after \(dropAfter)")
            let events = try await bench.outbox().filter { $0 != "duplicate-ignored" }
            #expect(events == ["read", "read"], "after \(dropAfter)")
            let records = bench.noted.releases.all.flatMap(\.records)
            let ids = Set(records.map(\.id))
            #expect(records.contains { $0.related.map(ids.contains) == true }, "after \(dropAfter)")

            // What was left of it is mixed with no later one.
            let next = Scale.Weighing(
                .init(15_100, at: later),
                .init(fat: 215, at: later, metabolism: 6_950, weight: 15_100, isSplit: true))
            await bench.peripheral.change(Scale.self) { $0.add(next) }
            try await bench.readAgain()
            #expect(bench.kinds() == [.weight: 2, .bodyComposition: 2], "after \(dropAfter)")
            let composition = bench.noted.committed.all.last { $0.kind == .bodyComposition }
            #expect(composition?.raw.bytes == next.composition?.packets.flatMap(\.self), "after \(dropAfter)")
        }
    }
}
