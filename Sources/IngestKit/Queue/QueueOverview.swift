import FoundationEssentials
import GRDB

/// What is in the queue, for people. The status costs the same whatever is in the queue, but for the number of records
/// that wait.
package struct QueueOverview: Sendable {
    let database: QueueDatabase
    let routings: DestinationRoutings

    /// How far back a device's newest record is looked for, in records.
    private static let lookBack = 10_000
    /// Of what waits for a destination, this many records are looked at: it is asked at the start too, and reading
    /// waits for the answer.
    private static let lookAhead = 1000

    /// How the queue fares, and what it knows of these devices. One question, because each wakes threads of an idle
    /// process up, and is answered of another moment.
    package func status(of devices: [DeviceAddress]) async throws -> QueueStatus {
        let routings = routings.all
        return try await database.read { db in
            let memories = try Self.memories(of: devices, db)
            return QueueStatus(
                usedBytes: try Retention.usedBytes(db),
                strangerBytes: UInt64(clamping: try StrangerTable.bytes(of: "", db)),
                undated: try UndatedRecords.count(db),
                memories: memories,
                newestCommits: try Self.newestCommits(of: Set(devices.map(\.address)), memories, db),
                destinations: try Self.destinationCounts(routings, db))
        }
    }

    /// The same, if the queue answers within this time; else nil. It is not asked if an access to it has waited for so
    /// long already.
    package func status(
        of devices: [DeviceAddress], within bound: Duration
    ) async throws -> QueueStatus? {
        if let oldest = database.waits.oldest, database.clock.now >= oldest + bound { return nil }
        return try await Task { try await status(of: devices) }.result(within: bound, by: database.clock)?
            .get()
    }

    /// For how long the queue has been waiting for its disk.
    package var waitingTime: Duration {
        database.waits.oldest.map { database.clock.now.since($0) } ?? .zero
    }

    private static func memories(
        of devices: [DeviceAddress], _ db: Database
    ) throws -> [DeviceAddress: DeviceMemory] {
        var memories: [DeviceAddress: DeviceMemory] = [:]
        for device in devices { memories[device] = try DeviceTable.memory(of: device, db) }
        return memories
    }

    /// The records of so many devices, the newest first. Goes back through the table, because no index has them in
    /// this order.
    static func newestRecords(ofDevices count: Int) -> String {
        """
        SELECT address, committed_ns FROM record WHERE seq > (SELECT max(seq) FROM record) - ?
            AND address IN (\(databaseQuestionMarks(count: count)))
        ORDER BY seq DESC
        """
    }

    /// When the newest record of each device was committed: by its memory, which is written after a link, or by a record
    /// of a link that lasts or ended with the process. Ends when it has found a record of each.
    private static func newestCommits(
        of devices: Set<BluetoothAddress>, _ memories: [DeviceAddress: DeviceMemory], _ db: Database
    ) throws -> [BluetoothAddress: Int64] {
        var found: [BluetoothAddress: Int64] = [:]
        let rows = try Row.fetchCursor(
            db, sql: newestRecords(ofDevices: devices.count),
            arguments: [lookBack] + StatementArguments(devices.map(\.description)))
        while found.count < devices.count, let row = try rows.next() {
            let text: String? = row.intact("address")
            guard let address = text.flatMap({ BluetoothAddress($0) }), found[address] == nil else {
                continue
            }
            found[address] = row.intact("committed_ns")
        }
        for (device, memory) in memories {
            guard let remembered = memory.lastCommit else { continue }
            found[device.address] = max(found[device.address] ?? remembered, remembered)
        }
        return found
    }

    private static func destinationCounts(
        _ routings: [String: DestinationRouting], _ db: Database
    ) throws -> [DestinationCount] {
        let last = try Int64.fetchOne(db, sql: "SELECT value FROM counter WHERE name = 'position'") ?? 0
        let owed = Dictionary(uniqueKeysWithValues: try DestinationTable.absent(db))
        let rows = try Row.fetchAll(db, sql: "SELECT * FROM destination ORDER BY name")
        return try rows.compactMap { row in
            guard let name: String = row.intact("name") else { return nil }
            let waiting = try waiting(name, row, routings[name], last: last, db)
            return DestinationCount(
                name: name, state: row.intact("state").flatMap(DestinationState.init) ?? .up,
                session: try? SessionTable.session(of: name, db), pending: waiting.count,
                oldest: waiting.oldest,
                owed: owed[name] ?? 0, delivered: row.intact("delivered") ?? 0,
                dead: try Int.fetchOne(
                    db, sql: "SELECT count(*) FROM dead_letter WHERE destination = ?", arguments: [name])
                    ?? 0,
                skipped: row.intact("skipped") ?? 0)
        }
    }

    /// What waits for a destination: those in its batches, and those after its cursor. Each of the first 1,000 of
    /// these is looked at; all after them are taken as being for it, but for what the fresh lane took.
    /// - Parameter last: the last position given.
    private static func waiting(
        _ destination: String, _ row: Row, _ routing: DestinationRouting?, last: Int64, _ db: Database
    ) throws -> (count: Int, oldest: Int64?) {
        let batched = try String.fetchAll(
            db, sql: "SELECT positions FROM \(BatchTable.all) WHERE destination = ?", arguments: [destination]
        ).flatMap(BatchTable.positions)
        var (count, first) = (batched.count, batched.min())
        if let routing, let cursor: Int64 = row.intact("position"),
            let cleared: Int64 = row.intact("cleared_seq")
        {
            let rows = try Row.fetchCursor(
                db,
                sql: """
                    SELECT position, id, kind, peripheral_id, address, alias, destinations FROM record
                    WHERE position > ? AND seq > ? AND kind <> ? AND NOT EXISTS (
                        SELECT 1 FROM ahead WHERE destination = ? AND record.position BETWEEN first AND last)
                    ORDER BY position LIMIT ?
                    """,
                arguments: [cursor, cleared, RecordKind.undecoded.rawValue, destination, lookAhead])
            var (seen, reached) = (0, cursor)
            while let row = try rows.next() {
                seen += 1
                reached = row.intact("position") ?? reached
                guard let header = RecordRow.header(row), routing.accepts(header) else { continue }
                count += 1
                first = min(first ?? reached, reached)
            }
            if seen == lookAhead {
                // What the fresh lane has dealt with, or has in its batch.
                let taken = try Int64.fetchOne(
                    db,
                    sql: "SELECT sum(last - max(first - 1, ?)) FROM ahead WHERE destination = ? AND last > ?",
                    arguments: [reached, destination, reached])
                count += Int(max(0, last - reached - (taken ?? 0)))
            }
        }
        let oldest = try first.flatMap {
            try Int64.fetchOne(db, sql: "SELECT committed_ns FROM record WHERE position = ?", arguments: [$0])
        }
        return (count, oldest)
    }

    // MARK: - What waits

    /// Records that are looked at in one question about what waits.
    package static let countedAtOnce = 5000

    /// Records with a place in the order of delivery, and whether the fresh lane took them.
    static let orderedRecords = """
        SELECT seq, id, kind, peripheral_id, address, alias, destinations, position AS place,
            position <= (SELECT last FROM ahead WHERE destination = ? AND first <= position
                ORDER BY first DESC LIMIT 1) AS is_taken
        FROM record WHERE position > ? ORDER BY position LIMIT ?
        """

    /// Records without one.
    static let unorderedRecords = """
        SELECT seq, id, kind, peripheral_id, address, alias, destinations, seq AS place, 0 AS is_taken
        FROM record WHERE frozen = 0 AND released = ? AND seq > ? ORDER BY seq LIMIT ?
        """

    /// What waits for a destination, as far as it was counted.
    private struct Count {
        let routing: DestinationRouting
        let clearedThrough: Int64
        var records = 0
        /// What was not looked at: the records in their order, or those without a place in it.
        var rest: [(release: UndatedRecords.Release?, after: Int64)]
    }

    /// How many records wait for a destination, those of a batch among them; of one that is not configured those
    /// alone. Others use the queue meanwhile, and what comes or goes then may be counted or not.
    package func pendingCount(
        of destination: String, lookingAt limit: Int = countedAtOnce
    ) async throws -> Int {
        let routing = routings[destination]
        let (batched, begun) = try await database.read { db in
            (try BatchTable.batched(destination, db).count, try Self.beginCount(destination, routing, db))
        }
        var count = begun
        while let now = count, !now.rest.isEmpty {
            count = try await database.read { db in try Self.counted(now, lookingAt: limit, db) }
        }
        return batched + (count?.records ?? 0)
    }

    private static func beginCount(
        _ destination: String, _ routing: DestinationRouting?, _ db: Database
    ) throws -> Count? {
        let row = try Row.fetchOne(
            db, sql: "SELECT position, cleared_seq FROM destination WHERE name = ?", arguments: [destination])
        guard let row, let routing, let position: Int64 = row.intact("position"),
            let cleared: Int64 = row.intact("cleared_seq")
        else { return nil }
        return Count(
            routing: routing, clearedThrough: cleared,
            rest: [(nil, position), (.open, cleared), (.waiting, cleared), (.setAside, cleared)])
    }

    private static func counted(_ count: Count, lookingAt limit: Int, _ db: Database) throws -> Count {
        var count = count
        let (release, after) = count.rest.removeFirst()
        let rows =
            if let release {
                try Row.fetchCursor(db, sql: unorderedRecords, arguments: [release.rawValue, after, limit])
            } else {
                try Row.fetchCursor(db, sql: orderedRecords, arguments: [count.routing.name, after, limit])
            }
        var (seen, last) = (0, after)
        while let row = try rows.next() {
            (seen, last) = (seen + 1, row["place"])
            guard (row["seq"] as Int64) > count.clearedThrough, (row["is_taken"] as Bool?) != true,
                let header = RecordRow.header(row), header.kind != .undecoded, count.routing.accepts(header)
            else { continue }
            count.records += 1
        }
        if seen == limit { count.rest.insert((release, last), at: 0) }
        return count
    }
}

/// How the queue fares at one moment.
package struct QueueStatus: Sendable {
    /// What it takes on the disk, without pages that are free for the next records, in bytes.
    package let usedBytes: UInt64
    /// What unpinned devices hold of that at most, in bytes.
    package let strangerBytes: UInt64
    /// Records that wait for the clock.
    package let undated: Int
    /// Of those devices that were asked for.
    package let memories: [DeviceAddress: DeviceMemory]
    /// When the newest record of each of them was committed, in nanoseconds since 1970, as far as its memory says so or
    /// the record is among the last 10,000.
    package let newestCommits: [BluetoothAddress: Int64]
    /// In the order of their names.
    package let destinations: [DestinationCount]
}

/// How one destination fares.
package struct DestinationCount: Sendable, Equatable {
    package let name: String
    package let state: DestinationState
    /// Nil where it cannot be read, which whoever delivers in it tells.
    package let session: SessionState?
    /// Records that it has not taken yet; beyond the first 1,000 those for other destinations count too.
    package let pending: Int
    /// When the oldest of them was committed, in nanoseconds since 1970.
    package let oldest: Int64?
    /// Of one that is not configured, records that wait for it, `DestinationTable.countedOwed` at most.
    package let owed: Int
    /// Records that it has taken.
    package let delivered: Int
    /// Records set aside, because it does not take them.
    package let dead: Int
    /// Records that it has no form for.
    package let skipped: Int
}
