extension Profile {
    /// Continuous Glucose Monitoring Service 1.0.2.
    static let continuousGlucose = Profile(
        name: "continuous-glucose", kinds: [.continuousGlucose],
        sources: [Source(ContinuousGlucose.measurement, in: 0x181F)],
        procedure: .storedRecords(RecordAccess(service: 0x181F, filter: .timeOffset, isOptional: true)),
        longestPayload: 15, features: [Source(ContinuousGlucose.feature, in: 0x181F)],
        decoders: [
            ContinuousGlucose.measurement: ContinuousGlucose.decodeMeasurement,
            ContinuousGlucose.feature: ContinuousGlucose.decodeFeature,
            ContinuousGlucose.status: ContinuousGlucose.decodeStatus,
            ContinuousGlucose.sessionStartTime: ContinuousGlucose.decodeSessionStartTime,
            ContinuousGlucose.sessionRunTime: ContinuousGlucose.decodeSessionRunTime,
        ],
        splitters: [ContinuousGlucose.measurement: ContinuousGlucose.records])
}

/// CGM Measurement, of one record or several (GATT Specification Supplement).
package enum ContinuousGlucose {
    package static let measurement: BluetoothUUID = 0x2AA7

    /// Size, flags, concentration and time offset.
    private static let smallestRecord = 6

    private struct Flags: OptionSet {
        let rawValue: UInt8

        static let trend = Flags(rawValue: 1 << 0)
        static let quality = Flags(rawValue: 1 << 1)
        static let warningOctet = Flags(rawValue: 1 << 5)
        static let calibrationOctet = Flags(rawValue: 1 << 6)
        static let statusOctet = Flags(rawValue: 1 << 7)
    }

    /// Cuts a payload into records by their size fields. What is left when they no longer fit is a
    /// piece of its own, which does not decode: the records before it are good all the same.
    @Sendable
    static func records(_ payload: [UInt8]) -> [[UInt8]] {
        var rest = payload[...]
        var records: [[UInt8]] = []
        repeat {
            let size = Int(rest.first ?? 0)
            let record = size < smallestRecord ? rest : rest.prefix(size)
            records.append(Array(record))
            rest = rest.dropFirst(record.count)
        } while !rest.isEmpty
        return records
    }

    /// The first record. Where its fields leave two octets, these are a checksum.
    @Sendable
    static func decodeMeasurement(_ cursor: inout ByteCursor) throws(DecodeError) -> Reading {
        let record = try firstRecord(&cursor)
        var fields = ByteCursor(record)
        let reading = try decodeRecord(&fields)
        try EndToEndCRC.check(&fields, of: record)
        return reading
    }

    /// The first record, of a sensor that says what it is.
    package static func decode(_ bytes: [UInt8], of sensor: DeviceFeature) throws(DecodeError) -> Reading {
        var reading = try decode(bytes, hasChecksum: sensor.flags.contains(checksumFlag))
        reading.disownUnmeasured()
        apply(sensor, to: &reading)
        return reading
    }

    /// The first record, of a sensor that says whether it has checksums (bit 12 of CGM Feature): the
    /// last two octets are one, whatever the flags make of them, or none is.
    static func decode(_ bytes: [UInt8], hasChecksum: Bool) throws(DecodeError) -> Reading {
        var cursor = ByteCursor(bytes)
        let record = try firstRecord(&cursor)
        guard hasChecksum else {
            var fields = ByteCursor(record)
            return try decodeRecord(&fields)
        }
        let covered = Array(record.dropLast(2))
        var checksum = ByteCursor(Array(record.suffix(2)))
        guard try checksum.uint16("E2E-CRC") == EndToEndCRC.checksum(covered) else {
            throw .checksumMismatch(field: "E2E-CRC")
        }
        var fields = ByteCursor(covered)
        return try decodeRecord(&fields)
    }

    private static func firstRecord(_ cursor: inout ByteCursor) throws(DecodeError) -> [UInt8] {
        let size = try cursor.uint8("size")
        guard size >= smallestRecord else { throw .prohibitedValue(field: "size") }
        return [size] + (try cursor.bytes(Int(size) - 1, "CGM measurement record"))
    }

    private static func decodeRecord(_ cursor: inout ByteCursor) throws(DecodeError) -> Reading {
        _ = try cursor.uint8("size")
        let flags = Flags(rawValue: try cursor.uint8("flags"))
        var reading = Reading(
            kind: .continuousGlucose,
            measurements: [
                // MDC_CONC_GLU_GEN: what is sampled stands in CGM Feature.
                Measurement(
                    type: "glucose", code: 160020, value: try cursor.sfloat("glucose concentration"),
                    unit: "mg/dL")
            ],
            timeOffsetMinutes: Int(try cursor.uint16("time offset")))
        var status: UInt32 = 0
        if flags.contains(.statusOctet) {
            status |= UInt32(try cursor.uint8("sensor status annunciation, status"))
        }
        if flags.contains(.calibrationOctet) {
            status |= UInt32(try cursor.uint8("sensor status annunciation, calibration")) << 8
        }
        if flags.contains(.warningOctet) {
            status |= UInt32(try cursor.uint8("sensor status annunciation, warning")) << 16
        }
        reading.flags = StatusBits.names(status, statusNames)
        if flags.contains(.trend) {
            reading.measurements.append(
                Measurement(
                    type: "trend", code: nil, value: try cursor.sfloat("trend"), unit: "mg/dL/min"))
        }
        if flags.contains(.quality) {
            reading.measurements.append(
                Measurement(type: "quality", code: nil, value: try cursor.sfloat("quality"), unit: "%"))
        }
        if let reason = absence(status) {
            for index in reading.measurements.indices where reading.measurements[index].type != "quality" {
                reading.measurements[index].value = .absent(reason)
            }
        }
        return reading
    }

    /// Why the result beside this Sensor Status Annunciation is none; nil where it is one.
    private static func absence(_ status: UInt32) -> AbsentReason? {
        let tooLow: UInt32 = 1 << 22
        let tooHigh: UInt32 = 1 << 23
        // The wrong sensor, its malfunction, a general fault, a temperature too high or too low for a valid result.
        let faults: UInt32 = 1 << 2 | 1 << 3 | 1 << 5 | 1 << 12 | 1 << 13
        return switch status & (faults | tooLow | tooHigh) {
        case 0: nil
        case tooLow: .belowDeviceRange
        case tooHigh: .aboveDeviceRange
        default: .markedUnusable
        }
    }

    /// Takes over what CGM Feature says of a sensor: what it samples, and where.
    private static func apply(_ feature: DeviceFeature, to reading: inout Reading) {
        let sample = feature.flags.filter { $0.hasPrefix("type-") || $0.hasPrefix("location-") }
        reading.flags += sample
        guard let code = sample.compactMap(GlucoseSample.concentrationCode(of:)).first else { return }
        for index in reading.measurements.indices where reading.measurements[index].type == "glucose" {
            reading.measurements[index].code = code
        }
    }

    /// The session was stopped, or has ended.
    static let stoppedFlag = "session-stopped"

    /// The three octets of Sensor Status Annunciation and of CGM Status: status, calibration and
    /// temperature, warning.
    static let statusNames: [String?] = [
        stoppedFlag, "device-battery-low", "sensor-type-incorrect", "sensor-malfunction",
        "device-specific-alert", "general-device-fault", nil, nil,
        "time-synchronization-required", "calibration-not-allowed", "calibration-recommended",
        "calibration-required", "sensor-temperature-too-high", "sensor-temperature-too-low",
        "calibration-pending", nil,
        "lower-than-patient-low", "higher-than-patient-high", "lower-than-hypo", "higher-than-hyper",
        "rate-of-decrease-exceeded", "rate-of-increase-exceeded", "sensor-result-too-low",
        "sensor-result-too-high",
    ]
}
