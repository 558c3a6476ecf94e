import Crypto
import FoundationEssentials
import GRDB

/// The ids of records that were dropped after their delivery, by which a reading that comes again is known.
///
/// They are bounded (`Retention.forget`): the ids go first that no reading has met for the longest. Time is counted in
/// records, so that no clock is needed: `met` is the number of the newest record at that moment.
enum RetainedTable {
    /// An id is renewed when it is met after this many records, and not each time.
    private static let renewal: Int64 = 1000

    // MARK: - Ids

    /// How an id is kept: a UUID in its 16 bytes, any other text as it is.
    static func key(of id: String) -> Data {
        uuid(id).map { Data($0) } ?? Data(id.utf8)
    }

    /// The bytes of a UUID in lower case with dashes; nil for other texts. Each record comes by here.
    private static func uuid(_ id: String) -> [UInt8]? {
        guard id.utf8.count == RecordID.length else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(16)
        var high: UInt8?
        for (index, character) in id.utf8.enumerated() {
            switch (index, character) {
            case (8, 0x2D), (13, 0x2D), (18, 0x2D), (23, 0x2D): continue
            case (8, _), (13, _), (18, _), (23, _), (_, 0x41...0x46): return nil
            default: break
            }
            guard let digit = Hex.digit(character) else { return nil }
            if let first = high {
                bytes.append(first << 4 | digit)
                high = nil
            } else {
                high = digit
            }
        }
        return bytes
    }

    static func id(of key: Data) -> String {
        key.count == 16 ? NameUUID.text(ofBytes: Array(key)) : String(decoding: key, as: UTF8.self)
    }

    /// By which a stored reading without a date is known again: the first 16 bytes of a SHA-256.
    static func digest(characteristic: String, payload: Data) -> Data {
        var hash = SHA256()
        hash.update(data: Data(characteristic.utf8))
        hash.update(data: [0])
        hash.update(data: payload)
        return Data(hash.finalize().prefix(16))
    }

    // MARK: - Keeping

    /// Keeps what is needed of a record that is about to be dropped.
    static func keep(recordNumbered sequence: Int64, _ db: Database) throws {
        let row = try Row.fetchOne(
            try db.cachedStatement(
                sql: """
                    SELECT id, address, characteristic, undated_payload, stranger FROM record
                    WHERE seq = ? AND NOT is_singular
                    """),
            arguments: [sequence])
        guard let row else { return }
        try keep(
            id: row.sound("id"), address: row.sound("address"), characteristic: row.sound("characteristic"),
            undatedPayload: row.intact("undated_payload"),
            strangersRecord: row.sound("stranger") as Int64 == 1 ? sequence : nil,
            met: newestRecord(db), db)
    }

    /// - Parameters:
    ///   - undatedPayload: of a stored reading that nothing dates.
    ///   - strangersRecord: the number of the record, if its device was a stranger.
    static func keep(
        id: String, address: String?, characteristic: String?, undatedPayload: Data?, strangersRecord: Int64?,
        met: Int64, _ db: Database
    ) throws {
        let digest = undatedPayload.map { Self.digest(characteristic: characteristic ?? "", payload: $0) }
        try db.cachedStatement(
            sql: """
                INSERT OR IGNORE INTO retained (id, met, address, undated, stranger_seq) VALUES (?, ?, ?, ?, ?)
                """
        ).execute(arguments: [
            key(of: id), met, digest == nil && strangersRecord == nil ? nil : address, digest,
            strangersRecord,
        ])
    }

    /// The number of the newest record there has been.
    private static func newestRecord(_ db: Database) throws -> Int64 {
        try Int64.fetchOne(
            try db.cachedStatement(sql: "SELECT seq FROM sqlite_sequence WHERE name = 'record'")) ?? 0
    }

    // MARK: - Meeting

    /// Whether the record is in the queue, or was; meeting its id renews it.
    static func isKnown(_ id: RecordID, _ db: Database) throws -> Bool {
        let key = key(of: id.text)
        let row = try Row.fetchOne(
            try db.cachedStatement(
                sql: """
                    SELECT EXISTS (SELECT 1 FROM record WHERE id = ?) AS is_held,
                        (SELECT met FROM retained WHERE id = ?) AS met
                    """),
            arguments: [id.text, key])
        guard let row else { return false }
        if row["is_held"] { return true }
        guard let met: Int64 = row.intact("met") else { return false }
        let newest = try newestRecord(db)
        if newest - met >= renewal {
            try db.cachedStatement(sql: "UPDATE retained SET met = ? WHERE id = ?").execute(
                arguments: [newest, key])
        }
        return true
    }

    /// The record of a stored reading that nothing dates: the one with so many equal ones of the device before it.
    /// Meeting one renews all of the device.
    static func undatedRecord(
        of device: BluetoothAddress, _ raw: RawPayload, ordinal: Int, _ db: Database
    ) throws -> RecordID? {
        let row = try Row.fetchOne(
            try db.cachedStatement(
                sql: """
                    SELECT id, key, met FROM (
                        SELECT NULL AS id, id AS key, met, 0 AS seq FROM retained
                            WHERE address = :address AND undated = :digest
                        UNION ALL
                        SELECT id, NULL, NULL, seq FROM record WHERE address = :address
                            AND undated_payload = :payload AND characteristic = :characteristic)
                    ORDER BY seq LIMIT 1 OFFSET :ordinal
                    """),
            arguments: [
                "address": device.description, "payload": Data(raw.bytes),
                "characteristic": raw.characteristicText,
                "digest": digest(characteristic: raw.characteristicText, payload: Data(raw.bytes)),
                "ordinal": ordinal,
            ])
        guard let row else { return nil }
        if let id: String = row.intact("id") { return RecordID(text: id) }
        let (key, met): (Data, Int64) = try (row.sound("key"), row.sound("met"))
        let newest = try newestRecord(db)
        if newest - met >= renewal { try renewUndated(of: device.description, to: newest, db) }
        return RecordID(text: id(of: key))
    }

    private static func renewUndated(of device: String, to newest: Int64, _ db: Database) throws {
        try db.execute(
            sql: "UPDATE retained SET met = ? WHERE address = ? AND undated IS NOT NULL",
            arguments: [newest, device])
    }

    /// The ids that begin so.
    static func ids(startingWith name: String, limit: Int, _ db: Database) throws -> [String] {
        let digits = name.replacing("-", with: "")
        func bound(_ digit: Character) -> [UInt8]? {
            Hex.bytes(digits + String(repeating: digit, count: max(0, 32 - digits.count)))
        }
        guard let first = bound("0"), let last = bound("f"), first.count == 16 else { return [] }
        let rows = try Row.fetchCursor(
            db, sql: "SELECT id FROM retained WHERE id BETWEEN ? AND ?", arguments: [Data(first), Data(last)])
        var found: [String] = []
        while found.count < limit, let row = try rows.next() {
            // Of a beginning with its dashes elsewhere there is none.
            if let id = (row.intact("id") as Data?).map(id), id.hasPrefix(name) { found.append(id) }
        }
        return found
    }

    // MARK: - Forgetting

    /// What the ids take in the file, in bytes.
    static func bytes(_ db: Database) throws -> UInt64 {
        let bytes = try Int64.fetchOne(
            try db.cachedStatement(sql: "SELECT value FROM counter WHERE name = 'retained_bytes'"))
        return UInt64(clamping: bytes ?? 0)
    }

    /// Forgets ids that were not met for the longest. Those of a device's stored readings without a date go together,
    /// and only when no such record of the device is left: their number tells which of several equal readings is known.
    /// If nothing else is left to forget, they go all the same: their readings are then delivered once more.
    /// - Returns: whether there was something to forget.
    static func forget(lookingAt limit: Int, _ db: Database) throws -> Bool {
        let oldest = try Row.fetchAll(
            try db.cachedStatement(
                sql:
                    "SELECT id, iif(undated IS NULL, NULL, address) AS device FROM retained ORDER BY met LIMIT ?"
            ),
            arguments: [limit])
        var kept: Set<String> = []
        var isChanged = false
        for row in oldest {
            guard let device: String = row.intact("device") else {
                try db.cachedStatement(sql: "DELETE FROM retained WHERE id = ?").execute(
                    arguments: [row.sound("id") as Data])
                isChanged = true
                continue
            }
            guard kept.insert(device).inserted else { continue }
            if try hasUndatedRecords(device, db) {
                try renewUndated(of: device, to: newestRecord(db), db)
            } else {
                try forgetUndated(of: device, db)
                isChanged = true
            }
        }
        guard !isChanged, let device = kept.first else { return isChanged }
        try db.execute(
            sql: """
                DELETE FROM retained WHERE id IN (
                    SELECT id FROM retained WHERE undated IS NULL ORDER BY met LIMIT ?)
                """,
            arguments: [limit])
        if db.changesCount == 0 { try forgetUndated(of: device, db) }
        return true
    }

    /// Forgets the ids of a device's stored readings without a date.
    static func forgetUndated(of device: String, _ db: Database) throws {
        try db.execute(
            sql: "DELETE FROM retained WHERE address = ? AND undated IS NOT NULL", arguments: [device])
    }

    /// Whether a stored reading of the device without a date is still a record.
    static func hasUndatedRecords(_ device: String, _ db: Database) throws -> Bool {
        try Bool.fetchOne(
            try db.cachedStatement(
                sql: "SELECT EXISTS (SELECT 1 FROM record WHERE address = ? AND undated_payload IS NOT NULL)"),
            arguments: [device]) ?? false
    }

    // MARK: - Earlier versions

    /// Takes over an id that an earlier version kept, in a row of the table `retired`, as a text.
    static func takeOver(_ row: Row, _ db: Database) throws {
        guard let id: String = row.intact("id") else { return }
        try keep(
            id: id, address: row.intact("stranger") ?? row.intact("address"),
            characteristic: row.intact("characteristic"), undatedPayload: row.intact("undated_payload"),
            strangersRecord: row.intact("stranger_seq"), met: 0, db)
    }
}
