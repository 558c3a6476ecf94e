/// A glucose meter with stored records and a Record Access Control Point (Glucose Service 1.0.1).
///
/// It deletes nothing: such a request is answered "op code not supported", and noted.
package struct GlucoseMeter: SimulatedSensor {
    /// How it differs from a meter that does all by the book.
    package struct Script: Sendable {
        package enum ContextOrder: Sendable {
            case beforeItsRecord
            case afterItsRecord
            case afterAllRecords
        }

        package var isNewestFirst = false
        /// The response code for every operator but "all records": 04 operator not supported, 09
        /// operand not supported; nil: it filters.
        package var filterRefusal: UInt8?
        package var contexts = ContextOrder.afterItsRecord
        /// Before each notification but the first.
        package var pause = Duration.zero
        /// Hangs up after so many notifications of the next transfer; once.
        package var breaksAfter: Int?
        /// Answers "procedure not completed" after so many notifications of the next transfer; once.
        package var givesUpAfter: Int?
        /// The response code for an abort; nil: it goes on, and answers nothing.
        package var abortResponse: UInt8? = 0x01

        package init() {}
    }

    /// Control point writes that are kept.
    private static let longestMemory = 1_024

    package static let service: BluetoothUUID = 0x1808
    package static let measurement: BluetoothUUID = 0x2A18
    package static let measurementContext: BluetoothUUID = 0x2A34
    package static let feature: BluetoothUUID = 0x2A51
    package static let controlPoint: BluetoothUUID = 0x2A52

    package var script = Script()
    /// In the order in which they were stored.
    package private(set) var records: [Record] = []
    /// The number of the record that is stored next.
    package private(set) var nextSequence: UInt16
    /// What was written to the control point, in order.
    package private(set) var requests: [[UInt8]] = []
    package private(set) var recordsSent = 0
    package private(set) var contextsSent = 0
    private let serial: String
    private var stored = 0
    /// Payloads that were sent at least once.
    private var delivered: Set<[UInt8]> = []
    private var outgoing: [SensorStep] = []

    /// - Parameter firstSequence: the number of the first record.
    package init(_ records: [Record] = [], firstSequence: UInt16 = 0, serial: String = "G-0001") {
        self.serial = serial
        nextSequence = firstSequence
        for record in records { add(record) }
    }

    // MARK: Memory

    /// Stores a record under its own number; the next one gets the number after it.
    package mutating func add(_ record: Record) {
        records.append(record)
        nextSequence = record.sequence &+ 1
        stored += 1
    }

    /// Stores a record under the next number, which is 0 after 65,535.
    @discardableResult
    package mutating func measure(
        _ concentration: Record.Concentration? = .milligramsPerDecilitre(102), at time: DeviceTime,
        context: Context? = nil
    ) -> Record {
        let record = Record(
            sequence: nextSequence, time: time, concentration: concentration, context: context)
        add(record)
        return record
    }

    /// Forgets all records; the numbers go on.
    package mutating func clear() {
        records = []
    }

    /// Forgets all records, and numbers begin again.
    package mutating func reset(firstSequence: UInt16 = 0) {
        clear()
        nextSequence = firstSequence
    }

    /// Requests to delete records.
    package var deletions: Int {
        requests.count { $0.first == RecordAccess.Opcode.deleteRecords }
    }

    // MARK: The sensor

    package var services: [SimulatedService] {
        [
            SimulatedService(
                Self.service,
                [
                    Characteristic(Self.measurement, .notify),
                    Characteristic(Self.measurementContext, .notify),
                    // Nothing optional.
                    Characteristic(Self.feature, .read, value: [0, 0]),
                    Characteristic(Self.controlPoint, [.indicate, .write]),
                ]),
            .deviceInformation(model: "Simulated Glucose Meter", serial: serial),
            SimulatedService(0x180F, [Characteristic(0x2A19, .read, value: [78])]),
        ]
    }

    package var advert: [UInt8] { .advert(services: [0x1808]) }

    package var tally: SensorTally {
        SensorTally(readings: stored, offered: recordsSent, confirmed: delivered.count)
    }

    package mutating func linked() {
        outgoing = []
    }

    package mutating func written(
        _ value: [UInt8], to characteristic: BluetoothUUID, subscriptions: Set<BluetoothUUID>
    ) -> UInt8? {
        guard characteristic == Self.controlPoint else { return nil }
        if requests.count < Self.longestMemory { requests.append(value) }
        guard subscriptions.contains(Self.controlPoint) else { return ControlPointError.notSubscribed }
        let request = RecordAccess(value)
        guard outgoing.isEmpty || request == .abort else { return ControlPointError.procedureInProgress }
        let opcode = value.first ?? 0
        if let refusal = script.filterRefusal, request.isFiltered {
            respond(refusal, to: opcode)
            return nil
        }
        switch request {
        case .report(let selection): report(selection)
        case .count(let selection):
            let count = selection.of(records, number: \.sequence).count
            outgoing = [.send(Self.controlPoint, RecordAccess.answer(count: count))]
        case .abort:
            guard let response = script.abortResponse else { return nil }
            respond(response, to: opcode)
        case .refused(let response): respond(response.rawValue, to: opcode)
        }
        return nil
    }

    package mutating func next(_ subscriptions: Set<BluetoothUUID>) -> SensorStep? {
        while !outgoing.isEmpty {
            let step = outgoing.removeFirst()
            guard case .send(let characteristic, let value) = step else { return step }
            guard subscriptions.contains(characteristic) else { continue }
            switch characteristic {
            case Self.measurement:
                recordsSent += 1
                delivered.insert(value)
            case Self.measurementContext: contextsSent += 1
            default: break
            }
            return step
        }
        return nil
    }

    // MARK: Procedures

    private mutating func respond(_ response: UInt8, to opcode: UInt8) {
        outgoing = [.send(Self.controlPoint, RecordAccess.answer(response, to: opcode))]
    }

    private mutating func report(_ selection: RecordAccess.Selection) {
        let opcode = RecordAccess.Opcode.reportRecords
        var chosen = selection.of(records, number: \.sequence)
        guard !chosen.isEmpty else {
            return respond(RecordAccess.Response.noRecordsFound.rawValue, to: opcode)
        }
        if script.isNewestFirst { chosen.reverse() }
        var notifications: [SensorStep] = []
        for record in chosen {
            let context = record.contextPayload.map { SensorStep.send(Self.measurementContext, $0) }
            if script.contexts == .beforeItsRecord, let context { notifications.append(context) }
            notifications.append(.send(Self.measurement, record.payload))
            if script.contexts == .afterItsRecord, let context { notifications.append(context) }
        }
        if script.contexts == .afterAllRecords {
            notifications += chosen.compactMap(\.contextPayload).map { .send(Self.measurementContext, $0) }
        }
        var end = SensorStep.send(
            Self.controlPoint, RecordAccess.answer(RecordAccess.Response.success.rawValue, to: opcode))
        if let count = script.breaksAfter {
            script.breaksAfter = nil
            notifications = Array(notifications.prefix(count))
            end = .hangUp
        } else if let count = script.givesUpAfter {
            script.givesUpAfter = nil
            notifications = Array(notifications.prefix(count))
            end = .send(
                Self.controlPoint,
                RecordAccess.answer(RecordAccess.Response.procedureNotCompleted.rawValue, to: opcode))
        }
        outgoing = []
        for notification in notifications {
            if !outgoing.isEmpty, script.pause > .zero { outgoing.append(.wait(script.pause)) }
            outgoing.append(notification)
        }
        outgoing.append(end)
    }
}

extension RecordAccess {
    /// Whether it asks for some of the records only.
    var isFiltered: Bool {
        switch self {
        case .report(let selection), .count(let selection): selection != .all
        case .abort, .refused: false
        }
    }
}
