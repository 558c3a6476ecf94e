import FoundationEssentials
import GRDB
import Testing

@testable import IngestKit

@Suite struct OpeningTests {
    @Test func theConnectionThatWritesSyncsEveryCommit() async throws {
        try await withTemporaryDirectory { directory in
            let store = try await SQLiteRecordStore.open(in: directory, clock: DrivenClock())
            let pragmas = try await store.write { db in
                try ["synchronous", "journal_mode", "mmap_size", "journal_size_limit"].map { name in
                    try String.fetchOne(db, sql: "PRAGMA \(name)") ?? "none"
                }
            }
            // 2 is FULL (sqlite.org/pragma.html#pragma_synchronous).
            #expect(pragmas == ["2", "wal", "0", "16777216"])
            try await store.close()
        }
    }

    @Test func aFileOfALaterVersionIsRefusedAndLeftAlone() async throws {
        try await withTemporaryDirectory { directory in
            let store = try await SQLiteRecordStore.open(in: directory, clock: DrivenClock())
            try await store.fill(["a"])
            try await store.write { try $0.execute(sql: "PRAGMA user_version = \(QueueSchema.version + 1)") }
            try await store.close()
            let before = try Data(contentsOf: URL(filePath: directory + "/queue.sqlite"))

            let error = await #expect(throws: StoreError.self) {
                try await SQLiteRecordStore.open(in: directory, clock: DrivenClock())
            }
            #expect(
                error?.kind == .newerVersion(found: QueueSchema.version + 1, supported: QueueSchema.version))
            #expect(
                error?.description.contains(directory + "/queue.sqlite: written by a later ingestd") == true)
            #expect(try Data(contentsOf: URL(filePath: directory + "/queue.sqlite")) == before)
        }
    }

    /// What version 7 added, taken away again.
    private static let version5 = """
        DROP TABLE image_batch;
        DROP INDEX record_image;
        PRAGMA user_version = 5;

        """

    /// And what version 5 added.
    private static let version4 = """
        DROP TABLE assignment;
        DROP INDEX record_undecoded;
        ALTER TABLE destination DROP COLUMN skipped;
        PRAGMA user_version = 4;

        """

    /// And what version 4 added.
    private static let version3 = """
        ALTER TABLE destination DROP COLUMN fresh_position;
        ALTER TABLE destination DROP COLUMN account;
        ALTER TABLE destination DROP COLUMN account_seq;
        ALTER TABLE destination DROP COLUMN cleared_seq;
        ALTER TABLE destination DROP COLUMN session;
        ALTER TABLE destination DROP COLUMN signed_out;
        ALTER TABLE batch DROP COLUMN lane;
        ALTER TABLE record DROP COLUMN is_singular;
        DROP TABLE ahead;
        DROP TABLE retired;
        DROP INDEX dead_letter_record;
        DROP INDEX record_unfrozen;
        CREATE INDEX record_unfrozen ON record (seq) WHERE frozen = 0;
        CREATE INDEX record_undated ON record (seq) WHERE undated IS NOT NULL;
        PRAGMA user_version = 3;

        """

    /// And what version 3 added.
    private static let version2 = """
        DROP INDEX record_undated;
        ALTER TABLE record DROP COLUMN boot_id;
        ALTER TABLE record DROP COLUMN received_ns;
        ALTER TABLE record DROP COLUMN undated;
        ALTER TABLE record DROP COLUMN released;
        ALTER TABLE acquaintance DROP COLUMN boot_id;
        ALTER TABLE acquaintance DROP COLUMN monotonic_ns;
        DROP TABLE found_clock;
        PRAGMA user_version = 2;

        """

    /// And what version 2 added.
    private static let version1 = """
        DROP INDEX record_device_sequence;
        DROP INDEX record_undated_payload;
        ALTER TABLE record DROP COLUMN device_sequence;
        ALTER TABLE record DROP COLUMN undated_payload;
        DROP TABLE pending_packet;
        DROP TABLE acquaintance;
        PRAGMA user_version = 1;
        """

    @Test(arguments: [
        version5 + version4 + version3 + version2 + version1, version5 + version4 + version3 + version2,
        version5 + version4 + version3, version5 + version4, version5,
    ])
    func aFileOfAnEarlierVersionKeepsWhatItHoldsAndTakesMore(downgrade: String) async throws {
        try await withTemporaryDirectory { directory in
            let clock = DrivenClock()
            let old = try await SQLiteRecordStore.open(in: directory, clock: clock)
            try await old.fill(["a"])
            try await old.write { try $0.execute(sql: downgrade) }
            try await old.close()

            let new = try await SQLiteRecordStore.open(in: directory, clock: clock)
            let version = try await new.write { try Int.fetchOne($0, sql: "PRAGMA user_version") }
            #expect(version == QueueSchema.version)
            try await new.fill(["b"])
            #expect(try await new.add(try record("a")) == .duplicate(RecordID(text: "a")))
            let next = try await new.nextBatch(
                for: "clinic", settings: BatchSettings(maxWait: .zero), gateway: "box")
            #expect(next.ids == ["a", "b"])
            try await new.acquaint([])
            let indexes = try await new.write {
                try String.fetchAll(
                    $0, sql: "SELECT sql FROM sqlite_master WHERE name GLOB 'record_unfrozen*'")
            }
            #expect(indexes == ["CREATE INDEX record_unfrozen ON record (released, seq) WHERE frozen = 0"])
            try await new.close()
        }
    }

    @Test func anotherProgramsDatabaseIsRefused() async throws {
        try await withTemporaryDirectory { directory in
            let other = try DatabaseQueue(path: directory + "/queue.sqlite")
            try await other.write { try $0.execute(sql: "CREATE TABLE notes (text)") }
            try other.close()
            let error = await #expect(throws: StoreError.self) {
                try await SQLiteRecordStore.open(in: directory, clock: DrivenClock())
            }
            #expect(error?.kind == .foreign)
        }
    }

    @Test func aDirectoryThatIsNotThereIsNamed() async throws {
        let error = await #expect(throws: StoreError.self) {
            try await SQLiteRecordStore.open(in: "/nonexistent/state", clock: DrivenClock())
        }
        #expect(error?.kind == .cannotOpen)
        #expect(error?.description.hasPrefix("/nonexistent/state/queue.sqlite: ") == true)
    }

    @Test func whatAnEarlierRunDidNotFreezeIsFrozenAsItIs() async throws {
        try await withTemporaryDirectory { directory in
            let clock = DrivenClock()
            let first = try await SQLiteRecordStore.open(in: directory, clock: clock)
            try await first.add(try record("a"))
            try await first.add(try record("b"))
            let settings = BatchSettings()
            #expect(try await first.nextBatch(for: "clinic", settings: settings, gateway: "box") == .nothing)
            try await first.close()

            let second = try await SQLiteRecordStore.open(in: directory, clock: clock)
            let next = try await second.nextBatch(for: "clinic", settings: settings, gateway: "box")
            #expect(next.ids == ["a", "b"])
            // Frozen is frozen.
            try await second.freeze([try record("a", model: "late")])
            guard
                case .batch(let batch) = try await second.nextBatch(
                    for: "clinic", settings: settings, gateway: "box")
            else { throw TimedOut() }
            #expect(!batch.items[0].body.contains("late"))
            try await second.close()
        }
    }

    @Test func theFirstDestinationGetsWhatIsHeldAndALaterOneWhatComes() async throws {
        try await withTemporaryDirectory { directory in
            let clock = DrivenClock()
            let none = try await SQLiteRecordStore.open(in: directory, clock: clock, destinations: [])
            try await none.fill(["a"])
            try await none.close()

            let settings = BatchSettings(maxWait: .zero)
            let one = try await SQLiteRecordStore.open(in: directory, clock: clock)
            #expect(try await one.nextBatch(for: "clinic", settings: settings, gateway: "box").ids == ["a"])
            try await one.close()

            let two = try await SQLiteRecordStore.open(
                in: directory, clock: clock,
                destinations: [DestinationRouting(name: "clinic"), DestinationRouting(name: "home")])
            #expect(try await two.nextBatch(for: "home", settings: settings, gateway: "box") == .nothing)
            try await two.fill(["b"])
            #expect(try await two.nextBatch(for: "home", settings: settings, gateway: "box").ids == ["b"])
            #expect(try await two.nextBatch(for: "clinic", settings: settings, gateway: "box").ids == ["a"])
            try await two.close()
        }
    }
}
