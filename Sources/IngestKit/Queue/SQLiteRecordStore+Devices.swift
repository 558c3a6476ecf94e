import FoundationEssentials
import GRDB
import Synchronization

/// What the queue keeps of devices beside their records.
extension SQLiteRecordStore {
    static func memory(of device: DeviceAddress, _ db: Database) throws -> DeviceMemory? {
        let text = try String.fetchOne(
            db, sql: "SELECT memory FROM device WHERE address = ? AND address_type = ?",
            arguments: [device.address.description, device.type.rawValue])
        // What an earlier version wrote and this one cannot read is learned again.
        return text.flatMap { try? JSONDecoder().decode(DeviceMemory.self, from: Data($0.utf8)) }
    }

    // MARK: - Packets of values that are not whole

    public func pendingPackets(of device: BluetoothAddress) async throws -> [PendingPackets] {
        let bootID = bootID
        return try await read { db in
            let rows = try Row.fetchAll(
                db,
                sql: """
                    SELECT characteristic, payload, boot_id, received_ns FROM pending_packet
                    WHERE address = ? ORDER BY characteristic, ordinal
                    """,
                arguments: [device.description])
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
            sql: "DELETE FROM pending_packet WHERE address = ? AND characteristic = ?",
            arguments: [pending.device.description, pending.characteristic.description])
        for (ordinal, packet) in pending.packets.enumerated() {
            try db.execute(
                sql: "INSERT INTO pending_packet VALUES (?, ?, ?, ?, ?, ?)",
                arguments: [
                    pending.device.description, pending.characteristic.description, ordinal, Data(packet),
                    bootID, Int64(clamping: pending.received?.nanoseconds ?? 0),
                ])
        }
    }

    // MARK: - Since when devices and users are known

    public func acquaint(_ entries: [AllowedPeripheral]) async throws {
        let users = Dictionary(
            entries.flatMap { entry in entry.assignments.map { (entry.key(ofSlot: $0.slot), $0.subject) } },
            uniquingKeysWith: { first, _ in first })
        let now = moment
        try await write { db in
            self.listed.withLock { $0 = users }
            _ = try Self.acquaintances(of: entries, listed: users, now: now, db)
            let known = try String.fetchAll(db, sql: "SELECT key FROM acquaintance WHERE subject <> ''")
            for key in known where users[key] == nil {
                try db.execute(sql: "DELETE FROM acquaintance WHERE key = ?", arguments: [key])
            }
        }
    }

    public func acquaintances(of entries: [AllowedPeripheral]) async throws -> [Acquaintance] {
        let now = moment
        return try await write { db in
            // Here, and not before: the list may change while others write.
            let listed = self.listed.withLock { $0 }
            return try Self.acquaintances(of: entries, listed: listed, now: now, db)
        }
    }

    private var moment: NotedMoment {
        if let wall = clock.trustedWallNanoseconds {
            .wall(wall / 1_000_000_000)
        } else {
            .boot(id: bootID, instant: clock.now)
        }
    }

    private static func acquaintances(
        of entries: [AllowedPeripheral], listed: [String: String]?, now: NotedMoment, _ db: Database
    ) throws -> [Acquaintance] {
        try entries.map { entry in
            var acquaintance = Acquaintance(
                device: try since(entry.acquaintanceKey, "", now: now, db), subjects: [:])
            for (slot, subject) in entry.assignments {
                // Under a list that is no longer in force nobody comes to know a person.
                if let listed, listed[entry.key(ofSlot: slot)] != subject { continue }
                acquaintance.subjects[slot] = try since(entry.key(ofSlot: slot), subject, now: now, db)
            }
            return acquaintance
        }
    }

    /// Since when `key` has had this subject: from now on, if it has not.
    private static func since(
        _ key: String, _ subject: String, now: NotedMoment, _ db: Database
    ) throws -> NotedMoment {
        let row = try Row.fetchOne(
            db, sql: "SELECT * FROM acquaintance WHERE key = ?", arguments: [key])
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
    fileprivate var acquaintanceKey: String { address?.description ?? "#\(model.id)" }

    fileprivate func key(ofSlot slot: Int?) -> String {
        "\(acquaintanceKey)|\(slot.map(String.init) ?? "")"
    }
}
