import PeripheralSimulator
import Testing

@testable import IngestOperator
@testable import IngestReading
@testable import IngestRecords
@testable import TestSupport

/// Somebody who advertises under the 48 bits of the patient's cuff with the other address type.
@Suite(.timeLimit(.minutes(15)))
struct OtherAddressTypeTests {
    static let cuff = DeviceAddress(RadioBench.pinned, .random)
    static let impostor = DeviceAddress(RadioBench.pinned, .public)
    /// 01 in the two top bits: resolvable private.
    static let hidden = DeviceAddress(BluetoothAddress(value: 0x4000_0000_0001), .random)

    /// Runs the gateway on the cuff and on an impostor that gives readings of 199 mm[Hg] to anybody.
    private static func run(
        _ bonding: SimulatedBonding = SimulatedBonding(isInPairingMode: true),
        impostor: DeviceAddress = impostor, impostorsBonding: SimulatedBonding? = nil,
        entry: GatewayBench.Entry = .init(), _ body: (GatewayBench, SimulatedPeripheral) async throws -> Void
    ) async throws {
        let addImpostor = { (setup: inout GatewayBench.Setup) in
            setup.other = { loop, _ in
                SimulatedPeripheral(
                    device: impostor, advert: .cuffAdvert, services: SimulatedService.cuff(serial: "X"),
                    readings: (0..<3).map { _ in
                        .bloodPressure(systolic: 199, diastolic: 99, mean: 133, pulse: 90)
                    },
                    rhythm: .init(patience: nil, linger: .seconds(3)), bonding: impostorsBonding, loop: loop,
                    time: { GatewayBench.deviceTime })
            }
        }
        try await GatewayBench.run(
            bonding, entry: entry, readings: 2, change: addImpostor
        ) { bench in
            try await body(bench, try #require(bench.other))
        }
    }

    @Test(arguments: [true, false])
    func aDeviceOfTheOtherAddressTypeIsRefusedAndToldOfOnce(requiresBond: Bool) async throws {
        try await Self.run(entry: .init(requiresBond: requiresBond)) { bench, impostor in
            _ = try await bench.pair()
            try await bench.advance(until: "disconnected")
            await bench.pause()
            #expect(bench.kinds() == [.bloodPressure: 1])
            await impostor.wakeUp()
            try await bench.advance(until: "bond-lost")
            try await bench.spend(.seconds(120))
            #expect(await impostor.traces.isEmpty)
            #expect(bench.kinds() == [.bloodPressure: 1])
            #expect(bench.count(of: "bond-lost") == 1)
            let error = try #require(bench.errors(of: "bond-lost").first)
            #expect(error.hasPrefix("another device uses its address with the other address type"))
            // The cuff itself is read as ever.
            try await bench.readOnce()
            #expect(bench.kinds() == [.bloodPressure: 2])
            #expect(await impostor.traces.isEmpty)
        }
    }

    /// By the gateway's own memory, whoever keeps the bonds.
    @Test(arguments: [true, false])
    func aBondThatIsOnlyRememberedRefusesTheOtherTypeToo(isKeeperPresent: Bool) async throws {
        try await Self.run { bench, impostor in
            _ = try await bench.pair()
            try await bench.advance(until: "disconnected")
            await bench.pause()
            if isKeeperPresent {
                bench.keeper.forget(bench.bond)
                while await bench.gateway.bonds.all != [] { try await bench.spend(.milliseconds(250)) }
            } else {
                bench.keeper.setPresent(false)
                while await bench.gateway.bonds.all != nil { try await bench.spend(.milliseconds(250)) }
            }
            let told = bench.count(of: "bond-lost")
            await impostor.wakeUp()
            try await bench.advance(until: "bond-lost", times: told + 1)
            try await bench.spend(.seconds(60))
            #expect(await impostor.traces.isEmpty)
            #expect(bench.kinds() == [.bloodPressure: 1])
        }
    }

    @Test func theOtherTypeIsNeverPairedByItself() async throws {
        let entry = GatewayBench.Entry(pairing: .auto)
        try await Self.run(
            impostorsBonding: SimulatedBonding(isInPairingMode: true), entry: entry
        ) { bench, impostor in
            await bench.peripheral.wakeUp()
            try await bench.advance(until: "disconnected")
            await bench.pause()
            #expect(bench.count(of: "paired") == 1)
            await impostor.wakeUp()
            try await bench.advance(until: "bond-lost")
            try await bench.spend(.seconds(120))
            #expect(bench.count(of: "paired") == 1)
            #expect(bench.keeper.all == [bench.bond])
            #expect(bench.kinds() == [.bloodPressure: 1])
        }
    }

    @Test func anOperatorsPairingDoesNotTakeTheOtherTypeEither() async throws {
        try await Self.run(impostorsBonding: SimulatedBonding(isInPairingMode: true)) { bench, impostor in
            _ = try await bench.pair()
            try await bench.advance(until: "disconnected")
            await bench.pause()
            await impostor.wakeUp()
            let steps = try await bench.pair(.device(RadioBench.pinned), wakesUp: false)
            #expect(steps.last?.reason == .notHeard)
            #expect(bench.keeper.all == [bench.bond])
        }
    }

    /// The identity comes with the keys, and is whatever the sender writes.
    @Test func anIdentityOfTheOtherTypeThatComesWithTheKeysIsNotKept() async throws {
        let claiming = SimulatedBonding(isInPairingMode: true, identity: Self.impostor)
        try await Self.run(impostor: Self.hidden, impostorsBonding: claiming) { bench, impostor in
            _ = try await bench.pair()
            try await bench.advance(until: "disconnected")
            await bench.pause()
            await impostor.wakeUp()
            let steps = try await bench.pair(wakesUp: false)
            #expect(steps.last?.reason == .otherDevice)
            #expect(bench.keeper.all == [bench.bond])
            #expect(bench.count(of: "paired") == 1)
        }
    }

    /// As bluetoothd and the kernel take it: the keys that it gives replace those of whoever has the identity.
    @Test func whoGivesTheIdentityOfABondedDeviceIsNotReadAsThatDevice() async throws {
        var claiming = SimulatedBonding(isInPairingMode: true, identity: Self.cuff)
        claiming.claimsIdentity = true
        try await Self.run(impostor: Self.hidden, impostorsBonding: claiming) { bench, impostor in
            _ = try await bench.pair()
            try await bench.advance(until: "disconnected")
            await bench.pause()
            await impostor.wakeUp()
            let steps = try await bench.pair(wakesUp: false)
            #expect(steps.last?.reason == .otherDevice)
            // The cuff's own keys are gone, and those that took their place are not kept.
            #expect(bench.keeper.all.isEmpty)
            try await bench.advance(until: "bond-lost")
            try await bench.spend(.seconds(120))
            #expect(bench.kinds() == [.bloodPressure: 1])
            #expect(bench.count(of: "paired") == 1)
        }
    }

    @Test(arguments: [false, true])
    func nobodyIsPairedUnderAPrivateAddressWithoutAnOperator(isPinned: Bool) async throws {
        var claiming = SimulatedBonding(isInPairingMode: true, identity: Self.cuff)
        claiming.claimsIdentity = true
        let entry = GatewayBench.Entry(
            address: isPinned ? RadioBench.pinned : nil, requiresBond: true, pairing: .auto)
        try await Self.run(
            impostor: Self.hidden, impostorsBonding: claiming, entry: entry
        ) { bench, impostor in
            await impostor.wakeUp()
            try await bench.spend(.seconds(120))
            #expect(await impostor.traces.isEmpty)
            #expect(bench.count(of: "paired") == 0)
            #expect(bench.keeper.all.isEmpty)
        }
    }

    @Test func withoutABondBothTypesAreReadAsTheyAre() async throws {
        try await Self.run(
            SimulatedBonding(isRequired: false, isInPairingMode: false)
        ) { bench, impostor in
            await impostor.wakeUp()
            try await bench.advance(until: "disconnected")
            #expect(bench.kinds() == [.bloodPressure: 1])
            #expect(bench.count(of: "bond-lost") == 0)
        }
    }

    @Test func unpairingAllowsTheOtherTypeAgain() async throws {
        try await Self.run { bench, impostor in
            _ = try await bench.pair()
            try await bench.advance(until: "disconnected")
            await bench.pause()
            await impostor.wakeUp()
            try await bench.advance(until: "bond-lost")
            try await bench.spend(GatewayBench.longPause)
            #expect(try await bench.orders.unpair(.device(RadioBench.pinned)) == [RadioBench.pinned])
            #expect(await bench.gateway.bonds.admits(Self.impostor, at: bench.clock.now))
            #expect(await !bench.gateway.bonds.isShadowed(Self.impostor))
        }
    }
}
