/// One event of each kind.
package enum SampleEvents {
    /// The event after this one; nil at the end. A new case does not compile without its place here.
    private static func event(after event: Event) -> Event? {
        let cuff = PeripheralReference(peripheralID: 1001, alias: "kitchen cuff")
        let id = RecordID(text: "00000000-0000-5000-8000-000000000000")
        return switch event {
        case .started: .stopping
        case .stopping: .configReloaded
        case .configReloaded: .configRejected(error: "reason")
        case .configRejected: .adapterReady(adapter: "hci0")
        case .adapterReady: .adapterLost(adapter: "hci0", error: "reason")
        case .adapterLost: .adapterReset(adapter: "hci0", error: "reason")
        case .adapterReset: .kernelDefect(error: "reason")
        case .kernelDefect: .discovered(cuff)
        case .discovered: .connected(cuff)
        case .connected: .disconnected(cuff)
        case .disconnected: .readyToRead(cuff)
        case .readyToRead:
            .read(
                recordID: id, kind: .bloodPressure, cuff,
                measurements: #"[{"type":"systolic","value":128,"unit":"mm[Hg]"}]"#)
        case .read: .readFailed(cuff, error: "reason", attempt: 2)
        case .readFailed: .imported(count: 812)
        case .imported: .duplicateIgnored(recordID: id, kind: .bloodPressure, cuff)
        case .duplicateIgnored: .decodeError(recordID: id, cuff, error: "reason")
        case .decodeError: .historySkipped(cuff, count: 37)
        case .historySkipped: .paired(cuff)
        case .paired: .pairFailed(cuff, error: "reason")
        case .pairFailed: .bondLost(cuff, error: "reason")
        case .bondLost: .clockSkew(cuff, error: "reason")
        case .clockSkew:
            .submitted(
                recordID: id, kind: .bloodPressure, cuff, destination: "clinic", httpStatus: 200, attempt: 1)
        case .submitted: .importSubmitted(count: 100, destination: "clinic", httpStatus: 200, attempt: 1)
        case .importSubmitted:
            .failed(
                recordID: id, kind: .bloodPressure, cuff, destination: "clinic", httpStatus: 400, attempt: 1,
                error: "reason")
        case .failed:
            .mediaSubmitted(recordID: id, kind: .glucose, destination: "clinic", httpStatus: 200, attempt: 1)
        case .mediaSubmitted:
            .mediaFailed(
                recordID: id, kind: .glucose, destination: "clinic", httpStatus: 413, attempt: 1,
                error: "reason")
        case .mediaFailed: .retrying(destination: "clinic", httpStatus: nil, attempt: 3, error: "reason")
        case .retrying: .destinationDown(destination: "clinic", httpStatus: nil, error: "reason")
        case .destinationDown: .destinationUp(destination: "clinic")
        case .destinationUp: .authRejected(destination: "clinic", httpStatus: 401, error: "reason")
        case .authRejected: .destinationMisconfigured(destination: "clinic", httpStatus: 404, error: "reason")
        case .destinationMisconfigured: .signedIn(destination: "clinic")
        case .signedIn: .sessionEnded(destination: "clinic", httpStatus: 401, count: 3)
        case .sessionEnded: .storeError(error: "reason")
        case .storeError: .queueHigh(error: "reason")
        case .queueHigh: .queueFull(error: "reason")
        case .queueFull: .queueNormal
        case .queueNormal: .strangerDropped(count: 12)
        case .strangerDropped: .backlogDropped(destination: "hospital", count: 5)
        case .backlogDropped: .clockCorrected(count: 3)
        case .clockCorrected: .eventsDropped(count: 4)
        case .eventsDropped:
            .storeQuarantined(
                file: "queue.db.damaged-1", records: 812, lost: 3, isDeliveryKnown: true)
        case .storeQuarantined: nil
        }
    }

    package static let all = Array(sequence(first: Event.started(version: "1.0")) { event(after: $0) })
}
