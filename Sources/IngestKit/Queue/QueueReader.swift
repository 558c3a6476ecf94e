import Dispatch
import FoundationEssentials
import GRDB

/// A look into the queue's file beside the service that writes it: nothing is changed, nothing is checkpointed.
/// Blocks; the calls are for commands.
package struct QueueReader: Sendable {
    private let database: DatabaseQueue
    private let path: String

    /// What cannot be shown of the records.
    package struct Omitted: Sendable, Equatable {
        /// Those that wait for the gateway's clock: nobody knows when they were measured.
        package var undated = 0
        package var damaged = 0
    }

    /// - Throws: `StoreError`.
    package init(path: String) throws {
        self.path = path
        var configuration = GRDB.Configuration()
        configuration.label = "ingestd.queue.reader"
        configuration.qos = .default
        configuration.readonly = true
        configuration.busyMode = .timeout(5)
        guard FileManager.default.fileExists(atPath: path) else { throw StoreError(.missing, path: path) }
        do {
            database = try DatabaseQueue(path: path, configuration: configuration)
            let found = try database.read { try QueueSchema.inspect($0, path: path).version }
            guard found == QueueSchema.version else { throw StoreError(.olderVersion, path: path) }
        } catch {
            throw StoreError.of(error, path: path)
        }
    }

    /// Calls `body` with what is set aside, in the order in which it was read.
    /// - Throws: `StoreError`, `DeadLetterRefusal` for a record that is not there, and what `body` throws.
    package func forEachDeadLetter(
        _ selection: DeadLetterSelection, _ body: (DeadLetter) throws -> Void
    ) throws {
        try read { db in
            guard selection.records.isEmpty else {
                for row in try DeadLetterTable.namedLetters(selection, db).flatMap(\.self) {
                    try body(DeadLetter(row))
                }
                return
            }
            let query = DeadLetterTable.query(selection)
            let rows = try Row.fetchCursor(db, sql: query.sql, arguments: query.arguments)
            while let row = try rows.next() { try body(DeadLetter(row)) }
        }
    }

    /// Calls `body` with each record that a filter takes, in the order in which they were read. Images are left out.
    /// - Parameters:
    ///   - limit: only the newest so many; nil is all.
    ///   - routings: of the configuration; nil: nobody asks where the records stand, and `body` is told of no standing.
    /// - Returns: what cannot be shown of the records of this kind and device.
    /// - Throws: `StoreError`, and what `body` throws.
    @discardableResult
    package func forEachRecord(
        _ filter: RecordFilter, limit: Int? = nil, routings: [DestinationRouting]?,
        _ body: (RecordSummary, [RecordStanding]) throws -> Void
    ) throws -> Omitted {
        try read { db in
            let standings = try routings.map { try RecordStandings($0, db) }
            var omitted = Omitted()
            var newest: [(RecordSummary, [RecordStanding])] = []
            let query = filter.query(order: limit == nil ? "seq" : "seq DESC")
            let rows = try Row.fetchCursor(db, sql: query.sql, arguments: query.arguments)
            while limit.map({ newest.count < $0 }) ?? true, let row = try rows.next() {
                guard (row["undated"] as String?) == nil else {
                    omitted.undated += 1
                    continue
                }
                guard RecordRow.isIntact(row), let record = RecordSummary(json: row["body"]) else {
                    omitted.damaged += 1
                    continue
                }
                guard filter.accepts(record) else { continue }
                let places = try standings?.of(row) ?? []
                if let state = filter.state, !places.contains(where: { $0.state == state }) { continue }
                if limit == nil { try body(record, places) } else { newest.append((record, places)) }
            }
            for (record, places) in newest.reversed() { try body(record, places) }
            return omitted
        }
    }

    /// The newest records that `isWanted` takes, the newest first, of those that were measured from `start` on. Images,
    /// and what cannot be decoded, are left out.
    /// - Parameters:
    ///   - start: in seconds since 1970.
    ///   - most: how many are answered at most.
    ///   - mostSeen: how many are looked at, which bounds the time that this takes.
    /// - Returns: also whether there may be more.
    /// - Throws: `StoreError`.
    package func newestRecords(
        since start: Int64, most: Int, mostSeen: Int, where isWanted: (RecordSummary) -> Bool
    ) throws -> (records: [RecordSummary], isPart: Bool) {
        try read { db in
            let rows = try Row.fetchCursor(
                db,
                sql: "SELECT * FROM record WHERE kind NOT IN (?, ?) AND undated IS NULL ORDER BY seq DESC",
                arguments: [RecordKind.image.rawValue, RecordKind.undecoded.rawValue])
            var found: [RecordSummary] = []
            var seen = 0
            while let row = try rows.next() {
                guard seen < mostSeen, found.count < most else { return (found, true) }
                seen += 1
                guard RecordRow.isIntact(row), let record = RecordSummary(json: row["body"]),
                    record.time >= start, isWanted(record)
                else { continue }
                found.append(record)
            }
            return (found, false)
        }
    }

    /// Whether a destination of this name is, or was, delivered to from this queue.
    package func knows(_ destination: String) throws -> Bool {
        try read { db in try DestinationTable.knows(destination, db) }
    }

    func read<Value>(_ body: (Database) throws -> Value) throws -> Value {
        do {
            return try database.read(body)
        } catch {
            throw StoreError.of(error, path: path)
        }
    }
}

/// A record as an operator reads it.
package struct RecordSummary: Sendable, Equatable {
    package struct Value: Sendable, Equatable {
        package let type: String
        /// In UCUM.
        package let unit: String
        /// With the device's digits; nil where the device marked it as absent.
        package let number: String?
    }

    package let id: String
    package let kind: RecordKind
    /// When it was measured, in seconds since 1970.
    package let time: Int64
    /// The same, in the gateway's zone: `2026-11-20 09:15:00`.
    package let wallTime: String
    /// Whether `time` is one: until the gateway's clock is known to be right, a reading without a date of its own counts
    /// from 1970.
    package var isTimeKnown: Bool { time >= 946_684_800 }
    /// Whether `time` is that of its reception: what was measured says no time of its own.
    package let isTimeOfReception: Bool
    package let values: [Value]
    /// Nil is nobody.
    package let subject: String?
    /// The device's identity address, upper case with colons; empty where no device was read.
    package let address: String
    package let flags: [String]
    /// The id of the record that this one belongs to.
    package let related: String?
    /// The record that an image belongs to; nil for a reading.
    package let imageOf: RecordReference?
    /// As canonical JSON.
    package let json: String

    /// Nil for what is no record of version 1.
    package init?(json: String) {
        guard let content = RecordContent(json: json) else { return nil }
        self.json = json
        id = content.id
        kind = content.kind
        time = content.time
        isTimeOfReception = content.timeSource == .received
        subject = content.subject
        address = content.address
        flags = content.flags
        related = content.related
        imageOf = content.imageOf
        values = content.values.map { Value(type: $0.type, unit: $0.unit, number: $0.number) }
        wallTime = OperatorTime.text(content.time, offset: content.utcOffsetSeconds)
    }
}

extension DeadLetter {
    fileprivate init(_ row: Row) {
        let peripheral: Int? = row.intact("peripheral_id")
        self.init(
            id: RecordID(text: row.intact("id") ?? ""), kind: row.intact("kind") ?? "",
            peripheralID: peripheral == PeripheralReference.entry.peripheralID ? nil : peripheral,
            alias: row.intact("alias"), destination: row.intact("destination"),
            httpStatus: row.intact("http_status"), attempt: row.intact("attempt") ?? 0,
            error: row.intact("error") ?? "", reply: row.intact("reply"),
            failed: row.intact("failed_ns") ?? 0,
            subject: row.intact("assigned"), record: row.intact("body") ?? "")
    }
}
