import PeripheralSimulator
import QueueTestSupport
import Testing

/// A link that is lost anywhere: no reading is lost, none becomes two.
@Suite(.timeLimit(.minutes(15)))
struct DroppedLinkTests {
    @Test(arguments: GatewayBench.Kind.allCases)
    func linkLostAfterAnyPDUBringsTheReadingOnce(kind: GatewayBench.Kind) async throws {
        var first: LinkTrace?
        try await GatewayBench.run(kind) { bench in
            try await bench.readOnce()
            first = await bench.peripheral.traces.first
            #expect(bench.count(of: "read-failed") == 0)
        }
        let healthy = try #require(first)
        let confirmation = try #require(healthy.pdusToConfirmation)
        let indication = try #require(healthy.pdusToIndication)
        for dropAfter in 0...healthy.pdus.count {
            try await GatewayBench.run(kind) { bench in
                await bench.peripheral.script([.dropping(after: dropAfter)])
                if dropAfter < healthy.pdus.count {
                    await bench.readUntilDropped()
                } else {
                    try await bench.readOnce()
                }
                let isConfirmed = await bench.radio.report().confirmed == 1
                #expect(isConfirmed == (dropAfter >= confirmation), "after \(dropAfter)")
                if !isConfirmed {
                    await bench.pause()
                    try await bench.readOnce()
                }
                let traces = await bench.peripheral.traces
                let wasGiven = traces.first.map { $0.indications > 0 } ?? false
                #expect(wasGiven == (dropAfter >= indication), "after \(dropAfter)")
                #expect(bench.count(of: "read-failed") == (wasGiven ? 0 : 1), "after \(dropAfter)")
                #expect(try await bench.store.counts().records == 1, "after \(dropAfter)")
                let repetitions = traces.reduce(0) { $0 + $1.indications } - 1
                let expected = ["read"] + [String](repeating: "duplicate-ignored", count: repetitions)
                #expect(try await bench.outbox() == expected, "after \(dropAfter)")
                #expect(await bench.radio.report().confirmed == 1, "after \(dropAfter)")
            }
        }
    }

    /// An undated indication that was not confirmed, and an equal one later.
    @Test(arguments: [(Duration.seconds(599), 1), (.seconds(601), 2)])
    func equalUndatedReadingIsARepetitionForTenMinutes(pause: Duration, records: Int) async throws {
        try await GatewayBench.run(.undatedThermometer) { bench in
            var behaviour = LinkBehaviour()
            behaviour.hangsUpAfterSending = true
            await bench.peripheral.script([behaviour])
            await bench.readUntilDropped()
            #expect(await bench.radio.report().confirmed == 0)
            await bench.longPause(pause)
            try await bench.readOnce()
            #expect(try await bench.store.counts().records == records)
            #expect(try await bench.outbox() == ["read", records == 1 ? "duplicate-ignored" : "read"])
            #expect(bench.count(of: "read-failed") == 0)
        }
    }

    @Test func equalUndatedReadingsThatWereConfirmedAreTwo() async throws {
        let reading = GatewayBench.Kind.undatedThermometer.reading
        try await GatewayBench.run(readings: [reading, reading]) { bench in
            try await bench.readOnce()
            await bench.pause()
            try await bench.readOnce()
            #expect(try await bench.store.counts().records == 2)
            #expect(try await bench.outbox() == ["read", "read"])
            #expect(await bench.radio.report().confirmed == 2)
        }
    }

    @Test func equalUndatedReadingsOnOneLinkAreTwo() async throws {
        let reading = GatewayBench.Kind.undatedThermometer.reading
        // No two indications of the field come at the same nanosecond.
        try await GatewayBench.run(readings: [reading, reading], readingsPerWakeUp: 2, tick: 1) { bench in
            try await bench.readOnce()
            #expect(try await bench.store.counts().records == 2)
            #expect(try await bench.outbox() == ["read", "read"])
            #expect(await bench.radio.report().confirmed == 2)
            #expect(await bench.peripheral.traces.count == 1)
        }
    }
}
