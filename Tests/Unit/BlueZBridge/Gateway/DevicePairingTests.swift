import PeripheralSimulator
import Testing

@testable import IngestCore
@testable import IngestOperator
@testable import IngestQueue
@testable import IngestReading
@testable import IngestRecords
@testable import IngestStorage
@testable import TestSupport

/// Pairing through the whole gateway, with who keeps the bonds simulated.
@Suite(.timeLimit(.minutes(15)))
struct DevicePairingTests {
    @Test func aPairedCuffIsReadOverAnEncryptedLink() async throws {
        try await GatewayBench.run(SimulatedBonding(), entry: .init(requiresBond: true)) { bench in
            let steps = try await bench.pair()
            #expect(steps.map(\.step) == [.instructions, .waiting, .found, .paired])
            #expect(steps.map(\.number) == [1, 2, 3, 4])
            #expect(steps.first?.text == "blood-pressure: Hold the button.")
            #expect(bench.keeper.all == [bench.bond])
            let memory = try await bench.store.devices.recall(bench.peripheral.device)
            #expect(memory?.bondedAdapter == RadioBench.address)
            try await bench.advance(until: "disconnected")
            #expect(bench.kinds() == [.bloodPressure: 1])
            #expect(bench.count(of: "paired") == 1)
            #expect(bench.count(of: "bond-lost") == 0)
        }
    }

    struct Dialogue: Sendable {
        let method: SimulatedBonding.Method
        var entry = GatewayBench.Entry()
        var answers: [PairingAnswer] = []
        /// Between `found` and the end.
        let steps: [OperatorStep.Kind]
        let code: String?
        /// Nil: there is a bond.
        let reason: FailureReason?
    }

    @Test(arguments: [
        Dialogue(method: .justWorks, steps: [], code: nil, reason: nil),
        Dialogue(
            method: .passkey(123_456), answers: [.passkey(123_456)], steps: [.passkeyWanted], code: nil,
            reason: nil),
        Dialogue(
            method: .passkey(123_456), answers: [.passkey(123_457)], steps: [.passkeyWanted], code: nil,
            reason: .wrongPasskey),
        Dialogue(
            method: .passkey(123_456), answers: [.passkey(nil)], steps: [.passkeyWanted], code: nil,
            reason: .noAnswer),
        // Nobody types.
        Dialogue(method: .passkey(123_456), steps: [.passkeyWanted], code: nil, reason: .noAnswer),
        Dialogue(method: .passkey(123_456), entry: .init(passkey: "cuff"), steps: [], code: nil, reason: nil),
        Dialogue(
            method: .comparison(42), answers: [.sameNumber(true)], steps: [.confirmNumber], code: "000042",
            reason: nil),
        Dialogue(
            method: .comparison(42), answers: [.sameNumber(false)], steps: [.confirmNumber], code: "000042",
            reason: .noAnswer),
        Dialogue(method: .typed(7), steps: [.typeOnDevice], code: "000007", reason: nil),
    ])
    func theOperatorAnswersWhatTheDeviceAsks(dialogue: Dialogue) async throws {
        try await GatewayBench.run(SimulatedBonding(dialogue.method), entry: dialogue.entry) { bench in
            let steps = try await bench.pair(answers: dialogue.answers)
            let end: OperatorStep.Kind = dialogue.reason == nil ? .paired : .failed
            #expect(steps.map(\.step) == [.instructions, .waiting, .found] + dialogue.steps + [end])
            #expect(steps.compactMap(\.code).first == dialogue.code)
            #expect(steps.last?.reason == dialogue.reason)
            #expect(bench.keeper.all == (dialogue.reason == nil ? [bench.bond] : []))
            #expect(bench.count(of: "paired") == (dialogue.reason == nil ? 1 : 0))
            #expect(bench.count(of: "pair-failed") == (dialogue.reason == nil ? 0 : 1))
        }
    }

    @Test func deviceThatIsNotInPairingModeRefusesAndTheErrorSaysWhatToDo() async throws {
        let bonding = SimulatedBonding(isInPairingMode: false)
        try await GatewayBench.run(bonding, quirks: [.oneBondOnly], isRequired: false) { bench in
            let steps = try await bench.pair()
            #expect(steps.last?.reason == .refused)
            #expect(
                bench.errors(of: "pair-failed") == [
                    "it refuses to pair: put it into pairing mode first. It remembers one central only: "
                        + "unpair the maker's app first."
                ])
        }
    }

    @Test func deviceThatIsNotThereIsWaitedForTwoMinutes() async throws {
        try await GatewayBench.run(SimulatedBonding()) { bench in
            let start = bench.clock.now
            let steps = try await bench.pair(wakesUp: false)
            #expect(steps.last?.reason == .notHeard)
            #expect(bench.clock.now.since(start) >= .seconds(120))
            #expect(bench.clock.now.since(start) < .seconds(125))
            // Passive reading goes on.
            await bench.peripheral.changeBonding { $0.isRequired = false }
            await bench.peripheral.wakeUp()
            try await bench.advance(until: "disconnected")
            #expect(bench.kinds() == [.bloodPressure: 1])
        }
    }

    @Test func pairingEndsWhenItsOperatorHasGone() async throws {
        try await GatewayBench.run(SimulatedBonding()) { bench in
            _ = try await bench.orders.begin(.pair(.model(1)))
            try await bench.advance(until: "pair-failed")
            #expect(bench.errors(of: "pair-failed") == ["it was stopped"])
            while await bench.orders.isUnderWay { try await bench.spend(.milliseconds(250)) }
        }
    }

    @Test func pairingThatIsCancelledMakesNoBondAndReadingGoesOn() async throws {
        try await GatewayBench.run(SimulatedBonding(.passkey(1), isRequired: false)) { bench in
            let id = try await bench.orders.begin(.pair(.model(1)))
            await #expect(throws: OrderRefusal.busy) { _ = try await bench.orders.begin(.pair(.model(1))) }
            let steps = Notes<OperatorStep.Kind>()
            let following = Task {
                var last = 0
                while steps.all.last != .failed {
                    for step in try await bench.orders.steps(of: id, after: last) {
                        last = step.number
                        steps.add(step.step)
                    }
                }
            }
            while !steps.all.contains(.waiting) { try await bench.spend(.milliseconds(250)) }
            await bench.peripheral.wakeUp()
            while !steps.all.contains(.passkeyWanted) { try await bench.spend(.milliseconds(250)) }
            try await bench.orders.cancel(id)
            try await following.value
            #expect(bench.errors(of: "pair-failed") == ["it was stopped"])
            #expect(bench.keeper.all.isEmpty)
            try await bench.advance(until: "disconnected")
            #expect(bench.kinds() == [.bloodPressure: 1])
        }
    }

    @Test func pairingThatIsCancelledBeforeItIsTakenUpEndsToo() async throws {
        try await GatewayBench.run(SimulatedBonding(isInPairingMode: false)) { bench in
            let id = try await bench.orders.begin(.pair(.model(1)))
            try await bench.orders.cancel(id)
            #expect(await !bench.orders.isUnderWay)
            #expect(try await bench.orders.steps(of: id, after: 0).last?.reason == .cancelled)
            #expect(bench.errors(of: "pair-failed") == ["it was stopped"])
        }
    }

    @Test func readUnderWayEndsBeforeThePairing() async throws {
        try await GatewayBench.run(SimulatedBonding(isRequired: false), readings: 2) { bench in
            await bench.peripheral.wakeUp()
            await bench.told("connected")
            let steps = try await bench.pair()
            #expect(steps.map(\.step) == [.instructions, .readingUnderWay, .waiting, .found, .paired])
            #expect(bench.kinds() == [.bloodPressure: 1])
            #expect(bench.count(of: "disconnected") == 1)
        }
    }

    @Test func whatIsNotOnTheListIsNotPaired() async throws {
        try await GatewayBench.run(SimulatedBonding()) { bench in
            await #expect(throws: OrderRefusal.notAllowed(.model(2))) {
                _ = try await bench.orders.begin(.pair(.model(2)))
            }
            bench.keeper.setPresent(false)
            while await bench.gateway.bonds.all != nil { try await bench.spend(.milliseconds(250)) }
            await #expect(throws: OrderRefusal.noKeeper) {
                _ = try await bench.orders.begin(.pair(.model(1)))
            }
        }
    }

    /// As recent Omron cuffs do.
    @Test func firstReadingFollowsOnThePairingsLinkAndTheDeviceHangsUp() async throws {
        let bonding = SimulatedBonding(forgetsWhenHungUpOn: true)
        try await GatewayBench.run(bonding, quirks: [.bondFirstThenKeepLink], readings: 2) { bench in
            _ = try await bench.pair()
            try await bench.advance(until: "disconnected")
            #expect(bench.kinds() == [.bloodPressure: 1])
            // It has its keys still: the next reading comes, too.
            try await bench.spend(GatewayBench.longPause)
            try await bench.readOnce()
            #expect(bench.kinds() == [.bloodPressure: 2])
            #expect(bench.count(of: "read-failed") == 0)
            #expect(bench.count(of: "bond-lost") == 0)
        }
    }

    @Test func firstReadingThatFailsOnThePairingsLinkIsTriedAgain() async throws {
        let quirks = [PeripheralModel.Quirk.bondFirstThenKeepLink]
        try await GatewayBench.run(SimulatedBonding(), quirks: quirks) { bench in
            await bench.peripheral.script([.dropping(after: 4)])
            _ = try await bench.pair()
            try await bench.advance(until: "read-failed")
            let failed = bench.clock.now
            // The cuff still has the reading, and goes on offering it.
            await bench.peripheral.wakeUp()
            try await bench.advance(until: "disconnected", times: 2)
            #expect(bench.kinds() == [.bloodPressure: 1])
            #expect(bench.clock.now.since(failed) < .seconds(10))
        }
    }

    @Test func hangUpOfADeviceThatKeepsItsLinkIsNotWaitedForWithoutEnd() async throws {
        let quirks = [PeripheralModel.Quirk.bondFirstThenKeepLink]
        try await GatewayBench.run(SimulatedBonding(), quirks: quirks, linger: .seconds(3_600)) { bench in
            _ = try await bench.pair()
            await bench.told("connected")
            let start = bench.clock.now
            try await bench.advance(until: "disconnected")
            let wait = bench.clock.now.since(start)
            #expect(wait >= ReadSession.hangUpTimeout)
            #expect(wait <= ReadSession.hangUpTimeout + .seconds(10))
        }
    }

    /// As A&D's devices do.
    @Test func bondThatIsCompleteAtTheHangUpHolds() async throws {
        let bonding = SimulatedBonding(completesAtHangUp: true)
        try await GatewayBench.run(bonding, quirks: [.disconnectAfterBonding]) { bench in
            _ = try await bench.pair()
            try await bench.advance(until: "disconnected")
            #expect(bench.kinds() == [.bloodPressure: 1])
        }
    }

    @Test func clockThatIsExpectedToBeSetIsSetOnThePairingsLink() async throws {
        let quirks = [PeripheralModel.Quirk.disconnectAfterBonding, .expectsClock]
        try await GatewayBench.run(SimulatedBonding(), entry: .init(clock: .set), quirks: quirks) { bench in
            await bench.peripheral.show(SimulatedClock(0x2A08, in: 0x1810, lead: -86_400))
            _ = try await bench.pair()
            // Nothing else is said on that link, and the reading comes over the next.
            #expect(bench.count(of: "disconnected") == 1)
            let trace = try #require(await bench.peripheral.traces.first)
            #expect(trace.pdusToConfirmation == nil)
            #expect(await bench.peripheral.shownClock?.timesSet == 1)
            try await bench.spend(GatewayBench.longPause)
            try await bench.readOnce()
            #expect(bench.kinds() == [.bloodPressure: 1])
            #expect(await bench.peripheral.shownClock?.timesSet == 2)
        }
    }

    @Test func queueThatIsNotToBeTrustedEndsTheGatewayThatSetsAClockToo() async throws {
        let failure = StoreError(.corrupt, path: "queue.db")
        let quirks = [PeripheralModel.Quirk.disconnectAfterBonding, .expectsClock]
        // Its values come in several packets.
        let failing = { (setup: inout GatewayBench.Setup) in
            setup.profile = "body-composition"
            (setup.failsPackets, setup.failure) = (true, failure)
        }
        await #expect(throws: failure) {
            try await GatewayBench.run(
                SimulatedBonding(), entry: .init(clock: .set), quirks: quirks, change: failing
            ) { bench in
                _ = try await bench.pair()
            }
        }
    }

    @Test func unpairRemovesTheBondAndTheMemoryOfIt() async throws {
        try await GatewayBench.run(SimulatedBonding(isRequired: false), isRequired: false) { bench in
            await #expect(throws: UnpairFailure.notBonded(.device(RadioBench.pinned))) {
                _ = try await bench.orders.unpair(.device(RadioBench.pinned))
            }
            _ = try await bench.pair()
            // The reading that follows would write its memory of the bond at its end.
            try await bench.advance(until: "disconnected")
            while await bench.orders.isUnderWay { try await bench.spend(.milliseconds(250)) }
            #expect(try await bench.orders.unpair(.model(1)) == [RadioBench.pinned])
            #expect(bench.keeper.all.isEmpty)
            #expect(try await bench.store.devices.recall(bench.peripheral.device)?.bondedAdapter == nil)
        }
    }

    /// bluetoothd has not told yet, at the service's start, which bonds there are: it runs all the same.
    @Test func ordersAtTheStartWaitForTheBonds() async throws {
        try await GatewayBench.run(SimulatedBonding(isRequired: false), isRequired: false) { bench in
            _ = try await bench.pair()
            try await bench.advance(until: "disconnected")
            while await bench.orders.isUnderWay { try await bench.spend(.milliseconds(250)) }
            for order in ["unpair", "pair"] {
                bench.keeper.start()
                while await bench.gateway.bonds.all != nil { await Task.yield() }
                async let told: Void = bench.keeper.finishStart()
                if order == "unpair" {
                    #expect(try await bench.orders.unpair(.model(1)) == [RadioBench.pinned])
                } else {
                    _ = try await bench.orders.begin(.pair(.model(1)))
                }
                await told
            }
            bench.keeper.setPresent(false)
            while await bench.gateway.bonds.all != nil { await Task.yield() }
            await #expect(throws: UnpairFailure.noKeeper) { _ = try await bench.orders.unpair(.model(1)) }
        }
    }

    @Test func pairedAgainTheOldBondIsReplaced() async throws {
        try await GatewayBench.run(SimulatedBonding(), readings: 2) { bench in
            _ = try await bench.pair()
            try await bench.advance(until: "disconnected")
            await bench.pause()
            await bench.peripheral.changeBonding { bonding in bonding.isInPairingMode = true }
            await bench.peripheral.forgetBonds()
            // By its address: one of a model that has a bond which works is another one.
            let steps = try await bench.pair(.device(RadioBench.pinned))
            #expect(steps.last?.step == .paired)
            try await bench.advance(until: "disconnected", times: 2)
            #expect(bench.kinds() == [.bloodPressure: 2])
        }
    }
}
