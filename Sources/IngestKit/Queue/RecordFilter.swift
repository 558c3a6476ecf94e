import GRDB

/// Which records an operator asks for.
package struct RecordFilter: Sendable, Equatable {
    /// When they were measured, in seconds since 1970.
    package var measured: Range<Int64>
    package var kind: RecordKind?
    /// An alias, a catalogue ID or an address.
    package var device: String?
    /// `unassigned` is nobody.
    package var subject: String?
    /// Only what is in this state at one destination at least.
    package var state: RecordStanding.State?

    package init(
        measured: Range<Int64> = .min ..< .max, kind: RecordKind? = nil, device: String? = nil,
        subject: String? = nil, state: RecordStanding.State? = nil
    ) {
        self.measured = measured
        self.kind = kind
        self.device = device
        self.subject = subject
        self.state = state
    }

    func query(order: String) -> (sql: String, arguments: StatementArguments) {
        var conditions = ["kind <> ?"]
        var arguments: [(any DatabaseValueConvertible)?] = [RecordKind.image.rawValue]
        if let kind {
            conditions.append("kind = ?")
            arguments.append(kind.rawValue)
        }
        if let device {
            conditions.append(RecordRow.isOfDevice)
            arguments += RecordRow.arguments(ofDevice: device)
        }
        let sql = "SELECT * FROM record WHERE \(conditions.joined(separator: " AND ")) ORDER BY \(order)"
        return (sql, StatementArguments(arguments))
    }

    func accepts(_ record: RecordSummary) -> Bool {
        measured.contains(record.time)
            && (subject == nil || subject == record.subject ?? Subject.unassigned)
    }
}
