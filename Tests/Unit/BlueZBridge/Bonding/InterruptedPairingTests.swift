import Testing

@testable import BlueZBridge

@Suite(.timeLimit(.minutes(15)))
struct InterruptedPairingTests {
    /// Begins to pair with a device in this manner, and goes on when bluetoothd was asked.
    private func pairing(
        _ manner: StandInBluetoothd.Manner, _ person: Person = Person(),
        _ body: (BondBench, Task<Result<Bond, PairingError>, Never>) async throws -> Void
    ) async throws {
        let bench = try BondBench()
        try await bench.run { bluetoothd in
            bluetoothd.add(BondBench.cuff, manner)
            bluetoothd.add(BondBench.stranger)
            bluetoothd.connected(BondBench.stranger)
        } _: { bench in
            let task = Task { await bench.pair(BondBench.cuff, person) }
            await bench.bluetoothd.notes.wait { $0.contains("Device1.Pair") }
            try await body(bench, task)
        }
    }

    @Test func aDeviceThatSaysNothingIsGivenUpAfterAMinute() async throws {
        try await pairing(.silence) { bench, task in
            await bench.clock.advance(by: .seconds(59), bench.loop)
            #expect(!bench.bluetoothd.notes.all.contains("Device1.CancelPairing"))
            await bench.clock.advance(by: .seconds(2), bench.loop)
            #expect(await task.value == .failure(.timedOut))
            #expect(bench.deviceCalls.suffix(2) == ["Device1.CancelPairing", "Adapter1.RemoveDevice"])
        }
    }

    @Test func aPersonHasTwoMinutes() async throws {
        let person = Person(isAway: true)
        try await pairing(.passkey(1), person) { bench, task in
            await person.seen.wait { !$0.isEmpty }
            await bench.clock.advance(by: .seconds(119), bench.loop)
            #expect(!bench.bluetoothd.notes.all.contains("Device1.CancelPairing"))
            await bench.clock.advance(by: .seconds(2), bench.loop)
            #expect(await task.value == .failure(.noAnswer))
            await person.seen.wait { $0.contains("sent away") }
        }
    }

    /// The kernel gives the device's whole pairing up 30 s after its last step.
    @Test func aQuestionThatBluetoothdCallsOffIsAskedNoMore() async throws {
        let person = Person(isAway: true)
        try await pairing(.comparison(5), person) { bench, task in
            await person.seen.wait { !$0.isEmpty }
            await bench.perform { $0.givesUp() }
            #expect(await task.value == .failure(.noAnswer))
            await person.seen.wait { $0.contains("sent away") }
            #expect(
                bench.bluetoothd.notes.all.contains(
                    "RequestConfirmation: \(BusError.remote(name: "org.bluez.Error.Canceled"))"))
        }
    }

    @Test func whoeverPairsMayStop() async throws {
        try await pairing(.silence) { bench, task in
            task.cancel()
            #expect(await task.value == .failure(.cancelled))
            #expect(bench.deviceCalls.suffix(2) == ["Device1.CancelPairing", "Adapter1.RemoveDevice"])
            #expect(bench.hungUp.all == [BondBench.cuff])
        }
    }

    @Test func aBluetoothdThatEndsInTheMiddleEndsThePairing() async throws {
        try await pairing(.silence) { bench, task in
            await bench.perform { $0.stop() }
            #expect(await task.value == .failure(.noKeeper))
            await bench.connector.links.wait { $0.contains("closed") }
        }
    }

    @Test func aBusThatEndsInTheMiddleEndsThePairing() async throws {
        try await pairing(.silence) { bench, task in
            bench.stopBus()
            #expect(await task.value == .failure(.noKeeper))
        }
    }

    @Test func onePairingAtATime() async throws {
        try await pairing(.silence) { bench, task in
            #expect(await bench.pair(BondBench.meter) == .failure(.busy))
            await #expect(throws: PairingError.busy) {
                try await bench.keeper.unpair(BondBench.bond(BondBench.meter))
            }
            task.cancel()
            #expect(await task.value == .failure(.cancelled))
            await bench.perform { $0.add(BondBench.cuff) }
            #expect(await bench.pair() == .success(BondBench.bond(BondBench.cuff)))
        }
    }
}
