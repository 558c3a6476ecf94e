extension Event {
    /// The event's name in the journal.
    package var name: EventName {
        switch self {
        case .started: .started
        case .stopping: .stopping
        case .configReloaded: .configReloaded
        case .configRejected: .configRejected
        case .adapterReady: .adapterReady
        case .adapterLost: .adapterLost
        case .adapterReset: .adapterReset
        case .kernelDefect: .kernelDefect
        case .discovered: .discovered
        case .connected: .connected
        case .disconnected: .disconnected
        case .readyToRead: .readyToRead
        case .read: .read
        case .readFailed: .readFailed
        case .imported: .imported
        case .duplicateIgnored: .duplicateIgnored
        case .decodeError: .decodeError
        case .historySkipped: .historySkipped
        case .paired: .paired
        case .pairFailed: .pairFailed
        case .bondLost: .bondLost
        case .clockSkew: .clockSkew
        case .submitted, .importSubmitted: .submitted
        case .failed: .failed
        case .mediaSubmitted: .mediaSubmitted
        case .mediaFailed: .mediaFailed
        case .retrying: .retrying
        case .destinationDown: .destinationDown
        case .destinationUp: .destinationUp
        case .authRejected: .authRejected
        case .destinationMisconfigured: .destinationMisconfigured
        case .signedIn: .signedIn
        case .sessionEnded: .sessionEnded
        case .storeError: .storeError
        case .queueHigh: .queueHigh
        case .queueFull: .queueFull
        case .queueNormal: .queueNormal
        case .strangerDropped: .strangerDropped
        case .backlogDropped: .backlogDropped
        case .clockCorrected: .clockCorrected
        case .eventsDropped: .eventsDropped
        case .storeQuarantined: .storeQuarantined
        }
    }

    package var priority: EventPriority {
        switch self {
        case .discovered, .connected, .disconnected: .debug
        case .started, .stopping, .configReloaded, .readyToRead, .read, .duplicateIgnored, .submitted,
            .importSubmitted, .mediaSubmitted:
            .info
        case .adapterReady, .historySkipped, .imported, .paired, .retrying, .destinationUp, .signedIn,
            .queueNormal:
            .notice
        case .adapterLost, .adapterReset, .readFailed, .decodeError, .pairFailed, .clockSkew, .mediaFailed,
            .destinationDown,
            .queueHigh, .strangerDropped, .backlogDropped, .clockCorrected, .eventsDropped,
            .sessionEnded(_, nil, _):
            .warning
        case .configRejected, .kernelDefect, .bondLost, .failed, .authRejected, .destinationMisconfigured,
            .sessionEnded:
            .error
        case .storeError, .queueFull, .storeQuarantined: .critical
        }
    }

    /// The event in the journal's terms.
    /// - Parameter sequence: the number from the outbox, for events about records and destinations.
    package func entry(sequence: Int64? = nil) -> JournalEntry {
        let values = details
        var fields: [(EventField, String)] = [(.event, name.rawValue)]
        if let record = values.recordID { fields.append((.recordID, record.text)) }
        if let kind = values.kind { fields.append((.kind, kind.rawValue)) }
        if let peripheral = values.peripheral, peripheral != .entry {
            fields.append((.peripheralID, String(peripheral.peripheralID)))
            if let alias = peripheral.alias { fields.append((.peripheral, alias)) }
        }
        if let destination = values.destination { fields.append((.destination, destination)) }
        if let status = values.httpStatus { fields.append((.httpStatus, String(status))) }
        if let location = values.location { fields.append((.location, location)) }
        if let attempt = values.attempt { fields.append((.attempt, String(attempt))) }
        if let error = values.error { fields.append((.error, error)) }
        if let count = values.count { fields.append((.count, String(count))) }
        fields += values.submission?.fields ?? []
        if let measurements = values.measurements { fields.append((.measurements, measurements)) }
        if let sequence { fields.append((.sequence, String(sequence))) }
        return JournalEntry(
            name: name.rawValue, messageID: name.messageID, priority: priority, message: message,
            fields: fields)
    }

    /// The sentence of the entry: plain words, never a measured value, person, address or token.
    private var message: String {
        switch self {
        case .started(let version):
            "Started ingestd \(version)"
        case .stopping:
            "Stopping"
        case .configReloaded:
            "Applied the new configuration"
        case .configRejected(let error):
            "Kept the old configuration, the new one is not valid: \(error)"
        case .adapterReady(let adapter):
            "Listening on \(adapter)"
        case .adapterLost(let adapter, let error):
            "No longer listening on \(adapter): \(error)"
        case .adapterReset(let adapter, let error):
            "Switched \(adapter) off and on: \(error)"
        case .kernelDefect(let error):
            "The kernel has a defect: \(error)"
        case .discovered(let peripheral):
            "Heard \(peripheral.phrase)"
        case .connected(let peripheral):
            "Connected to \(peripheral.phrase)"
        case .disconnected(let peripheral):
            "Disconnected from \(peripheral.phrase)"
        case .readyToRead(let peripheral):
            "Ready for a measurement with \(peripheral.phrase)"
        case .read(_, let kind, let peripheral, _):
            "Read \(kind.rawValue) from \(peripheral.phrase)"
        case .readFailed(let peripheral, let error, _):
            "Could not read \(peripheral.phrase): \(error)"
        case .imported(let count):
            "Imported \(count) record\(count == 1 ? "" : "s") that \(count == 1 ? "was" : "were") not there before"
        case .duplicateIgnored(_, let kind, let peripheral):
            "Ignored \(kind.rawValue) from \(peripheral.phrase) that was read before"
        case .decodeError(nil, let peripheral, let error):
            "Could not use a broadcast from \(peripheral.phrase): \(error)"
        case .decodeError(_?, let peripheral, let error):
            "Kept a payload from \(peripheral.phrase) that could not be decoded: \(error)"
        case .historySkipped(let peripheral, let count):
            "Left \(count) stored reading\(count == 1 ? "" : "s") in \(peripheral.phrase), as its history says"
        case .paired(let peripheral):
            "Paired with \(peripheral.phrase)"
        case .pairFailed(let peripheral, let error):
            "Could not pair with \(peripheral.phrase): \(error)"
        case .bondLost(let peripheral, let error):
            "Lost the bond with \(peripheral.phrase): \(error)"
        case .clockSkew(let peripheral, let error):
            "The clock of \(peripheral.phrase) is wrong: \(error)"
        case .submitted(_, let kind, let peripheral, let destination, _, _, _):
            "Submitted \(kind.rawValue) from \(peripheral.phrase) to \(destination)"
        case .importSubmitted(let count, let destination, _, _):
            "Submitted \(count) imported record\(count == 1 ? "" : "s") to \(destination)"
        case .failed(_, let kind, let peripheral, let destination, _, _, let error, _):
            "Set aside \(kind.rawValue) from \(peripheral.phrase) that \(destination) does not take: \(error)"
        case .mediaSubmitted(_, let kind, let destination, _, _, _):
            "Submitted the image of \(kind.rawValue) to \(destination)"
        case .mediaFailed(_, let kind, let destination, _, _, let error):
            "The image of \(kind.rawValue) does not go to \(destination): \(error)"
        case .retrying(let destination, _, let attempt, let error):
            "Attempt \(attempt) to deliver to \(destination) did not succeed, trying again: \(error)"
        case .destinationDown(let destination, _, let error):
            "\(destination) cannot be reached, records are kept: \(error)"
        case .destinationUp(let destination):
            "\(destination) takes records again"
        case .authRejected(let destination, let status, let error):
            "\(destination) rejects the credential"
                + ((error ?? status.map { "HTTP \($0)" }).map { " (\($0))" } ?? "") + ", records are kept"
        case .destinationMisconfigured(let destination, _, let error):
            "\(destination) is not configured rightly, records are kept: \(error)"
        case .signedIn(let destination):
            "Signed in at \(destination)"
        case .sessionEnded(let destination, nil, let count):
            "Signed out of \(destination), \(Self.records(count)) given up"
        case .sessionEnded(let destination, let status?, let count):
            "\(destination) has ended the session (HTTP \(status)), \(Self.records(count)) kept"
        case .storeError(nil, let error):
            "The queue is in trouble: \(error)"
        case .storeError(_?, let error):
            "Set a record aside in the queue: \(error)"
        case .queueHigh(let error):
            "The queue is nearly full: \(error)"
        case .queueFull(let error):
            "Reading stops, there is no room for readings: \(error)"
        case .queueNormal:
            "There is room for readings again"
        case .strangerDropped(let count):
            "Dropped \(count) record\(count == 1 ? "" : "s") that no destination takes, of devices without an "
                + "address in the allow-list"
        case .backlogDropped(let destination, let count):
            "Dropped \(Self.records(count)) that \(destination) had not taken, for want of room"
        case .clockCorrected(let count):
            "The clock was wrong when \(count) device\(count == 1 ? " or person" : "s and persons") came to be known: "
                + "what was measured from now on is theirs"
        case .eventsDropped(let count):
            "Dropped \(count) event\(count == 1 ? "" : "s") about other than records and destinations: nobody took "
                + "events for some time"
        case .storeQuarantined(let file, let records, let lost, let isDeliveryKnown):
            "Put the damaged queue aside as \(file): \(records) record\(records == 1 ? "" : "s") taken over, "
                + (lost.map { "\($0) lost" } ?? "an unknown number lost")
                + (isDeliveryKnown ? "" : ", all are delivered again")
        }
    }

    private static func records(_ count: Int) -> String {
        "\(count) record\(count == 1 ? " is" : "s are")"
    }

    /// What of an event goes into fields of its own.
    private struct Details {
        var recordID: RecordID?
        var kind: RecordKind?
        var peripheral: PeripheralReference?
        var destination: String?
        var httpStatus: Int?
        var location: String?
        var attempt: Int?
        var error: String?
        var count: Int?
        var submission: FailedSubmission?
        var measurements: String?
    }

    private var details: Details {
        switch self {
        case .started, .stopping, .configReloaded, .adapterReady, .queueNormal:
            Details()
        case .configRejected(let error), .adapterLost(_, let error), .adapterReset(_, let error),
            .kernelDefect(let error), .queueHigh(let error),
            .queueFull(let error):
            Details(error: error)
        case .storeError(let record, let error):
            Details(recordID: record, error: error)
        case .discovered(let peripheral), .connected(let peripheral), .disconnected(let peripheral),
            .readyToRead(let peripheral), .paired(let peripheral):
            Details(peripheral: peripheral)
        case .pairFailed(let peripheral, let error), .bondLost(let peripheral, let error),
            .clockSkew(let peripheral, let error):
            Details(peripheral: peripheral, error: error)
        case .read(let record, let kind, let peripheral, let measurements):
            Details(recordID: record, kind: kind, peripheral: peripheral, measurements: measurements)
        case .duplicateIgnored(let record, let kind, let peripheral):
            Details(recordID: record, kind: kind, peripheral: peripheral)
        case .readFailed(let peripheral, let error, let attempt):
            Details(peripheral: peripheral, attempt: attempt, error: error)
        case .decodeError(let record, let peripheral, let error):
            Details(
                recordID: record, kind: record.map { _ in .undecoded }, peripheral: peripheral, error: error)
        case .imported(let count), .strangerDropped(let count), .clockCorrected(let count),
            .eventsDropped(let count):
            Details(count: count)
        case .backlogDropped(let destination, let count):
            Details(destination: destination, count: count)
        case .historySkipped(let peripheral, let count):
            Details(peripheral: peripheral, count: count)
        case .submitted(
            let record, let kind, let peripheral, let destination, let status, let attempt, let measurements):
            Details(
                recordID: record, kind: kind, peripheral: peripheral, destination: destination,
                httpStatus: status, attempt: attempt, measurements: measurements)
        case .importSubmitted(let count, let destination, let status, let attempt):
            Details(destination: destination, httpStatus: status, attempt: attempt, count: count)
        case .failed(
            let record, let kind, let peripheral, let destination, let status, let attempt, let error,
            let submission):
            Details(
                recordID: record, kind: kind, peripheral: peripheral, destination: destination,
                httpStatus: status, attempt: attempt, error: error, submission: submission)
        case .mediaSubmitted(let record, let kind, let destination, let status, let attempt, let location):
            Details(
                recordID: record, kind: kind, destination: destination, httpStatus: status,
                location: location, attempt: attempt)
        case .mediaFailed(let record, let kind, let destination, let status, let attempt, let error):
            Details(
                recordID: record, kind: kind, destination: destination, httpStatus: status, attempt: attempt,
                error: error)
        case .retrying(let destination, let status, let attempt, let error):
            Details(destination: destination, httpStatus: status, attempt: attempt, error: error)
        case .destinationDown(let destination, let status, let error),
            .destinationMisconfigured(let destination, let status, let error):
            Details(destination: destination, httpStatus: status, error: error)
        case .destinationUp(let destination), .signedIn(let destination):
            Details(destination: destination)
        case .sessionEnded(let destination, let status, let count):
            Details(destination: destination, httpStatus: status, count: count)
        case .authRejected(let destination, let status, let error):
            Details(destination: destination, httpStatus: status, error: error)
        case .storeQuarantined(_, let records, _, _):
            Details(count: records)
        }
    }
}

extension PeripheralReference {
    /// How sentences name the peripheral.
    var phrase: String {
        if self == .entry { return "an entry or import" }
        return alias ?? "a peripheral of model \(peripheralID)"
    }
}
