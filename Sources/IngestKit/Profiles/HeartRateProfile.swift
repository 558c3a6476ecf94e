extension Profile {
    /// Heart Rate Service 1.0.
    static let heartRate = Profile(
        name: "heart-rate", kinds: [.heartRate], sources: [Source(HeartRate.measurement, in: 0x180D)],
        procedure: .stream(singles: []),
        // With nine RR-intervals, as many as fit without an MTU exchange.
        longestPayload: payloadOfDefaultMTU,
        standing: [Source(HeartRate.bodySensorLocation, in: 0x180D, isOptional: true)],
        decoders: [
            HeartRate.measurement: HeartRate.decodeMeasurement,
            HeartRate.bodySensorLocation: HeartRate.decodeLocation,
        ])
}

/// Heart Rate Measurement and Body Sensor Location (GATT Specification Supplement).
package enum HeartRate {
    /// The sensor is not worn, or not rightly.
    static let noContactFlag = "no-sensor-contact"

    static let measurement: BluetoothUUID = 0x2A37
    static let bodySensorLocation: BluetoothUUID = 0x2A38

    private struct Flags: OptionSet {
        let rawValue: UInt8

        static let wideValue = Flags(rawValue: 1 << 0)
        static let sensorContactDetected = Flags(rawValue: 1 << 1)
        static let sensorContactSupported = Flags(rawValue: 1 << 2)
        static let energyExpended = Flags(rawValue: 1 << 3)
        static let rrInterval = Flags(rawValue: 1 << 4)
    }

    @Sendable
    static func decodeMeasurement(_ cursor: inout ByteCursor) throws(DecodeError) -> Reading {
        let flags = Flags(rawValue: try cursor.uint8("flags"))
        let rate =
            flags.contains(.wideValue)
            ? try cursor.uint16("heart rate") : UInt16(try cursor.uint8("heart rate"))
        var reading = Reading(
            kind: .heartRate,
            measurements: [
                // MDC_ECG_HEART_RATE
                Measurement(type: "heart-rate", code: 147842, value: .whole(rate), unit: "/min")
            ])
        // The detected bit means nothing where contact is not supported.
        if flags.contains(.sensorContactSupported) {
            reading.flags.append(flags.contains(.sensorContactDetected) ? "sensor-contact" : noContactFlag)
        }
        // Straps that touch nobody go on sending the last rate. One of 0 is absent by itself (`disownUnmeasured`).
        if reading.flags.contains(noContactFlag) {
            reading.measurements[0].value = .absent(.notMeasured)
        }
        if flags.contains(.energyExpended) {
            let energy = try cursor.uint16("energy expended")
            reading.measurements.append(
                Measurement(
                    // MDC_HF_ENERGY
                    type: "energy-expended", code: 8_454_263,
                    // The counter stays at its end when it has reached it.
                    value: energy == 0xFFFF ? .absent(.positiveInfinity) : .whole(energy), unit: "kJ"))
        }
        if flags.contains(.rrInterval) {
            // Straps set the bit in a second without a beat as well.
            while cursor.remaining >= 2 {
                let interval = try cursor.uint16("RR-interval")
                reading.measurements.append(
                    Measurement(
                        type: "rr-interval", code: nil, value: .exact(seconds(interval)), unit: "s"))
            }
        }
        return reading
    }

    /// 1/1024 s is 0.0009765625 s: each interval has a finite decimal form, of ten decimals at
    /// most.
    static func seconds(_ interval: UInt16) -> ExactDecimal {
        ExactDecimal(coefficient: Int64(interval) * 9_765_625, exponent: -10).withoutTrailingZeros
    }

    @Sendable
    static func decodeLocation(_ cursor: inout ByteCursor) throws(DecodeError) -> Reading {
        var reading = Reading(kind: .feature)
        reading.addFlag(locationFlag(try cursor.uint8("body sensor location")))
        return reading
    }

    private static func locationFlag(_ location: UInt8) -> String? {
        switch location {
        case 0: "location-other"
        case 1: "location-chest"
        case 2: "location-wrist"
        case 3: "location-finger"
        case 4: "location-hand"
        case 5: "location-ear-lobe"
        case 6: "location-foot"
        default: nil
        }
    }
}
