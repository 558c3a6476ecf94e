extension Profile {
    /// Blood Pressure Service 1.1.1.
    static let bloodPressure = Profile(
        name: "blood-pressure", sources: [Source(BloodPressure.measurement, in: 0x1810)],
        longestPayload: 19, decoders: [BloodPressure.measurement: BloodPressure.decodeMeasurement])
}

/// Blood Pressure Measurement (GATT Specification Supplement).
enum BloodPressure {
    static let measurement: BluetoothUUID = 0x2A35

    struct Flags: OptionSet {
        let rawValue: UInt8

        static let kilopascal = Flags(rawValue: 1 << 0)
        static let timeStamp = Flags(rawValue: 1 << 1)
        static let pulseRate = Flags(rawValue: 1 << 2)
        static let userID = Flags(rawValue: 1 << 3)
        static let measurementStatus = Flags(rawValue: 1 << 4)

        var unit: String { contains(.kilopascal) ? "kPa" : "mm[Hg]" }
    }

    @Sendable
    static func decodeMeasurement(_ cursor: inout ByteCursor) throws(DecodeError) -> Reading {
        let flags = Flags(rawValue: try cursor.uint8("flags"))
        let unit = flags.unit
        var reading = Reading(
            kind: .bloodPressure,
            measurements: [
                // MDC_PRESS_BLD_NONINV_SYS, _DIA, _MEAN
                Measurement(type: "systolic", code: 150021, value: try cursor.sfloat("systolic"), unit: unit),
                Measurement(
                    type: "diastolic", code: 150022, value: try cursor.sfloat("diastolic"), unit: unit),
                Measurement(
                    type: "mean-arterial-pressure", code: 150023,
                    value: try cursor.sfloat("mean arterial pressure"), unit: unit),
            ])
        try decodeOptionalFields(flags, of: &cursor, into: &reading)
        return reading
    }

    /// The fields after the pressures, which Intermediate Cuff Pressure has in the same form.
    static func decodeOptionalFields(
        _ flags: Flags, of cursor: inout ByteCursor, into reading: inout Reading
    ) throws(DecodeError) {
        var time = DateTimeField.unknown
        if flags.contains(.timeStamp) {
            time = try cursor.dateTime("time stamp")
        }
        if flags.contains(.pulseRate) {
            // MDC_PULS_RATE_NON_INV
            reading.measurements.append(
                Measurement(
                    type: "pulse-rate", code: 149546, value: try cursor.sfloat("pulse rate"), unit: "/min"))
        }
        if flags.contains(.userID) {
            reading.applyUser(try cursor.uint8("user id"))
        }
        if flags.contains(.measurementStatus) {
            reading.flags += statusFlags(try cursor.uint16("measurement status"))
        }
        reading.apply(time)
    }

    /// The set bits of Measurement Status; reserved ones say nothing.
    private static func statusFlags(_ status: UInt16) -> [String] {
        var flags: [String] = []
        if status & 1 << 0 != 0 { flags.append("body-movement") }
        if status & 1 << 1 != 0 { flags.append("cuff-too-loose") }
        if status & 1 << 2 != 0 { flags.append("irregular-pulse") }
        switch status >> 3 & 0b11 {
        case 0b01: flags.append("pulse-rate-exceeds-upper-limit")
        case 0b10: flags.append("pulse-rate-less-than-lower-limit")
        default: break
        }
        if status & 1 << 5 != 0 { flags.append("improper-measurement-position") }
        return flags
    }
}

extension Reading {
    /// The device says that it does not know who was measured: a guest.
    static let unknownUserFlag = "unknown-user"

    /// Takes over a user index; 255 is the unknown user.
    mutating func applyUser(_ index: UInt8) {
        if index == 0xFF {
            flags.append(Self.unknownUserFlag)
        } else {
            user = Int(index)
        }
    }
}
