/// Glucose Measurement Context (GATT Specification Supplement): what the user did, and how they
/// were, around the measurement of the same sequence number.
enum GlucoseContext {
    static let characteristic: BluetoothUUID = 0x2A34

    private struct Flags: OptionSet {
        let rawValue: UInt8

        static let carbohydrate = Flags(rawValue: 1 << 0)
        static let meal = Flags(rawValue: 1 << 1)
        static let testerAndHealth = Flags(rawValue: 1 << 2)
        static let exercise = Flags(rawValue: 1 << 3)
        static let medication = Flags(rawValue: 1 << 4)
        static let medicationInLitres = Flags(rawValue: 1 << 5)
        static let hba1c = Flags(rawValue: 1 << 6)
        static let extended = Flags(rawValue: 1 << 7)
    }

    @Sendable
    static func decode(_ cursor: inout ByteCursor) throws(DecodeError) -> Reading {
        let flags = Flags(rawValue: try cursor.uint8("flags"))
        var reading = Reading(kind: .glucoseContext, sequence: Int(try cursor.uint16("sequence number")))
        if flags.contains(.extended) {
            // All of them are reserved.
            _ = try cursor.uint8("extended flags")
        }
        if flags.contains(.carbohydrate) {
            reading.addFlag(carbohydrateFlag(try cursor.uint8("carbohydrate id")))
            reading.measurements.append(
                // MDC_CTXT_GLU_CARB; kg to g
                Measurement(
                    type: "carbohydrate", code: 8_417_764,
                    value: try cursor.sfloat("carbohydrate").movedByPowerOfTen(3), unit: "g"))
        }
        if flags.contains(.meal) {
            reading.addFlag(mealFlag(try cursor.uint8("meal")))
        }
        if flags.contains(.testerAndHealth) {
            let octet = try cursor.uint8("tester and health")
            reading.addFlag(testerFlag(octet & 0x0F))
            reading.addFlag(healthFlag(octet >> 4))
        }
        if flags.contains(.exercise) {
            try decodeExercise(&cursor, into: &reading)
        }
        if flags.contains(.medication) {
            reading.addFlag(medicationFlag(try cursor.uint8("medication id")))
            let value = try cursor.sfloat("medication")
            // MDC_CTXT_MEDICATION; kg to mg, or L to mL
            reading.measurements.append(
                Measurement(
                    type: "medication", code: 8_417_796,
                    value: value.movedByPowerOfTen(flags.contains(.medicationInLitres) ? 3 : 6),
                    unit: flags.contains(.medicationInLitres) ? "mL" : "mg"))
        }
        if flags.contains(.hba1c) {
            // MDC_CONC_HBA1C
            reading.measurements.append(
                Measurement(type: "hba1c", code: 160220, value: try cursor.sfloat("HbA1c"), unit: "%"))
        }
        return reading
    }

    private static func decodeExercise(
        _ cursor: inout ByteCursor, into reading: inout Reading
    ) throws(DecodeError) {
        let duration = try cursor.uint16("exercise duration")
        reading.measurements.append(
            Measurement(
                type: "exercise-duration", code: nil,
                // Overrun: longer than the field can say.
                value: duration == 0xFFFF ? .absent(.positiveInfinity) : .whole(duration), unit: "s"))
        reading.measurements.append(
            // MDC_CTXT_GLU_EXERCISE
            Measurement(
                type: "exercise-intensity", code: 8_417_760,
                value: .whole(try cursor.uint8("exercise intensity")), unit: "%"))
    }

    private static func carbohydrateFlag(_ id: UInt8) -> String? {
        switch id {
        case 1: "carbohydrate-breakfast"
        case 2: "carbohydrate-lunch"
        case 3: "carbohydrate-dinner"
        case 4: "carbohydrate-snack"
        case 5: "carbohydrate-drink"
        case 6: "carbohydrate-supper"
        case 7: "carbohydrate-brunch"
        default: nil
        }
    }

    private static func mealFlag(_ meal: UInt8) -> String? {
        switch meal {
        case 1: "meal-preprandial"
        case 2: "meal-postprandial"
        case 3: "meal-fasting"
        case 4: "meal-casual"
        case 5: "meal-bedtime"
        default: nil
        }
    }

    private static func testerFlag(_ tester: UInt8) -> String? {
        switch tester {
        case 1: "tester-self"
        case 2: "tester-health-care-professional"
        case 3: "tester-lab-test"
        case 15: "tester-not-available"
        default: nil
        }
    }

    private static func healthFlag(_ health: UInt8) -> String? {
        switch health {
        case 1: "health-minor-issues"
        case 2: "health-major-issues"
        case 3: "health-during-menses"
        case 4: "health-under-stress"
        case 5: "health-no-issues"
        case 15: "health-not-available"
        default: nil
        }
    }

    private static func medicationFlag(_ id: UInt8) -> String? {
        switch id {
        case 1: "medication-rapid-acting-insulin"
        case 2: "medication-short-acting-insulin"
        case 3: "medication-intermediate-acting-insulin"
        case 4: "medication-long-acting-insulin"
        case 5: "medication-pre-mixed-insulin"
        default: nil
        }
    }
}

extension Reading {
    /// Adds what a number stands for; nil, a reserved one, says nothing.
    mutating func addFlag(_ flag: String?) {
        if let flag { flags.append(flag) }
    }
}
