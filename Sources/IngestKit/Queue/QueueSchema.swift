import GRDB

/// The tables of the queue, and how an older file becomes a newer one.
enum QueueSchema {
    /// The version that this code writes, in `PRAGMA user_version`.
    static let version = 10

    /// "INGD" in ASCII, in `PRAGMA application_id`, tells our files from other programs'.
    static let applicationID = 0x494E_4744

    /// What a file is.
    struct Found {
        /// Its schema version; 0 for a new one.
        var version: Int
        /// Whether the head of the file says the same as its tables.
        var isHeaderRight = true
    }

    /// What a file is, before anything is written to it.
    static func inspect(_ db: Database, path: String) throws -> Found {
        let application = try Int.fetchOne(db, sql: "PRAGMA application_id") ?? 0
        let found = try Int.fetchOne(db, sql: "PRAGMA user_version") ?? 0
        let tables = try Int.fetchOne(db, sql: "SELECT count(*) FROM sqlite_master") ?? 0
        // A flipped bit in the head makes another program's file of it, or a later version's.
        let noted = try notedVersion(db)
        if let noted, noted <= version {
            return Found(version: noted, isHeaderRight: application == applicationID && found == noted)
        }
        if application == applicationID {
            guard found <= version else {
                throw StoreError(.newerVersion(found: found, supported: version), path: path)
            }
            return Found(version: found)
        }
        guard application == 0, found == 0, tables == 0 else { throw StoreError(.foreign, path: path) }
        return Found(version: 0)
    }

    /// The version of the schema, as a row of the file has it; nil in files before version 10.
    private static func notedVersion(_ db: Database) throws -> Int? {
        let isThere = try Bool.fetchOne(
            db, sql: "SELECT EXISTS (SELECT 1 FROM sqlite_master WHERE name = 'counter' AND type = 'table')")
        guard isThere == true else { return nil }
        do {
            return try Int.fetchOne(db, sql: "SELECT value FROM counter WHERE name = 'schema'")
        } catch let error as DatabaseError where error.resultCode == .SQLITE_IOERR {
            // SQLite has ended the transaction with it. That the disk cannot read is for the caller to know.
            throw error
        } catch {
            return nil
        }
    }

    /// Brings the file from `found` to `version`, within the caller's transaction.
    static func migrate(_ db: Database, from found: Int) throws {
        if found < 1 {
            try db.execute(sql: version1)
        }
        if found < 2 { try db.execute(sql: version2) }
        if found < 3 { try db.execute(sql: version3) }
        if found < 4 { try db.execute(sql: version4) }
        if found < 5 { try db.execute(sql: version5) }
        // From 6 on there may be images, which an earlier program does not know. Its tables are those of 5.
        if found < 7 {
            try db.execute(sql: version7)
            try db.execute(sql: imagesToTheirLane)
        }
        if found < 8 {
            try db.execute(sql: version8Bonds)
            try db.execute(sql: version8Strangers)
            try db.execute(sql: version8Devices)
            try db.execute(sql: strangersAmongDevices)
        }
        if found < 9 {
            try db.execute(sql: version9)
            try db.execute(sql: unassignedLetters)
        }
        if found < 10 {
            try db.execute(sql: version10)
            let rows = try Row.fetchCursor(db, sql: "SELECT * FROM retired")
            while let row = try rows.next() { try RetainedTable.takeOver(row, db) }
            // Its triggers take off what strangers held there; a table that is dropped calls none.
            try db.execute(sql: "DELETE FROM retired")
            try db.execute(sql: "DROP TABLE retired")
        }
        try db.execute(
            sql: """
                INSERT INTO counter (name, value) VALUES ('schema', \(version))
                    ON CONFLICT DO UPDATE SET value = excluded.value WHERE value <> excluded.value;
                PRAGMA application_id = \(applicationID);
                PRAGMA user_version = \(version)
                """)
    }

    private static let version1 = """
        CREATE TABLE record (
            -- In the order of the commits.
            seq INTEGER PRIMARY KEY AUTOINCREMENT,
            id TEXT NOT NULL UNIQUE,
            kind TEXT NOT NULL,
            peripheral_id INTEGER NOT NULL,
            address TEXT NOT NULL,
            alias TEXT,
            -- 4 or 32 hexadecimal digits, or ADV.
            characteristic TEXT NOT NULL,
            payload BLOB NOT NULL,
            body TEXT NOT NULL,
            -- Names of destinations, a line each; NULL is all.
            destinations TEXT,
            frozen INTEGER NOT NULL DEFAULT 0,
            -- The place in the order of delivery, given when the record is frozen; NULL for what
            -- is not delivered.
            position INTEGER UNIQUE,
            -- Monotonic time of the freezing, in nanoseconds; of meaning within one run only.
            available_ns INTEGER,
            -- Wall time of the commit, in nanoseconds since 1970.
            committed_ns INTEGER NOT NULL,
            checksum BLOB NOT NULL
        ) STRICT;
        CREATE INDEX record_unfrozen ON record (seq) WHERE frozen = 0;

        CREATE TABLE device (
            address TEXT NOT NULL,
            address_type TEXT NOT NULL,
            memory TEXT NOT NULL,
            PRIMARY KEY (address, address_type)
        ) STRICT, WITHOUT ROWID;

        -- The indication without a date that a device may not have got its confirmation for.
        CREATE TABLE unconfirmed (
            address TEXT PRIMARY KEY,
            record_id TEXT NOT NULL,
            characteristic TEXT NOT NULL,
            payload BLOB NOT NULL,
            boot_id TEXT NOT NULL,
            received_ns INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE destination (
            name TEXT PRIMARY KEY,
            -- Records up to this position are delivered, dead letters, in a batch, or not for it.
            position INTEGER NOT NULL,
            delivered INTEGER NOT NULL DEFAULT 0,
            state TEXT NOT NULL
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE batch (
            destination TEXT NOT NULL REFERENCES destination (name),
            first_position INTEGER NOT NULL,
            -- Positions of its records, in order, with spaces between.
            positions TEXT NOT NULL,
            gateway TEXT NOT NULL,
            -- Attempts that were told of in events.
            attempts INTEGER NOT NULL DEFAULT 0,
            PRIMARY KEY (destination, first_position)
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE dead_letter (
            number INTEGER PRIMARY KEY AUTOINCREMENT,
            destination TEXT NOT NULL REFERENCES destination (name),
            record_seq INTEGER NOT NULL REFERENCES record (seq),
            http_status INTEGER,
            attempt INTEGER NOT NULL,
            error TEXT NOT NULL,
            -- The server's words.
            reply TEXT,
            failed_ns INTEGER NOT NULL
        ) STRICT;
        CREATE INDEX dead_letter_destination ON dead_letter (destination);

        CREATE TABLE outbox (
            sequence INTEGER PRIMARY KEY,
            entry TEXT NOT NULL
        ) STRICT;

        CREATE TABLE counter (
            name TEXT PRIMARY KEY,
            value INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;
        INSERT INTO counter (name, value) VALUES ('event', 0), ('position', 0);
        """

    private static let version2 = """
        -- The device's own number of the reading.
        ALTER TABLE record ADD COLUMN device_sequence INTEGER;
        CREATE INDEX record_device_sequence ON record (address, device_sequence)
            WHERE device_sequence IS NOT NULL;
        -- Payloads that nothing in them dates, by which a stored reading is known again.
        ALTER TABLE record ADD COLUMN undated_payload BLOB;
        CREATE INDEX record_undated_payload ON record (address, undated_payload)
            WHERE undated_payload IS NOT NULL;

        -- Packets of values whose others have not come.
        CREATE TABLE pending_packet (
            address TEXT NOT NULL,
            characteristic TEXT NOT NULL,
            ordinal INTEGER NOT NULL,
            payload BLOB NOT NULL,
            boot_id TEXT NOT NULL,
            received_ns INTEGER NOT NULL,
            PRIMARY KEY (address, characteristic, ordinal)
        ) STRICT, WITHOUT ROWID;

        -- Since when devices and their users are known.
        CREATE TABLE acquaintance (
            -- An address or # and a model's number; then for users | and the slot, if any.
            key TEXT PRIMARY KEY,
            -- Empty for devices.
            subject TEXT NOT NULL,
            -- Wall time in seconds since 1970.
            since_s INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;
        """

    private static let version3 = """
        -- When the record came: the kernel's name of the boot, and its monotonic time in nanoseconds. NULL
        -- in records of earlier versions.
        ALTER TABLE record ADD COLUMN boot_id TEXT;
        ALTER TABLE record ADD COLUMN received_ns INTEGER;
        -- What decides the record's time once the gateway's clock is known to be right, and the record
        -- with gaps for what it decides, as JSON; NULL where that is decided. The body says nothing then.
        ALTER TABLE record ADD COLUMN undated TEXT;
        -- Such a record waits for: 0 its link, 1 nothing but its time, 2 a version that can read this.
        ALTER TABLE record ADD COLUMN released INTEGER NOT NULL DEFAULT 0;
        CREATE INDEX record_undated ON record (seq) WHERE undated IS NOT NULL;

        -- Set while the moment is known by a boot's monotonic time alone; since_s says nothing then.
        ALTER TABLE acquaintance ADD COLUMN boot_id TEXT;
        ALTER TABLE acquaintance ADD COLUMN monotonic_ns INTEGER;

        -- How far the wall clock was ahead of the monotonic clock when it was last found right.
        CREATE TABLE found_clock (
            boot_id TEXT PRIMARY KEY,
            lead_ns INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;
        """

    private static let version4 = """
        -- `position` is the backlog's from here on. What is up to this position was offered to the fresh lane,
        -- which took it or left it to the backlog.
        ALTER TABLE destination ADD COLUMN fresh_position INTEGER NOT NULL DEFAULT 0;
        -- Whose session it is, where a destination has sessions. Records up to account_seq were read in another's,
        -- those up to cleared_seq in one that was ended with its records.
        ALTER TABLE destination ADD COLUMN account TEXT;
        ALTER TABLE destination ADD COLUMN account_seq INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE destination ADD COLUMN cleared_seq INTEGER NOT NULL DEFAULT 0;
        -- Sessions begun so far, and whether the last one was ended by the operator.
        ALTER TABLE destination ADD COLUMN session INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE destination ADD COLUMN signed_out INTEGER NOT NULL DEFAULT 0;
        -- Which of the two composed it.
        ALTER TABLE batch ADD COLUMN lane TEXT NOT NULL DEFAULT 'backlog';
        CREATE TABLE ahead (
            -- Positions that the fresh lane took before the backlog came to them, first and last.
            destination TEXT NOT NULL REFERENCES destination (name),
            first INTEGER NOT NULL,
            last INTEGER NOT NULL,
            PRIMARY KEY (destination, first)
        ) STRICT, WITHOUT ROWID;

        -- Whether no other reading can have its id: nothing in the payload dates it, and it is from no memory, so
        -- that the id holds the boot and the monotonic time of its reception.
        ALTER TABLE record ADD COLUMN is_singular INTEGER NOT NULL DEFAULT 0;

        -- Of records that were dropped after their delivery: what makes a reading that comes again known.
        CREATE TABLE retired (
            id TEXT PRIMARY KEY,
            -- The three by which a stored reading without a date is known again; NULL for others.
            address TEXT,
            characteristic TEXT,
            undated_payload BLOB
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX retired_undated_payload ON retired (address, undated_payload)
            WHERE undated_payload IS NOT NULL;
        CREATE INDEX dead_letter_record ON dead_letter (record_seq);

        -- Records in the hands of their links, a few, and those that wait for their time, apart.
        DROP INDEX record_unfrozen;
        DROP INDEX record_undated;
        CREATE INDEX record_unfrozen ON record (released, seq) WHERE frozen = 0;
        """

    private static let version5 = """
        -- Whose a record of nobody is for one destination, by the operator's word. Stays with the record, so that
        -- what goes there again has the same bytes.
        CREATE TABLE assignment (
            destination TEXT NOT NULL,
            record_seq INTEGER NOT NULL REFERENCES record (seq) ON DELETE CASCADE,
            subject TEXT NOT NULL,
            PRIMARY KEY (record_seq, destination)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX record_undecoded ON record (seq) WHERE kind = 'undecoded';
        -- Records that were passed over because the destination has no form for their kind.
        ALTER TABLE destination ADD COLUMN skipped INTEGER NOT NULL DEFAULT 0;
        """

    private static let version7 = """
        -- Images on their way, each a request of its own: apart from the readings' batches, so that neither are looked
        -- at for the others.
        CREATE TABLE image_batch (
            destination TEXT NOT NULL REFERENCES destination (name),
            -- The image's.
            first_position INTEGER NOT NULL,
            gateway TEXT NOT NULL,
            -- Attempts that were told of in events.
            attempts INTEGER NOT NULL DEFAULT 0,
            PRIMARY KEY (destination, first_position)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX image_batch_position ON image_batch (first_position);
        CREATE INDEX record_image ON record (position) WHERE kind = 'image';
        """

    /// The address type of a row of `pending_packet` that an earlier version wrote.
    static let typeOfOlderPackets = """
        coalesce((SELECT address_type FROM device WHERE device.address = pending_packet.address
            ORDER BY memory LIKE '%"bondedAdapter"%' DESC LIMIT 1), 'public')
        """

    private static let version8Bonds = """
        -- Packets of two devices with the same 48 bits and different address types are kept apart. Packets of earlier
        -- versions have the type under which the device is remembered, the one with a bond first.
        CREATE TABLE pending_packet_of_type (
            address TEXT NOT NULL,
            address_type TEXT NOT NULL DEFAULT 'public',
            characteristic TEXT NOT NULL,
            ordinal INTEGER NOT NULL,
            payload BLOB NOT NULL,
            boot_id TEXT NOT NULL,
            received_ns INTEGER NOT NULL,
            PRIMARY KEY (address, address_type, characteristic, ordinal)
        ) STRICT, WITHOUT ROWID;
        INSERT INTO pending_packet_of_type
            SELECT address, \(typeOfOlderPackets), characteristic, ordinal, payload, boot_id, received_ns
            FROM pending_packet;
        DROP TABLE pending_packet;
        ALTER TABLE pending_packet_of_type RENAME TO pending_packet;

        -- Entries with a passkey whose one automatic pairing was begun: an address, or # and a model's number.
        CREATE TABLE spent_pairing (
            entry TEXT PRIMARY KEY
        ) STRICT, WITHOUT ROWID;
        """

    private static let version8Devices = """
        -- Whether no entry of the allow-list has named the device by its address, and it has no bond: anybody can invent
        -- such devices, so that only the newest are kept.
        ALTER TABLE device ADD COLUMN is_stranger INTEGER NOT NULL DEFAULT 0;
        -- Rises with each change of what is remembered of a stranger.
        ALTER TABLE device ADD COLUMN changed INTEGER NOT NULL DEFAULT 0;
        -- Of `memory`, in bytes.
        ALTER TABLE device ADD COLUMN size INTEGER NOT NULL DEFAULT 0;
        CREATE INDEX device_stranger ON device (changed, size) WHERE is_stranger;
        """

    /// Earlier versions did not say which devices are strangers, and remembered any number of attributes.
    static let strangersAmongDevices = """
        UPDATE device SET memory = json_set(memory, '$.layout', json('{"services":{}}'))
            WHERE length(memory) > 65536 AND CASE WHEN json_valid(memory) THEN 1 ELSE 0 END;
        UPDATE device SET is_stranger = 1, size = length(memory), changed = numbered.number
            FROM (
                SELECT address AS its_address, address_type AS its_type,
                    row_number() OVER (ORDER BY address, address_type) AS number
                FROM device) AS numbered
            WHERE address = its_address AND address_type = its_type
                AND NOT EXISTS (SELECT 1 FROM acquaintance WHERE key = address)
                AND CASE WHEN json_valid(memory) THEN json_extract(memory, '$.bondedAdapter') IS NULL ELSE 0 END;
        """

    private static let version9 = """
        -- Whether the record belongs to nobody and the destination files under a person.
        ALTER TABLE dead_letter ADD COLUMN is_unassigned INTEGER NOT NULL DEFAULT 0;

        -- Whether the end of its session was told, where its state is auth-rejected: a credential that was rejected
        -- before has the same state, and is another matter.
        ALTER TABLE destination ADD COLUMN is_end_told INTEGER NOT NULL DEFAULT 0;
        UPDATE destination SET is_end_told = 1
            WHERE 'session_end ' || name IN (SELECT counter.name FROM counter);

        -- One row: whether a mending could not read all destinations, until the opening that follows.
        CREATE TABLE mending (
            has_lost_destinations INTEGER NOT NULL
        ) STRICT;
        INSERT INTO mending SELECT EXISTS (SELECT 1 FROM counter WHERE name = 'lost_destinations');
        DELETE FROM counter WHERE name = 'lost_destinations' OR name GLOB 'session_end *';
        """

    private static let version10 = """
        -- Ids of records that were dropped after their delivery, by which a reading that comes again is known. Replaces
        -- `retired`, which kept ids as texts and without a bound (`RetainedTable`).
        CREATE TABLE retained (
            -- The 16 bytes of the record's id.
            id BLOB PRIMARY KEY,
            -- When a reading had this id last: the number of the newest record then.
            met INTEGER NOT NULL,
            -- Of stored readings that nothing dates, and of strangers, the device.
            address TEXT,
            -- Of stored readings that nothing dates: 16 bytes of a SHA-256 of characteristic and payload.
            undated BLOB,
            -- Of a stranger's: the number of the record.
            stranger_seq INTEGER
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX retained_met ON retained (met);
        CREATE INDEX retained_undated ON retained (address, undated) WHERE undated IS NOT NULL;
        CREATE INDEX retained_stranger ON retained (address, stranger_seq) WHERE stranger_seq IS NOT NULL;

        INSERT INTO counter (name, value) VALUES ('retained_bytes', 0);
        \(retainedTriggers)
        """

    /// Earlier versions told them by the words of the error.
    static let unassignedLetters = "UPDATE dead_letter SET is_unassigned = 1 WHERE error = 'unassigned'"

    /// Version 6 had images among the batches of readings, each alone.
    static let imagesToTheirLane = """
        INSERT OR IGNORE INTO image_batch (destination, first_position, gateway, attempts)
            SELECT destination, first_position, gateway, attempts FROM batch
            WHERE first_position IN (SELECT position FROM record WHERE kind = 'image');
        DELETE FROM batch WHERE first_position IN (SELECT position FROM record WHERE kind = 'image');
        """
}
