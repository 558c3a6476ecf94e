extension Profile {
    /// Health Thermometer Service 1.0.
    static let thermometer = Profile(
        name: "thermometer", kinds: [.bodyTemperature],
        sources: [Source(Thermometer.measurement, in: 0x1809)],
        longestPayload: 13, standing: [Source(Thermometer.temperatureType, in: 0x1809, isOptional: true)],
        decoders: [
            Thermometer.measurement: Thermometer.decode,
            Thermometer.intermediate: Thermometer.decode,
            Thermometer.temperatureType: Thermometer.decodeType,
        ])
}

/// Temperature Measurement (GATT Specification Supplement). Intermediate Temperature has the
/// same form.
enum Thermometer {
    static let measurement: BluetoothUUID = 0x2A1C
    /// For displays while a measurement is in progress: decoded, and never a record.
    static let intermediate: BluetoothUUID = 0x2A1E
    static let temperatureType: BluetoothUUID = 0x2A1D

    private struct Flags: OptionSet {
        let rawValue: UInt8

        static let fahrenheit = Flags(rawValue: 1 << 0)
        static let timeStamp = Flags(rawValue: 1 << 1)
        static let temperatureType = Flags(rawValue: 1 << 2)
    }

    @Sendable
    static func decode(_ cursor: inout ByteCursor) throws(DecodeError) -> Reading {
        let flags = Flags(rawValue: try cursor.uint8("flags"))
        var reading = Reading(
            kind: .bodyTemperature,
            measurements: [
                // MDC_TEMP_BODY
                Measurement(
                    type: "body-temperature", code: 150364, value: try cursor.float("temperature"),
                    unit: flags.contains(.fahrenheit) ? "[degF]" : "Cel")
            ])
        var time = DateTimeField.unknown
        if flags.contains(.timeStamp) {
            time = try cursor.dateTime("time stamp")
        }
        if flags.contains(.temperatureType) {
            reading.addFlag(siteFlag(try cursor.uint8("temperature type")))
        }
        reading.apply(time)
        return reading
    }

    /// Where a thermometer that never sends it with its measurements takes the temperature.
    @Sendable
    static func decodeType(_ cursor: inout ByteCursor) throws(DecodeError) -> Reading {
        var reading = Reading(kind: .feature)
        reading.addFlag(siteFlag(try cursor.uint8("temperature type")))
        return reading
    }

    /// Where the temperature was taken, by Temperature Type; nil for reserved numbers.
    private static func siteFlag(_ type: UInt8) -> String? {
        switch type {
        case 1: "site-armpit"
        case 2: "site-body"
        case 3: "site-ear"
        case 4: "site-finger"
        case 5: "site-gastrointestinal-tract"
        case 6: "site-mouth"
        case 7: "site-rectum"
        case 8: "site-toe"
        case 9: "site-tympanum"
        default: nil
        }
    }
}
