import BlueZBridge
import PeripheralSimulator
import QueueTestSupport
import Testing

/// Reads that cannot be made, or not kept.
@Suite(.timeLimit(.minutes(15)))
struct FailedReadTests {
    @Test(arguments: [
        (LinkError.refused(errno: 111), "the connection was refused (errno 111)"),
        (.notReachable, "no connection: it stopped advertising or is out of range"),
        (.busy, "another program holds this device's attribute channel (bluetoothd: disconnect it there)"),
    ])
    func connectionThatFailsIsToldOnceAndTriedAgainAfterTheBackOff(
        error: LinkError, words: String
    ) async throws {
        try await GatewayBench.run { bench in
            var behaviour = LinkBehaviour()
            behaviour.connectionError = error
            await bench.peripheral.script([behaviour])
            await bench.peripheral.wakeUp()
            await bench.told("read-failed")
            let failed = try #require(bench.events.all.last)
            #expect(failed.value(.error) == words)
            #expect(failed.value(.attempt) == "1")
            #expect(bench.count(of: "connected") == 0)
            // It goes on advertising, ten times a second.
            try await bench.advance(by: .milliseconds(100), until: "connected")
            let connected = try #require(bench.events.all.first { $0.entry.name == "connected" })
            // 2 s, half of it random.
            #expect(connected.instant.since(failed.instant) >= .seconds(1))
            try await bench.advance(until: "disconnected")
            #expect(bench.count(of: "read-failed") == 1)
            #expect(try await bench.outbox() == ["read"])
            #expect(await bench.radio.report().confirmed == 1)
        }
    }

    @Test func deviceThatFellSilentIsReadWhenItIsBack() async throws {
        try await GatewayBench.run { bench in
            await bench.radio.kernel.advertise(bench.peripheral.advert, from: bench.peripheral.device)
            await bench.told("read-failed")
            #expect(
                bench.events.all.last?.value(.error)
                    == "no connection: it stopped advertising or is out of range")
            await bench.pause()
            try await bench.readOnce()
            #expect(bench.count(of: "read-failed") == 1)
            #expect(bench.count(of: "discovered") == 2)
            #expect(try await bench.outbox() == ["read"])
        }
    }

    @Test func serviceThatWasMissingIsLookedForAgain() async throws {
        try await GatewayBench.run { bench in
            let services = SimulatedService.thermometer(serial: GatewayBench.serial)
            await bench.peripheral.relayOut(firstHandle: 1, services: Array(services.dropFirst()))
            await bench.readUntilDropped()
            await bench.told("read-failed")
            // As after an update, or once it shows its services.
            await bench.peripheral.relayOut(firstHandle: 1, services: services)
            await bench.pause()
            try await bench.readOnce()
            #expect(bench.kinds() == [.bodyTemperature: 1])
        }
    }

    @Test func readingThatCannotBeCommittedIsNotConfirmedAndComesAgain() async throws {
        try await GatewayBench.run(failingCommits: 1) { bench in
            await bench.readUntilDropped()
            await bench.told("read-failed")
            let words = try #require(bench.events.all.last?.value(.error))
            #expect(words.hasPrefix("the reading could not be committed and was not confirmed"))
            #expect(await bench.radio.report().confirmed == 0)
            let trace = try #require(await bench.peripheral.traces.first)
            #expect(trace.hasEnded)
            #expect(trace.indications == 1)
            #expect(!trace.gatewayOpcodes.contains(LinkTrace.confirmationOpcode))
            await bench.pause()
            try await bench.readOnce()
            #expect(bench.count(of: "read-failed") == 1)
            #expect(try await bench.outbox() == ["read"])
            #expect(await bench.radio.report().confirmed == 1)
        }
    }

    @Test func queueThatIsNotToBeTrustedEndsTheGatewayAndNothingIsConfirmed() async throws {
        let failure = StoreError(.ioError, path: "queue.db")
        await #expect(throws: failure) {
            try await GatewayBench.run(failingCommits: 1, failure: failure) { bench in
                await bench.readUntilDropped()
                #expect(await bench.radio.report().confirmed == 0)
                #expect(bench.count(of: "read-failed") == 0)
            }
        }
    }

    @Test func payloadThatCannotBeDecodedIsKeptConfirmedAndTold() async throws {
        // A temperature of three bytes.
        let reading = SimulatedReading(0x2A1C, payload: [0x00, 0x4C, 0x0E])
        try await GatewayBench.run(readings: [reading]) { bench in
            try await bench.readOnce()
            let counts = try await bench.store.counts()
            #expect(counts.records == 1)
            #expect(counts.undecoded == 1)
            #expect(try await bench.outbox() == ["decode-error"])
            #expect(bench.count(of: "read-failed") == 0)
            #expect(await bench.radio.report().confirmed == 1)
        }
    }
}
