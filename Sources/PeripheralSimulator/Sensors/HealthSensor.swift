/// A generic health sensor (Generic Health Sensor Service 1.0) with live observations, which are
/// switched on at a control point, and, where it has a memory, stored ones, which are asked for at a
/// Record Access Control Point. Both come in segments.
///
/// It deletes nothing: such a request is answered "op code not supported", and noted.
package struct HealthSensor: SimulatedSensor {
    /// One observation: a class, a length, flags and what they promise (IEEE 11073-10206 as the
    /// service carries it).
    package struct Observation: Sendable, Equatable {
        package var body: [UInt8]

        /// A numeric observation of patient 1.
        /// - Parameters:
        ///   - type: an MDC code: 150456 is the oxygen saturation.
        ///   - unit: an MDC unit of the partition 4: 544 is percent.
        ///   - value: with exponent 0, up to 8,388,605.
        ///   - seconds: UTC, since 2000-01-01; up to 48 bits.
        package static func numeric(
            type: UInt32, unit: UInt16, value: Int32, seconds: UInt64
        ) -> Observation {
            // Type (0), time stamp (1) and patient (5).
            var body: [UInt8] = Wire.bytes(UInt16(0x0023)) + Wire.bytes(type)
            // UTC in seconds on the current timeline; the source is a cellular network, no offset.
            body += [0x22] + Wire.bytes(seconds).prefix(6) + [0x06, 0x00]
            body.append(0x01)
            body += Wire.bytes(unit) + Wire.bytes(value).prefix(3) + [0x00]
            return Observation(body: [0x01] + Wire.bytes(UInt16(body.count)) + body)
        }
    }

    /// How its memory differs from one that does all by the book.
    package struct Script: Sendable {
        /// Reports with the operation of the other services, and not with Combined Report.
        package var hasPlainReport = false
        /// The response code for every operator but "all records"; nil: it filters.
        package var filterRefusal: UInt8?
        /// Answers "server busy" to this many requests.
        package var busyAnswers = 0
        /// Hangs up after so many segments of the next report; once.
        package var breaksAfter: Int?
        /// Leaves the first record of the next report out, and counts it; once.
        package var losesFirst = false

        package init() {}
    }

    /// An observation in its memory.
    package struct Stored: Sendable, Equatable {
        package var number: UInt32
        package var observation: Observation
    }

    package static let service: BluetoothUUID = 0x1840
    package static let features: BluetoothUUID = 0x2BF3
    package static let liveObservations: BluetoothUUID = 0x2B8B
    package static let storedObservations: BluetoothUUID = 0x2BDD
    package static let recordAccess: BluetoothUUID = 0x2A52
    package static let controlPoint: BluetoothUUID = 0x2BF4

    private static let startLiveObservations: UInt8 = 0x01
    private static let stopLiveObservations: UInt8 = 0x02
    private static let success: UInt8 = 0x80

    /// Bytes of an observation in one segment: an ATT_MTU of 23 leaves 19.
    package var segmentLength = 19
    /// Hangs up after so many segments; once.
    package var breaksAfter: Int?
    /// Not yet given whole, the oldest first.
    package private(set) var observations: [Observation] = []
    /// Whether live observations are switched on.
    package private(set) var isLive = false
    package private(set) var segmentsSent = 0
    package var script = Script()
    /// In the order in which they were stored; nil: it has no memory.
    package private(set) var stored: [Stored]?
    /// The number of the observation that is stored next.
    package private(set) var nextNumber: UInt32
    /// What was written to the Record Access Control Point, in order.
    package private(set) var requests: [[UInt8]] = []
    private let isObserving: Bool
    private let serial: String
    private var count = 0
    private var counter: UInt8 = 0
    private var segments: [[UInt8]] = []
    private var isGiving = false
    private var answer: [UInt8]?
    private var storedCount = 0
    /// Numbers of the stored ones that were sent whole at least once.
    private var delivered: Set<UInt32> = []
    private var outgoing: [(step: SensorStep, completes: UInt32?)] = []

    /// - Parameters:
    ///   - observations: live ones; nil: it only stores.
    ///   - stored: nil: it has no memory.
    ///   - firstNumber: of the first stored one.
    package init(
        _ observations: [Observation]? = [], stored: [Observation]? = nil, firstNumber: UInt32 = 1,
        serial: String = "N-0001"
    ) {
        self.serial = serial
        isObserving = observations != nil
        nextNumber = firstNumber
        self.stored = stored.map { _ in [] }
        for observation in observations ?? [] { add(observation) }
        for observation in stored ?? [] { store(observation) }
    }

    /// The sensor observes.
    package mutating func add(_ observation: Observation) {
        observations.append(observation)
        count += 1
    }

    /// The sensor observes and stores it.
    package mutating func store(_ observation: Observation) {
        stored = (stored ?? []) + [Stored(number: nextNumber, observation: observation)]
        nextNumber &+= 1
        storedCount += 1
    }

    /// Forgets all that is stored, and numbers begin again.
    package mutating func reset(firstNumber: UInt32 = 1) {
        stored = []
        nextNumber = firstNumber
    }

    /// Requests to delete records.
    package var deletions: Int {
        requests.count { $0.first == RecordAccess.Opcode.deleteRecords }
    }

    // MARK: The sensor

    package var services: [SimulatedService] {
        // No optional feature; one type, the oxygen saturation.
        var characteristics = [
            Characteristic(Self.features, .read, value: [0x00, 0x01] + Wire.bytes(UInt32(150_456)))
        ]
        if isObserving {
            characteristics.append(Characteristic(Self.liveObservations, [.notify, .indicate]))
            characteristics.append(Characteristic(Self.controlPoint, [.indicate, .write]))
        }
        if stored != nil {
            characteristics.append(Characteristic(Self.storedObservations, [.notify, .indicate]))
            characteristics.append(Characteristic(Self.recordAccess, [.indicate, .write]))
        }
        return [
            SimulatedService(Self.service, characteristics),
            .deviceInformation(model: "Simulated Health Sensor", serial: serial),
        ]
    }

    package var advert: [UInt8] { .advert(services: [0x1840]) }

    package var tally: SensorTally {
        SensorTally(
            readings: count + storedCount, offered: segmentsSent,
            confirmed: count - observations.count + delivered.count)
    }

    package mutating func linked() {
        isLive = false
        isGiving = false
        segments = []
        answer = nil
        outgoing = []
    }

    package mutating func written(
        _ value: [UInt8], to characteristic: BluetoothUUID, subscriptions: Set<BluetoothUUID>
    ) -> UInt8? {
        if characteristic == Self.recordAccess { return asked(value, subscriptions) }
        guard characteristic == Self.controlPoint else { return nil }
        guard subscriptions.contains(Self.controlPoint), subscriptions.contains(Self.liveObservations) else {
            return ControlPointError.notSubscribed
        }
        switch value {
        case [Self.startLiveObservations]: isLive = true
        case [Self.stopLiveObservations]: isLive = false
        default: return ControlPointError.valueNotAllowed
        }
        answer = [Self.success]
        return nil
    }

    package mutating func next(_ subscriptions: Set<BluetoothUUID>) -> SensorStep? {
        if let answer {
            self.answer = nil
            return .send(Self.controlPoint, answer)
        }
        if !outgoing.isEmpty {
            let (step, completed) = outgoing.removeFirst()
            if let completed { delivered.insert(completed) }
            if case .send(Self.storedObservations, _) = step { segmentsSent += 1 }
            return step
        }
        if segments.isEmpty, isGiving {
            isGiving = false
            observations.removeFirst()
        }
        guard isLive, subscriptions.contains(Self.liveObservations) else { return nil }
        if let count = breaksAfter, count <= segmentsSent {
            breaksAfter = nil
            return .hangUp
        }
        if segments.isEmpty, let observation = observations.first {
            isGiving = true
            segments = split(observation.body)
        }
        guard !segments.isEmpty else { return nil }
        segmentsSent += 1
        return .send(Self.liveObservations, segments.removeFirst())
    }

    /// Each segment begins with whether it is the first (bit 0) and the last (bit 1), and a counter
    /// that rolls over from 63 to 0.
    private mutating func split(_ body: [UInt8]) -> [[UInt8]] {
        let starts = Array(stride(from: 0, to: body.count, by: max(1, segmentLength)))
        return starts.map { start in
            defer { counter = (counter + 1) & 0x3F }
            let header: UInt8 = (start == 0 ? 0x01 : 0) | (start == starts.last ? 0x02 : 0) | counter << 2
            return [header] + body[start...].prefix(max(1, segmentLength))
        }
    }

    // MARK: Memory

    /// The Record Access Control Point was written to.
    private mutating func asked(_ value: [UInt8], _ subscriptions: Set<BluetoothUUID>) -> UInt8? {
        guard let stored else { return nil }
        if requests.count < 1_024 { requests.append(value) }
        guard subscriptions.contains(Self.recordAccess), subscriptions.contains(Self.storedObservations)
        else { return ControlPointError.notSubscribed }
        let opcode = value.first ?? 0
        let report =
            script.hasPlainReport
            ? RecordAccess.Opcode.reportRecords : RecordAccess.Opcode.combinedReport
        let request =
            switch opcode {
            case report:
                // A combined report has the operators and operands of a plain one.
                RecordAccess([RecordAccess.Opcode.reportRecords] + value.dropFirst(), numberSize: 4)
            case RecordAccess.Opcode.reportRecords, RecordAccess.Opcode.combinedReport:
                RecordAccess.refused(.opcodeNotSupported)
            default: RecordAccess(value, numberSize: 4)
            }
        guard outgoing.isEmpty || request == .abort else { return ControlPointError.procedureInProgress }
        if isLive || script.busyAnswers > 0 {
            script.busyAnswers = max(0, script.busyAnswers - 1)
            respond(.serverBusy, to: opcode)
            return nil
        }
        if let refusal = script.filterRefusal, request.isFiltered {
            outgoing = [(.send(Self.recordAccess, RecordAccess.answer(refusal, to: opcode)), nil)]
            return nil
        }
        switch request {
        case .report(let selection): self.report(selection.of(stored, number: \.number), opcode)
        case .count(let selection):
            let count = UInt32(selection.of(stored, number: \.number).count)
            let answer = [RecordAccess.Opcode.countResponse, 0] + Wire.bytes(count)
            outgoing = [(.send(Self.recordAccess, answer), nil)]
        case .abort: respond(.success, to: opcode)
        case .refused(let refusal): respond(refusal, to: opcode)
        }
        return nil
    }

    private mutating func respond(_ response: RecordAccess.Response, to opcode: UInt8) {
        outgoing = [(.send(Self.recordAccess, RecordAccess.answer(response.rawValue, to: opcode)), nil)]
    }

    private mutating func report(_ chosen: [Stored], _ opcode: UInt8) {
        guard !chosen.isEmpty else { return respond(.noRecordsFound, to: opcode) }
        outgoing = []
        for item in chosen.dropFirst(script.losesFirst ? 1 : 0) {
            let segments = split(Wire.bytes(item.number) + item.observation.body)
            for (place, segment) in segments.enumerated() {
                let isLast = place == segments.count - 1
                outgoing.append((.send(Self.storedObservations, segment), isLast ? item.number : nil))
            }
        }
        script.losesFirst = false
        if let count = script.breaksAfter {
            script.breaksAfter = nil
            outgoing = outgoing.prefix(count) + [(.hangUp, nil)]
            return
        }
        let answer =
            script.hasPlainReport
            ? RecordAccess.answer(RecordAccess.Response.success.rawValue, to: opcode)
            : [RecordAccess.Opcode.combinedResponse, 0] + Wire.bytes(UInt32(chosen.count))
        outgoing.append((.send(Self.recordAccess, answer), nil))
    }
}
