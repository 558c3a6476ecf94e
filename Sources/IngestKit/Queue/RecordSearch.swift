import FoundationEssentials
import GRDB

/// How records are found by what names them elsewhere: an id, the beginning of one, or the tag of an event.
extension DeadLetterTable {
    /// The selection with ids in the place of tags. What is the tag of nothing that is set aside stays.
    /// - Parameter key: nil: there are no tags yet.
    package func resolve(
        _ selection: DeadLetterSelection, by key: TagKey?
    ) async throws -> DeadLetterSelection {
        guard let key, selection.records.contains(where: TagKey.isRecordTag) else { return selection }
        return try await database.read { db in try Self.resolve(selection, by: key, db) }
    }

    /// One look at all that is set aside, however many tags there are: a tag can only be tried.
    static func resolve(
        _ selection: DeadLetterSelection, by key: TagKey, _ db: Database
    ) throws -> DeadLetterSelection {
        var wanted = Set(selection.records.filter(TagKey.isRecordTag))
        var ids: [String: String] = [:]
        let candidates = try Row.fetchCursor(
            db,
            sql: """
                SELECT id FROM record WHERE seq IN (SELECT record_seq FROM dead_letter)
                UNION ALL SELECT id FROM record WHERE kind = 'undecoded'
                """)
        while !wanted.isEmpty, let row = try candidates.next() {
            guard let id: String = row.intact("id") else { continue }
            let tag = key.tag(ofRecord: id)
            if wanted.remove(tag) != nil { ids[tag] = id }
        }
        var resolved = selection
        resolved.records = selection.records.map { ids[$0] ?? $0 }
        return resolved
    }

    /// The id of the one record that `name` stands for, and whether it is in the queue still.
    /// - Throws: `RecordRefusal`.
    fileprivate static func id(
        of name: String, by key: TagKey?, _ db: Database
    ) throws -> (id: String, isHeld: Bool) {
        if TagKey.isRecordTag(name) {
            guard let key else { throw RecordRefusal.unknown(name) }
            // By the index of the ids alone.
            let held = try Row.fetchCursor(db, sql: "SELECT id FROM record")
            while let row = try held.next() {
                if let id: String = row.intact("id"), key.tag(ofRecord: id) == name { return (id, true) }
            }
            let retained = try Row.fetchCursor(db, sql: "SELECT id FROM retained")
            while let row = try retained.next() {
                guard let id = (row.intact("id") as Data?).map(RetainedTable.id) else { continue }
                if key.tag(ofRecord: id) == name { return (id, false) }
            }
        } else {
            // g follows on all digits of an id.
            let held = try String.fetchAll(
                db, sql: "SELECT id FROM record WHERE id >= ? AND id < ? LIMIT 2",
                arguments: [name, name + "g"])
            let found = try held.isEmpty ? RetainedTable.ids(startingWith: name, limit: 2, db) : held
            guard found.count <= 1 else { throw RecordRefusal.ambiguous(name) }
            if let id = found.first { return (id, !held.isEmpty) }
        }
        throw RecordRefusal.unknown(name)
    }
}

extension QueueReader {
    /// The selection with ids in the place of tags.
    package func resolve(
        _ selection: DeadLetterSelection, by key: TagKey?
    ) throws -> DeadLetterSelection {
        guard let key else { return selection }
        return try read { db in try DeadLetterTable.resolve(selection, by: key, db) }
    }

    /// The one record that `name` stands for, and where it stands at each destination of the queue.
    /// - Parameters:
    ///   - name: an id, the beginning of one, or a tag.
    ///   - routings: of the configuration.
    /// - Throws: `StoreError`, `RecordRefusal`.
    package func find(
        _ name: String, by key: TagKey?, routings: [DestinationRouting]
    ) throws -> FoundRecord {
        try read { db in
            let (id, isHeld) = try DeadLetterTable.id(of: name, by: key, db)
            guard isHeld,
                let row = try Row.fetchOne(db, sql: "SELECT * FROM record WHERE id = ?", arguments: [id])
            else { return FoundRecord(id: id, record: nil, obstacle: .gone, standings: []) }
            return try Self.found(id, row, routings, db)
        }
    }

    /// The number of the newest record; those that come later have higher ones. 0 if there was none.
    package func newestNumber() throws -> Int64 {
        try read { db in try Int64.fetchOne(db, sql: "SELECT max(seq) FROM record") ?? 0 }
    }

    /// The newest record of a peripheral that came after another one, and where it stands at each destination.
    /// - Parameters:
    ///   - number: of the other one, as `newestNumber`.
    ///   - address: nil is any device of the model.
    package func newest(
        after number: Int64, peripheralID: Int, address: BluetoothAddress?, routings: [DestinationRouting]
    ) throws -> FoundRecord? {
        try read { db in
            try Row.fetchOne(
                db,
                sql: """
                    SELECT * FROM record
                    WHERE seq > :number AND peripheral_id = :model AND (:address IS NULL OR address = :address)
                    ORDER BY seq DESC LIMIT 1
                    """,
                arguments: [
                    "number": number, "model": peripheralID, "address": address?.description,
                ]
            )
            .map { try Self.found($0.intact("id") ?? "", $0, routings, db) }
        }
    }

    private static func found(
        _ id: String, _ row: Row, _ routings: [DestinationRouting], _ db: Database
    ) throws -> FoundRecord {
        let isIntact = RecordRow.isIntact(row)
        let obstacle: FoundRecord.Obstacle? =
            if !isIntact {
                .damaged
            } else if (row.intact("undated") as String?) != nil {
                .undated
            } else if (row.intact("kind") as String?) == RecordKind.undecoded.rawValue {
                .undecoded
            } else if (row.intact("position") as Int64?) == nil {
                .incomplete
            } else {
                nil
            }
        let body: String? = isIntact && obstacle != .undated ? row.intact("body") : nil
        return FoundRecord(
            id: id, record: body.flatMap(RecordSummary.init), obstacle: obstacle,
            standings: try RecordStandings(routings, db).of(row))
    }

    /// Where a record stands at each destination; none for what is not there.
    package func standings(of id: RecordID, routings: [DestinationRouting]) throws -> [RecordStanding] {
        try read { db in
            try Row.fetchOne(db, sql: "SELECT * FROM record WHERE id = ?", arguments: [id.text])
                .map { try RecordStandings(routings, db).of($0) } ?? []
        }
    }
}
