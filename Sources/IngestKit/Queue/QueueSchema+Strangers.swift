/// How the queue counts what unpinned devices gave: devices that the allow-list does not name by address.
///
/// Triggers keep the sums, so that no statement can change a record without its device's sum. They count what the rows
/// take in the file at most, with their share of the indexes and of pages that are not full (measured by
/// `StrangerSizeTests`).
extension QueueSchema {
    /// An UPSERT within a trigger holds whatever conflict policy the statement has that fires it.
    private static func add(_ bytes: String, to address: String) -> String {
        """
        INSERT INTO stranger (address, bytes) VALUES (\(address), \(bytes)), ('', \(bytes))
                ON CONFLICT DO UPDATE SET bytes = bytes + excluded.bytes;
        """
    }

    private static func take(_ bytes: String, from address: String) -> String {
        """
        UPDATE stranger SET bytes = bytes - \(bytes) WHERE address IN (\(address), '');
            DELETE FROM stranger WHERE address IN (\(address), '') AND bytes <= 0;
        """
    }

    /// A record's bytes, with those of its dead letters.
    private static func record(_ row: String) -> String {
        """
        ((SELECT bytes FROM record_size WHERE seq = \(row).seq)
                + (SELECT coalesce(sum(bytes), 0) FROM letter_size WHERE record_seq = \(row).seq))
        """
    }

    private static func letter(_ row: String) -> String {
        "(SELECT bytes FROM letter_size WHERE number = \(row).number)"
    }

    private static func retired(_ row: String) -> String {
        "(350 + coalesce(4 * length(\(row).undated_payload), 0))"
    }

    private static func owner(_ row: String) -> String {
        "(SELECT address FROM record WHERE seq = \(row).record_seq)"
    }

    private static func isStrangers(_ row: String) -> String {
        "(SELECT stranger FROM record WHERE seq = \(row).record_seq) = 1"
    }

    /// A page takes at least 3/4 of rows up to 1,000 bytes, and of longer ones one at least; 250 bytes are for indexes.
    static let version8Strangers = """
        -- Whether the record was read from a device that the allow-list did not name by address.
        ALTER TABLE record ADD COLUMN stranger INTEGER NOT NULL DEFAULT 0;
        CREATE INDEX record_stranger ON record (address, seq) WHERE stranger = 1;
        -- The address of such a device, and the seq of the record; NULL for others.
        ALTER TABLE retired ADD COLUMN stranger TEXT;
        ALTER TABLE retired ADD COLUMN stranger_seq INTEGER;
        CREATE INDEX retired_stranger ON retired (stranger, stranger_seq) WHERE stranger IS NOT NULL;

        -- What each such device holds of the file; the row without an address is the sum.
        CREATE TABLE stranger (
            address TEXT PRIMARY KEY,
            bytes INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX stranger_bytes ON stranger (bytes, address);

        CREATE VIEW record_size AS
            SELECT seq, content + iif(content <= 1000, content / 2, min(content, 4096)) + 250
                + indexed AS bytes
            FROM (SELECT seq, 220 + length(CAST(body AS BLOB)) + length(payload)
                + coalesce(length(undated_payload), 0) + coalesce(length(CAST(undated AS BLOB)), 0)
                + coalesce(length(CAST(destinations AS BLOB)), 0)
                + coalesce(length(CAST(alias AS BLOB)), 0) AS content,
                coalesce(2 * (length(undated_payload) + 60), 0) AS indexed FROM record);
        CREATE VIEW letter_size AS
            SELECT number, record_seq, content + iif(content <= 1000, content / 2, min(content, 4096)) + 60
                AS bytes
            FROM (SELECT number, record_seq, 120 + length(CAST(error AS BLOB))
                + coalesce(length(CAST(reply AS BLOB)), 0) AS content FROM dead_letter);

        CREATE TRIGGER record_stranger_added AFTER INSERT ON record WHEN NEW.stranger = 1 BEGIN
            \(add(record("NEW"), to: "NEW.address"))
        END;
        CREATE TRIGGER record_stranger_changing
            BEFORE UPDATE OF body, payload, undated_payload, undated, destinations, alias, address, stranger
            ON record WHEN OLD.stranger = 1 BEGIN
            \(take(record("OLD"), from: "OLD.address"))
        END;
        CREATE TRIGGER record_stranger_changed
            AFTER UPDATE OF body, payload, undated_payload, undated, destinations, alias, address, stranger
            ON record WHEN NEW.stranger = 1 BEGIN
            \(add(record("NEW"), to: "NEW.address"))
        END;
        CREATE TRIGGER record_stranger_removing BEFORE DELETE ON record WHEN OLD.stranger = 1 BEGIN
            \(take(record("OLD"), from: "OLD.address"))
        END;
        CREATE TRIGGER letter_stranger_added AFTER INSERT ON dead_letter WHEN \(isStrangers("NEW")) BEGIN
            \(add(letter("NEW"), to: owner("NEW")))
        END;
        CREATE TRIGGER letter_stranger_removing BEFORE DELETE ON dead_letter WHEN \(isStrangers("OLD")) BEGIN
            \(take(letter("OLD"), from: owner("OLD")))
        END;
        CREATE TRIGGER retired_stranger_added AFTER INSERT ON retired WHEN NEW.stranger IS NOT NULL BEGIN
            \(add(retired("NEW"), to: "NEW.stranger"))
        END;
        CREATE TRIGGER retired_stranger_changed AFTER UPDATE OF stranger ON retired
            WHEN OLD.stranger IS NOT NULL AND NEW.stranger IS NULL BEGIN
            \(take(retired("OLD"), from: "OLD.stranger"))
        END;
        CREATE TRIGGER retired_stranger_removed AFTER DELETE ON retired WHEN OLD.stranger IS NOT NULL BEGIN
            \(take(retired("OLD"), from: "OLD.stranger"))
        END;

        """

    /// What an id takes in the file at most.
    private static func retainedID(_ row: String) -> String {
        "iif(\(row).undated IS NULL, 100, 200)"
    }

    /// They count what all ids take, and what those of strangers do.
    static let retainedTriggers = """
        CREATE TRIGGER retained_added AFTER INSERT ON retained BEGIN
            UPDATE counter SET value = value + \(retainedID("NEW")) WHERE name = 'retained_bytes';
        END;
        CREATE TRIGGER retained_removed AFTER DELETE ON retained BEGIN
            UPDATE counter SET value = value - \(retainedID("OLD")) WHERE name = 'retained_bytes';
        END;
        CREATE TRIGGER retained_stranger_added AFTER INSERT ON retained WHEN NEW.stranger_seq IS NOT NULL BEGIN
            \(add(strangersID("NEW"), to: "NEW.address"))
        END;
        CREATE TRIGGER retained_stranger_changed AFTER UPDATE OF stranger_seq ON retained
            WHEN OLD.stranger_seq IS NOT NULL AND NEW.stranger_seq IS NULL BEGIN
            \(take(strangersID("OLD"), from: "OLD.address"))
        END;
        CREATE TRIGGER retained_stranger_removed AFTER DELETE ON retained WHEN OLD.stranger_seq IS NOT NULL BEGIN
            \(take(strangersID("OLD"), from: "OLD.address"))
        END;

        """

    /// What the id of a stranger's record takes in the file at most.
    private static func strangersID(_ row: String) -> String {
        "iif(\(row).undated IS NULL, 180, 300)"
    }
}
