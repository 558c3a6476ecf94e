import FoundationEssentials
import GRDB
import QueueTestSupport
import Synchronization
import Testing

@testable import IngestQueue

/// What stays of delivered records never takes the room that readings need.
@Suite struct RetainedIDTests {
    private struct AmpleDisk: DiskSpace {
        func totalBytes() -> UInt64 { 1 << 40 }
        func freeBytes() -> UInt64 { 1 << 39 }
        func makeReserve(bytes: UInt64) {}
        func releaseReserve() {}
    }

    private static func id(_ number: Int) -> String { NameUUID.text(of: Array("reading \(number)".utf8)) }

    private func deliverAll(_ store: SQLiteQueue) async throws {
        let settings = BatchSettings(maxRecords: 1000, maxWait: .zero)
        var next = try await store.next(settings)
        while case .batch(let batch) = next { next = try await store.take(batch, settings) }
        try await store.outbox.markOutbox(through: Int64.max)
    }

    /// A million in 16 MiB, or as much in proportion.
    @Test func whatIsDeliveredNeverStopsReading() async throws {
        let (count, maximum, step): (Int, UInt64, Int) =
            ProofSize.isWhole ? (1_000_000, 16 << 20, 500) : (12_000, 512 << 10, 100)
        try await withMemoryDirectory { directory in
            let clock = DrivenClock()
            let store = try await SQLiteQueue.open(in: directory, clock: clock)
            let sink = RecordingSink()
            let keeper = QueueKeeper(
                store, disk: AmpleDisk(),
                settings: QueueKeeper.Settings(maximumSize: maximum, keepSubmitted: .seconds(7 * 86400)),
                clock: clock, events: EventLog(sink: sink), setTakesRecords: { _ in })
            for first in stride(from: 0, to: count, by: step) {
                try await store.fillAtOnce((first..<first + step).map(Self.id))
                try await deliverAll(store)
                try await keeper.look()
                try #require(sink.names.isEmpty, "after \(first + step) readings")
            }
            // The newest are known still.
            let newest = Self.id(count - 1)
            #expect(try await store.add(try record(newest)) == .duplicate(RecordID(text: newest)))
            #expect(try await store.retention.usedBytes() < maximum / 10 * 9)
            try await store.close()
        }
    }

    // MARK: - Which go first

    private static let device = BluetoothAddress(value: 0xF1F1_F1F1_F1F1)

    private func deliver(
        _ ids: [String], repetition: RecordSubmission.Repetition = .identified, bytes: [UInt8]? = nil,
        _ store: SQLiteQueue
    ) async throws {
        for id in ids {
            let record = try record(id, bytes: bytes ?? Array(id.utf8))
            let submission = RecordSubmission(
                record: record, repetition: repetition, received: store.database.clock.now, decodeError: nil)
            #expect(try await store.records.commit(submission) == .committed(record.id))
            try await store.records.freeze([record])
        }
        try await deliverAll(store)
        try await store.retireAll()
    }

    /// As if so many records had come and gone.
    private func pass(_ records: Int64, _ store: SQLiteQueue) async throws {
        try await store.database.write {
            try $0.execute(
                sql: "UPDATE sqlite_sequence SET seq = seq + ? WHERE name = 'record'", arguments: [records])
        }
    }

    private func forget(_ count: UInt64, _ store: SQLiteQueue) async throws {
        let bytes = try await store.retention.use().ids
        try await store.retention.forgetIDs(lookingAt: 1, downTo: bytes - count)
    }

    private func kept(_ store: SQLiteQueue) async throws -> [String] {
        try await store.database.read { try $0.retainedIDs }
    }

    @Test func anIDThatIsMetAgainOutlivesThoseThatAreNot() async throws {
        try await withQueue { store in
            try await deliver(["met", "old"], store)
            try await pass(5000, store)
            try await deliver(["new"], store)
            #expect(try await store.add(try record("met")) == .duplicate(RecordID(text: "met")))
            try await forget(1, store)
            #expect(try await kept(store) == ["met", "new"])
            // What was forgotten is a reading again.
            #expect(try await store.add(try record("old")) == .committed(RecordID(text: "old")))
        }
    }

    /// An entry is met as a reading is.
    @Test func aMeterThatIsReadWholeKeepsItsIDs() async throws {
        try await withQueue { store in
            let memory = (0..<20).map { "stored-\($0)" }
            try await deliver(memory, repetition: .stored, store)
            for round in 0..<5 {
                try await pass(2000, store)
                try await deliver(["other-\(round)-a", "other-\(round)-b"], store)
                for id in memory {
                    #expect(try await store.add(try record(id)) == .duplicate(RecordID(text: id)))
                }
                try await forget(1, store)
            }
            let kept = try await kept(store)
            #expect(memory.allSatisfy(kept.contains))
            #expect(kept.count == 20 + 5)
        }
    }

    /// Meeting them again and again writes little.
    @Test func anIDIsRenewedOnceInAThousandRecords() async throws {
        try await withQueue { store in
            try await deliver(["a"], store)
            try await pass(999, store)
            try await store.add(try record("a"))
            func met() async throws -> Int64? {
                try await store.database.read { try Int64.fetchOne($0, sql: "SELECT met FROM retained") }
            }
            #expect(try await met() == 1)
            try await pass(1, store)
            try await store.add(try record("a"))
            #expect(try await met() == 1001)
        }
    }

    @Test func idsOfStoredReadingsWithoutADateGoTogether() async throws {
        try await withQueue { store in
            for ordinal in 0..<4 {
                try await deliver(
                    ["u\(ordinal)"], repetition: .storedUndated(ordinal: ordinal), bytes: [1], store)
            }
            try await deliver(["dated"], store)
            func again(_ ordinal: Int) async throws -> CommitOutcome {
                try await store.records.commit(
                    RecordSubmission(
                        record: try record("again-\(ordinal)", bytes: [1]),
                        repetition: .storedUndated(ordinal: ordinal), received: store.database.clock.now,
                        decodeError: nil))
            }
            // Meeting one renews all of them.
            try await pass(3000, store)
            for ordinal in 0..<4 {
                let outcome = try await again(ordinal)
                #expect(outcome != .committed(RecordID(text: "again-\(ordinal)")))
            }
            try await forget(1, store)
            #expect(try await kept(store) == ["u0", "u1", "u2", "u3"])

            // As long as one of them is a record, others go first.
            try await deliver(["later"], store)
            #expect(try await again(4) == .committed(RecordID(text: "again-4")))
            try await forget(1, store)
            #expect(try await kept(store) == ["u0", "u1", "u2", "u3"])
            // If nothing else is left, they go all the same.
            try await forget(1, store)
            #expect(try await kept(store).isEmpty)
        }
    }

    // MARK: - What they take

    @Test(arguments: [false, true])
    func whatIsCountedIsNoLessThanWhatTheyTake(isUndated: Bool) async throws {
        try await withQueue { store in
            func keep(_ range: Range<Int>) async throws {
                try await store.database.write { db in
                    for number in range {
                        let device = BluetoothAddress(value: 0xF1F1_0000_0000 + UInt64(number % 5))
                        try RetainedTable.keep(
                            id: Self.id(number), address: isUndated ? device.description : nil,
                            characteristic: "2A18",
                            undatedPayload: isUndated ? Data(Self.id(number).utf8) : nil,
                            strangersRecord: nil, met: Int64(number) + 100_000, db)
                    }
                }
            }
            func use() async throws -> (all: UInt64, ids: UInt64) { try await store.retention.use() }
            try await keep(0..<1000)
            let before = try await use()
            for round in 1...5 {
                try await keep(round * 1000..<(round + 1) * 1000)
                let now = try await use()
                #expect(now.all - before.all <= now.ids - before.ids, "\(round)")
                #expect(now.ids - before.ids <= (now.all - before.all) * 2, "\(round)")
            }
            // And if as many go as come.
            for round in 60..<150 {
                try await keep(round * 100..<(round + 1) * 100)
                try await store.retention.forgetIDs(lookingAt: 20, downTo: before.ids * 6)
            }
            let now = try await use()
            #expect(now.all - before.all <= now.ids - before.ids)
        }
    }

    /// A dated reading and a stored one without a date are known after the file was brought up to date, and after it was
    /// mended.
    @Test(arguments: [true, false])
    func idsOfAnEarlierVersionAreTakenOver(isDamaged: Bool) async throws {
        try await withTemporaryDirectory { directory in
            let old = try await SQLiteQueue.open(in: directory, clock: DrivenClock())
            let id = Self.id(1)
            try await deliver([id], old)
            try await old.database.write { db in
                try db.execute(sql: OpeningTests.version9)
                try db.execute(
                    sql: """
                        DELETE FROM retired;
                        INSERT INTO retired (id, address, characteristic, undated_payload)
                            VALUES ('u', 'F1:F1:F1:F1:F1:F1', '2A1C', X'01'), (?, NULL, NULL, NULL)
                        """,
                    arguments: [id])
            }
            try await old.close()
            let path = directory + "/queue.sqlite"
            if isDamaged {
                try await MendingTests.change(path, MendingTests.crossing)
                QueueFile(path: path).setMark()
            }
            let new = try await SQLiteQueue.open(in: directory, clock: DrivenClock())
            #expect(try await kept(new) == [id, "u"].sorted())
            #expect(try await new.add(try record(id)) == .duplicate(RecordID(text: id)))
            let again = RecordSubmission(
                record: try record("again", bytes: [1]), repetition: .storedUndated(ordinal: 0),
                received: new.database.clock.now, decodeError: nil)
            #expect(try await new.records.commit(again) == .duplicate(RecordID(text: "u")))
            #expect(try await new.retention.use().ids == 300)
            try await new.close()
        }
    }
}
