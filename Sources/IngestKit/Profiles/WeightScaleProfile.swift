extension Profile {
    /// Weight Scale Service 1.0.1.
    static let weightScale = Profile(
        name: "weight-scale", kinds: [.weight], sources: [Source(WeightScale.measurement, in: 0x181D)],
        longestPayload: 15, features: [Source(WeightScale.feature, in: 0x181D)],
        decoders: [
            WeightScale.measurement: WeightScale.decodeMeasurement,
            WeightScale.feature: WeightScale.decodeFeature,
        ])
}

/// Weight Measurement and Weight Scale Feature (GATT Specification Supplement).
enum WeightScale {
    static let measurement: BluetoothUUID = 0x2A9D
    static let feature: BluetoothUUID = 0x2A9E

    private struct Flags: OptionSet {
        let rawValue: UInt8

        static let imperial = Flags(rawValue: 1 << 0)
        static let timeStamp = Flags(rawValue: 1 << 1)
        static let userID = Flags(rawValue: 1 << 2)
        static let bmiAndHeight = Flags(rawValue: 1 << 3)
    }

    @Sendable
    static func decodeMeasurement(_ cursor: inout ByteCursor) throws(DecodeError) -> Reading {
        let flags = Flags(rawValue: try cursor.uint8("flags"))
        let units = ScaleUnits(isImperial: flags.contains(.imperial))
        let weight = try cursor.uint16("weight")
        var reading = Reading(
            kind: .weight,
            measurements: [
                units.mass(
                    "weight", code: ScaleUnits.weightCode,
                    weight == ScaleUnits.unsuccessful ? nil : weight)
            ])
        var time = DateTimeField.unknown
        if flags.contains(.timeStamp) {
            time = try cursor.dateTime("time stamp")
        }
        if flags.contains(.userID) {
            reading.applyUser(try cursor.uint8("user id"))
        }
        if flags.contains(.bmiAndHeight) {
            let bmi = try cursor.uint16("BMI")
            // It is made of the weight: beside one that failed it is none either.
            let value: Measurement.Value =
                weight == ScaleUnits.unsuccessful ? .absent(.notANumber) : .tenths(bmi)
            // MDC_RATIO_MASS_BODY_LEN_SQ
            reading.measurements.append(Measurement(type: "bmi", code: 188752, value: value, unit: "kg/m2"))
            reading.measurements.append(units.height(try cursor.uint16("height")))
        }
        reading.apply(time)
        return reading
    }

    @Sendable
    static func decodeFeature(_ cursor: inout ByteCursor) throws(DecodeError) -> Reading {
        let features = try cursor.uint32("weight scale feature")
        return Reading(
            kind: .feature,
            measurements: ScaleResolution.measurements(
                weight: features >> 3 & 0b1111, height: features >> 7 & 0b111),
            flags: StatusBits.names(features, ["time-stamp", "multiple-users", "bmi"]))
    }
}

/// The units of scales, in which their whole numbers count: SI or imperial.
struct ScaleUnits {
    /// What stands for a measurement that failed.
    static let unsuccessful: UInt16 = 0xFFFF
    /// MDC_MASS_BODY_ACTUAL
    static let weightCode: UInt32 = 188736

    let isImperial: Bool

    /// A mass in steps of 0.005 kg or 0.01 lb; three and two decimals.
    /// - Parameter steps: nil for a measurement that failed.
    func mass(_ type: String, code: UInt32?, _ steps: UInt16?) -> Measurement {
        let value: Measurement.Value =
            if let steps {
                .exact(
                    isImperial
                        ? ExactDecimal(coefficient: Int64(steps), exponent: -2)
                        : ExactDecimal(coefficient: Int64(steps) * 5, exponent: -3))
            } else {
                .absent(.notANumber)
            }
        return Measurement(type: type, code: code, value: value, unit: isImperial ? "[lb_av]" : "kg")
    }

    /// A height in steps of 0.001 m or 0.1 in.
    func height(_ steps: UInt16) -> Measurement {
        // MDC_LEN_BODY_ACTUAL
        Measurement(
            type: "height", code: 188740,
            value: .exact(ExactDecimal(coefficient: Int64(steps), exponent: isImperial ? -1 : -3)),
            unit: isImperial ? "[in_i]" : "m")
    }
}

/// How finely a scale measures, as Weight Scale Feature and Body Composition Feature say it: the
/// resolution in kg and m stands for the imperial one beside it.
enum ScaleResolution {
    /// - Parameter weight: 1 to 7; 0 is not specified, others are reserved.
    /// - Parameter height: 1 to 3, likewise.
    static func measurements(weight: UInt32, height: UInt32) -> [Measurement] {
        var measurements: [Measurement] = []
        if let value = weightResolution(weight) {
            measurements.append(
                Measurement(type: "weight-resolution", code: nil, value: .exact(value), unit: "kg"))
        }
        if let value = heightResolution(height) {
            measurements.append(
                Measurement(type: "height-resolution", code: nil, value: .exact(value), unit: "m"))
        }
        return measurements
    }

    private static func weightResolution(_ number: UInt32) -> ExactDecimal? {
        switch number {
        case 1: ExactDecimal(coefficient: 5, exponent: -1)
        case 2: ExactDecimal(coefficient: 2, exponent: -1)
        case 3: ExactDecimal(coefficient: 1, exponent: -1)
        case 4: ExactDecimal(coefficient: 5, exponent: -2)
        case 5: ExactDecimal(coefficient: 2, exponent: -2)
        case 6: ExactDecimal(coefficient: 1, exponent: -2)
        case 7: ExactDecimal(coefficient: 5, exponent: -3)
        default: nil
        }
    }

    private static func heightResolution(_ number: UInt32) -> ExactDecimal? {
        switch number {
        case 1: ExactDecimal(coefficient: 1, exponent: -2)
        case 2: ExactDecimal(coefficient: 5, exponent: -3)
        case 3: ExactDecimal(coefficient: 1, exponent: -3)
        default: nil
        }
    }
}

extension Measurement.Value {
    /// A number of tenths, with one decimal.
    static func tenths(_ number: UInt16) -> Measurement.Value {
        .exact(ExactDecimal(coefficient: Int64(number), exponent: -1))
    }
}
