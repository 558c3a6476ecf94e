import TestSupport
import Testing

@testable import BlueZBridge

@Suite(.timeLimit(.minutes(15)))
struct BondListTests {
    @Test func bondsAreToldAsBluetoothdHasThem() async throws {
        let bench = try BondBench()
        #expect(await bench.bonds { _ in true } == .unknown)
        try await bench.run { bluetoothd in
            bluetoothd.addBonded(BondBench.meter)
            bluetoothd.add(BondBench.cuff)
            bluetoothd.connected(BondBench.cuff)
        } _: { bench in
            #expect(await bench.bonds { $0 != .unknown } == .known([BondBench.bond(BondBench.meter)]))
            #expect(bench.known.contains(BondBench.bond(BondBench.meter)))
            #expect(!bench.known.contains(BondBench.bond(BondBench.cuff)))
        }
    }

    @Test func aBondMadeOrRemovedByAnotherProgramIsSeen() async throws {
        let bench = try BondBench()
        try await bench.run { bench in
            #expect(await bench.bonds { $0 != .unknown } == .known([]))
            await bench.perform { $0.addBonded(BondBench.meter) }
            #expect(await bench.bonds { _ in true } == .known([BondBench.bond(BondBench.meter)]))
            await bench.perform { $0.forget(BondBench.meter) }
            #expect(await bench.bonds { _ in true } == .known([]))
        }
    }

    @Test func aRestartOfBluetoothdIsUnknownAndThenKnownAgain() async throws {
        let bench = try BondBench()
        try await bench.run { bluetoothd in
            bluetoothd.addBonded(BondBench.meter)
        } _: { bench in
            await bench.bonds { $0 != .unknown }
            await bench.perform { $0.stop() }
            #expect(await bench.bonds { _ in true } == .unknown)
            await bench.perform { [address = bench.address] in try? $0.start(at: address) }
            #expect(await bench.bonds { _ in true } == .known([BondBench.bond(BondBench.meter)]))
        }
    }

    /// bluetoothd takes the devices away first; a bond is not lost by it.
    @Test func anAdapterThatGoesTakesNoBondWithIt() async throws {
        let bench = try BondBench()
        try await bench.run { bluetoothd in
            bluetoothd.addBonded(BondBench.meter)
            bluetoothd.addBonded(BondBench.cuff)
        } _: { bench in
            await bench.bonds { $0 != .unknown }
            await bench.perform { $0.unplug() }
            #expect(await bench.bonds { _ in true } == .unknown)
        }
    }

    @Test(arguments: [
        [], [BusValue.string("objects")], [.dictionary(key: "s", value: "v", [:]), .byte(1)],
        [.array(of: "o", [.objectPath("/")])],
    ])
    func anAnswerThatIsNoneIsAskedForAgain(_ garbage: [BusValue]) async throws {
        let bench = try BondBench()
        try await bench.run { bluetoothd in
            bluetoothd.garbage = garbage
        } _: { bench in
            await bench.bluetoothd.notes.wait { $0.contains("ObjectManager.GetManagedObjects") }
            await bench.perform { $0.garbage = nil }
            // The clock moves on until the retry has come, whichever turn the answer came in.
            let advancing = Task {
                while !Task.isCancelled {
                    await bench.clock.advance(by: .seconds(1), bench.loop)
                }
            }
            #expect(await bench.bonds { $0 != .unknown } == .known([]))
            advancing.cancel()
        }
    }

    /// Objects as they should not be: each is left out, and the rest holds.
    @Test(arguments: [
        ["Address": BusValue.string("nonsense")], ["AddressType": .string("classic")],
        ["AddressType": .byte(1)], ["Adapter": .objectPath("/org/bluez/hci9")], ["Bonded": .string("yes")],
    ])
    func aDeviceThatMakesNoSenseIsNoBond(_ properties: [String: BusValue]) throws {
        var device: [String: BusValue] = [
            "Address": .string("00:00:5E:00:53:02"), "AddressType": .string("public"),
            "Adapter": .objectPath("/org/bluez/hci0"), "Bonded": .bool(true),
        ]
        func bonds() throws -> BondList {
            try #require(
                BluetoothdObjects(answer: [
                    .dictionary(
                        key: "o", value: "a{sa{sv}}",
                        [
                            .objectPath("/org/bluez/hci0"): .dictionary(
                                key: "s", value: "a{sv}",
                                [
                                    .string("org.bluez.Adapter1"): .properties([
                                        "Address": .string("00:00:5E:00:53:00")
                                    ])
                                ]),
                            .objectPath("/org/bluez/hci0/dev_1"): .dictionary(
                                key: "s", value: "a{sv}",
                                [.string("org.bluez.Device1"): .properties(device)]),
                        ])
                ])
            ).bonds
        }
        #expect(try bonds() == .known([BondBench.bond(BondBench.meter)]))
        device.merge(properties) { _, new in new }
        #expect(try bonds() == .known([]))
    }

    /// As after a pairing under a private address with a device that had a bond.
    @Test func ofTwoObjectsOfOneDeviceTheOneWithTheBondIsMeant() throws {
        func object(isBonded: Bool) -> BusValue {
            .dictionary(
                key: "s", value: "a{sv}",
                [
                    .string("org.bluez.Device1"): .properties([
                        "Address": .string("00:00:5E:00:53:02"), "AddressType": .string("public"),
                        "Adapter": .objectPath("/org/bluez/hci0"), "Bonded": .bool(isBonded),
                    ])
                ])
        }
        // Of one pair of names the first in a dictionary may be either.
        for number in 0..<32 {
            var objects = try #require(
                BluetoothdObjects(answer: [.dictionary(key: "o", value: "a{sa{sv}}", [:])]))
            objects.add(object(isBonded: false), at: "/org/bluez/hci0/dev_\(number)")
            objects.add(object(isBonded: true), at: "/org/bluez/hci0/dev_bonded_\(number)")
            #expect(
                objects.path(of: BondBench.meter, on: "/org/bluez/hci0")
                    == "/org/bluez/hci0/dev_bonded_\(number)")
        }
    }

    @Test func aSignalOfAnotherProgramChangesNothing() async throws {
        let bench = try BondBench()
        try await bench.run { bluetoothd in
            bluetoothd.addBonded(BondBench.meter)
        } _: { bench in
            let name = try #require(await bench.agentName())
            let forger = try await bench.stranger()
            // Sent to the keeper alone, since its match would let no other's through.
            await bench.loop.perform {
                try? forger.emit(
                    StandInBluetoothd.path(of: BondBench.meter.address), "org.freedesktop.DBus.Properties",
                    "PropertiesChanged",
                    [
                        .string("org.bluez.Device1"), .properties(["Bonded": .bool(false)]),
                        .array(of: "s", []),
                    ], to: name)
            }
            // A later message of the same sender has come by way of the same connection.
            let answer = await forger.result(
                BusCall(to: name, "/ingestd/agent", "org.bluez.Agent1", "Release"))
            #expect(answer == .failure(.remote(name: "org.freedesktop.DBus.Error.AccessDenied")))
            #expect(bench.known.contains(BondBench.bond(BondBench.meter)))
            await bench.loop.perform { forger.close() }
        }
    }

    @Test(arguments: [true, false])
    func removingABondRemovesTheDevice(_ isPowered: Bool) async throws {
        let bench = try BondBench()
        try await bench.run { bluetoothd in
            bluetoothd.addBonded(BondBench.meter)
            bluetoothd.isPowered = isPowered
        } _: { bench in
            await bench.bonds { $0 != .unknown }
            let bond = BondBench.bond(BondBench.meter)
            guard isPowered else {
                await #expect(throws: PairingError.adapterUnavailable) { try await bench.keeper.unpair(bond) }
                return
            }
            await #expect(throws: PairingError.notBonded) {
                try await bench.keeper.unpair(BondBench.bond(BondBench.cuff))
            }
            try await bench.keeper.unpair(bond)
            #expect(await bench.bonds { _ in true } == .known([]))
            await #expect(throws: PairingError.notBonded) { try await bench.keeper.unpair(bond) }
        }
    }

    /// Nobody has told yet at the service's start what bluetoothd has.
    @Test func aBondIsRemovedAtTheStartToo() async throws {
        let bench = try BondBench()
        try await bench.run { bluetoothd in
            bluetoothd.addBonded(BondBench.meter)
        } _: { bench in
            #expect(await bench.keeper.current() == .known([BondBench.bond(BondBench.meter)]))
            try await bench.keeper.unpair(BondBench.bond(BondBench.meter))
            #expect(await bench.bonds { $0 == .known([]) } == .known([]))
        }
    }

    @Test func withoutABusThereIsNoKeeper() async throws {
        let loop = try RadioLoop(clock: DrivenClock(wall: DrivenClock.morning))
        let keeper = BlueZBondKeeper(
            loop: loop, clock: DrivenClock(wall: DrivenClock.morning),
            connector: KernelConnector(loop: loop, sockets: LinkSockets(nil), isBonded: { _ in true }),
            known: KnownBonds(), address: .bus("unix:path=/nonexistent"), hangUp: { _, _ in })
        let following = Task { await keeper.run() }
        await #expect(throws: PairingError.noKeeper) {
            _ = try await keeper.pair(
                BondBench.cuff, on: AdapterID(index: 0), keepsLink: false, responder: Person())
        }
        await #expect(throws: PairingError.noKeeper) {
            try await keeper.unpair(BondBench.bond(BondBench.cuff))
        }
        following.cancel()
    }
}
