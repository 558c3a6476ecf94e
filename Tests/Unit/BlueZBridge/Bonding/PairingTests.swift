import Testing

@testable import BlueZBridge

@Suite(.timeLimit(.minutes(15)))
struct PairingTests {
    typealias Manner = StandInBluetoothd.Manner

    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let manner: Manner
        var person = Person()
        /// Nil is a bond.
        var failure: PairingError?
        var seen: [String] = []

        init(
            _ name: String, _ manner: Manner, _ person: Person = Person(), _ failure: PairingError? = nil,
            seen: [String] = []
        ) {
            testDescription = name
            self.manner = manner
            self.person = person
            self.failure = failure
            self.seen = seen
        }
    }

    @Test(arguments: [
        Case("Just Works asks nobody", .justWorks),
        Case("Just Works begun by both sides", .authorization),
        Case("a passkey", .passkey(4_711), Person(code: 4_711), seen: ["passkey"]),
        Case("the largest passkey", .passkey(999_999), Person(code: 999_999), seen: ["passkey"]),
        Case("a wrong passkey", .passkey(4_711), Person(code: 4_712), .wrongPasskey, seen: ["passkey"]),
        Case("no passkey", .passkey(4_711), Person(), .noAnswer, seen: ["passkey"]),
        Case("a passkey of seven digits", .passkey(0), Person(code: 1_000_000), .noAnswer, seen: ["passkey"]),
        Case("equal numbers", .comparison(123_456), Person(says: true), seen: ["confirm 123456"]),
        Case("numbers that differ", .comparison(7), Person(says: false), .wrongPasskey, seen: ["confirm 7"]),
        Case("a number of seven digits", .comparison(1_000_000), Person(says: true), .refused),
        Case("a device that refuses", .refuses, Person(code: 1), .refused),
        Case("a device that hangs up", .hangsUp, Person(), .notReachable),
        Case("keys that are not kept", .unbonded, Person(), .refused),
        Case("busy kernel", .error("org.bluez.Error.AuthenticationRejected"), Person(), .busy),
        Case("another's Pair", .error("org.bluez.Error.InProgress"), Person(), .busy),
        Case("kernel's time", .error("org.bluez.Error.AuthenticationTimeout"), Person(), .timedOut),
        Case("no link", .error("org.bluez.Error.ConnectionAttemptFailed"), Person(), .notReachable),
        Case("adapter off", .error("org.bluez.Error.NotReady"), Person(), .adapterUnavailable),
        Case("something else", .error("org.bluez.Error.Failed"), Person(), .other("org.bluez.Error.Failed")),
    ])
    func aPairingComesToItsEnd(_ example: Case) async throws {
        let bench = try BondBench()
        try await bench.run { bluetoothd in
            bluetoothd.add(BondBench.cuff, example.manner)
        } _: { bench in
            let result = await bench.pair(BondBench.cuff, example.person)
            #expect(example.person.seen.all == example.seen)
            await bench.connector.links.wait { $0.contains("closed") }
            #expect(bench.hungUp.all.contains(BondBench.cuff))
            if let failure = example.failure {
                #expect(result == .failure(failure))
                // Nothing of it stays.
                #expect(bench.bluetoothd.notes.all.contains("Adapter1.RemoveDevice"))
                #expect(!bench.known.contains(BondBench.bond(BondBench.cuff)))
            } else {
                #expect(result == .success(BondBench.bond(BondBench.cuff)))
                #expect(bench.known.contains(BondBench.bond(BondBench.cuff)))
                // In this state bluetoothd would end the link for it.
                #expect(!bench.bluetoothd.notes.all.contains("Device1.CancelPairing"))
                #expect(!bench.bluetoothd.notes.all.contains("Adapter1.RemoveDevice"))
            }
        }
    }

    @Test func aDeviceThatWantsItsNumberTypedIsShownItOnce() async throws {
        let bench = try BondBench()
        try await bench.run { bluetoothd in
            bluetoothd.add(BondBench.cuff, .display(42))
        } _: { bench in
            let person = Person()
            async let result = bench.pair(BondBench.cuff, person)
            await bench.bluetoothd.notes.wait { $0.filter { $0 == "DisplayPasskey: []" }.count == 3 }
            await person.seen.wait { !$0.isEmpty }
            await bench.perform { $0.typed() }
            #expect(await result == .success(BondBench.bond(BondBench.cuff)))
            #expect(person.seen.all == ["show 42"])
        }
    }

    @Test func theBondIsUnderTheIdentityAddress() async throws {
        let bench = try BondBench()
        try await bench.run { bluetoothd in
            bluetoothd.add(BondBench.masked, .passkey(1), identity: BondBench.meter)
        } _: { bench in
            #expect(
                await bench.pair(BondBench.masked, Person(code: 1))
                    == .success(BondBench.bond(BondBench.meter)))
            #expect(bench.hungUp.all == [BondBench.meter])
        }
    }

    /// Its keys are in the place of those of the device that has the identity.
    @Test func anIdentityThatHasABondAlreadyIsToldAndCanBeRemoved() async throws {
        let bench = try BondBench()
        try await bench.run { bluetoothd in
            bluetoothd.add(BondBench.meter)
            bluetoothd.add(BondBench.masked, .justWorks, identity: BondBench.meter)
        } _: { bench in
            let bond = BondBench.bond(BondBench.meter)
            #expect(await bench.pair(BondBench.meter) == .success(bond))
            #expect(await bench.pair(BondBench.masked) == .success(bond))
            try await bench.keeper.unpair(bond)
            #expect(bench.bluetoothd.notes.all.filter { $0 == "Adapter1.RemoveDevice" }.count == 2)
            #expect(!bench.known.contains(bond))
        }
    }

    @Test func aLinkThatIsKeptIsNotHungUp() async throws {
        let bench = try BondBench()
        try await bench.run { bluetoothd in
            bluetoothd.add(BondBench.cuff)
        } _: { bench in
            #expect(await bench.pair(keepsLink: true) == .success(BondBench.bond(BondBench.cuff)))
            // The channel is free for whoever reads.
            await bench.connector.links.wait { $0.contains("closed") }
            #expect(bench.hungUp.all.isEmpty)
            #expect(!bench.bluetoothd.notes.all.contains("Device1.Disconnect"))
        }
    }

    @Test(arguments: [true, false])
    func aDeviceThatHangsUpOnceBondedIsNotLeftToBluetoothd(_ keepsLink: Bool) async throws {
        let bench = try BondBench()
        try await bench.run { bluetoothd in
            bluetoothd.add(BondBench.cuff, .hangsUpBonded)
        } _: { bench in
            #expect(await bench.pair(keepsLink: keepsLink) == .success(BondBench.bond(BondBench.cuff)))
            #expect(bench.deviceCalls.last == "Device1.Disconnect")
        }
    }

    @Test func aDeviceThatBluetoothdReadsIsTakenFromIt() async throws {
        let bench = try BondBench()
        try await bench.run { bluetoothd in
            bluetoothd.add(BondBench.cuff)
            bluetoothd.connected(BondBench.cuff)
        } _: { bench in
            #expect(await bench.pair() == .success(BondBench.bond(BondBench.cuff)))
            let calls = bench.bluetoothd.notes.all
            let disconnected = try #require(calls.firstIndex(of: "Device1.Disconnect"))
            let paired = try #require(calls.firstIndex(of: "Device1.Pair"))
            #expect(disconnected < paired)
        }
    }

    // MARK: The agent

    /// With an agent the adapter is pairable, and a device without a bond that asks for security loses
    /// its link: so it is there for a pairing alone.
    @Test(arguments: [Manner.justWorks, .refuses])
    func theAgentIsThereForAPairingAlone(_ manner: Manner) async throws {
        let bench = try BondBench()
        try await bench.run { bluetoothd in
            bluetoothd.add(BondBench.cuff, manner)
        } _: { bench in
            await bench.bonds { $0 != .unknown }
            _ = await bench.pair()
            #expect(bench.bluetoothd.notes.all.contains("agent KeyboardDisplay"))
            let state = await bench.loop.perform { [bluetoothd = bench.bluetoothd] in
                [bluetoothd.hasAgent, bluetoothd.isPairable]
            }
            #expect(state == [false, false])
        }
    }

    /// What an operator's agent, or its absence, had made of the adapter is so again afterwards.
    @Test(arguments: [true, false])
    func anAdapterIsPairableAfterwardsAsBefore(_ isPairable: Bool) async throws {
        let bench = try BondBench()
        try await bench.run { bluetoothd in
            bluetoothd.add(BondBench.cuff)
            bluetoothd.hasOperatorsAgent = true
            bluetoothd.isPairable = isPairable
        } _: { bench in
            #expect(await bench.pair() == .success(BondBench.bond(BondBench.cuff)))
            let isPairableNow = await bench.loop.perform { [bluetoothd = bench.bluetoothd] in
                bluetoothd.isPairable
            }
            #expect(isPairableNow == isPairable)
            #expect(bench.bluetoothd.notes.all.contains("Properties.Set") != isPairable)
        }
    }

    @Test func anAgentThatIsRefusedPairsNothing() async throws {
        let bench = try BondBench()
        try await bench.run { bluetoothd in
            bluetoothd.add(BondBench.cuff)
            bluetoothd.refusesAgents = true
        } _: { bench in
            #expect(await bench.pair() == .failure(.other("org.bluez.Error.InvalidArguments")))
            #expect(bench.connector.links.all.isEmpty)
        }
    }

    // MARK: Bonds that are there already

    @Test func aBondThatStillHoldsIsNotMadeAnew() async throws {
        let bench = try BondBench()
        try await bench.run { bluetoothd in
            bluetoothd.addBonded(BondBench.cuff)
        } _: { bench in
            let person = Person()
            #expect(await bench.pair(BondBench.cuff, person) == .success(BondBench.bond(BondBench.cuff)))
            #expect(person.seen.all == ["keeps"])
            #expect(bench.connector.links.all.first == "encrypted")
            #expect(!bench.bluetoothd.notes.all.contains("Device1.Pair"))
        }
    }

    @Test func aBondThatTheDeviceHasForgottenIsReplaced() async throws {
        let bench = try BondBench()
        await bench.loop.perform { [connector = bench.connector] in connector.encryptionFailure = .bondRefused
        }
        try await bench.run { bluetoothd in
            bluetoothd.addBonded(BondBench.cuff)
        } _: { bench in
            let person = Person()
            #expect(await bench.pair(BondBench.cuff, person) == .success(BondBench.bond(BondBench.cuff)))
            #expect(!person.seen.all.contains("keeps"))
            let calls = bench.bluetoothd.notes.all
            let removed = try #require(calls.firstIndex(of: "Adapter1.RemoveDevice"))
            let paired = try #require(calls.firstIndex(of: "Device1.Pair"))
            #expect(removed < paired)
        }
    }

    @Test func aBondIsKeptWhenItsDeviceIsNotThere() async throws {
        let bench = try BondBench()
        await bench.loop.perform { [connector = bench.connector] in connector.failures = [.notReachable] }
        try await bench.run { bluetoothd in
            bluetoothd.addBonded(BondBench.cuff)
        } _: { bench in
            #expect(await bench.pair() == .failure(.notReachable))
            #expect(bench.known.contains(BondBench.bond(BondBench.cuff)))
            #expect(!bench.bluetoothd.notes.all.contains("Adapter1.RemoveDevice"))
        }
    }

    // MARK: Links

    @Test(arguments: [
        (LinkError.notReachable, PairingError.notReachable), (.adapterUnavailable, .adapterUnavailable),
        (.busy, .busy), (.refused(errno: 5), .notReachable),
    ])
    func withoutALinkNothingIsPaired(_ error: LinkError, _ failure: PairingError) async throws {
        let bench = try BondBench()
        await bench.loop.perform { [connector = bench.connector] in connector.failures = [error] }
        try await bench.run { bluetoothd in
            bluetoothd.add(BondBench.cuff)
        } _: { bench in
            #expect(await bench.pair() == .failure(failure))
            #expect(!bench.bluetoothd.notes.all.contains("Device1.Pair"))
        }
    }

    @Test func aLinkOfWhichBluetoothdDoesNotTellIsGivenUp() async throws {
        let bench = try BondBench()
        await bench.loop.perform { [connector = bench.connector] in connector.isTold = false }
        try await bench.run { bluetoothd in
            bluetoothd.add(BondBench.cuff)
        } _: { bench in
            async let result = bench.pair()
            await bench.connector.links.wait { !$0.isEmpty }
            await bench.loop.turned()
            await bench.clock.advance(by: .seconds(6), bench.loop)
            #expect(await result == .failure(.notReachable))
            await bench.connector.links.wait { $0.contains("closed") }
        }
    }

    @Test(arguments: [1, 0]) func anAdapterThatIsGoneOrOffPairsNothing(_ index: UInt16) async throws {
        let bench = try BondBench()
        try await bench.run { bluetoothd in
            bluetoothd.isPowered = index == 1
        } _: { bench in
            #expect(await bench.pair(adapter: index) == .failure(.adapterUnavailable))
            #expect(bench.connector.links.all.isEmpty)
        }
    }
}
