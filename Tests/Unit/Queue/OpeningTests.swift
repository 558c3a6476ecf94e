import FoundationEssentials
import GRDB
import QueueTestSupport
import Testing

@testable import IngestQueue

@Suite struct OpeningTests {
    @Test func theTablesOfTheFileAreThoseThatAreDeclared() async throws {
        try await withQueue { store in
            let tables = try await store.database.read {
                try String.fetchSet(
                    $0,
                    sql: "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT GLOB 'sqlite_*'")
            }
            #expect(tables == Set(QueueTable.allCases.map(\.rawValue)))
            // A column that is not there would lose the table without a word.
            for table in QueueTable.allCases {
                guard case .copied(let columns) = table.salvage else { continue }
                try await store.database.read {
                    _ = try Row.fetchAll($0, sql: "SELECT * FROM \(table.rawValue) ORDER BY \(columns)")
                }
            }
        }
    }

    @Test func theConnectionThatWritesSyncsEveryCommit() async throws {
        try await withQueue { store in
            let pragmas = try await store.database.write { db in
                try ["synchronous", "journal_mode", "mmap_size", "journal_size_limit", "secure_delete"].map {
                    name in
                    try String.fetchOne(db, sql: "PRAGMA \(name)") ?? "none"
                }
            }
            // 2 is FULL (sqlite.org/pragma.html#pragma_synchronous).
            #expect(pragmas == ["2", "wal", "0", "16777216", "1"])
        }
    }

    @Test func nothingOfADeletedRecordIsLeftInTheFile() async throws {
        try await withTemporaryDirectory { directory in
            let store = try await SQLiteQueue.open(in: directory, clock: DrivenClock())
            let names = (0..<50).map { "somebody-\($0)-who-must-not-be-left" }
            for name in names {
                let record = try record(name, alias: name)
                try await store.add(record)
                try await store.records.freeze([record])
            }
            func left() async throws -> Int {
                // The write-ahead log goes into the file, and is empty.
                _ = try await store.database.connection.writeWithoutTransaction { db in
                    try db.execute(sql: "PRAGMA wal_checkpoint(TRUNCATE)")
                }
                let content = try Data(contentsOf: URL(filePath: directory + "/queue.sqlite"))
                return names.count { content.firstRange(of: Data($0.utf8)) != nil }
            }
            #expect(try await left() == 50)
            try await store.database.write { db in
                for table in ["outbox", "record"] { try db.execute(sql: "DELETE FROM \(table)") }
            }
            #expect(try await left() == 0)
            try await store.close()
        }
    }

    @Test func aFileOfALaterVersionIsRefusedAndLeftAlone() async throws {
        try await withTemporaryDirectory { directory in
            let store = try await SQLiteQueue.open(in: directory, clock: DrivenClock())
            try await store.fill(["a"])
            // It says so in the head of the file and in a table.
            try await store.database.write { db in
                try db.execute(
                    sql: """
                        UPDATE counter SET value = \(QueueSchema.version + 1) WHERE name = 'schema';
                        PRAGMA user_version = \(QueueSchema.version + 1)
                        """)
            }
            try await store.close()
            let before = try Data(contentsOf: URL(filePath: directory + "/queue.sqlite"))

            let error = await #expect(throws: StoreError.self) {
                try await SQLiteQueue.open(in: directory, clock: DrivenClock())
            }
            #expect(
                error?.kind == .newerVersion(found: QueueSchema.version + 1, supported: QueueSchema.version))
            #expect(
                error?.description.contains(directory + "/queue.sqlite: written by a later ingestd") == true)
            #expect(try Data(contentsOf: URL(filePath: directory + "/queue.sqlite")) == before)
        }
    }

    /// What version 10 added, taken away again. What is kept of undated payloads cannot be made of their digests.
    static let version9 = """
        CREATE TABLE retired (
            id TEXT PRIMARY KEY, address TEXT, characteristic TEXT, undated_payload BLOB, stranger TEXT,
            stranger_seq INTEGER
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX retired_undated_payload ON retired (address, undated_payload)
            WHERE undated_payload IS NOT NULL;
        CREATE INDEX retired_stranger ON retired (stranger, stranger_seq) WHERE stranger IS NOT NULL;
        INSERT INTO retired (id, stranger, stranger_seq)
            SELECT CAST(id AS TEXT), iif(stranger_seq IS NULL, NULL, address), stranger_seq FROM retained;
        DROP TABLE retained;
        DELETE FROM counter WHERE name IN ('retained_bytes', 'schema');
        PRAGMA user_version = 9;

        """

    /// And what version 9 added.
    static let version8 =
        version9 + """
            INSERT INTO counter SELECT 'session_end ' || name, 1 FROM destination WHERE is_end_told;
            INSERT INTO counter SELECT 'lost_destinations', 1 FROM mending WHERE has_lost_destinations;
            DROP TABLE mending;
            ALTER TABLE dead_letter DROP COLUMN is_unassigned;
            ALTER TABLE destination DROP COLUMN is_end_told;
            PRAGMA user_version = 8;

            """

    /// And what version 8 added.
    static let version7 =
        version8 + """
            DROP TABLE spent_pairing;
            CREATE TABLE old_packet (
                address TEXT NOT NULL, characteristic TEXT NOT NULL, ordinal INTEGER NOT NULL, payload BLOB NOT NULL,
                boot_id TEXT NOT NULL, received_ns INTEGER NOT NULL,
                PRIMARY KEY (address, characteristic, ordinal)
            ) STRICT, WITHOUT ROWID;
            INSERT INTO old_packet
                SELECT address, characteristic, ordinal, payload, boot_id, received_ns FROM pending_packet;
            DROP TABLE pending_packet;
            ALTER TABLE old_packet RENAME TO pending_packet;
            DROP TRIGGER record_stranger_added;
            DROP TRIGGER record_stranger_changing;
            DROP TRIGGER record_stranger_changed;
            DROP TRIGGER record_stranger_removing;
            DROP TRIGGER letter_stranger_added;
            DROP TRIGGER letter_stranger_removing;
            DROP VIEW record_size;
            DROP VIEW letter_size;
            DROP TABLE stranger;
            DROP INDEX record_stranger;
            DROP INDEX retired_stranger;
            ALTER TABLE record DROP COLUMN stranger;
            ALTER TABLE retired DROP COLUMN stranger;
            ALTER TABLE retired DROP COLUMN stranger_seq;
            DROP INDEX device_stranger;
            ALTER TABLE device DROP COLUMN is_stranger;
            ALTER TABLE device DROP COLUMN changed;
            ALTER TABLE device DROP COLUMN size;
            PRAGMA user_version = 7;

            """

    /// And what version 7 added.
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
        version7 + version5 + version4 + version3 + version2 + version1,
        version7 + version5 + version4 + version3 + version2, version7 + version5 + version4 + version3,
        version7 + version5 + version4, version7 + version5, version7, version8, version9,
    ])
    func aFileOfAnEarlierVersionKeepsWhatItHoldsAndTakesMore(downgrade: String) async throws {
        try await withTemporaryDirectory { directory in
            let clock = DrivenClock()
            let old = try await SQLiteQueue.open(in: directory, clock: clock)
            try await old.fill(["a"])
            try await old.database.write { try $0.execute(sql: downgrade) }
            try await old.close()

            let new = try await SQLiteQueue.open(in: directory, clock: clock)
            let version = try await new.database.write { try Int.fetchOne($0, sql: "PRAGMA user_version") }
            #expect(version == QueueSchema.version)
            // A migration that fails would be taken for damage, and the file be mended instead.
            #expect(!(try await new.events.map(\.name)).contains("store-quarantined"))
            try await new.fill(["b"])
            #expect(try await new.add(try record("a")) == .duplicate(RecordID(text: "a")))
            let next = try await new.next()
            #expect(next.ids == ["a", "b"])
            try await new.devices.noteFirstSeen([])
            // Nothing tells whose the old ones are: they are no strangers'.
            #expect(try await new.database.read { try StrangerCount(kept: $0).sums } == [:])
            let indexes = try await new.database.write {
                try String.fetchAll(
                    $0, sql: "SELECT sql FROM sqlite_master WHERE name GLOB 'record_unfrozen*'")
            }
            #expect(indexes == ["CREATE INDEX record_unfrozen ON record (released, seq) WHERE frozen = 0"])
            try await new.close()
        }
    }

    /// They were counted by triggers of a table that version 10 does not have.
    @Test func anIdOfAStrangersRecordCountsOnceAfterAnUpgrade() async throws {
        try await withTemporaryDirectory { directory in
            let old = try await SQLiteQueue.open(in: directory, clock: DrivenClock())
            let triggers = try #require(
                QueueSchema.version8Strangers.firstRange(of: "CREATE TRIGGER retired_stranger_added")?
                    .lowerBound)
            try await old.database.write { db in
                try db.execute(sql: Self.version9 + QueueSchema.version8Strangers[triggers...])
                try db.execute(
                    sql: """
                        INSERT INTO retired (id, stranger, stranger_seq)
                        VALUES ('9f0c3f7e-4b06-5d0e-9c2b-1f6b0a8d7e11', 'C0:00:00:00:00:77', 1)
                        """)
            }
            try await old.close()
            let new = try await SQLiteQueue.open(in: directory, clock: DrivenClock())
            let sums = try await new.database.read { try StrangerCount(kept: $0).sums }
            #expect(sums == ["": 180, "C0:00:00:00:00:77": 180])
            try await new.database.write { try $0.execute(sql: "DELETE FROM retained") }
            #expect(try await new.database.read { try StrangerCount(kept: $0).sums.values.max() ?? 0 } == 0)
            try await new.close()
        }
    }

    /// Version 8 had rows in the table of counters for them, or told them by the words of an error.
    @Test func whatAnEarlierVersionHadNotedOfDestinationsStays() async throws {
        try await withTemporaryDirectory { directory in
            let (clock, atOnce) = (DrivenClock(), BatchSettings(maxWait: .zero))
            let old = try await SQLiteQueue.open(in: directory, clock: clock)
            try await old.fill(["a", "b"])
            let batch = try #require(try await old.next(BatchSettings(maxRecords: 1, maxWait: .zero)).batch)
            _ = try await old.batches.setAside(
                batch, httpStatus: nil, attempt: 0, reason: .unassigned, reply: nil, settings: atOnce,
                gateway: "box")
            _ = try await old.sessions.signIn("user-a", at: "clinic")
            try await old.sessions.noteEnd(of: "clinic", httpStatus: 401)
            try await old.database.write { db in
                try DestinationTable.markLostDestinations(db)
                try db.execute(sql: Self.version8)
            }
            try await old.close()

            let both = [DestinationRouting(name: "clinic"), DestinationRouting(name: "study")]
            let new = try await SQLiteQueue.open(in: directory, clock: clock, destinations: both)
            try await new.sessions.noteEnd(of: "clinic", httpStatus: 401)
            #expect(try await new.events.count { $0.name == "session-ended" } == 1)
            // One that may have been lost gets everything.
            #expect(try await new.overview.pendingCount(of: "study") == 2)
            let outcome = try await new.deadLetters.retry(
                DeadLetterSelection(destination: "clinic"), subject: "user-a", gateway: "box")
            #expect(outcome.released == 1)
            let counters = try await new.database.read {
                try String.fetchAll($0, sql: "SELECT name FROM counter ORDER BY name")
            }
            #expect(counters == ["event", "position", "retained_bytes", "schema"])
            try await new.close()
        }
    }

    /// Version 7 did not write the address type down.
    @Test func packetsOfAnEarlierVersionGoToTheTypeThatHasTheBond() async throws {
        try await withTemporaryDirectory { directory in
            let clock = DrivenClock()
            let device = DeviceAddress(BluetoothAddress(value: 0xF1F1_F1F1_F1F1), .random)
            let old = try await SQLiteQueue.open(in: directory, clock: clock)
            var memory = DeviceMemory()
            try await old.devices.remember(memory, of: device.otherType)
            memory.bondedAdapter = BluetoothAddress(value: 0xA0)
            try await old.devices.remember(memory, of: device)
            let pending = PendingPackets(
                device: device, characteristic: 0x2A9C, packets: [[1, 2], [3]], received: clock.now)
            _ = try await old.records.commit(QueueTransaction(pending: pending))
            try await old.database.write { try $0.execute(sql: Self.version7) }
            try await old.close()
            let new = try await SQLiteQueue.open(in: directory, clock: clock)
            #expect(try await new.devices.pendingPackets(of: device) == [pending])
            #expect(try await new.devices.pendingPackets(of: device.otherType).isEmpty)
            try await new.close()
        }
    }

    @Test func anotherProgramsDatabaseIsRefused() async throws {
        try await withTemporaryDirectory { directory in
            let other = try DatabaseQueue(path: directory + "/queue.sqlite")
            try await other.write { try $0.execute(sql: "CREATE TABLE notes (text)") }
            try other.close()
            let error = await #expect(throws: StoreError.self) {
                try await SQLiteQueue.open(in: directory, clock: DrivenClock())
            }
            #expect(error?.kind == .foreign)
        }
    }

    @Test func aDirectoryThatIsNotThereIsNamed() async throws {
        let error = await #expect(throws: StoreError.self) {
            try await SQLiteQueue.open(in: "/nonexistent/state", clock: DrivenClock())
        }
        #expect(error?.kind == .cannotOpen)
        #expect(error?.description.hasPrefix("/nonexistent/state/queue.sqlite: ") == true)
    }

    @Test func whatAnEarlierRunDidNotFreezeIsFrozenAsItIs() async throws {
        try await withTemporaryDirectory { directory in
            let clock = DrivenClock()
            let first = try await SQLiteQueue.open(in: directory, clock: clock)
            try await first.add(try record("a"))
            try await first.add(try record("b"))
            let settings = BatchSettings()
            #expect(try await first.next(settings) == .nothing)
            try await first.close()

            let second = try await SQLiteQueue.open(in: directory, clock: clock)
            let next = try await second.next(settings)
            #expect(next.ids == ["a", "b"])
            // Frozen is frozen.
            try await second.records.freeze([try record("a", model: "late")])
            let batch = try #require(try await second.next(settings).batch)
            #expect(!batch.items[0].body.contains("late"))
            try await second.close()
        }
    }

    @Test func theFirstDestinationGetsWhatIsHeldAndALaterOneWhatComes() async throws {
        try await withTemporaryDirectory { directory in
            let clock = DrivenClock()
            let none = try await SQLiteQueue.open(in: directory, clock: clock, destinations: [])
            try await none.fill(["a"])
            try await none.close()

            let one = try await SQLiteQueue.open(in: directory, clock: clock)
            #expect(try await one.next().ids == ["a"])
            try await one.close()

            let two = try await SQLiteQueue.open(
                in: directory, clock: clock,
                destinations: [DestinationRouting(name: "clinic"), DestinationRouting(name: "home")])
            #expect(try await two.next(for: "home") == .nothing)
            try await two.fill(["b"])
            #expect(try await two.next(for: "home").ids == ["b"])
            #expect(try await two.next().ids == ["a"])
            try await two.close()
        }
    }
}
