import Testing

@testable import BlueZBridge
@testable import PeripheralSimulator

/// The simulated meter, asked over a real link.
@Suite(.timeLimit(.minutes(15)))
struct GlucoseMeterTests {
    private static let time = DeviceTime(year: 2026, month: 11, day: 20, hours: 8, minutes: 0, seconds: 0)

    /// Records 0 to `count` - 1.
    private static func meter(
        _ count: Int, context: GlucoseMeter.Context? = nil,
        _ change: (inout GlucoseMeter) -> Void = { _ in }
    ) -> GlucoseMeter {
        var meter = GlucoseMeter()
        for _ in 0..<count { meter.measure(at: time, context: context) }
        change(&meter)
        return meter
    }

    /// Subscribes to all, writes `requests` at once, one after the other, and takes what comes up to
    /// the last response or the end of the link.
    private static func ask(_ meter: GlucoseMeter, _ requests: [[UInt8]]) async throws -> [String] {
        let bench = try LinkBench(sensor: meter)
        defer { bench.loop.stop() }
        let link = try await bench.connect()
        for characteristic in [
            GlucoseMeter.measurement, GlucoseMeter.measurementContext, GlucoseMeter.controlPoint,
        ] {
            try await link.subscribe(to: characteristic, in: GlucoseMeter.service)
        }
        for request in requests {
            try await link.write(request, to: GlucoseMeter.controlPoint, in: GlucoseMeter.service)
        }
        var seen: [String] = []
        do {
            while let value = try await link.nextValue(within: .seconds(30)) {
                switch value.characteristic {
                case GlucoseMeter.controlPoint:
                    seen.append(value.value.map { String($0, radix: 16) }.joined(separator: " "))
                    try await link.confirm(value)
                    return seen
                case GlucoseMeter.measurementContext: seen.append("context \(value.value[1])")
                default: seen.append("\(value.value[1])")
                }
            }
        } catch LinkError.ended {
            seen.append("end")
        }
        return seen
    }

    @Test(
        arguments: [
            ([0x01, 0x01], ["0", "1", "2", "6 0 1 1"]),
            ([0x01, 0x03, 0x01, 0x01, 0x00], ["1", "2", "6 0 1 1"]),
            ([0x01, 0x03, 0x01, 0x03, 0x00], ["6 0 1 6"]),
            ([0x01, 0x06], ["2", "6 0 1 1"]),
            ([0x04, 0x01], ["5 0 3 0"]),
            ([0x04, 0x02, 0x01, 0x00, 0x00], ["5 0 1 0"]),
            ([0x02, 0x01], ["6 0 2 2"]),
            ([0x03, 0x00], ["6 0 3 1"]),
            ([0x01, 0x08], ["6 0 1 4"]),
        ] as [([UInt8], [String])])
    func requestIsAnsweredFromTheMemory(request: [UInt8], expected: [String]) async throws {
        #expect(try await Self.ask(Self.meter(3), [request]) == expected)
    }

    @Test func scriptDecidesOrderAndEnd() async throws {
        let all: [[UInt8]] = [[0x01, 0x01]]
        let some: [[UInt8]] = [[0x01, 0x03, 0x01, 0x01, 0x00]]
        let context = GlucoseMeter.Context(meal: 1)
        #expect(try await Self.ask(Self.meter(0), all) == ["6 0 1 6"])
        #expect(
            try await Self.ask(Self.meter(2) { $0.script.isNewestFirst = true }, all) == [
                "1", "0", "6 0 1 1",
            ])
        #expect(try await Self.ask(Self.meter(2) { $0.script.filterRefusal = 4 }, some) == ["6 0 1 4"])
        #expect(try await Self.ask(Self.meter(2) { $0.script.filterRefusal = 9 }, some) == ["6 0 1 9"])
        #expect(
            try await Self.ask(Self.meter(2) { $0.script.filterRefusal = 9 }, all) == ["0", "1", "6 0 1 1"])
        #expect(
            try await Self.ask(Self.meter(2, context: context), all)
                == ["0", "context 0", "1", "context 1", "6 0 1 1"])
        #expect(
            try await Self.ask(Self.meter(2, context: context) { $0.script.contexts = .beforeItsRecord }, all)
                == ["context 0", "0", "context 1", "1", "6 0 1 1"])
        #expect(
            try await Self.ask(Self.meter(2, context: context) { $0.script.contexts = .afterAllRecords }, all)
                == ["0", "1", "context 0", "context 1", "6 0 1 1"])
        #expect(try await Self.ask(Self.meter(3) { $0.script.breaksAfter = 2 }, all) == ["0", "1", "end"])
        #expect(try await Self.ask(Self.meter(3) { $0.script.givesUpAfter = 1 }, all) == ["0", "6 0 1 8"])
    }

    @Test func abortEndsATransfer() async throws {
        let meter = Self.meter(3) { $0.script.pause = .seconds(1) }
        // The clock stands: the second record would come a second later.
        #expect(try await Self.ask(meter, [[0x01, 0x01], [0x03, 0x00]]) == ["0", "6 0 3 1"])
    }

    @Test func secondRequestDuringATransferIsRefused() async throws {
        let meter = Self.meter(3) { $0.script.pause = .seconds(1) }
        await #expect(
            throws: LinkError.attribute(code: ControlPointError.procedureInProgress, opcode: 0x12)
        ) {
            try await Self.ask(meter, [[0x01, 0x01], [0x01, 0x01]])
        }
    }

    @Test func requestWithoutSubscriptionIsRefused() async throws {
        let bench = try LinkBench(sensor: Self.meter(1))
        defer { bench.loop.stop() }
        let link = try await bench.connect()
        await #expect(throws: LinkError.attribute(code: ControlPointError.notSubscribed, opcode: 0x12)) {
            try await link.write([0x01, 0x01], to: GlucoseMeter.controlPoint, in: GlucoseMeter.service)
        }
    }

    @Test func wholeMemoryOfAThousandRecordsComesInOneGo() async throws {
        let seen = try await Self.ask(Self.meter(1_000), [[0x01, 0x01]])
        #expect(seen.count == 1_001)
        #expect(seen.last == "6 0 1 1")
    }

    @Test func numbersGoOnAfterAClearAndBeginAgainAfterAReset() {
        var meter = Self.meter(0) { $0.add(.init(sequence: 0xFFFF, time: Self.time)) }
        #expect(meter.measure(at: Self.time).sequence == 0)
        meter.clear()
        #expect(meter.measure(at: Self.time).sequence == 1)
        meter.reset()
        #expect(meter.measure(at: Self.time).sequence == 0)
        #expect(meter.records.count == 1)
    }

    @Test func recordHasTheBytesThatTheServiceDefines() {
        var record = GlucoseMeter.Record(
            sequence: 0x0102, time: Self.time, offset: -5,
            concentration: .molesPerLitre(mantissa: 57, exponent: -4),
            status: 0x0001, context: .init(carbohydrate: 1, grams: 30, meal: 2))
        #expect(
            record.payload
                == [
                    0x1F, 0x02, 0x01,
                    0xEA, 0x07, 11, 20, 8, 0, 0,
                    // -5 min, 57 · 10⁻⁴ mol/L, capillary blood from a finger, battery low.
                    0xFB, 0xFF, 0x39, 0xC0, 0x11, 0x01, 0x00,
                ])
        // Breakfast with 30 · 10⁻³ kg, postprandial.
        #expect(record.contextPayload == [0x03, 0x02, 0x01, 0x01, 0x1E, 0xD0, 0x02])
        record.concentration = nil
        record.offset = nil
        record.status = nil
        record.context = nil
        #expect(record.payload == [0x00, 0x02, 0x01, 0xEA, 0x07, 11, 20, 8, 0, 0])
        #expect(record.contextPayload == nil)
    }
}
