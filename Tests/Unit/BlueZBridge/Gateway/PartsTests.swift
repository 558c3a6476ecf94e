import PeripheralSimulator
import Testing

@testable import IngestRecords

/// Values that come in parts, and records that belong together, through the whole gateway.
@Suite(.timeLimit(.minutes(15)))
struct PartsTests {
    private static func weighing(isDated: Bool = true, isSplit: Bool = true) -> Scale.Weighing {
        let time = isDated ? GatewayBench.deviceTime : nil
        return Scale.Weighing(
            Scale.Weight(15_000, at: time),
            Scale.Composition(
                fat: 215, at: time, metabolism: 6_900, muscle: 410, bodyWater: 8_400, impedance: 5_123,
                weight: 15_000, isSplit: isSplit))
    }

    /// Reads until the scale has given its weighing, at most five times.
    private static func readWhole(_ bench: GatewayBench) async throws {
        for _ in 0..<5 {
            try await bench.readAgain()
            if await bench.peripheral.sensor(Scale.self).weighings.isEmpty { return }
        }
    }

    /// The body composition's id and the weight's, if one names the other in what was released.
    private static func isRelated(_ bench: GatewayBench) -> Bool {
        let records = bench.noted.releases.all.flatMap(\.records)
        guard let weight = records.first(where: { $0.kind == .weight }),
            let composition = records.first(where: { $0.kind == .bodyComposition })
        else { return false }
        return (composition.related == weight.id) != (weight.related == composition.id)
    }

    struct Case: Sendable {
        var isDated = true
        var isSplit = true
        var isCompositionFirst = false
        var pause = Duration.zero
        var packetPause = Duration.zero
        var breaksBetween = false
        var repeatsWhole = false
    }

    private static let cases: [Case] = [
        Case(), Case(isSplit: false), Case(isCompositionFirst: true), Case(isDated: false),
        Case(isDated: false, isCompositionFirst: true),
        Case(pause: .milliseconds(800)), Case(isCompositionFirst: true, pause: .milliseconds(800)),
        Case(pause: .seconds(40)), Case(isCompositionFirst: true, pause: .seconds(40)),
        Case(packetPause: .milliseconds(800)), Case(packetPause: .seconds(40)),
        Case(isDated: false, packetPause: .seconds(40)),
        Case(isCompositionFirst: true, packetPause: .seconds(40)),
        Case(breaksBetween: true), Case(isCompositionFirst: true, breaksBetween: true),
        Case(breaksBetween: true, repeatsWhole: true),
        Case(isCompositionFirst: true, breaksBetween: true, repeatsWhole: true),
    ]

    @Test(arguments: cases)
    func weighingMakesAWeightAndABodyCompositionThatAreRelated(variant: Case) async throws {
        var script = Scale.Script()
        script.isCompositionFirst = variant.isCompositionFirst
        script.pause = variant.pause
        script.packetPause = variant.packetPause
        script.breaksBetween = variant.breaksBetween
        script.repeatsWhole = variant.repeatsWhole
        let scale = Scale([Self.weighing(isDated: variant.isDated, isSplit: variant.isSplit)], script: script)
        try await GatewayBench.run(sensor: scale, as: "body-composition") { bench in
            try await Self.readWhole(bench)
            #expect(bench.kinds() == [.weight: 1, .bodyComposition: 1])
            #expect(Self.isRelated(bench))
            let composition = try #require(bench.noted.committed.all.first { $0.kind == .bodyComposition })
            #expect(
                Set(composition.measurements.map(\.type)) == [
                    "body-fat", "basal-metabolism", "muscle-percentage", "body-water-mass", "impedance",
                    "weight",
                ])
            #expect(try await bench.outbox().count { $0 == "read" } == 2)
            #expect(try await bench.outbox().count { $0 == "decode-error" } == 0)
        }
    }

    @Test func everyPartIsConfirmed() async throws {
        try await GatewayBench.run(sensor: Scale([Self.weighing()]), as: "body-composition") { bench in
            try await bench.readOnce()
            let trace = try #require(await bench.peripheral.traces.last)
            #expect(trace.indications == 3)
            #expect(trace.gatewayOpcodes.count { $0 == LinkTrace.confirmationOpcode } == 3)
        }
    }

    @Test func scaleWithoutBodyCompositionIsReadAsAScale() async throws {
        let scale = Scale(
            [.init(Self.weighing().weight), .init(Scale.Weight(14_990))], hasComposition: false)
        try await GatewayBench.run(sensor: scale, as: "weight-scale") { bench in
            try await bench.readOnce()
            try await bench.readAgain()
            #expect(bench.kinds() == [.weight: 2])
            let records = bench.noted.releases.all.flatMap(\.records)
            #expect(records.count == 2)
            #expect(records.allSatisfy { $0.related == nil })
        }
    }

    @Test func weighingsOfTwoPeopleAreNotMixed() async throws {
        let other = Scale.Weighing(
            Scale.Weight(12_000, at: StoredRecordsTests.time(570, day: 20), user: 2),
            Scale.Composition(fat: 300, at: StoredRecordsTests.time(570, day: 20), user: 2))
        let scale = Scale([Self.weighing(isSplit: false), other])
        try await GatewayBench.run(
            sensor: scale, as: "body-composition", entry: .init(users: [2: "patient-18"])
        ) { bench in
            try await bench.readOnce()
            try await bench.readAgain()
            #expect(bench.kinds() == [.weight: 2, .bodyComposition: 2])
            let records = bench.noted.releases.all.flatMap(\.records)
            #expect(records.count == 4)
            for composition in records where composition.kind == .bodyComposition {
                let weight = try #require(
                    records.first { $0.kind == .weight && $0.time.device == composition.time.device })
                #expect(composition.related == weight.id)
                #expect(composition.subject == weight.subject)
            }
            #expect(Set(records.map(\.subject)) == [nil, "patient-18"])
        }
    }
}
