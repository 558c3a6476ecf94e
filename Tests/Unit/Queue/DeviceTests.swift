import FoundationEssentials
import GRDB
import QueueTestSupport
import Testing

@testable import IngestQueue

/// What the queue keeps of devices beside their records, and groups of records.
@Suite struct DeviceTests {
    private static let device = BluetoothAddress(value: 0xF1F1_F1F1_F1F1)

    private static func submission(
        _ record: IngestRecords.Record, isIdentified: Bool, ordinal: Int = 0, at instant: MonotonicInstant
    ) -> RecordSubmission {
        RecordSubmission(
            record: record, repetition: isIdentified ? .stored : .storedUndated(ordinal: ordinal),
            received: instant,
            decodeError: nil)
    }

    @Test func aGroupGoesInWithItsMemoryOrNotAtAll() async throws {
        try await withQueue { store in
            let records = [try record("a"), try record("b")]
            let address = DeviceAddress(Self.device, .random)
            let memory = DeviceMemory(
                storedRecords: StoredRecordsMemory(mark: .init(number: 2, id: "b"), history: "all"))
            let submissions = records.map {
                Self.submission($0, isIdentified: true, at: store.database.clock.now)
            }
            let outcomes = try await store.records.commit(
                QueueTransaction(submissions: submissions, memory: (address, memory)))
            #expect(outcomes == [.committed(records[0].id), .committed(records[1].id)])
            #expect(try await store.devices.recall(address) == memory)

            // The third cannot be written, so neither is the fourth, nor what would be remembered.
            try await store.database.write {
                try $0.execute(
                    sql: """
                        CREATE TRIGGER refuse BEFORE INSERT ON record WHEN new.id = 'd'
                        BEGIN SELECT RAISE(ABORT, 'refused'); END
                        """)
            }
            let more = [try record("c"), try record("d")].map {
                Self.submission($0, isIdentified: true, at: store.database.clock.now)
            }
            await #expect(throws: StoreError.self) {
                try await store.records.commit(
                    QueueTransaction(submissions: more, memory: (address, DeviceMemory())))
            }
            #expect(try await store.counts().records == 2)
            #expect(try await store.devices.recall(address) == memory)
        }
    }

    @Test func whatAnEarlierVersionRememberedOfADeviceIsUnderstood() throws {
        let text = #"{"hasDeviceInformation":true,"layout":{"services":{}},"model":"T-1"}"#
        let memory = try JSONDecoder().decode(StoredMemory.self, from: Data(text.utf8)).memory
        var expected = DeviceMemory(model: "T-1", hasDeviceInformation: true)
        expected.information = nil
        #expect(memory == expected)
        // It did not ask for all that this one wants to know.
        #expect(!memory.hasAllInformation)
        #expect(memory.features == nil)
        #expect(memory.sensorSession == nil)
    }

    /// A device whose bond was forgotten would be read over a link in clear while bluetoothd cannot be asked.
    @Test(
        arguments: [
            (#"{"bondedAdapter":"00:00:00:00:00:A0","layout":5}"#, 0xA0),
            (#"{"battery":90,"bondedAdapter" : "00:00:00:00:00:A0","hasDev"#, 0xA0),
            // Written by a later version.
            (#"{"bondedAdapter":"00:00:00:00:00:A0","layout":{"services":{}},"memoryVersion":2}"#, 0xA0),
            // No adapter has this address.
            (#"{"bondedAdapter":"00:00:00:0"#, 0), (#"{"bondedAdapter":7}"#, 0),
            (#"{"layout":5}"#, nil), ("", nil),
        ] as [(String, UInt64?)])
    func ofAMemoryThatCannotBeReadTheBondStays(text: String, adapter: UInt64?) async throws {
        try await withQueue { store in
            let device = DeviceAddress(Self.device, .random)
            var memory = DeviceMemory(serial: "S-1")
            memory.bondedAdapter = BluetoothAddress(value: 0xA1)
            try await store.devices.remember(memory, of: device)
            try await store.database.write {
                try $0.execute(sql: "UPDATE device SET memory = ?", arguments: [text])
            }
            let found = try #require(try await store.devices.recall(device))
            #expect(found.bondedAdapter == adapter.map { BluetoothAddress(value: $0) })
            #expect(found.serial == nil)
            #expect(try await store.devices.rememberedBonds() == (adapter == nil ? [] : [device]))
        }
    }

    @Test func aMemoryThatIsReadAgainAddsNothingAndSaysNothing() async throws {
        try await withQueue { store in
            let dated = try record("dated", bytes: [1, 2, 3])
            let undated = try record("undated", bytes: [4, 5, 6])
            for _ in 0..<2 {
                _ = try await store.records.commit(
                    QueueTransaction(submissions: [
                        Self.submission(dated, isIdentified: true, at: store.database.clock.now),
                        Self.submission(undated, isIdentified: false, at: store.database.clock.now),
                    ]))
            }
            // Read again, what has no date has another id, but the same bytes.
            let again = try record("undated, later", bytes: [4, 5, 6])
            let other = try record("of another", address: "F1:F1:F1:F1:F1:F2", bytes: [4, 5, 6])
            let outcomes = try await store.records.commit(
                QueueTransaction(
                    submissions: [again, other].map {
                        Self.submission($0, isIdentified: false, at: store.database.clock.now)
                    }))
            #expect(outcomes == [.duplicate(undated.id), .committed(other.id)])
            // A second equal one in the same memory is another reading, and known again as such.
            for outcome in [CommitOutcome.committed(again.id), .duplicate(again.id)] {
                let second = Self.submission(
                    again, isIdentified: false, ordinal: 1, at: store.database.clock.now)
                #expect(try await store.records.commit(second) == outcome)
            }
            #expect(try await store.counts().records == 4)
            #expect(try await store.events.map(\.name) == ["read", "read", "read", "read"])
        }
    }

    @Test func aRecordIsFoundByTheDevicesNumber() async throws {
        try await withQueue { store in
            for (id, bytes) in [("old", [1]), ("new", [2])] as [(String, [UInt8])] {
                var glucose = try record(id, kind: .glucose, bytes: bytes)
                glucose.sequence = 7
                try await store.add(glucose)
            }
            let found = try await store.records.record(numbered: 7, kind: .glucose, of: Self.device)
            #expect(found == StoredPayload(id: RecordID(text: "new"), bytes: [2]))
            #expect(try await store.records.record(numbered: 8, kind: .glucose, of: Self.device) == nil)
            #expect(try await store.records.record(numbered: 7, kind: .weight, of: Self.device) == nil)
        }
    }

    @Test func strangersThatHaveGivenARecordAndBondedDevicesAreKnownTheLastOneLast() async throws {
        try await withQueue { store in
            let strangers = (1...3).map { DeviceAddress(BluetoothAddress(value: $0), .random) }
            for device in strangers {
                try await store.devices.remember(DeviceMemory(serial: "1"), of: device)
            }
            try await store.devices.remember(DeviceMemory(serial: "2"), of: strangers[0])
            #expect(
                try await store.devices.rememberedStrangers() == [strangers[1], strangers[2], strangers[0]])
            var memory = DeviceMemory()
            memory.bondedAdapter = BluetoothAddress(value: 0xA0)
            let bonded = DeviceAddress(BluetoothAddress(value: 9), .random)
            try await store.devices.remember(memory, of: bonded)
            #expect(try await store.devices.rememberedStrangers().contains(bonded))
        }
    }

    @Test func devicesThatHadABondAreKnownByTheirMemory() async throws {
        try await withQueue { store in
            let device = DeviceAddress(Self.device, .random)
            var memory = DeviceMemory(serial: "bondedAdapter")
            try await store.devices.remember(memory, of: device.otherType)
            #expect(try await store.devices.rememberedBonds().isEmpty)
            memory.bondedAdapter = BluetoothAddress(value: 0xA0)
            try await store.devices.remember(memory, of: device)
            #expect(try await store.devices.rememberedBonds() == [device])
            #expect(try await store.devices.spentPairings().isEmpty)
            try await store.devices.setPairing("#1001", isSpent: true)
            try await store.devices.setPairing("#1001", isSpent: true)
            #expect(try await store.devices.spentPairings() == ["#1001"])
            try await store.devices.setPairing("#1001", isSpent: false)
            #expect(try await store.devices.spentPairings().isEmpty)
        }
    }

    @Test func packetsOutliveTheProcessAndTheirTimeDoesNotOutliveTheBoot() async throws {
        try await withTemporaryDirectory { directory in
            let clock = DrivenClock()
            let device = DeviceAddress(Self.device, .random)
            let pending = PendingPackets(
                device: device, characteristic: 0x2A9C, packets: [[1, 2], [3]], received: clock.now)
            var store = try await SQLiteQueue.open(in: directory, clock: clock)
            _ = try await store.records.commit(QueueTransaction(pending: pending))
            try await store.close()
            store = try await SQLiteQueue.open(in: directory, clock: clock)
            #expect(try await store.devices.pendingPackets(of: device) == [pending])
            // The same 48 bits with the other address type are another device's.
            #expect(try await store.devices.pendingPackets(of: device.otherType).isEmpty)
            var others = pending
            others.device = device.otherType
            others.packets = [[9]]
            _ = try await store.records.commit(QueueTransaction(pending: others))
            #expect(try await store.devices.pendingPackets(of: device) == [pending])
            #expect(try await store.devices.pendingPackets(of: device.otherType) == [others])
            try await store.close()
            store = try await SQLiteQueue.open(in: directory, clock: clock, bootID: "another")
            #expect(try await store.devices.pendingPackets(of: device).first?.received == nil)
            var none = pending
            none.packets = []
            _ = try await store.records.commit(QueueTransaction(pending: none))
            #expect(try await store.devices.pendingPackets(of: device).isEmpty)
            try await store.close()
        }
    }

    @Test func aPersonIsKnownSinceTheDeviceCameToThem() async throws {
        try await withTemporaryDirectory { directory in
            let clock = DrivenClock()
            let store = try await SQLiteQueue.open(in: directory, clock: clock)
            func since(_ subject: String?, users: [Int: String] = [:]) async throws -> FirstSeen {
                let entry = SampleCuff.entry(subject: subject, users: users)
                try await store.devices.noteFirstSeen([entry])
                return try #require(try await store.devices.firstSeen(of: [entry]).first)
            }
            let start = clock.wallNanoseconds / 1_000_000_000
            #expect(try await since("anna") == FirstSeen(device: start, subjects: [nil: start]))
            clock.advance(by: .seconds(100))
            #expect(try await since("anna") == FirstSeen(device: start, subjects: [nil: start]))
            // Given to another and back: what was measured meanwhile is not the first one's.
            #expect(try await since("bert") == FirstSeen(device: start, subjects: [nil: start + 100]))
            clock.advance(by: .seconds(100))
            #expect(try await since("anna") == FirstSeen(device: start, subjects: [nil: start + 200]))
            // A read that began under the list before makes nobody known.
            let old = SampleCuff.entry(subject: "bert")
            #expect(try await store.devices.firstSeen(of: [old]) == [FirstSeen(device: start)])
            // Not on the list for a while, the device may have been anybody's.
            try await store.devices.noteFirstSeen([SampleCuff.entry(subject: nil)])
            clock.advance(by: .seconds(100))
            #expect(try await since("anna") == FirstSeen(device: start, subjects: [nil: start + 300]))
            try await store.devices.noteFirstSeen([])
            clock.advance(by: .seconds(100))
            #expect(
                try await since(nil, users: [1: "anna", 2: "bert"])
                    == FirstSeen(device: start, subjects: [1: start + 400, 2: start + 400]))
            try await store.close()
        }
    }
}
