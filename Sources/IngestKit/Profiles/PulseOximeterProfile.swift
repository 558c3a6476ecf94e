extension Profile {
    /// Pulse Oximeter Service 1.0.1.
    static let pulseOximeter = Profile(
        name: "pulse-oximeter", kinds: [.pulseOximetry],
        sources: [
            Source(PulseOximeter.spotCheck, in: 0x1822, isOptional: true),
            Source(PulseOximeter.continuous, in: 0x1822, isOptional: true),
        ],
        procedure: .stream(singles: [PulseOximeter.spotCheck]),
        longestPayload: 20, features: [Source(PulseOximeter.features, in: 0x1822)],
        decoders: [
            PulseOximeter.spotCheck: PulseOximeter.decodeSpotCheck,
            PulseOximeter.continuous: PulseOximeter.decodeContinuous,
            PulseOximeter.features: PulseOximeter.decodeFeatures,
        ], namer: PulseOximeter.name)
}

/// PLX Spot-Check Measurement, PLX Continuous Measurement and PLX Features (Pulse Oximeter Service
/// 1.0.1).
enum PulseOximeter {
    static let spotCheck: BluetoothUUID = 0x2A5E
    static let continuous: BluetoothUUID = 0x2A5F
    static let features: BluetoothUUID = 0x2A60

    /// MDC_PULS_OXIM_SAT_O2 and MDC_PULS_OXIM_PULS_RATE, of each of the three ways to average.
    private static let saturationCode: UInt32 = 150456
    private static let pulseRateCode: UInt32 = 149530

    private struct SpotCheckFlags: OptionSet {
        let rawValue: UInt8

        static let timeStamp = SpotCheckFlags(rawValue: 1 << 0)
        static let measurementStatus = SpotCheckFlags(rawValue: 1 << 1)
        static let deviceStatus = SpotCheckFlags(rawValue: 1 << 2)
        static let pulseAmplitudeIndex = SpotCheckFlags(rawValue: 1 << 3)
        static let clockNotSet = SpotCheckFlags(rawValue: 1 << 4)
    }

    @Sendable
    static func decodeSpotCheck(_ cursor: inout ByteCursor) throws(DecodeError) -> Reading {
        let flags = SpotCheckFlags(rawValue: try cursor.uint8("flags"))
        var reading = Reading(kind: .pulseOximetry)
        try decodePair("", &cursor, into: &reading)
        var time = DateTimeField.unknown
        if flags.contains(.timeStamp) {
            time = try cursor.dateTime("time stamp")
        }
        try decodeStatus(
            measurement: flags.contains(.measurementStatus), device: flags.contains(.deviceStatus),
            pulseAmplitudeIndex: flags.contains(.pulseAmplitudeIndex), &cursor, into: &reading)
        if flags.contains(.clockNotSet) {
            // Counted from wherever the clock began, the time stamp is no date, and comes again
            // after the next change of batteries.
            reading.flags.append("device-clock-not-set")
        } else {
            reading.apply(time)
        }
        return reading
    }

    /// A spot-check that was stored is named as the live one that it may have been: without Data from Measurement Storage,
    /// bit 9 of the measurement status.
    @Sendable
    static func name(of raw: RawPayload) -> RawPayload {
        guard raw.characteristic == spotCheck, let octet = raw.bytes.first else { return raw }
        let flags = SpotCheckFlags(rawValue: octet)
        // Flags and two SFLOATs, a Date Time, and the status's first octet.
        let place = 5 + (flags.contains(.timeStamp) ? 7 : 0) + 1
        guard flags.contains(.measurementStatus), place < raw.bytes.count else { return raw }
        var named = raw
        named.bytes[place] &= ~0b10
        return named
    }

    private struct ContinuousFlags: OptionSet {
        let rawValue: UInt8

        static let fast = ContinuousFlags(rawValue: 1 << 0)
        static let slow = ContinuousFlags(rawValue: 1 << 1)
        static let measurementStatus = ContinuousFlags(rawValue: 1 << 2)
        static let deviceStatus = ContinuousFlags(rawValue: 1 << 3)
        static let pulseAmplitudeIndex = ContinuousFlags(rawValue: 1 << 4)
    }

    @Sendable
    static func decodeContinuous(_ cursor: inout ByteCursor) throws(DecodeError) -> Reading {
        let flags = ContinuousFlags(rawValue: try cursor.uint8("flags"))
        var reading = Reading(kind: .pulseOximetry)
        try decodePair("", &cursor, into: &reading)
        if flags.contains(.fast) { try decodePair("-fast", &cursor, into: &reading) }
        if flags.contains(.slow) { try decodePair("-slow", &cursor, into: &reading) }
        try decodeStatus(
            measurement: flags.contains(.measurementStatus), device: flags.contains(.deviceStatus),
            pulseAmplitudeIndex: flags.contains(.pulseAmplitudeIndex), &cursor, into: &reading)
        return reading
    }

    /// Saturation and pulse rate, averaged alike.
    private static func decodePair(
        _ averaging: String, _ cursor: inout ByteCursor, into reading: inout Reading
    ) throws(DecodeError) {
        reading.measurements.append(
            Measurement(
                type: "spo2\(averaging)", code: saturationCode,
                value: try cursor.sfloat("SpO2\(averaging)"), unit: "%"))
        reading.measurements.append(
            Measurement(
                type: "pulse-rate\(averaging)", code: pulseRateCode,
                value: try cursor.sfloat("pulse rate\(averaging)"), unit: "/min"))
    }

    /// The fields at the end of both measurements.
    private static func decodeStatus(
        measurement: Bool, device: Bool, pulseAmplitudeIndex: Bool, _ cursor: inout ByteCursor,
        into reading: inout Reading
    ) throws(DecodeError) {
        let measurementStatus = measurement ? try cursor.uint16("measurement status") : 0
        let deviceStatus = device ? try cursor.uint24("device and sensor status") : 0
        reading.flags += StatusBits.names(measurementStatus, measurementStatusNames)
        reading.flags += StatusBits.names(deviceStatus, deviceStatusNames)
        if pulseAmplitudeIndex {
            // MDC_PULS_OXIM_PERF_REL
            reading.measurements.append(
                Measurement(
                    type: "pulse-amplitude-index", code: 150448,
                    value: try cursor.sfloat("pulse amplitude index"), unit: "%"))
        }
        guard let reason = absence(measurement: measurementStatus, device: deviceStatus) else { return }
        for index in reading.measurements.indices { reading.measurements[index].value = .absent(reason) }
    }

    /// Why the values beside these status bits are none; nil where they are values.
    private static func absence(measurement: UInt16, device: UInt32) -> AbsentReason? {
        // Oximeters off the finger go on sending, 0 or the last values.
        let unconnectedToUser: UInt32 = 1 << 11
        let sensorDisconnected: UInt32 = 1 << 15
        guard device & (unconnectedToUser | sensorDisconnected) == 0 else { return .notMeasured }
        let unavailable: UInt16 = 1 << 13
        let invalid: UInt16 = 1 << 15
        let equipmentMalfunction: UInt32 = 1 << 1
        let sensorMalfunctioning: UInt32 = 1 << 14
        let isUnusable =
            measurement & (unavailable | invalid) != 0
            || device & (equipmentMalfunction | sensorMalfunctioning) != 0
        return isUnusable ? .markedUnusable : nil
    }

    private static let measurementStatusNames: [String?] = [
        nil, nil, nil, nil, nil,
        "measurement-ongoing", "early-estimated-data", "validated-data", "fully-qualified-data",
        Reading.fromMemoryFlag, "data-for-demonstration", "data-for-testing",
        "calibration-ongoing", "measurement-unavailable", "questionable-measurement-detected",
        "invalid-measurement-detected",
    ]

    private static let deviceStatusNames: [String?] = [
        "extended-display-update-ongoing", "equipment-malfunction-detected",
        "signal-processing-irregularity-detected", "inadequate-signal-detected",
        "poor-signal-detected", "low-perfusion-detected", "erratic-signal-detected",
        "nonpulsatile-signal-detected", "questionable-pulse-detected", "signal-analysis-ongoing",
        "sensor-interference-detected", "sensor-unconnected-to-user", "unknown-sensor-connected",
        "sensor-displaced", "sensor-malfunctioning", "sensor-disconnected",
    ]

    /// PLX Features. The supported status bits, where they follow, are names with `-supported`.
    @Sendable
    static func decodeFeatures(_ cursor: inout ByteCursor) throws(DecodeError) -> Reading {
        let features = try cursor.uint16("PLX features")
        var reading = Reading(
            kind: .feature,
            flags: StatusBits.names(
                features,
                [
                    "measurement-status", "device-and-sensor-status", "measurement-storage",
                    "time-stamp", "spo2-pulse-rate-fast", "spo2-pulse-rate-slow",
                    "pulse-amplitude-index", "multiple-bonds",
                ]))
        if features & 1 << 0 != 0 {
            reading.flags += StatusBits.names(
                try cursor.uint16("measurement status support"), measurementStatusNames
            ).map { "\($0)-supported" }
        }
        if features & 1 << 1 != 0 {
            reading.flags += StatusBits.names(
                try cursor.uint24("device and sensor status support"), deviceStatusNames
            ).map { "\($0)-supported" }
        }
        return reading
    }
}
