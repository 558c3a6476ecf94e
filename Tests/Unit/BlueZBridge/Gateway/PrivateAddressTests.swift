import PeripheralSimulator
import Testing

@testable import IngestBluetooth
@testable import IngestCore
@testable import IngestOperator
@testable import IngestQueue
@testable import IngestReading
@testable import IngestRecords

/// Pairing with a cuff that sends under a private address to all but its bonded gateway.
@Suite(.timeLimit(.minutes(15)))
struct PrivateAddressTests {
    static let identity = DeviceAddress(RadioBench.pinned, .random)
    /// 01 in the two top bits: resolvable private.
    static let hidden = DeviceAddress(BluetoothAddress(value: 0x4000_0000_0001), .random)

    /// Runs the gateway on the cuff, from when the bonds are known.
    private static func run(
        as identity: DeviceAddress = identity, entry: GatewayBench.Entry = .init(),
        _ body: (GatewayBench) async throws -> Void
    ) async throws {
        let setup = GatewayBench.Setup(
            peripheral: { loop, _ in
                SimulatedPeripheral(
                    device: hidden, advert: .cuffAdvert, services: SimulatedService.cuff(serial: "B-1"),
                    readings: (0..<2).map { number in
                        .bloodPressure(systolic: 120 + number, diastolic: 82, mean: 97, pulse: 71)
                    },
                    rhythm: .init(patience: nil), bonding: SimulatedBonding(identity: identity), loop: loop,
                    time: { GatewayBench.deviceTime })
            }, profile: "blood-pressure", service: 0x1810, entry: entry, bonding: .required)
        try await GatewayBench.run(setup) { bench in
            await bench.clock.advance(by: GatewayBench.settling, bench.loop)
            try await body(bench)
        }
    }

    @Test func deviceOfAModelIsKnownByItsIdentityOnceItIsPaired() async throws {
        try await Self.run(entry: .init(address: nil)) { bench in
            let steps = try await bench.pair()
            #expect(steps.last?.address == RadioBench.pinned)
            #expect(steps.last?.entry == "- {id: 1, address: \"C0:00:00:00:00:01\", require_bond: true}")
            try await bench.advance(until: "disconnected")
            #expect(bench.noted.committed.all.map(\.device.address) == [RadioBench.pinned])
        }
    }

    @Test(arguments: [PairingTarget.model(1), .device(RadioBench.pinned)])
    func deviceThatItsEntryNamesIsPairedAnewWhenItsBondIsGone(target: PairingTarget) async throws {
        try await Self.run { bench in
            _ = try await bench.pair(target)
            try await bench.advance(until: "disconnected")
            while await bench.orders.isUnderWay { try await bench.spend(.milliseconds(250)) }
            _ = try await bench.orders.unpair(.device(RadioBench.pinned))
            await bench.peripheral.forgetBonds()
            // Nobody knows it now, and nothing leads to a link.
            await bench.peripheral.wakeUp()
            try await bench.spend(GatewayBench.longPause)
            #expect(await bench.links() == 1)
            await bench.peripheral.changeBonding { $0.isInPairingMode = true }
            let steps = try await bench.pair(target)
            #expect(steps.last?.step == .paired)
            #expect(steps.last?.address == RadioBench.pinned)
            #expect(steps.last?.entry == nil)
            try await bench.advance(until: "disconnected", times: 2)
            let addresses = bench.noted.committed.all.map(\.device.address)
            #expect(addresses == [RadioBench.pinned, RadioBench.pinned])
        }
    }

    /// None of its adverts can be told from a stranger's then.
    @Test func bondThatTheBoxHasLostIsToldThoughTheDeviceIsNotHeardAnyMore() async throws {
        try await Self.run { bench in
            _ = try await bench.pair()
            try await bench.advance(until: "disconnected")
            while await bench.orders.isUnderWay { try await bench.spend(.milliseconds(250)) }
            try await bench.spend(GatewayBench.settling)
            #expect(bench.count(of: "bond-lost") == 0)
            bench.keeper.forget(Bond(device: Self.identity, adapter: RadioBench.address))
            try await bench.advance(until: "bond-lost")
            await bench.peripheral.wakeUp()
            try await bench.spend(.seconds(60))
            #expect(
                bench.errors(of: "bond-lost") == [
                    "this gateway has no bond with it any more: put it into pairing mode and run ingestd pair 1"
                ])
            // What the operator removes is not lost.
            await bench.peripheral.forgetBonds()
            await bench.peripheral.changeBonding { $0.isInPairingMode = true }
            #expect(try await bench.pair().last?.step == .paired)
            while await bench.orders.isUnderWay { try await bench.spend(.milliseconds(250)) }
            // It waits for the read after the pairing, which needs time.
            let removed = Notes<Bool>()
            let removal = Task {
                _ = try await bench.orders.unpair(.device(RadioBench.pinned))
                removed.add(true)
            }
            while removed.all.isEmpty { try await bench.spend(.milliseconds(250)) }
            try await removal.value
            try await bench.spend(.seconds(60))
            #expect(bench.count(of: "bond-lost") == 1)
        }
    }

    @Test func anotherDeviceThatWasTakenForItIsNotKept() async throws {
        let other = DeviceAddress(BluetoothAddress(value: 0xC000_0000_0002), .random)
        try await Self.run(as: other) { bench in
            let steps = try await bench.pair(.device(RadioBench.pinned))
            #expect(steps.last?.reason == .otherDevice)
            let error = try #require(bench.errors(of: "pair-failed").first)
            #expect(error.hasPrefix("another device was in pairing mode"))
            #expect(bench.count(of: "paired") == 0)
            #expect(bench.keeper.all.isEmpty)
            #expect(try await bench.store.devices.recall(other) == nil)
            #expect(await bench.links() == 0)
        }
    }

    @Test func whoIsNotInPairingModeIsNotTakenForIt() async throws {
        try await Self.run { bench in
            await bench.peripheral.changeBonding { $0.isInPairingMode = false }
            let steps = try await bench.pair()
            #expect(steps.map(\.step) == [.instructions, .waiting, .failed])
            #expect(steps.last?.reason == .notHeard)
        }
    }
}
