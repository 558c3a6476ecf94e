import FoundationEssentials
import GRDB
import QueueTestSupport
import Testing

@testable import IngestQueue

/// What the queue remembers of devices that no entry names by its address: bounded, however many there are.
@Suite struct StrangerRowTests {
    private static let pinned = DeviceAddress(SampleCuff.address, .public)

    private func withStore(_ body: (SQLiteQueue, DrivenClock) async throws -> Void) async throws {
        try await withMemoryDirectory { directory in
            let clock = DrivenClock()
            let store = try await SQLiteQueue.open(in: directory, clock: clock)
            try await body(store, clock)
            try await store.close()
        }
    }

    private func rows(_ table: String, of store: SQLiteQueue) async throws -> Int {
        try await store.database.write { try Int.fetchOne($0, sql: "SELECT count(*) FROM \(table)") ?? 0 }
    }

    private func rememberStrangers(_ numbers: Range<Int>, _ memory: DeviceMemory, in store: SQLiteQueue)
        async throws
    {
        try await store.database.write { db in
            for number in numbers { try DeviceTable.remember(memory, of: .device(number), db) }
        }
    }

    @Test func ofStrangersTheNewestAreRememberedAndBondsAndPinnedDevicesAlways() async throws {
        try await withStore { store, _ in
            try await store.devices.noteFirstSeen([SampleCuff.entry()])
            var bond = DeviceMemory()
            bond.bondedAdapter = BluetoothAddress(value: 1)
            try await store.devices.remember(bond, of: .device(1))
            try await store.devices.remember(DeviceMemory(serial: "cuff"), of: Self.pinned)
            try await rememberStrangers(2..<1_100, DeviceMemory(), in: store)
            #expect(try await rows("device", of: store) == DeviceTable.mostStrangers + 2)
            #expect(try await store.devices.recall(.device(1)) == bond)
            #expect(try await store.devices.recall(Self.pinned)?.serial == "cuff")
            #expect(try await store.devices.recall(.device(75)) == nil)
            #expect(try await store.devices.recall(.device(76)) == DeviceMemory())
            // What changes is new again.
            try await store.devices.remember(DeviceMemory(serial: "back"), of: .device(76))
            try await rememberStrangers(1_100..<1_200, DeviceMemory(), in: store)
            #expect(try await store.devices.recall(.device(76))?.serial == "back")
            #expect(try await store.devices.recall(.device(77)) == nil)
            #expect(try await rows("device", of: store) == DeviceTable.mostStrangers + 2)
        }
    }

    @Test func strangersTakeNoMoreThanTheirBytes() async throws {
        try await withStore { store, _ in
            let large = DeviceMemory(layout: .sample(characteristics: 256))
            try await rememberStrangers(0..<200, large, in: store)
            let bytes = try await store.database.write {
                try Int.fetchOne($0, sql: "SELECT sum(length(memory)) FROM device") ?? 0
            }
            #expect(bytes <= DeviceTable.mostBytesOfStrangers)
            #expect(bytes > DeviceTable.mostBytesOfStrangers * 9 / 10)
            #expect(try await store.devices.recall(.device(199)) == large)
        }
    }

    @Test func aDeviceThatAnEntryNamesNowIsNoStranger() async throws {
        try await withStore { store, _ in
            try await store.devices.remember(DeviceMemory(serial: "cuff"), of: Self.pinned)
            try await store.devices.noteFirstSeen([SampleCuff.entry()])
            try await rememberStrangers(0..<1_100, DeviceMemory(), in: store)
            #expect(try await store.devices.recall(Self.pinned)?.serial == "cuff")
            #expect(try await rows("device", of: store) == DeviceTable.mostStrangers + 1)
        }
    }

    @Test func packetsOfStrangersAreBoundedInCountAndAge() async throws {
        try await withStore { store, clock in
            try await store.devices.noteFirstSeen([SampleCuff.entry()])
            func keep(_ device: DeviceAddress) async throws {
                let packets = [[UInt8]](repeating: [UInt8](repeating: 1, count: 512), count: 64)
                _ = try await store.records.commit(
                    QueueTransaction(
                        pending: PendingPackets(
                            device: device, characteristic: 0x2A9C, packets: packets, received: clock.now)))
                clock.advance(by: .seconds(1))
            }
            try await keep(Self.pinned)
            for number in 0..<80 { try await keep(.device(number)) }
            let most = DeviceTable.mostPendingOfStrangers
            #expect(try await rows("pending_packet", of: store) == (most + 1) * 64)
            #expect(try await store.devices.pendingPackets(of: .device(15)).isEmpty)
            #expect(try await store.devices.pendingPackets(of: .device(16)).count == 1)
            clock.advance(by: .seconds(86_400))
            try await keep(.device(99))
            #expect(try await rows("pending_packet", of: store) == 2 * 64)
            #expect(try await store.devices.pendingPackets(of: Self.pinned).count == 1)
        }
    }

    @Test func whatCanRepeatNothingAnyMoreIsForgotten() async throws {
        try await withStore { store, clock in
            for number in 0..<100 {
                let address = DeviceAddress.device(number).address.description
                let record = try record("\(number)", address: address)
                _ = try await store.records.commit(
                    RecordSubmission(
                        record: record, repetition: .undatedIndication(isFirstOnLink: true),
                        received: clock.now, decodeError: nil))
                clock.advance(by: .seconds(60))
            }
            // Twice the ten minutes in which equal bytes are the same reading.
            #expect(try await rows("unconfirmed", of: store) == 21)
        }
    }

    // MARK: An older file

    @Test func anOlderFileKeepsItsBondsAndLosesWhatIsTooLarge() async throws {
        try await withTemporaryDirectory { directory in
            var store = try await SQLiteQueue.open(in: directory, clock: DrivenClock())
            try await store.devices.noteFirstSeen([SampleCuff.entry()])
            try await store.database.write { db in
                try db.execute(sql: OpeningTests.version7)
                var bonded = DeviceMemory(layout: .sample(characteristics: 20_000))
                bonded.bondedAdapter = BluetoothAddress(value: 1)
                for (device, memory) in [
                    (DeviceAddress.device(1), bonded),
                    (.device(2), DeviceMemory(layout: .sample(characteristics: 20_000))),
                    (Self.pinned, DeviceMemory(serial: "cuff")),
                ] {
                    try db.execute(
                        sql: "INSERT INTO device VALUES (?, ?, ?)",
                        arguments: [
                            device.address.description, device.type.rawValue,
                            String(decoding: try JSONEncoder().encode(StoredMemory(memory)), as: UTF8.self),
                        ])
                }
                try db.execute(sql: "INSERT INTO device VALUES ('00:00:00:00:00:01', 'random', 'no JSON')")
            }
            try await store.close()

            store = try await SQLiteQueue.open(in: directory, clock: DrivenClock())
            #expect(try await store.devices.recall(.device(1))?.bondedAdapter == BluetoothAddress(value: 1))
            #expect(try await store.devices.recall(.device(1))?.layout == .unknown)
            let rows = try await store.database.write { db in
                try Row.fetchAll(db, sql: "SELECT is_stranger, length(memory) FROM device ORDER BY address")
                    .map { "\($0[0] as Int) \(($0[1] as Int) < 1_000)" }
            }
            // Without JSON; with a bond; a stranger; pinned.
            #expect(rows.sorted() == ["0 true", "0 true", "0 true", "1 true"])
            try await rememberStrangers(10..<1_110, DeviceMemory(), in: store)
            #expect(try await store.devices.recall(.device(2)) == nil)
            #expect(try await store.devices.recall(Self.pinned)?.serial == "cuff")
            try await store.close()
        }
    }
}
