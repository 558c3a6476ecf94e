/// Enhanced Blood Pressure Measurement, Enhanced Intermediate Cuff Pressure and Blood Pressure Record (Blood Pressure Service
/// 1.1.1; GATT Specification Supplement).
enum EnhancedBloodPressure {
    static let measurement: BluetoothUUID = 0x2B34
    /// For displays while the cuff inflates: decoded, and never a record.
    static let cuffPressure: BluetoothUUID = 0x2B35
    /// A stored value of one of the others, or of those without "enhanced".
    static let record: BluetoothUUID = 0x2B36

    @Sendable
    static func decodeMeasurement(_ cursor: inout ByteCursor) throws(DecodeError) -> Reading {
        let flags = BloodPressureFlags(rawValue: try cursor.uint8("flags"))
        var reading = Reading(kind: .bloodPressure)
        // MDC_PRESS_BLD_NONINV_SYS, _DIA, _MEAN
        for (type, code) in [
            ("systolic", 150021), ("diastolic", 150022), ("mean-arterial-pressure", 150023),
        ] as [(String, UInt32)] {
            reading.measurements.append(
                Measurement(
                    type: type, code: code, value: MedicalFloat.sfloat(try cursor.uint16(type)),
                    unit: flags.unit))
        }
        try decodeRest(flags, &cursor, into: &reading)
        return reading
    }

    @Sendable
    static func decodeCuffPressure(_ cursor: inout ByteCursor) throws(DecodeError) -> Reading {
        let flags = BloodPressureFlags(rawValue: try cursor.uint8("flags"))
        var reading = Reading(
            kind: .bloodPressure,
            measurements: [
                Measurement(
                    type: "cuff-pressure", code: nil,
                    value: MedicalFloat.sfloat(try cursor.uint16("cuff pressure")), unit: flags.unit)
            ])
        try decodeRest(flags, &cursor, into: &reading)
        return reading
    }

    /// From which times count, in seconds since 1970: 2000-01-01T00:00:00, or 1900-01-01T00:00:00.
    private static func epoch(_ flags: BloodPressureFlags) -> Int64 {
        flags.contains(.epochStart2000) ? 946_684_800 : -2_208_988_800
    }

    /// What stands behind the pressures.
    private static func decodeRest(
        _ flags: BloodPressureFlags, _ cursor: inout ByteCursor, into reading: inout Reading
    ) throws(DecodeError) {
        let stamp = flags.contains(.timeStamp) ? Int64(try cursor.uint32("time stamp")) : nil
        if flags.contains(.pulseRate) {
            // MDC_PULS_RATE_NON_INV
            reading.measurements.append(
                Measurement(
                    type: "pulse-rate", code: 149546,
                    value: MedicalFloat.sfloat(try cursor.uint16("pulse rate")), unit: "/min"))
        }
        if flags.contains(.userID) { reading.applyUser(try cursor.uint8("user id")) }
        if flags.contains(.measurementStatus) {
            reading.flags += BloodPressure.statusFlags(try cursor.uint16("measurement status"))
        }
        var shown = flags.contains(.userFacingTime) ? Int64(try cursor.uint32("user facing time")) : nil
        // A display that was never set says nothing beside a time stamp that was.
        func isSet(_ seconds: Int64?) -> Bool {
            seconds.flatMap { DeviceTime(wallSeconds: epoch(flags) + $0) }?.isOfNoSetClock == false
        }
        if isSet(stamp), !isSet(shown) { shown = nil }
        if let seconds = shown ?? stamp {
            reading.deviceTime = DeviceTime(wallSeconds: epoch(flags) + seconds)
        }
        // The time stamp is UTC; what the display shows is a wall time. Each has a clock that need not have been set, so
        // that they say a zone only where they differ by one.
        if let stamp, let shown {
            reading.utcOffsetSeconds = zoneOffset(shown - stamp)
        } else if stamp != nil {
            reading.flags.append(Reading.utcTimeFlag)
        }
    }

    /// A distance from UTC that a zone has: quarters of an hour, from UTC-12 to UTC+14.
    private static func zoneOffset(_ seconds: Int64) -> Int? {
        let quarter: Int64 = 15 * 60
        guard seconds % quarter == 0, (-48 * quarter...56 * quarter).contains(seconds) else { return nil }
        return Int(seconds)
    }

    // MARK: Stored values

    /// Sequence number and UUID, which the first segment has behind its header.
    private static let recordHeaderSize = 4
    /// E2E-CRC.
    private static let checksumSize = 2
    /// Such a header, and a value of the profile with a checksum.
    private static let longestRecord = 64

    private static let contents: [BluetoothUUID: Profile.Decoder] = [
        BloodPressure.measurement: BloodPressure.decodeMeasurement, measurement: decodeMeasurement,
    ]

    /// A record in one segment.
    @Sendable
    static func decodeRecord(_ cursor: inout ByteCursor) throws(DecodeError) -> Reading {
        let segment = Array(cursor.rest())
        guard case .complete(let reading) = try assembleRecord([segment]) else {
            throw .truncated(field: "last segment", needed: 1, had: 0)
        }
        return reading
    }

    @Sendable
    static func assembleRecord(_ packets: [[UInt8]]) throws(DecodeError) -> Profile.Assembly {
        switch try SegmentHeader.join(packets, longest: longestRecord) {
        case .whole(let record): .complete(try content(of: record).reading)
        case .incomplete: .incomplete
        case .unrelated: .unrelated
        }
    }

    /// The bytes of a record without the headers of its segments, whose counter is another one each time that it is sent.
    @Sendable
    static func join(_ packets: [[UInt8]]) -> [UInt8] { packets.flatMap { $0.dropFirst() } }

    /// A stored value is named as the one that came live: without the number, and without the checksum behind it.
    @Sendable
    static func name(of raw: RawPayload) -> RawPayload {
        guard raw.characteristic == record, let content = try? content(of: raw.bytes) else { return raw }
        return RawPayload(characteristic: content.characteristic, bytes: content.value)
    }

    /// What a whole record holds: the reading, of which characteristic it is a value, and the value. The checksum that may
    /// stand behind it (E2E-CRC) is no part of it.
    private static func content(
        of record: [UInt8]
    ) throws(DecodeError) -> (reading: Reading, characteristic: BluetoothUUID, value: [UInt8]) {
        var cursor = ByteCursor(record)
        let number = try cursor.uint16("sequence number")
        let characteristic = BluetoothUUID(try cursor.uint16("UUID"))
        guard let decoder = contents[characteristic] else { throw .unknownCharacteristic(characteristic) }
        var reading = try decoder(&cursor)
        reading.sequence = Int(number)
        // What else stands behind the last field belongs to the value, as it does of one that comes live.
        let checksum = cursor.remaining < checksumSize ? 0 : checksumSize
        let value = record.dropFirst(recordHeaderSize).dropLast(checksum)
        return (reading, characteristic, Array(value))
    }
}
