extension Event {
    /// That a destination has taken the records of a request: one event each, and one for all that were imported.
    /// - Parameter measurements: what the event about a record holds of its JSON.
    static func taken(
        _ items: [StoredBatch.Item], by destination: String, httpStatus: Int?, location: String?,
        attempt: Int, measurements: (String) -> String?
    ) -> [Event] {
        let imported = items.count(where: \.isImported)
        let each = items.filter { !$0.isImported }.map {
            taken(
                $0, by: destination, httpStatus: httpStatus, location: location, attempt: attempt,
                measurements: measurements($0.body))
        }
        guard imported > 0 else { return each }
        return each + [
            .importSubmitted(
                count: imported, destination: destination, httpStatus: httpStatus, attempt: attempt)
        ]
    }

    /// That a destination has taken a record.
    static func taken(
        _ item: StoredBatch.Item, by destination: String, httpStatus: Int?, location: String? = nil,
        attempt: Int, measurements: String? = nil
    ) -> Event {
        if let entry = item.imageOf {
            return .mediaSubmitted(
                recordID: entry.id, kind: entry.kind, destination: destination, httpStatus: httpStatus,
                attempt: attempt, location: location)
        }
        return .submitted(
            recordID: item.header.id, kind: item.header.kind, item.header.peripheral,
            destination: destination, httpStatus: httpStatus, attempt: attempt, measurements: measurements)
    }

    /// That a record is set aside for a destination.
    /// - Parameter entry: the record that an image belongs to; nil for a reading, and where that is not known.
    static func setAside(
        _ record: RecordHeader, imageOf entry: RecordReference?, for destination: String,
        httpStatus: Int? = nil, attempt: Int, error: String, submission: FailedSubmission? = nil
    ) -> Event {
        if let entry {
            return .mediaFailed(
                recordID: entry.id, kind: entry.kind, destination: destination, httpStatus: httpStatus,
                attempt: attempt, error: error)
        }
        return .failed(
            recordID: record.id, kind: record.kind, record.peripheral, destination: destination,
            httpStatus: httpStatus, attempt: attempt, error: error, submission: submission)
    }
}

extension StoredBatch.Item {
    /// Whether it is out of another program's export.
    fileprivate var isImported: Bool {
        // Entries have no peripheral: of others the body need not be looked at.
        guard header.peripheralID == 0, imageOf == nil, let origin = RecordContent.origin(of: body) else {
            return false
        }
        return origin != .manual
    }
}
