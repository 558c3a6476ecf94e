import BlueZBridge
import PeripheralSimulator
import QueueTestSupport
import Synchronization
import Testing

@testable import IngestOperator
@testable import IngestQueue
@testable import IngestReading

/// The whole way of a broadcast, from the simulated kernel to the queue.
@Suite(.timeLimit(.minutes(15)))
struct BroadcastTests {
    private typealias Data = SimulatedServiceData

    /// A temperature in 0.01 °C.
    private static func temperature(_ value: Int16) -> [UInt8] {
        let bits = UInt16(bitPattern: value)
        return [0x02, UInt8(bits & 0xFF), UInt8(bits >> 8)]
    }

    private static func encrypted(_ value: Int16, counter: UInt32) -> [UInt8] {
        Data.bthome(
            temperature(value), key: BroadcastBench.key, device: BroadcastBench.device, counter: counter)
    }

    @Test func aValueIsReadOnceAndAgainWhenItChanges() async throws {
        try await BroadcastBench.run(BroadcastBench.entry("bthome", subject: "patient-1")) { bench in
            await bench.send(Data.bthome(Self.temperature(2506)), times: 5)
            await bench.pass(.seconds(600))
            await bench.send(Data.bthome(Self.temperature(2506)), times: 5)
            await bench.send(Data.bthome(Self.temperature(2507)))
            await bench.send(Data.bthome(Self.temperature(2506)))
            #expect(
                bench.values == [
                    ["temperature 25.06 Cel"], ["temperature 25.07 Cel"], ["temperature 25.06 Cel"],
                ])
            let record = try #require(bench.records.first)
            #expect(record.kind == .bthome)
            #expect(
                record.raw == RawPayload(characteristic: nil, bytes: [0xD2, 0xFC, 0x40, 0x02, 0xCA, 0x09]))
            #expect(record.subject == "patient-1")
            #expect(record.time.source == .received)
            #expect(bench.count(of: "connected") == 0)
            #expect(bench.count(of: "read-failed") == 0)
            let entries = try await bench.store.outbox.outboxEntries(limit: 1_000).map(\.entry.name)
            #expect(Set(entries) == ["read"])
        }
    }

    @Test func itsStatusSaysWhenItWasHeard() async throws {
        try await BroadcastBench.run(BroadcastBench.entry("bthome")) { bench in
            let before = try #require(await bench.gateway.knownPeripherals().first?.status)
            #expect(before.state == .unheard)
            #expect(before.lastSeen == nil)
            await bench.send(Data.bthome(Self.temperature(2506)))
            await bench.pass(.seconds(600))
            await bench.send(Data.bthome(Self.temperature(2506)))
            await bench.pass(.seconds(30))
            // The device that marks each moment is another entry's.
            let known = try #require(await bench.gateway.knownPeripherals().first)
            #expect(known.devices == [BroadcastBench.device])
            let status = known.status
            #expect(status.state == .idle)
            #expect(status.lastSeen == 30)
            #expect(status.signal != nil)
            #expect(status.isBonded == nil)
        }
    }

    @Test func aPacketIDIsOneReading() async throws {
        try await BroadcastBench.run(BroadcastBench.entry("bthome")) { bench in
            for (packetID, value) in [(1, 2506), (1, 2506), (1, 2507), (2, 2507), (3, 2507)]
                as [(UInt8, Int16)]
            {
                await bench.send(Data.bthome([0x00, packetID] + Self.temperature(value)))
            }
            #expect(bench.records.map(\.sequence) == [1, 2, 3])
            // A device that always says 3 does not count.
            await bench.pass(.seconds(60))
            await bench.send(Data.bthome([0x00, 3] + Self.temperature(2508)))
            #expect(bench.records.map(\.sequence) == [1, 2, 3, 3])
        }
    }

    @Test func valuesThatTakeTurnsAreReadOnceEach() async throws {
        try await BroadcastBench.run(BroadcastBench.entry("bthome")) { bench in
            for _ in 0..<5 {
                await bench.send(Data.bthome(Self.temperature(2506)))
                await bench.send(Data.bthome([0x01, 97]))
            }
            #expect(bench.values == [["temperature 25.06 Cel"], ["battery 97 %"]])
            #expect(bench.records.map(\.device.battery) == [nil, 97])
        }
    }

    @Test func aDeviceThatSendsWhenThereIsSomethingToTellTellsItAgain() async throws {
        try await BroadcastBench.run(BroadcastBench.entry("bthome")) { bench in
            let press = Data.bthome([0x3A, 0x01], isTriggered: true)
            await bench.send(press, times: 10)
            await bench.pass(.seconds(59))
            await bench.send(press)
            #expect(bench.values == [["button-press"]])
            await bench.pass(.seconds(60))
            await bench.send(press, times: 10)
            #expect(bench.values == [["button-press"], ["button-press"]])
        }
    }

    // MARK: Encryption

    @Test func anEncryptedValueIsReadAndWhatIsPlayedBackIsNot() async throws {
        try await BroadcastBench.run(BroadcastBench.entry("bthome", key: "key")) { bench in
            await bench.send(Self.encrypted(2506, counter: 1_000), times: 5)
            // The same value again, and another one.
            await bench.send(Self.encrypted(2506, counter: 1_001))
            await bench.send(Self.encrypted(2600, counter: 1_002), times: 2)
            // Recorded, and played back: whole, out of order, and when the device has been silent.
            await bench.send(Self.encrypted(2506, counter: 1_000))
            await bench.send(Self.encrypted(2506, counter: 1_001))
            await bench.pass(.seconds(3_600))
            await bench.send(Self.encrypted(2600, counter: 1_002), times: 3)
            await bench.send(Self.encrypted(2506, counter: 1_001), times: 3)
            #expect(bench.values == [["temperature 25.06 Cel"], ["temperature 26.00 Cel"]])
            #expect(bench.records.map(\.sequence) == [1_000, 1_002])
            #expect(bench.errors().isEmpty)
        }
    }

    @Test func aDeviceThatCountsAnewIsBelievedAfterTenMinutes() async throws {
        try await BroadcastBench.run(BroadcastBench.entry("bthome", key: "key")) { bench in
            await bench.send(Self.encrypted(2506, counter: 1_000))
            await bench.pass(.seconds(300))
            await bench.send(Self.encrypted(2507, counter: 1))
            await bench.send(Self.encrypted(2508, counter: 2))
            #expect(bench.records.count == 1)
            await bench.pass(.seconds(300))
            await bench.send(Self.encrypted(2509, counter: 3))
            // The one before it is a reading too, now that it is known to be the device's.
            #expect(
                bench.values == [
                    ["temperature 25.06 Cel"], ["temperature 25.08 Cel"], ["temperature 25.09 Cel"],
                ])
            await bench.send(Self.encrypted(2510, counter: 4))
            #expect(bench.records.count == 4)
        }
    }

    @Test func aWrongKeyIsToldOnceAnHour() async throws {
        let keys = ["key": "00000000000000000000000000000000"]
        try await BroadcastBench.run(BroadcastBench.entry("bthome", key: "key"), keys: keys) { bench in
            for counter in 1...20 {
                await bench.broadcaster.send(Self.encrypted(2506, counter: UInt32(counter)))
            }
            await bench.settle()
            await bench.pass(.seconds(59 * 60))
            await bench.send(Self.encrypted(2506, counter: 21))
            #expect(bench.errors() == ["encrypted: the bind key does not fit"])
            await bench.pass(.seconds(60))
            await bench.send(Self.encrypted(2506, counter: 22), times: 5)
            #expect(bench.errors().count == 2)
            #expect(bench.records.isEmpty)
            // The right one is taken at a reload.
            bench.keys.set(BroadcastBench.keyText, for: "key")
            await bench.send(Self.encrypted(2506, counter: 23))
            #expect(bench.records.isEmpty)
            await bench.reload()
            await bench.send(Self.encrypted(2506, counter: 24))
            #expect(bench.values == [["temperature 25.06 Cel"]])
        }
    }

    @Test(
        arguments: [
            (nil, nil, "encrypted: the device's bind key is needed"),
            ("other", nil, "credential other: not among the service's credentials"),
            ("key", "short", "credential key: expected a bind key, 32 hexadecimal digits"),
        ] as [(String?, String?, String)])
    func aKeyThatIsNotThereIsTold(name: String?, text: String?, error: String) async throws {
        let keys = text.map { ["key": $0] } ?? [:]
        try await BroadcastBench.run(BroadcastBench.entry("bthome", key: name), keys: keys) { bench in
            await bench.send(Self.encrypted(2506, counter: 1), times: 5)
            #expect(bench.errors().count == 1)
            #expect(bench.errors().first?.hasPrefix(error) == true)
            #expect(bench.records.isEmpty)
        }
    }

    @Test func plainDataOfADeviceWithAKeyAreNotRead() async throws {
        try await BroadcastBench.run(BroadcastBench.entry("bthome", key: "key")) { bench in
            await bench.send(Self.encrypted(2506, counter: 1))
            await bench.send(Data.bthome(Self.temperature(4200)), times: 5)
            #expect(bench.values == [["temperature 25.06 Cel"]])
            #expect(bench.errors() == ["not encrypted, though it has a key"])
        }
    }

    @Test func aMiBeaconIsReadWithItsKey() async throws {
        try await BroadcastBench.run(
            BroadcastBench.entry("mibeacon", key: "key", users: [1: "patient-1", 2: "patient-2"])
        ) { bench in
            func frame(_ objects: [UInt8], _ counter: UInt32) -> [UInt8] {
                // 0x3BD5 is a scale S400.
                Data.mibeacon(
                    objects, product: 0x3BD5, key: BroadcastBench.key, device: BroadcastBench.device,
                    counter: counter)
            }
            // Temperature 25.0, humidity 50.0.
            await bench.send(frame([0x0D, 0x10, 4, 250, 0, 0xF4, 0x01], 0x1FF), times: 5)
            // The counter's upper part goes on.
            // User 2, 69.9 kg, 92 /min, 543.2 Ohm at 50 kHz; then 497.6 Ohm at 250 kHz.
            await bench.send(frame([0x16, 0x6E, 9, 2, 0xBB, 0x52, 0xE1, 0x54, 0, 0, 0, 0], 0x200), times: 5)
            await bench.send(frame([0x16, 0x6E, 9, 2, 0x00, 0x00, 0xC0, 0x4D, 0, 0, 0, 0], 0x201), times: 5)
            await bench.send(frame([0x0D, 0x10, 4, 251, 0, 0xF4, 0x01], 0x1FE), times: 5)
            #expect(
                bench.values == [
                    ["temperature 25.0 Cel", "humidity 50.0 %"],
                    ["weight 69.9 kg", "heart-rate 92 /min", "impedance-low 543.2 Ohm"],
                    ["impedance-high 497.6 Ohm"],
                ])
            #expect(bench.records.map(\.subject) == [nil, "patient-2", "patient-2"])
        }
    }

    // MARK: Scales

    private static let weighed = DeviceTime(
        year: 2026, month: 11, day: 20, hours: 9, minutes: 14, seconds: 57)

    @Test func aWeighingOfTheMiScaleIsOneRecord() async throws {
        try await BroadcastBench.run(BroadcastBench.entry("mi-scale")) { bench in
            var weighing = Data.Weighing(weight: 17_310, time: Self.weighed)
            weighing.isStable = false
            await bench.send(Data.miScale(weighing), times: 3)
            #expect(bench.records.isEmpty)
            weighing.isStable = true
            await bench.send(Data.miScale(weighing), times: 3)
            weighing.isRemoved = true
            await bench.send(Data.miScale(weighing), times: 3)
            // It goes on saying so when it is switched on the next day.
            await bench.pass(.seconds(3_600))
            await bench.send(Data.miScale(weighing), times: 3)
            #expect(bench.values == [["weight 86.550 kg"]])
            #expect(bench.records.first?.time.device == Self.weighed)
            #expect(bench.records.first?.time.source == .device)
            weighing.time.seconds = 58
            await bench.send(Data.miScale(weighing))
            #expect(bench.records.count == 2)
        }
    }

    @Test func aWeightWaitsForItsImpedance() async throws {
        try await BroadcastBench.run(BroadcastBench.entry("mi-scale")) { bench in
            var weighing = Data.Weighing(weight: 17_030, time: Self.weighed)
            await bench.send(Data.miCompositionScale(weighing), times: 3)
            await bench.pass(.seconds(5))
            #expect(bench.records.isEmpty)
            weighing.impedance = 428
            await bench.send(Data.miCompositionScale(weighing), times: 3)
            weighing.isRemoved = true
            await bench.send(Data.miCompositionScale(weighing), times: 3)
            await bench.pass(.seconds(30))
            #expect(bench.values == [["weight 85.150 kg", "impedance 428 Ohm"]])
        }
    }

    @Test func aWeightWithoutImpedanceIsReadWhenThePersonStepsOffOrAfterAWhile() async throws {
        try await BroadcastBench.run(BroadcastBench.entry("mi-scale")) { bench in
            var weighing = Data.Weighing(weight: 17_030, time: Self.weighed)
            await bench.send(Data.miCompositionScale(weighing))
            weighing.isRemoved = true
            await bench.send(Data.miCompositionScale(weighing))
            #expect(bench.values == [["weight 85.150 kg"]])

            weighing.time.minutes = 20
            weighing.isRemoved = false
            await bench.send(Data.miCompositionScale(weighing))
            await bench.pass(.seconds(19))
            #expect(bench.records.count == 1)
            await bench.pass(.seconds(1))
            #expect(bench.records.count == 2)

            // The next one does not wait for the one before.
            weighing.time.minutes = 25
            await bench.send(Data.miCompositionScale(weighing))
            weighing.time.minutes = 26
            await bench.send(Data.miCompositionScale(weighing))
            #expect(bench.records.count == 3)
        }
    }

    // MARK: Across runs, and bounds

    @Test func aRestartMakesNoSecondReadingAndForgetsNoCounter() async throws {
        let clock = DrivenClock(wall: DrivenClock.morning)
        try await BroadcastBench.inNewDirectory { directory in
            let entry = BroadcastBench.entry("bthome", key: "key")
            try await BroadcastBench.run(entry, in: directory, clock: clock) { bench in
                await bench.send(Self.encrypted(2400, counter: 5))
                await bench.send(Self.encrypted(2506, counter: 7))
                #expect(bench.records.count == 2)
            }
            try await BroadcastBench.run(entry, in: directory, clock: clock) { bench in
                await bench.send(Self.encrypted(2400, counter: 5))
                await bench.send(Self.encrypted(2400, counter: 6))
                await bench.send(Self.encrypted(2506, counter: 8))
                #expect(bench.records.isEmpty)
                await bench.send(Self.encrypted(2507, counter: 9))
                #expect(bench.values == [["temperature 25.07 Cel"]])
            }
        }
    }

    @Test func aWeightThatWaitsIsCommittedWhenTheGatewayStops() async throws {
        try await BroadcastBench.inNewDirectory { directory in
            let entry = BroadcastBench.entry("mi-scale")
            try await BroadcastBench.run(entry, in: directory) { bench in
                await bench.send(Data.miCompositionScale(Data.Weighing(weight: 17_030, time: Self.weighed)))
                #expect(bench.records.isEmpty)
            }
            try await BroadcastBench.run(entry, in: directory) { bench in
                // The device's, and that of the device that marked the moment.
                let counts = try await bench.store.counts()
                #expect(counts.records == 2)
            }
        }
    }

    @Test func aFloodIsBounded() async throws {
        try await BroadcastBench.run(BroadcastBench.entry("bthome")) { bench in
            for value in 0..<60 { await bench.broadcaster.send(Data.bthome(Self.temperature(Int16(value)))) }
            await bench.settle()
            #expect(bench.records.count == 20)
            #expect(bench.errors() == ["it sends more readings than one in 10 s: some are left out"])
            // What it says when there is room again is read.
            await bench.pass(.seconds(10))
            await bench.send(Data.bthome(Self.temperature(59)), times: 5)
            #expect(bench.records.count == 21)
            #expect(bench.values.last == ["temperature 0.59 Cel"])
        }
    }

    /// More than wait, before one of them is read.
    @Test(arguments: [1, 256])
    func aFloodOfOthersPushesNothingOutThatANamedDeviceSent(adverts: Int) async throws {
        let entry = BroadcastBench.entry("bthome")
        try await BroadcastBench.run(entry) { bench in
            let reader = BroadcastReader(ports: bench.ports, factory: bench.factory)
            for value in 0..<adverts {
                hear(BroadcastBench.device, 2_100 + value, as: entry, reader, bench)
            }
            for number in 0..<300 {
                let address = BluetoothAddress(value: 0x0033_0000_0000 + UInt64(number))
                hear(
                    DeviceAddress(address, .public), 2_506,
                    as: BroadcastBench.entry("bthome", isPinned: false), reader, bench)
            }
            let running = Task { try await reader.run() }
            running.cancel()
            try await running.value
            #expect(bench.values.first == ["temperature 21.00 Cel"])
        }
    }

    @Test func aReadingThatIsOnItsWayWhenTheServiceStopsIsCommitted() async throws {
        let entry = BroadcastBench.entry("bthome")
        try await BroadcastBench.run(entry) { bench in
            let running = Mutex<Task<Void, any Error>?>(nil)
            var ports = bench.ports
            let noted = NotedStore(
                store: bench.store, clock: bench.clock, failingCommits: 0,
                onRecall: { running.withLock { $0?.cancel() } })
            (ports.store, ports.devices) = (noted, noted)
            let reader = BroadcastReader(ports: ports, factory: bench.factory)
            let task = Task { try await reader.run() }
            running.withLock { $0 = task }
            hear(BroadcastBench.device, 2_100, as: entry, reader, bench)
            try await task.value
            let known = try await bench.store.devices.recall(BroadcastBench.device)
            #expect(known?.broadcast != nil)
        }
    }

    /// Gives the reader an advert with a temperature in 0.01 °C.
    private func hear(
        _ device: DeviceAddress, _ value: Int, as entry: AllowedPeripheral, _ reader: BroadcastReader,
        _ bench: BroadcastBench
    ) {
        let data = Data.bthome(Self.temperature(Int16(value)))
        let advertisement = Advertisement(
            device: device, adapter: AdapterID(index: 0), rssi: -50, isConnectable: false,
            data: [UInt8(data.count + 1), 0x16] + data, received: bench.clock.now)
        #expect(reader.takes(advertisement, as: entry))
    }

    @Test func addressesThatASenderInventsAreFollowedNoFasterThanSensorsArePutUp() async throws {
        try await BroadcastBench.run(BroadcastBench.entry("bthome")) { bench in
            /// Has devices that nobody named send, and says how many are followed in the end. The
            /// device of the allow-list has its place in any case: its reading comes after theirs.
            func followed(after strangers: Range<UInt64>, value: Int16) async -> Int {
                for number in strangers {
                    let address = BluetoothAddress(value: 0x0033_0000_0000 + number)
                    let stranger = SimulatedBroadcaster(
                        device: DeviceAddress(address, .public), kernel: bench.kernel)
                    await stranger.send(Data.bthome(Self.temperature(2506)))
                }
                let known = bench.records.count
                await bench.broadcaster.send(Data.bthome(Self.temperature(value)))
                await bench.noted.releases.wait { _ in bench.records.count > known }
                let addresses = Set(bench.noted.releases.all.flatMap(\.records).map(\.device.address))
                return addresses.count - 1
            }
            #expect(await followed(after: 0..<300, value: 2100) == 100)
            await bench.clock.advance(by: .seconds(10), bench.loop)
            #expect(await followed(after: 300..<310, value: 2101) == 101)
        }
    }

    @Test func whatCannotBeDecodedIsKeptOnceAnHour() async throws {
        try await BroadcastBench.run(BroadcastBench.entry("bthome")) { bench in
            // A temperature without its second byte.
            await bench.send([0xD2, 0xFC, 0x40, 0x02, 0xCA], times: 5)
            await bench.send([0xD2, 0xFC, 0x40, 0x02, 0xCB], times: 5)
            #expect(bench.records.map(\.kind) == [.undecoded])
            let entries = try await bench.store.outbox.outboxEntries(limit: 1_000).map(\.entry)
            let error = try #require(entries.first { $0.name == "decode-error" })
            #expect(error.fields.contains { $0.0 == .error && $0.1.hasPrefix("truncated: temperature") })
            await bench.pass(.seconds(3_600))
            await bench.send([0xD2, 0xFC, 0x40, 0x02, 0xCB], times: 5)
            #expect(bench.records.count == 2)
        }
    }

    @Test func aControllerThatMatchesPatternsReportsBroadcastsToo() async throws {
        let adapter = SimulatedAdapter(index: 0, address: RadioBench.address, matchesPatterns: true)
        try await BroadcastBench.run(BroadcastBench.entry("bthome"), adapter: adapter) { bench in
            await bench.send(Data.bthome(Self.temperature(2506)), times: 3)
            #expect(bench.values == [["temperature 25.06 Cel"]])
        }
    }
}
