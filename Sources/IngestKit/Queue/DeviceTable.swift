import FoundationEssentials
import GRDB
import Synchronization

/// What the queue keeps of devices beside their records.
package final class DeviceTable: DeviceStore {
    private let database: QueueDatabase
    private let strangers: StrangerTable
    /// The users of the allow-list that is in force, by their keys; nil before the first. Looked at and
    /// replaced within transactions, which come one after the other.
    private let listed = Mutex<[String: String]?>(nil)

    init(database: QueueDatabase, strangers: StrangerTable) {
        self.database = database
        self.strangers = strangers
    }

    /// Strangers that are remembered, and what that takes, in bytes: the newest are kept. A stranger is a device
    /// that no entry of the allow-list has named by its address and that has no bond.
    static let mostStrangers = 1_024
    static let mostBytesOfStrangers = 2 << 20
    /// Values of strangers whose packets are kept, at most 32 KiB each, and for how long.
    static let mostPendingOfStrangers = 64
    private static let longestPendingOfStrangers = Duration.seconds(86_400)

    static func memory(of device: DeviceAddress, _ db: Database) throws -> DeviceMemory? {
        let text = try String.fetchOne(
            db, sql: "SELECT memory FROM device WHERE address = ? AND address_type = ?",
            arguments: [device.address.description, device.type.rawValue])
        guard let text else { return nil }
        if let stored = try? JSONDecoder().decode(StoredMemory.self, from: Data(text.utf8)) {
            return stored.memory
        }
        // What another version wrote, or a disk has changed, is learned again; but not whether there was a bond: without
        // one the device may be read over a link in clear.
        var memory = DeviceMemory()
        memory.bondedAdapter = bondedAdapter(in: text)
        return memory
    }

    /// The adapter that a memory names which cannot be decoded; an address that no adapter has if the name is there alone.
    private static func bondedAdapter(in text: String) -> BluetoothAddress? {
        guard let name = text.firstRange(of: #""bondedAdapter""#) else { return nil }
        let value = text[name.upperBound...].drop { $0 == ":" || $0 == "\"" || $0.isWhitespace }
        return BluetoothAddress(String(value.prefix { $0.isHexDigit || $0 == ":" }))
            ?? BluetoothAddress(value: 0)
    }

    package func recall(_ device: DeviceAddress) async throws -> DeviceMemory? {
        try await database.read { db in try Self.memory(of: device, db) }
    }

    package func remember(_ memory: DeviceMemory, of device: DeviceAddress) async throws {
        try await database.write { db in try Self.remember(memory, of: device, db) }
    }

    package func rememberedBonds() async throws -> Set<DeviceAddress> {
        try await database.read { db in
            // The text is looked at first, so that of many devices few are decoded.
            let rows = try Row.fetchAll(
                db, sql: "SELECT address, address_type FROM device WHERE memory LIKE '%\"bondedAdapter\"%'")
            return try Set(
                rows.compactMap(Self.device).filter { try Self.memory(of: $0, db)?.bondedAdapter != nil })
        }
    }

    package func rememberedStrangers() async throws -> [DeviceAddress] {
        try await database.read { db in
            let rows = try Row.fetchAll(
                db,
                sql: """
                    SELECT address, address_type FROM device
                    WHERE is_stranger OR memory LIKE '%"bondedAdapter"%' ORDER BY changed
                    """)
            return rows.compactMap(Self.device)
        }
    }

    private static func device(_ row: Row) -> DeviceAddress? {
        guard let address = BluetoothAddress(row["address"] as String),
            let type = AddressType(rawValue: row["address_type"])
        else { return nil }
        return DeviceAddress(address, type)
    }

    package func spentPairings() async throws -> Set<String> {
        try await database.read { db in try String.fetchSet(db, sql: "SELECT entry FROM spent_pairing") }
    }

    package func setPairing(_ key: String, isSpent: Bool) async throws {
        try await database.write { db in
            try db.execute(
                sql: isSpent
                    ? "INSERT OR IGNORE INTO spent_pairing (entry) VALUES (?)"
                    : "DELETE FROM spent_pairing WHERE entry = ?",
                arguments: [key])
        }
    }

    static func remember(_ memory: DeviceMemory, of device: DeviceAddress, _ db: Database) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        let text = String(decoding: try encoder.encode(StoredMemory(memory)), as: UTF8.self)
        let isPinned = try Bool.fetchOne(
            try db.cachedStatement(sql: "SELECT EXISTS (SELECT 1 FROM acquaintance WHERE key = ?)"),
            arguments: [device.address.description])
        let isStranger = memory.bondedAdapter == nil && isPinned != true
        // A memory that has not changed costs no write.
        try db.cachedStatement(
            sql: """
                INSERT INTO device (address, address_type, memory, is_stranger, size, changed)
                VALUES (:address, :type, :memory, :stranger, :size,
                    iif(:stranger, (SELECT ifnull(max(changed), 0) + 1 FROM device WHERE is_stranger), 0))
                ON CONFLICT DO UPDATE SET memory = excluded.memory, is_stranger = excluded.is_stranger,
                    size = excluded.size, changed = excluded.changed
                WHERE memory <> excluded.memory
                """
        ).execute(arguments: [
            "address": device.address.description, "type": device.type.rawValue, "memory": text,
            "stranger": isStranger, "size": text.utf8.count,
        ])
        guard isStranger, db.changesCount > 0 else { return }
        try db.cachedStatement(
            sql: """
                DELETE FROM device WHERE is_stranger AND changed <= (
                    SELECT max(changed) FROM (
                        SELECT changed,
                            count(*) OVER (ORDER BY changed DESC ROWS UNBOUNDED PRECEDING) AS devices,
                            sum(size) OVER (ORDER BY changed DESC ROWS UNBOUNDED PRECEDING) AS bytes
                        FROM device WHERE is_stranger)
                    WHERE devices > ? OR bytes > ?)
                """
        ).execute(arguments: [mostStrangers, mostBytesOfStrangers])
    }

    // MARK: - Packets of values that are not whole

    package func pendingPackets(of device: DeviceAddress) async throws -> [PendingPackets] {
        let bootID = database.bootID
        return try await database.read { db in
            let rows = try Row.fetchAll(
                db,
                sql: """
                    SELECT characteristic, payload, boot_id, received_ns FROM pending_packet
                    WHERE address = ? AND address_type = ? ORDER BY characteristic, ordinal
                    """,
                arguments: [device.address.description, device.type.rawValue])
            var found: [PendingPackets] = []
            for row in rows {
                guard let characteristic = BluetoothUUID(row["characteristic"] as String) else { continue }
                if found.last?.characteristic != characteristic {
                    found.append(
                        PendingPackets(
                            device: device, characteristic: characteristic, packets: [], received: nil))
                }
                found[found.count - 1].packets.append(Array(row["payload"] as Data))
                // The monotonic time of another boot says nothing.
                let received = UInt64(clamping: row["received_ns"] as Int64)
                found[found.count - 1].received =
                    row["boot_id"] == bootID ? MonotonicInstant(nanoseconds: received) : nil
            }
            return found
        }
    }

    static func replace(_ pending: PendingPackets, bootID: String, _ db: Database) throws {
        try db.execute(
            sql: "DELETE FROM pending_packet WHERE address = ? AND address_type = ? AND characteristic = ?",
            arguments: [
                pending.device.address.description, pending.device.type.rawValue,
                pending.characteristic.description,
            ])
        for (ordinal, packet) in pending.packets.enumerated() {
            try db.execute(
                sql: """
                    INSERT INTO pending_packet
                        (address, address_type, characteristic, ordinal, payload, boot_id, received_ns)
                    VALUES (?, ?, ?, ?, ?, ?, ?)
                    """,
                arguments: [
                    pending.device.address.description, pending.device.type.rawValue,
                    pending.characteristic.description, ordinal, Data(packet), bootID,
                    Int64(clamping: pending.received?.nanoseconds ?? 0),
                ])
        }
    }

    /// Keeps the newest packets of strangers, and those of a day.
    static func dropPacketsOfStrangers(bootID: String, at now: MonotonicInstant, _ db: Database) throws {
        let oldest = now + (.zero - longestPendingOfStrangers)
        // What the monotonic time of another boot says of an age is nothing.
        try db.cachedStatement(
            sql: """
                DELETE FROM pending_packet WHERE boot_id = ? AND received_ns < ?
                    AND NOT EXISTS (SELECT 1 FROM acquaintance WHERE key = pending_packet.address)
                """
        ).execute(arguments: [bootID, Int64(clamping: oldest.nanoseconds)])
        try db.cachedStatement(
            sql: """
                DELETE FROM pending_packet WHERE (address, address_type, characteristic) IN (
                    SELECT address, address_type, characteristic FROM pending_packet AS packet
                    WHERE NOT EXISTS (SELECT 1 FROM acquaintance WHERE key = packet.address)
                    GROUP BY address, address_type, characteristic
                    ORDER BY max(boot_id = ?) DESC, max(received_ns) DESC LIMIT -1 OFFSET ?)
                """
        ).execute(arguments: [bootID, mostPendingOfStrangers])
    }

    // MARK: - Since when devices and users are known

    package func noteFirstSeen(_ entries: [AllowedPeripheral]) async throws {
        let users = Dictionary(
            entries.flatMap { entry in
                entry.subjects.assignments.map { (entry.key(ofSlot: $0.slot), $0.subject) }
            },
            uniquingKeysWith: { first, _ in first })
        let now = moment
        try await database.write { db in
            self.listed.withLock { $0 = users }
            _ = try Self.firstSeen(of: entries, listed: users, now: now, db)
            let known = try String.fetchAll(db, sql: "SELECT key FROM acquaintance WHERE subject <> ''")
            for key in known where users[key] == nil {
                try db.execute(sql: "DELETE FROM acquaintance WHERE key = ?", arguments: [key])
            }
            // Those that an entry names now are strangers no longer.
            try db.execute(
                sql: """
                    UPDATE device SET is_stranger = 0, changed = 0
                    WHERE is_stranger AND address IN (SELECT key FROM acquaintance)
                    """)
        }
        try await strangers.adopt(entries.compactMap(\.address))
    }

    package func firstSeen(of entries: [AllowedPeripheral]) async throws -> [FirstSeen] {
        let now = moment
        return try await database.write { db in
            // Here, and not before: the list may change while others write.
            let listed = self.listed.withLock { $0 }
            return try Self.firstSeen(of: entries, listed: listed, now: now, db)
        }
    }

    private var moment: NotedMoment {
        // The operator may have the gateway trust a clock that was never set.
        if let wall = database.clock.trustedWallNanoseconds.map({ $0 / 1_000_000_000 }),
            wall >= FirstSeen.earliest
        {
            .wall(wall)
        } else {
            .boot(id: database.bootID, instant: database.clock.now)
        }
    }

    private static func firstSeen(
        of entries: [AllowedPeripheral], listed: [String: String]?, now: NotedMoment, _ db: Database
    ) throws -> [FirstSeen] {
        try entries.map { entry in
            var firstSeen = FirstSeen(
                device: try since(entry.entryKey, "", now: now, db), subjects: [:])
            for (slot, subject) in entry.subjects.assignments {
                // Under a list that is no longer in force nobody comes to know a person.
                if let listed, listed[entry.key(ofSlot: slot)] != subject { continue }
                firstSeen.subjects[slot] = try since(entry.key(ofSlot: slot), subject, now: now, db)
            }
            return firstSeen
        }
    }

    /// Since when `key` has had this subject: from now on, if it has not.
    private static func since(
        _ key: String, _ subject: String, now: NotedMoment, _ db: Database
    ) throws -> NotedMoment {
        let row = try Row.fetchOne(db, sql: "SELECT * FROM acquaintance WHERE key = ?", arguments: [key])
        if let row, row["subject"] == subject { return NotedMoment(row) }
        let (wall, boot, instant): (Int64, String?, Int64?) =
            switch now {
            case .wall(let seconds): (seconds, nil, nil)
            case .boot(let id, let instant): (0, id, Int64(clamping: instant.nanoseconds))
            }
        try db.execute(
            sql: """
                INSERT OR REPLACE INTO acquaintance (key, subject, since_s, boot_id, monotonic_ns)
                VALUES (?, ?, ?, ?, ?)
                """,
            arguments: [key, subject, wall, boot, instant])
        return now
    }
}

extension AllowedPeripheral {
    fileprivate func key(ofSlot slot: Int?) -> String {
        "\(entryKey)|\(slot.map(String.init) ?? "")"
    }
}
