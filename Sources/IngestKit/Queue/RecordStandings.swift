import GRDB

/// Where records stand at the destinations of the queue, for one look into it.
struct RecordStandings {
    private let destinations: [Row]
    private let routings: [DestinationRouting]
    private let db: Database

    /// - Parameter routings: of the configuration.
    init(_ routings: [DestinationRouting], _ db: Database) throws {
        destinations = try Row.fetchAll(db, sql: "SELECT * FROM destination ORDER BY name")
        self.routings = routings
        self.db = db
    }

    /// In the order of the destinations' names; none for what could not be decoded.
    /// - Parameter record: all columns.
    func of(_ record: Row) throws -> [RecordStanding] {
        guard (record.intact("kind") as String?) != RecordKind.undecoded.rawValue else { return [] }
        return try destinations.compactMap { row in
            guard let name: String = row.intact("name") else { return nil }
            let letter = try db.cachedStatement(
                sql: "SELECT * FROM dead_letter WHERE destination = ? AND record_seq = ?")
            if let letter = try Row.fetchOne(letter, arguments: [name, record["seq"] as Int64]) {
                return RecordStanding(
                    destination: name, state: .setAside, attempt: letter.intact("attempt"),
                    httpStatus: letter.intact("http_status"), error: letter.intact("error"))
            }
            let state = try state(of: record, at: row, routings.first { $0.name == name })
            return RecordStanding(destination: name, state: state)
        }
    }

    /// Where a record stands that is not set aside there.
    private func state(
        of record: Row, at destination: Row, _ routing: DestinationRouting?
    ) throws -> RecordStanding.State {
        let name: String = try destination.sound("name")
        let header = RecordRow.header(record)
        func stateOf(_ meant: RecordStanding.State) -> RecordStanding.State {
            guard let routing, let header else { return meant }
            if routing.accepts(header) {
                guard routing.asksContent(of: header), let body: String = record.intact("body") else {
                    return meant
                }
                return routing.hasForm(for: body) ? meant : .withoutForm
            }
            return routing.lacksForm(for: header) ? .withoutForm : .notForIt
        }
        guard let position: Int64 = record.intact("position") else {
            return routing == nil ? .notConfigured : stateOf(.waiting)
        }
        let batches = try db.cachedStatement(
            sql: """
                SELECT EXISTS (
                    SELECT 1 FROM \(BatchTable.all)
                    WHERE destination = ? AND first_position <= ?
                        AND instr(' ' || positions || ' ', ' ' || ? || ' ') > 0)
                """)
        if try Bool.fetchOne(batches, arguments: [name, position, position]) == true {
            return routing == nil ? .notConfigured : .onItsWay
        }
        let ahead = try db.cachedStatement(
            sql: "SELECT EXISTS (SELECT 1 FROM ahead WHERE destination = ? AND ? BETWEEN first AND last)")
        let isAhead = try Bool.fetchOne(ahead, arguments: [name, position])
        let isDealtWith = try position <= destination.sound("position") || isAhead == true
        // What waited when the operator signed out was given up.
        let isGivenUp = try (record["seq"] as Int64) <= destination.sound("cleared_seq")
        if isDealtWith || isGivenUp { return stateOf(.done) }
        return routing == nil ? .notConfigured : stateOf(.waiting)
    }
}
