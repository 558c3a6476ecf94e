import Logging

// What is logged in more than one place.
extension SubsystemLog {
    /// A payload was decoded, or was not.
    /// - Parameter isUnmeasured: whether it says that nothing was measured, so that it makes no record.
    func decoded(
        _ kind: RecordKind?, count: Int, from source: String, of entry: AllowedPeripheral,
        isUnmeasured: Bool = false, failure: String?
    ) {
        let outcome =
            failure.map { "not decoded: \($0)" }
            ?? kind.map { isUnmeasured ? "\($0.rawValue), and nothing was measured" : $0.rawValue }
            ?? "a part of a value"
        self[.profiles].debug("\(entry.logName): \(count) byte(s) of \(source): \(outcome)")
    }

    /// A transaction with records is on the disk.
    func committed(
        _ records: [Record], _ outcomes: [CommitOutcome], of entry: AllowedPeripheral, took: Duration
    ) {
        let milliseconds = Int(took / .milliseconds(1))
        self[.queue].debug("\(entry.logName): \(records.count) record(s) committed in \(milliseconds) ms")
        for (record, outcome) in zip(records, outcomes) {
            switch outcome {
            case .committed(let id):
                self[.records].debug(
                    "\(entry.logName): \(record.kind.rawValue)\(tag(id)) is new, \(record.stage.rawValue)")
            case .duplicate(let id):
                self[.records].debug("\(entry.logName): \(record.kind.rawValue)\(tag(id)) was there")
            }
        }
    }

    /// What names a record in a line; nothing as long as there is no key.
    private func tag(_ id: RecordID) -> String { key.map { " " + $0.tag(ofRecord: id.text) } ?? "" }
}

extension AllowedPeripheral {
    /// As lines of the log name it: by model and alias, as events do.
    var logName: String {
        alias.map { "\(model.id) (\($0))" } ?? "\(model.id)"
    }
}
