import BlueZBridge
import PeripheralSimulator
import Synchronization
import Testing

@testable import IngestCore
@testable import IngestOperator
@testable import IngestQueue
@testable import IngestReading
@testable import IngestRecords
@testable import IngestStorage

/// Devices without an address in the allow-list for whose readings the queue has no room.
@Suite(.timeLimit(.minutes(15)))
struct StrangerTests {
    private static var setup: GatewayBench.Setup {
        GatewayBench.Setup(
            peripheral: { loop, _ in
                SimulatedPeripheral(
                    device: DeviceAddress(RadioBench.pinned, .random), advert: .thermometerAdvert,
                    services: SimulatedService.thermometer(serial: GatewayBench.serial),
                    readings: [GatewayBench.Kind.datedThermometer.reading], loop: loop,
                    time: { GatewayBench.deviceTime })
            }, profile: "thermometer", service: 0x1809, entry: .init(address: nil))
    }

    /// In bytes: less than a record, or more than some.
    private static func limit(_ store: SQLiteQueue, to bytes: UInt64) {
        store.room.strangers.withLock { $0.share = StrangerShare(maximumSize: 80 * bytes) }
    }

    @Test func aReadingWithoutRoomIsNotConfirmedAndNotToldOfAndComesLater() async throws {
        try await GatewayBench.run(Self.setup) { bench in
            Self.limit(bench.store, to: 100)
            await bench.readUntilDropped()
            #expect(await bench.radio.report().confirmed == 0)
            #expect(bench.kinds().isEmpty)
            #expect(try await bench.outbox().isEmpty)
            #expect(bench.count(of: "read-failed") == 0)
            #expect(bench.count(of: "store-error") == 0)
            // From now on it is not connected to, however long it advertises.
            await bench.gateway.setFullStrangers(FullStrangers(isAll: true))
            let links = bench.count(of: "connected")
            await bench.pause()
            await bench.peripheral.wakeUp()
            await bench.pause(.seconds(5))
            #expect(bench.count(of: "connected") == links)
            Self.limit(bench.store, to: 100_000)
            bench.store.room.strangers.withLock {
                $0.admit("")
                $0.admit(RadioBench.pinned.description)
            }
            await bench.gateway.setFullStrangers(FullStrangers())
            try await bench.advance(until: "disconnected", times: links + 1)
            #expect(bench.kinds() == [.bodyTemperature: 1])
            #expect(await bench.radio.report().confirmed == 1)
        }
    }

    @Test func aPinnedDeviceIsReadWhateverStrangersHold() async throws {
        try await GatewayBench.run(.datedThermometer) { bench in
            Self.limit(bench.store, to: 0)
            await bench.gateway.setFullStrangers(FullStrangers(isAll: true, devices: [RadioBench.pinned]))
            try await bench.readOnce()
            #expect(bench.kinds() == [.bodyTemperature: 1])
            #expect(await bench.radio.report().confirmed == 1)
        }
    }

    /// What a meter gives is committed in parts that fit; what came before there was no more room stays.
    @Test func aMemoryIsTakenAsFarAsThereIsRoom() async throws {
        let meter = StoredRecordsTests.meter(100)
        let setup = GatewayBench.Setup(
            peripheral: { loop, _ in
                SimulatedPeripheral(
                    device: DeviceAddress(RadioBench.pinned, .random), sensor: meter, loop: loop,
                    time: { GatewayBench.deviceTime })
            }, profile: "glucose", service: 0x1808, entry: .init(address: nil))
        try await GatewayBench.run(setup) { bench in
            Self.limit(bench.store, to: 100_000)
            await bench.readUntilDropped()
            let count = try #require(bench.kinds()[.glucose])
            #expect(count > 20 && count < 100)
            #expect(bench.count(of: "read-failed") == 0)
            #expect(bench.noted.groups.all.allSatisfy { $0 <= 20 })
            Self.limit(bench.store, to: 1_000_000)
            bench.store.room.strangers.withLock {
                $0.admit("")
                $0.admit(RadioBench.pinned.description)
            }
            try await bench.readAgain()
            #expect(bench.kinds() == [.glucose: 100])
        }
    }

    /// That one device has no room is nothing to the others that broadcast.
    @Test func aBroadcasterWithoutRoomHoldsUpNoOther() async throws {
        let unpinned = BroadcastBench.entry("bthome", isPinned: false)
        try await BroadcastBench.run(unpinned) { bench in
            let device = BroadcastBench.device.address
            bench.store.room.strangers.withLock { $0.refuse(device.description, needs: 1) }
            // The device that marks the moment is read at once.
            await bench.send(SimulatedServiceData.bthome([0x01, 61]))
            #expect(bench.records.isEmpty)
            #expect(bench.count(of: "store-error") == 0)
            #expect(bench.count(of: "decode-error") == 0)
            bench.store.room.strangers.withLock { $0.admit(device.description) }
            await bench.send(SimulatedServiceData.bthome([0x01, 61]))
            #expect(bench.records.count == 1)
            await bench.gateway.setFullStrangers(FullStrangers(devices: [device]))
            await bench.send(SimulatedServiceData.bthome([0x01, 62]))
            #expect(bench.records.count == 1)
            await bench.gateway.setFullStrangers(FullStrangers())
            await bench.send(SimulatedServiceData.bthome([0x01, 62]))
            #expect(bench.records.count == 2)
        }
    }
}
