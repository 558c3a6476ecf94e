/// Everything that the gateway tells the journal (docs/events.md).
///
/// `error` is always our own words: no measured value, person, address or token, and nothing that
/// a peer said. `measurements` are what a record holds as such, and nil unless the configuration has events tell them.
package enum Event: Sendable, Equatable {
    case started(version: String)
    case stopping
    case configReloaded
    case configRejected(error: String)
    case adapterReady(adapter: String)
    case adapterLost(adapter: String, error: String)
    /// It did not work any more, and was switched off and on.
    case adapterReset(adapter: String, error: String)
    /// The running kernel is known to fail; told once in a boot.
    case kernelDefect(error: String)
    case discovered(PeripheralReference)
    case connected(PeripheralReference)
    case disconnected(PeripheralReference)
    /// Of a model that advertises before the measurement is taken.
    case readyToRead(PeripheralReference)
    case read(
        recordID: RecordID, kind: RecordKind, PeripheralReference, measurements: String? = nil)
    case readFailed(PeripheralReference, error: String, attempt: Int)
    /// A commit of an import.
    /// - Parameter count: its records that were not there before.
    case imported(count: Int)
    case duplicateIgnored(recordID: RecordID, kind: RecordKind, PeripheralReference)
    case historySkipped(PeripheralReference, count: Int)
    /// Without a record for a broadcast whose key is missing or wrong: nothing of it is kept.
    case decodeError(recordID: RecordID?, PeripheralReference, error: String)
    case paired(PeripheralReference)
    case pairFailed(PeripheralReference, error: String)
    /// The bond is missing on one of its two sides: readings stop until the peripheral is paired again.
    case bondLost(PeripheralReference, error: String)
    /// The peripheral's clock is more than 5 min wrong; told once a day.
    case clockSkew(PeripheralReference, error: String)
    case submitted(
        recordID: RecordID, kind: RecordKind, PeripheralReference, destination: String, httpStatus: Int?,
        attempt: Int, measurements: String? = nil)
    /// Imported records that a destination has taken with one request.
    case importSubmitted(count: Int, destination: String, httpStatus: Int?, attempt: Int)
    case failed(
        recordID: RecordID, kind: RecordKind, PeripheralReference, destination: String, httpStatus: Int?,
        attempt: Int, error: String, submission: FailedSubmission? = nil)
    /// An image that a destination has taken. What is named is the entry that it belongs to.
    /// - Parameter location: what the destination calls the image, where it says so.
    case mediaSubmitted(
        recordID: RecordID, kind: RecordKind, destination: String, httpStatus: Int?, attempt: Int,
        location: String? = nil)
    /// One that a destination does not get.
    /// - Parameter attempt: nil where it was not to be delivered there at all.
    case mediaFailed(
        recordID: RecordID, kind: RecordKind, destination: String, httpStatus: Int? = nil,
        attempt: Int? = nil, error: String)
    case retrying(destination: String, httpStatus: Int?, attempt: Int, error: String)
    case destinationDown(destination: String, httpStatus: Int?, error: String)
    case destinationUp(destination: String)
    case authRejected(destination: String, httpStatus: Int?, error: String? = nil)
    case destinationMisconfigured(destination: String, httpStatus: Int?, error: String)
    case signedIn(destination: String)
    /// - Parameters:
    ///   - httpStatus: what the server ended it with; nil where the operator signed out.
    ///   - count: the records that wait: kept where the server ended it, else given up.
    case sessionEnded(destination: String, httpStatus: Int?, count: Int)
    /// - Parameter recordID: of a record that was set aside in the queue; nil where the queue itself has
    ///   the fault.
    case storeError(recordID: RecordID? = nil, error: String)
    /// The queue is nearly as large as it may be.
    case queueHigh(error: String)
    /// There is no room for more records: nothing is read.
    case queueFull(error: String)
    case queueNormal
    /// Records were dropped that no destination takes, because unpinned devices had no more room.
    case strangerDropped(count: Int)
    /// Records that a destination had not taken were dropped for want of room, as its `when_full` says.
    case backlogDropped(destination: String, count: Int)
    /// Since when so many devices and persons are known counts from now, because a clock that was wrong had noted it.
    case clockCorrected(count: Int)
    /// Events that no outbox holds were dropped, because the journal did not take any.
    case eventsDropped(count: Int)
    /// The queue was damaged and put aside; it goes on with what could be read.
    /// - Parameters:
    ///   - file: what it is called now, in the same directory.
    ///   - records: how many were taken over.
    ///   - lost: how many were not; nil if that cannot be told.
    ///   - isDeliveryKnown: if not, all of them are delivered again.
    ///   - kept: damaged files that are there, with this one.
    case storeQuarantined(file: String, records: Int, lost: Int?, isDeliveryKnown: Bool)
}

/// A field of a journal entry beside MESSAGE, MESSAGE_ID and PRIORITY.
package enum EventField: String, Sendable, CaseIterable {
    case event = "INGEST_EVENT"
    case recordID = "INGEST_RECORD_ID"
    case kind = "INGEST_KIND"
    case peripheralID = "INGEST_PERIPHERAL_ID"
    case peripheral = "INGEST_PERIPHERAL"
    case destination = "INGEST_DESTINATION"
    case httpStatus = "INGEST_HTTP_STATUS"
    /// What a server calls an image that it has taken, such as `Media/4711`.
    case location = "INGEST_LOCATION"
    case attempt = "INGEST_ATTEMPT"
    case error = "INGEST_ERROR"
    /// Of a failed submission, where the destination has a listener for such.
    case dataType = "INGEST_DATA_TYPE"
    case dateFrom = "INGEST_DATE_FROM"
    case dateTo = "INGEST_DATE_TO"
    case collectedAt = "INGEST_COLLECTED_AT"
    case submittedAt = "INGEST_SUBMITTED_AT"
    case payloadSize = "INGEST_PAYLOAD_SIZE"
    /// How many, where an event stands for several of its kind.
    case count = "INGEST_COUNT"
    /// What was measured, as the record has it; only where the configuration asks for it.
    case measurements = "INGEST_MEASUREMENTS"
    /// Only in events about records and destinations: a number without gaps.
    case sequence = "INGEST_SEQ"
}

/// Severity as syslog and the journal count it.
package enum EventPriority: Int, Sendable {
    case critical = 2
    case error = 3
    case warning = 4
    case notice = 5
    case info = 6
    case debug = 7
}

/// An event in the journal's terms, ready to be written by a sink.
package struct JournalEntry: Sendable, Equatable {
    package let name: String
    /// 32 lower-case hexadecimal digits (systemd: one ID per type of message).
    package let messageID: String
    package let priority: EventPriority
    package let message: String
    /// In the order in which they are to be written.
    package let fields: [(EventField, String)]

    package static func == (left: Self, right: Self) -> Bool {
        left.name == right.name && left.messageID == right.messageID
            && left.priority == right.priority && left.message == right.message
            && left.fields.elementsEqual(right.fields) { $0.0 == $1.0 && $0.1 == $1.1 }
    }
}

/// Where journal entries go: the journal, or standard output.
package protocol EventSink: Sendable {
    /// Takes one entry, to be written soon; returns at once. If too many wait, the entry is dropped and counted.
    func write(_ entry: JournalEntry)

    /// Writes entries that are kept until they are written. Returns when all are, however long that takes; soon after
    /// its task was cancelled.
    /// - Returns: how many are written, from the first on.
    func deliver(_ entries: [JournalEntry]) async -> Int
}

extension EventSink {
    /// For sinks that never wait for anybody.
    package func deliver(_ entries: [JournalEntry]) async -> Int {
        for entry in entries { write(entry) }
        return entries.count
    }
}
