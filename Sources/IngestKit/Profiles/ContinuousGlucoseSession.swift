// The characteristics of a continuous glucose monitor that are only read.
extension ContinuousGlucose {
    package static let feature: BluetoothUUID = 0x2AA8
    package static let status: BluetoothUUID = 0x2AA9
    package static let sessionStartTime: BluetoothUUID = 0x2AAA
    package static let sessionRunTime: BluetoothUUID = 0x2AAB

    /// From when the time offsets of a session's measurements count.
    package struct SessionStart: Sendable, Equatable {
        /// The wall time, as sent.
        package var time: DeviceTime
        /// By how much that is ahead of UTC, in seconds; nil where the sensor does not know it.
        package var utcOffsetSeconds: Int?

        package init(time: DeviceTime, utcOffsetSeconds: Int? = nil) {
            self.time = time
            self.utcOffsetSeconds = utcOffsetSeconds
        }
    }

    /// Nil when the sensor does not know it, or sends one that does not exist.
    package static func sessionStart(_ bytes: [UInt8]) throws(DecodeError) -> SessionStart? {
        let reading = try Profile.run(decodeSessionStartTime, bytes)
        return reading.deviceTime.map { SessionStart(time: $0, utcOffsetSeconds: reading.utcOffsetSeconds) }
    }

    /// CGM Session Start Time: a Date Time, Time Zone and DST Offset.
    @Sendable
    static func decodeSessionStartTime(_ cursor: inout ByteCursor) throws(DecodeError) -> Reading {
        let value = Array(cursor.rest())
        cursor = ByteCursor(value)
        let time = try cursor.dateTime("session start time")
        let zone = Int8(bitPattern: try cursor.uint8("time zone"))
        let daylightSaving = try cursor.uint8("DST offset")
        try EndToEndCRC.check(&cursor, of: value)
        var reading = Reading(
            kind: .sessionStartTime,
            measurements: [
                Measurement(type: "time-zone-offset", code: nil, value: timeZoneMinutes(zone), unit: "min"),
                Measurement(
                    type: "dst-offset", code: nil, value: daylightSavingMinutes(daylightSaving),
                    unit: "min"),
            ])
        reading.apply(time)
        let parts = reading.measurements.map(\.value)
        if case .exact(let zone) = parts[0], case .exact(let daylightSaving) = parts[1] {
            reading.utcOffsetSeconds = Int(zone.coefficient + daylightSaving.coefficient) * 60
        }
        return reading
    }

    /// Time Zone: quarters of an hour from UTC, -48 to 56; -128 is unknown.
    private static func timeZoneMinutes(_ zone: Int8) -> Measurement.Value {
        switch zone {
        case -48...56: .exact(ExactDecimal(coefficient: Int64(zone) * 15, exponent: 0))
        case -128: .absent(.notANumber)
        default: .absent(.reserved)
        }
    }

    /// DST Offset: standard time, half an hour, one hour or two; 255 is unknown.
    private static func daylightSavingMinutes(_ offset: UInt8) -> Measurement.Value {
        switch offset {
        case 0: .exact(ExactDecimal(coefficient: 0, exponent: 0))
        case 2: .exact(ExactDecimal(coefficient: 30, exponent: 0))
        case 4: .exact(ExactDecimal(coefficient: 60, exponent: 0))
        case 8: .exact(ExactDecimal(coefficient: 120, exponent: 0))
        case 255: .absent(.notANumber)
        default: .absent(.reserved)
        }
    }

    /// CGM Session Run Time: the hours that a session is expected to last.
    @Sendable
    static func decodeSessionRunTime(_ cursor: inout ByteCursor) throws(DecodeError) -> Reading {
        Reading(
            kind: .sessionRunTime,
            measurements: [
                Measurement(
                    type: "session-run-time", code: nil, value: .whole(try runTimeHours(&cursor)), unit: "h")
            ])
    }

    private static func runTimeHours(_ cursor: inout ByteCursor) throws(DecodeError) -> UInt16 {
        let value = Array(cursor.rest())
        cursor = ByteCursor(value)
        let hours = try cursor.uint16("session run time")
        try EndToEndCRC.check(&cursor, of: value)
        return hours
    }

    /// CGM Status: where the session is, and all three octets of Sensor Status Annunciation.
    @Sendable
    static func decodeStatus(_ cursor: inout ByteCursor) throws(DecodeError) -> Reading {
        let value = Array(cursor.rest())
        cursor = ByteCursor(value)
        let reading = Reading(
            kind: .sensorStatus, timeOffsetMinutes: Int(try cursor.uint16("time offset")),
            flags: StatusBits.names(try cursor.uint24("CGM status"), statusNames))
        try EndToEndCRC.check(&cursor, of: value)
        return reading
    }

    /// What CGM Status and CGM Session Run Time say of the session; nil where neither can be read.
    ///
    /// It is over when it was stopped, or has lasted as long as it can, by the sensor's own clock.
    package static func session(status: [UInt8]?, runTime: [UInt8]?) -> SensorSession? {
        let status = status.flatMap { try? Profile.run(decodeStatus, $0) }
        let hours = runTime.flatMap { bytes in
            var cursor = ByteCursor(bytes)
            return try? runTimeHours(&cursor)
        }
        guard status != nil || hours != nil else { return nil }
        var session = SensorSession(runTimeHours: hours.map(Int.init), flags: status?.flags ?? [])
        session.isOver = session.flags.contains(stoppedFlag)
        if let minutes = status?.timeOffsetMinutes, let hours, hours > 0, minutes >= Int(hours) * 60 {
            session.isOver = true
        }
        return session
    }

    /// Minutes since the session's start, by CGM Status; nil where it cannot be read.
    package static func minutes(status: [UInt8]?) -> Int? {
        status.flatMap { try? Profile.run(decodeStatus, $0) }?.timeOffsetMinutes
    }

    /// E2E-CRC Supported, bit 12 of CGM Feature.
    package static let checksumFlag = "e2e-crc"

    /// Bit 12 of CGM Feature.
    private static let supportsCRC: UInt32 = 1 << 12

    /// CGM Feature. Its CRC field is always there, and means something only where the CRC is
    /// supported.
    @Sendable
    static func decodeFeature(_ cursor: inout ByteCursor) throws(DecodeError) -> Reading {
        let value = Array(cursor.rest())
        cursor = ByteCursor(value)
        let features = try cursor.uint24("CGM feature")
        let sample = GlucoseSample(try cursor.uint8("type and sample location"), isSensor: true)
        if features & supportsCRC != 0 {
            try EndToEndCRC.require(&cursor, of: value)
        } else {
            _ = try cursor.uint16("E2E-CRC")
        }
        return Reading(kind: .feature, flags: StatusBits.names(features, featureNames) + sample.flags)
    }

    private static let featureNames: [String?] = [
        "calibration", "patient-high-low-alerts", "hypo-alerts", "hyper-alerts",
        "rate-of-increase-decrease-alerts", "device-specific-alert", "sensor-malfunction-detection",
        "sensor-temperature-high-low-detection", "sensor-result-high-low-detection",
        "low-battery-detection", "sensor-type-error-detection", "general-device-fault", checksumFlag,
        "multiple-bonds", "multiple-sessions", "trend", "quality",
    ]
}

/// The session of a continuous glucose sensor, as the sensor told of it last.
package struct SensorSession: Sendable, Equatable, Codable {
    /// The hours that it is expected to last.
    package var runTimeHours: Int?
    /// As CGM Status (2AA9) has them.
    package var flags: [String]
    /// Whether it was stopped, or has lasted as long as it can. What is stored is read all the same.
    package var isOver = false
}
