import PeripheralSimulator
import Testing

@testable import IngestBluetooth
@testable import IngestCore
@testable import IngestOperator
@testable import IngestProfiles
@testable import IngestQueue
@testable import IngestReading
@testable import IngestRecords
@testable import IngestStorage
@testable import TestSupport

/// What bonds change of passive reading, through the whole gateway.
@Suite(.timeLimit(.minutes(15)))
struct BondedReadingTests {
    @Test func deviceThatMustBeBondedAndIsNotIsNotConnectedToAndToldOnce() async throws {
        let bonding = SimulatedBonding(isInPairingMode: false)
        try await GatewayBench.run(bonding, entry: .init(requiresBond: true)) { bench in
            await bench.peripheral.wakeUp()
            try await bench.advance(until: "read-failed")
            try await bench.spend(.seconds(120))
            #expect(
                bench.errors(of: "read-failed") == [
                    "its entry wants a bond, and there is none: put it into pairing mode and run ingestd pair 1"
                ])
            #expect(await bench.links() == 0)
            await bench.peripheral.changeBonding { $0.isInPairingMode = true }
            _ = try await bench.pair()
            try await bench.advance(until: "disconnected")
            #expect(bench.kinds() == [.bloodPressure: 1])
            #expect(bench.count(of: "read-failed") == 1)
        }
    }

    @Test func modelThatWantsABondSaysSoWhenItIsReadWithout() async throws {
        try await GatewayBench.run(SimulatedBonding(isInPairingMode: false)) { bench in
            await bench.peripheral.wakeUp()
            await bench.told("read-failed")
            #expect(
                bench.errors(of: "read-failed") == [
                    "the peripheral wants an encrypted link, and there is no valid bond; this model gives its "
                        + "readings to a bonded gateway only: put it into pairing mode and run ingestd pair 1"
                ])
            let known = try #require(await bench.gateway.knownPeripherals().first)
            #expect(known.status.state == .bondMissing)
            #expect(known.status.failures == 1)
        }
    }

    /// As after a restart, while it sleeps.
    @Test func entryThatWantsABondIsSaidToMissItBeforeItIsHeard() async throws {
        let bonding = SimulatedBonding(isInPairingMode: false)
        try await GatewayBench.run(bonding, entry: .init(requiresBond: true)) { bench in
            // A list of bonds is believed after ten seconds.
            try await bench.spend(.seconds(30))
            let known = try #require(await bench.gateway.knownPeripherals().first)
            #expect(known.status.lastSeen == nil)
            #expect(known.status.isBonded == false)
            #expect(known.status.state == .bondMissing)
            #expect(known.devices.contains(bench.peripheral.device))
        }
    }

    /// Pairs, has the first reading read, and lets the cuff be silent.
    private static func afterItsFirstReading(
        entry: GatewayBench.Entry = .init(), _ body: (GatewayBench) async throws -> Void
    ) async throws {
        try await GatewayBench.run(SimulatedBonding(), entry: entry, readings: 2) { bench in
            _ = try await bench.pair()
            try await bench.advance(until: "disconnected")
            await bench.pause()
            try await body(bench)
        }
    }

    /// As one that was made with another program: no pairing has noted it.
    @Test func bondThatWasMadeElsewhereIsRememberedWithTheFirstEncryptedLink() async throws {
        try await Self.afterItsFirstReading { bench in
            let device = bench.peripheral.device
            var memory = try #require(try await bench.store.devices.recall(device))
            memory.bondedAdapter = nil
            // Anybody may have shown these under the cuff's address before it had a bond.
            memory.storedRecords = StoredRecordsMemory()
            memory.layout.databaseHash = "00"
            try await bench.store.devices.remember(memory, of: device)
            try await bench.readOnce()
            let after = try await bench.store.devices.recall(device)
            #expect(after?.bondedAdapter == RadioBench.address)
            #expect(after?.storedRecords == nil)
            #expect(after?.layout.databaseHash != "00")
        }
    }

    @Test func pairingAsksAnewForWhatWasRefusedBefore() async throws {
        try await GatewayBench.run(SimulatedBonding(), readings: 2) { bench in
            let device = bench.peripheral.device
            var memory = DeviceMemory()
            memory.hasDeviceInformation = true
            memory.hasSoughtClock = true
            try await bench.store.devices.remember(memory, of: device)
            await bench.peripheral.show(SimulatedClock(0x2A08, in: 0x1810, lead: 7_200))
            _ = try await bench.pair()
            try await bench.advance(until: "disconnected")
            let record = try #require(bench.noted.releases.all.flatMap(\.records).first)
            #expect(record.device.serial == GatewayBench.serial)
            #expect(record.time.clockOffsetSeconds != nil)
        }
    }

    @Test func bondThatTheBoxHasLostIsToldOnceAndNothingIsTried() async throws {
        try await Self.afterItsFirstReading { bench in
            bench.keeper.forget(bench.bond)
            while await bench.gateway.bonds.all != [] { try await bench.spend(.milliseconds(250)) }
            await bench.peripheral.wakeUp()
            try await bench.advance(until: "bond-lost")
            try await bench.spend(.seconds(120))
            #expect(
                bench.errors(of: "bond-lost") == [
                    "this gateway has no bond with it any more: put it into pairing mode and run ingestd pair 1"
                ])
            #expect(await bench.links() == 1)
            #expect(bench.count(of: "read-failed") == 0)
            await bench.peripheral.changeBonding { $0.isInPairingMode = true }
            _ = try await bench.pair()
            try await bench.advance(until: "disconnected", times: 2)
            #expect(bench.kinds() == [.bloodPressure: 2])
            #expect(bench.count(of: "bond-lost") == 1)
        }
    }

    @Test func bondThatTheDeviceHasLostIsToldOnceAndTriedRarely() async throws {
        try await Self.afterItsFirstReading { bench in
            await bench.peripheral.forgetBonds()
            await bench.peripheral.wakeUp()
            try await bench.advance(until: "bond-lost")
            let told = bench.clock.now
            // It has its keys again, as an impostor's victim would: what works goes on in silence.
            let adapter = RadioBench.address
            await bench.peripheral.restoreKeys(of: adapter)
            try await bench.advance(by: .seconds(1), until: "connected", times: 2)
            #expect(bench.clock.now.since(told) >= .seconds(900))
            #expect(bench.clock.now.since(told) < .seconds(910))
            try await bench.advance(until: "disconnected", times: 2)
            #expect(bench.kinds() == [.bloodPressure: 2])
            #expect(bench.count(of: "bond-lost") == 1)
            #expect(bench.count(of: "read-failed") == 0)
        }
    }

    @Test func bondedDeviceIsReadEncryptedWithoutBluetoothd() async throws {
        try await Self.afterItsFirstReading { bench in
            bench.keeper.setPresent(false)
            while await bench.gateway.bonds.all != nil { try await bench.spend(.milliseconds(250)) }
            try await bench.readOnce()
            #expect(bench.kinds() == [.bloodPressure: 2])
            #expect(bench.count(of: "bond-lost") == 0)
        }
    }

    @Test func impostorWithoutKeysIsNotReadWhateverTheEntrySays() async throws {
        try await Self.afterItsFirstReading { bench in
            await bench.peripheral.forgetBonds()
            // It gives its readings to anybody.
            await bench.peripheral.changeBonding { $0.isRequired = false }
            await bench.peripheral.wakeUp()
            try await bench.advance(until: "bond-lost")
            try await bench.spend(.seconds(60))
            #expect(bench.kinds() == [.bloodPressure: 1])
        }
    }

    @Test(arguments: [true, false])
    func deviceWhoseAdapterIsGoneForGoodIsPairedWithAnother(isUnpairedBefore: Bool) async throws {
        try await GatewayBench.run(SimulatedBonding()) { bench in
            let device = bench.peripheral.device
            var memory = DeviceMemory()
            memory.bondedAdapter = BluetoothAddress(value: 0x0A_0B_0C_00_00_99)
            try await bench.store.devices.remember(memory, of: device)
            await bench.peripheral.wakeUp()
            try await bench.advance(until: "read-failed")
            #expect(
                bench.errors(of: "read-failed") == [
                    "its bond belongs to an adapter that is not there: plug that one in, or pair it with "
                        + "another: put it into pairing mode and run ingestd pair 1"
                ])
            #expect(await bench.links() == 0)
            if isUnpairedBefore {
                #expect(try await bench.orders.unpair(.model(1)) == [RadioBench.pinned])
            }
            _ = try await bench.pair()
            try await bench.advance(until: "disconnected")
            #expect(bench.kinds() == [.bloodPressure: 1])
            #expect(try await bench.store.devices.recall(device)?.bondedAdapter == RadioBench.address)
        }
    }

    // MARK: Automatic pairing

    @Test func deviceThatMayBeIsPairedByItself() async throws {
        let bonding = SimulatedBonding(.passkey(123_456))
        let entry = GatewayBench.Entry(pairing: .auto, passkey: "cuff")
        try await GatewayBench.run(bonding, entry: entry) { bench in
            await bench.peripheral.wakeUp()
            try await bench.advance(until: "disconnected")
            #expect(bench.count(of: "paired") == 1)
            #expect(bench.kinds() == [.bloodPressure: 1])
            #expect(bench.count(of: "read-failed") == 0)
            #expect(bench.keeper.all == [bench.bond])
        }
    }

    @Test func automaticPairingThatFailsBacksOff() async throws {
        let entry = GatewayBench.Entry(requiresBond: true, pairing: .auto)
        try await GatewayBench.run(SimulatedBonding(.passkey(1)), entry: entry) { bench in
            await bench.peripheral.wakeUp()
            try await bench.advance(until: "pair-failed")
            try await bench.spend(.seconds(55))
            #expect(bench.count(of: "pair-failed") == 1)
            try await bench.advance(until: "pair-failed", times: 2)
            try await bench.spend(.seconds(110))
            #expect(bench.errors(of: "pair-failed").count == 2)
            #expect(await bench.links() == 0)
            #expect(bench.count(of: "read-failed") == 0)
        }
    }

    /// As one that always says that it is in pairing mode.
    @Test func deviceThatCannotBePairedIsReadBetweenTheAttempts() async throws {
        let entry = GatewayBench.Entry(pairing: .auto)
        let bonding = SimulatedBonding(.passkey(1), isRequired: false)
        try await GatewayBench.run(bonding, entry: entry, readings: 2) { bench in
            await bench.peripheral.wakeUp()
            try await bench.advance(until: "pair-failed")
            #expect(bench.noted.committed.all.isEmpty)
            try await bench.advance(until: "disconnected")
            #expect(bench.kinds() == [.bloodPressure: 1])
            #expect(bench.count(of: "pair-failed") == 1)
            // It is tried again in its time, and read after that.
            try await bench.spend(.seconds(60))
            await bench.peripheral.wakeUp()
            try await bench.advance(until: "disconnected", times: 2)
            #expect(bench.kinds() == [.bloodPressure: 2])
            #expect(bench.count(of: "pair-failed") == 2)
        }
    }

    /// Each try would show an impostor more of a passkey that stays the same.
    @Test func aPasskeyIsGivenOnceWithoutAnOperator() async throws {
        let entry = GatewayBench.Entry(requiresBond: true, pairing: .auto, passkey: "cuff")
        try await GatewayBench.run(SimulatedBonding(.passkey(1)), entry: entry, readings: 2) { bench in
            await bench.peripheral.wakeUp()
            try await bench.advance(until: "pair-failed")
            #expect(
                bench.errors(of: "pair-failed") == [
                    "the passkey is wrong, or the numbers differ; it is not paired automatically again: "
                        + "run ingestd pair 1"
                ])
            #expect(try await bench.store.devices.spentPairings() == ["C0:00:00:00:00:01"])
            try await bench.spend(.seconds(300))
            #expect(bench.count(of: "pair-failed") == 1)
            // What an entry wants and there is not is told, as of any other device.
            #expect(bench.count(of: "read-failed") == 1)
            #expect(await bench.links() == 0)
            // An operator's pairing gives it another one.
            await bench.peripheral.changeBonding { $0.method = .passkey(123_456) }
            #expect(try await bench.pair().last?.step == .paired)
            #expect(try await bench.store.devices.spentPairings().isEmpty)
        }
    }

    @Test func aPasskeyThatWasGivenStaysSpentAfterAStart() async throws {
        let entry = GatewayBench.Entry(requiresBond: true, pairing: .auto, passkey: "cuff")
        let spend = { (setup: inout GatewayBench.Setup) in
            setup.spentPairings = ["C0:00:00:00:00:01"]
        }
        try await GatewayBench.run(
            SimulatedBonding(.passkey(123_456)), entry: entry, change: spend
        ) { bench in
            await bench.peripheral.wakeUp()
            try await bench.advance(until: "read-failed")
            try await bench.spend(.seconds(120))
            #expect(bench.keeper.all.isEmpty)
            #expect(bench.count(of: "pair-failed") == 0)
        }
    }

    /// As one that claims to have neither a display nor keys.
    @Test func aDeviceThatDoesNotAskForThePasskeyIsNotPairedByItself() async throws {
        let entry = GatewayBench.Entry(requiresBond: true, pairing: .auto, passkey: "cuff")
        try await GatewayBench.run(SimulatedBonding(.justWorks), entry: entry) { bench in
            await bench.peripheral.wakeUp()
            try await bench.advance(until: "pair-failed")
            let error = try #require(bench.errors(of: "pair-failed").first)
            #expect(error.hasPrefix("a device was bonded without the passkey of its entry"))
            #expect(bench.keeper.all.isEmpty)
            #expect(bench.count(of: "paired") == 0)
            #expect(await bench.links() == 0)
        }
    }

    /// Anybody can claim to be of a model and in pairing mode, under any address.
    @Test(arguments: [31, 32])
    func strangersAreNotPairedWithoutEnd(bonds: UInt64) async throws {
        let entry = GatewayBench.Entry(address: nil, requiresBond: true, pairing: .auto)
        try await GatewayBench.run(SimulatedBonding(), entry: entry) { bench in
            for number in 0..<bonds {
                let device = DeviceAddress(BluetoothAddress(value: 0xD000_0000_0000 + number), .random)
                await bench.gateway.paired(Bond(device: device, adapter: RadioBench.address))
            }
            await bench.peripheral.wakeUp()
            try await bench.spend(.seconds(30))
            #expect(bench.count(of: "paired") == (bonds < 32 ? 1 : 0))
        }
    }

    /// As one that always says that it is in pairing mode.
    @Test func aBondThatTheDeviceTakesStaysThoughNoPasskeyIsAskedFor() async throws {
        let bonding = SimulatedBonding(.passkey(123_456))
        try await GatewayBench.run(bonding, entry: .init(passkey: "cuff")) { bench in
            let first = try await bench.pair()
            #expect(first.last?.step == .paired)
            while await bench.orders.isUnderWay { try await bench.spend(.milliseconds(250)) }
            await bench.peripheral.changeBonding { $0.isInPairingMode = true }
            let second = try await bench.pair(.device(RadioBench.pinned))
            #expect(second.last?.step == .paired)
            #expect(bench.keeper.all == [bench.bond])
        }
    }

    @Test func aDeviceThatDoesNotAskForThePasskeyIsNotKeptForAnOperatorEither() async throws {
        try await GatewayBench.run(SimulatedBonding(.justWorks), entry: .init(passkey: "cuff")) { bench in
            let steps = try await bench.pair()
            #expect(steps.last?.reason == .passkeyNotAsked)
            #expect(bench.keeper.all.isEmpty)
            #expect(bench.count(of: "paired") == 0)
        }
    }

    /// Before there was a bond, anybody may have given it under the device's address.
    @Test(arguments: [nil, RadioBench.address])
    func whatWasToldOfTheReadingsCountsAfterAPairingIfItCameOverABond(
        earlier: BluetoothAddress?
    ) async throws {
        // Without a reading nothing else changes what is remembered.
        try await GatewayBench.run(SimulatedBonding(), readings: 0) { bench in
            let device = DeviceAddress(RadioBench.pinned, .random)
            var memory = DeviceMemory()
            memory.bondedAdapter = earlier
            memory.storedRecords = StoredRecordsMemory()
            memory.dates = DeviceDates()
            memory.unpaired = []
            memory.serial = "B-1"
            try await bench.store.devices.remember(memory, of: device)
            _ = try await bench.pair()
            let after = try #require(try await bench.store.devices.recall(device))
            #expect(after.bondedAdapter == RadioBench.address)
            #expect((after.storedRecords == nil) == (earlier == nil))
            #expect((after.dates == nil) == (earlier == nil))
            #expect((after.unpaired == nil) == (earlier == nil))
        }
    }

    @Test func nobodyIsPairedWithoutBeingAskedWhereTheEntryDoesNotSaySo() async throws {
        try await GatewayBench.run(SimulatedBonding()) { bench in
            await bench.peripheral.wakeUp()
            await bench.told("read-failed")
            try await bench.spend(.seconds(30))
            #expect(bench.keeper.all.isEmpty)
        }
    }
}
