/// A continuous glucose sensor with its session, its stored records and, where it has them, checksums
/// (Continuous Glucose Monitoring Service 1.0.2).
package struct ContinuousGlucoseSensor: SimulatedSensor {
    package struct Script: Sendable {
        /// Without one, what is measured between links is notified on the next.
        package var hasControlPoint = true
        /// Whether the session's start can be read.
        package var showsStart = true
        /// Whether everything carries an E2E-CRC.
        package var hasChecksums = false
        /// Time offsets of records whose checksum is wrong.
        package var wrongChecksums: Set<UInt16> = []
        /// Time offsets of records that lack their checksum.
        package var lacksChecksums: Set<UInt16> = []
        /// How many octets stand at the end of each record, for fields of a later version.
        package var addsOctets = 0
        /// Records that share a notification.
        package var recordsPerNotification = 1
        /// The response code for every operator but "all records"; nil: it filters.
        package var filterRefusal: UInt8?
        /// Hangs up after so many notifications of the next transfer; once.
        package var breaksAfter: Int?

        package init() {}
    }

    /// CGM Measurement (2AA7).
    package struct Record: Sendable, Equatable {
        /// In minutes since the start of the session.
        package var timeOffset: UInt16
        /// In mg/dL.
        package var glucose: Int16
        /// In mg/dL per minute.
        package var trend: Int16?
        /// In percent.
        package var quality: Int16?
        /// The status octet of the Sensor Status Annunciation.
        package var status: UInt8?

        package init(
            _ timeOffset: UInt16, _ glucose: Int16, trend: Int16? = nil, quality: Int16? = nil,
            status: UInt8? = nil
        ) {
            self.timeOffset = timeOffset
            self.glucose = glucose
            self.trend = trend
            self.quality = quality
            self.status = status
        }

        /// - Parameters:
        ///   - checksum: nil: none; false: a wrong one.
        ///   - more: how many octets follow the fields.
        package func payload(checksum: Bool?, more: Int = 0) -> [UInt8] {
            var flags: UInt8 = 0
            var tail: [UInt8] = []
            if let status {
                flags |= 0x80
                tail.append(status)
            }
            if let trend {
                flags |= 0x01
                tail += Wire.shortFloat(trend, 0)
            }
            if let quality {
                flags |= 0x02
                tail += Wire.shortFloat(quality, 0)
            }
            let fields =
                [flags] + Wire.shortFloat(glucose, 0) + Wire.bytes(timeOffset) + tail
                + [UInt8](repeating: 0, count: more)
            // The size counts itself and the checksum.
            let size = 1 + fields.count + (checksum == nil ? 0 : 2)
            let bytes = [UInt8(clamping: size)] + fields
            guard let checksum else { return bytes }
            return bytes + Wire.bytes(endToEndChecksum(bytes) ^ (checksum ? 0 : 0x0001))
        }
    }

    package static let service: BluetoothUUID = 0x181F
    package static let measurement: BluetoothUUID = 0x2AA7
    package static let feature: BluetoothUUID = 0x2AA8
    package static let status: BluetoothUUID = 0x2AA9
    package static let sessionStartTime: BluetoothUUID = 0x2AAA
    package static let sessionRunTime: BluetoothUUID = 0x2AAB
    package static let operationsControlPoint: BluetoothUUID = 0x2AAC
    package static let controlPoint: BluetoothUUID = 0x2A52

    package var script: Script
    /// When the session began, on the sensor's clock.
    package private(set) var sessionStart: DeviceTime
    /// In steps of 15 min; -128: unknown.
    package var timeZone: Int8 = 0
    /// DST Offset: 0 standard time, 4 daylight saving time, 255 unknown.
    package var daylightSaving: UInt8 = 0
    /// CGM Status, bit 0: the session was stopped.
    package var isStopped = false
    /// In hours: how long a session can last.
    package var runTime: UInt16 = 336
    /// Of this session, in the order in which they were stored.
    package private(set) var records: [Record] = []
    /// What was written to the Record Access Control Point.
    package private(set) var requests: [[UInt8]] = []
    /// Records sent, repetitions included.
    package private(set) var recordsSent = 0
    private let serial: String
    private var count = 0
    private var delivered: Set<[UInt8]> = []
    /// Notifications to be sent without a request, each of one record.
    private var live: [[UInt8]] = []
    private var outgoing: [SensorStep] = []

    package init(
        sessionStart: DeviceTime, _ records: [Record] = [], script: Script = Script(),
        serial: String = "C-0001"
    ) {
        self.sessionStart = sessionStart
        self.script = script
        self.serial = serial
        self.records = records
        count = records.count
    }

    /// Measures: the record is stored, and notified if a link is open and wants it.
    package mutating func measure(_ record: Record) {
        records.append(record)
        count += 1
        live.append(payload(record))
    }

    /// A new sensor is put on: records and time offsets begin again.
    package mutating func startSession(at time: DeviceTime) {
        sessionStart = time
        isStopped = false
        records = []
        live = []
    }

    private func payload(_ record: Record) -> [UInt8] {
        let hasChecksum = script.hasChecksums && !script.lacksChecksums.contains(record.timeOffset)
        return record.payload(
            checksum: hasChecksum ? !script.wrongChecksums.contains(record.timeOffset) : nil,
            more: script.addsOctets)
    }

    private func secured(_ bytes: [UInt8]) -> [UInt8] {
        script.hasChecksums ? bytes + Wire.bytes(endToEndChecksum(bytes)) : bytes
    }

    // MARK: The sensor

    package var services: [SimulatedService] {
        let last = records.last?.timeOffset ?? 0
        // Trend (15) and quality (16), and E2E-CRC (12); capillary whole blood, subcutaneous tissue.
        let features: [UInt8] = [0x00, script.hasChecksums ? 0x90 : 0x80, 0x01, 0x59]
        let start = Wire.bytes(sessionStart) + [UInt8(bitPattern: timeZone), daylightSaving]
        let controlPoints = script.hasControlPoint ? [Self.controlPoint, Self.operationsControlPoint] : []
        return [
            SimulatedService(
                Self.service,
                [
                    Characteristic(Self.measurement, .notify),
                    // Without checksums the field is there all the same, and says FFFF.
                    Characteristic(
                        Self.feature, .read,
                        value: script.hasChecksums ? secured(features) : features + [0xFF, 0xFF]),
                    Characteristic(
                        Self.status, .read, value: secured(Wire.bytes(last) + [isStopped ? 1 : 0, 0, 0])),
                    Characteristic(
                        Self.sessionStartTime, script.showsStart ? [.read, .write] : [.write],
                        value: secured(start)),
                    Characteristic(Self.sessionRunTime, .read, value: secured(Wire.bytes(runTime))),
                ] + controlPoints.map { Characteristic($0, [.indicate, .write]) }),
            .deviceInformation(model: "Simulated Glucose Sensor", serial: serial),
            SimulatedService(0x180F, [Characteristic(0x2A19, .read, value: [70])]),
        ]
    }

    package var advert: [UInt8] { .advert(services: [0x181F]) }

    package var tally: SensorTally {
        SensorTally(readings: count, offered: recordsSent, confirmed: delivered.count)
    }

    package mutating func linked() {
        outgoing = []
        if script.hasControlPoint { live = [] }
    }

    package mutating func written(
        _ value: [UInt8], to characteristic: BluetoothUUID, subscriptions: Set<BluetoothUUID>
    ) -> UInt8? {
        guard [Self.controlPoint, Self.operationsControlPoint].contains(characteristic) else { return nil }
        guard subscriptions.contains(characteristic) else { return ControlPointError.notSubscribed }
        let opcode = value.first ?? 0
        guard characteristic == Self.controlPoint else {
            // Response Code: op code not supported.
            outgoing.append(.send(characteristic, [0x1C, opcode, 0x02]))
            return nil
        }
        if requests.count < 1_024 { requests.append(value) }
        let request = RecordAccess(value)
        guard outgoing.isEmpty || request == .abort else { return ControlPointError.procedureInProgress }
        func response(_ code: UInt8) -> SensorStep {
            .send(Self.controlPoint, RecordAccess.answer(code, to: opcode))
        }
        if let refusal = script.filterRefusal, request.isFiltered {
            outgoing = [response(refusal)]
            return nil
        }
        switch request {
        case .report(let selection):
            let chosen = selection.of(records, number: \.timeOffset)
            guard !chosen.isEmpty else {
                outgoing = [response(RecordAccess.Response.noRecordsFound.rawValue)]
                break
            }
            outgoing = notifications(of: chosen)
            if let count = script.breaksAfter {
                script.breaksAfter = nil
                outgoing = outgoing.prefix(count) + [.hangUp]
            } else {
                outgoing.append(response(RecordAccess.Response.success.rawValue))
            }
        case .count(let selection):
            let count = selection.of(records, number: \.timeOffset).count
            outgoing = [.send(Self.controlPoint, RecordAccess.answer(count: count))]
        case .abort: outgoing = [response(RecordAccess.Response.success.rawValue)]
        case .refused(let refusal): outgoing = [response(refusal.rawValue)]
        }
        return nil
    }

    private func notifications(of records: [Record]) -> [SensorStep] {
        let size = max(1, script.recordsPerNotification)
        return stride(from: 0, to: records.count, by: size).map { start in
            .send(Self.measurement, records[start...].prefix(size).flatMap(payload))
        }
    }

    package mutating func next(_ subscriptions: Set<BluetoothUUID>) -> SensorStep? {
        if outgoing.isEmpty, !live.isEmpty, subscriptions.contains(Self.measurement) {
            outgoing = [.send(Self.measurement, live.removeFirst())]
        }
        guard !outgoing.isEmpty else { return nil }
        let step = outgoing.removeFirst()
        if case .send(Self.measurement, let value) = step, subscriptions.contains(Self.measurement) {
            var rest = value[...]
            while let size = rest.first, size > 0, rest.count >= Int(size) {
                recordsSent += 1
                delivered.insert(Array(rest.prefix(Int(size))))
                rest = rest.dropFirst(Int(size))
            }
        }
        return step
    }
}

/// The E2E-CRC of the Continuous Glucose Monitoring Service (3.11): x^16 + x^12 + x^5 + 1 with the
/// least significant bit first, from 0xFFFF, nothing inverted at the end.
package func endToEndChecksum(_ bytes: [UInt8]) -> UInt16 {
    bytes.reduce(0xFFFF) { checksum, byte in
        (0..<8).reduce(checksum ^ UInt16(byte)) { value, _ in
            value & 1 == 1 ? value >> 1 ^ 0x8408 : value >> 1
        }
    }
}
