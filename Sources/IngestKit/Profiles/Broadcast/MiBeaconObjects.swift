/// The objects of MiBeacon that tell of health, its surroundings and the device's battery ("Mijia
/// BLE Object Definition"; those from 4801 on as xiaomi-ble reads them). Locks, buttons, leaks and
/// the like are not decoded.
enum MiBeaconObjects {
    /// One field of an object.
    private struct Field {
        enum Form {
            case integer(length: Int, isSigned: Bool, exponent: Int8)
            /// Four bytes of IEEE 754.
            case float
        }

        let type: String
        let form: Form
        let unit: String
        var code: UInt32?

        static func unsigned(_ type: String, _ length: Int, _ exponent: Int8, _ unit: String) -> Self {
            Self(type: type, form: .integer(length: length, isSigned: false, exponent: exponent), unit: unit)
        }

        static func signed(
            _ type: String, _ length: Int, _ exponent: Int8, _ unit: String, code: UInt32? = nil
        ) -> Self {
            Self(
                type: type, form: .integer(length: length, isSigned: true, exponent: exponent), unit: unit,
                code: code)
        }

        static func float(_ type: String, _ unit: String) -> Self {
            Self(type: type, form: .float, unit: unit)
        }
    }

    private static let fields: [UInt16: [Field]] = [
        // MDC_TEMP_BODY
        0x000A: [.signed("body-temperature", 2, -2, "Cel", code: 150364)],
        0x1003: [.signed("rssi", 1, 0, "dB{mW}")],
        0x1004: [.signed("temperature", 2, -1, "Cel")],
        0x1006: [.unsigned("humidity", 2, -1, "%")],
        0x1007: [.unsigned("illuminance", 3, 0, "lx")],
        0x1008: [.unsigned("soil-moisture", 1, 0, "%")],
        0x1009: [.unsigned("soil-conductivity", 2, 0, "uS/cm")],
        0x100A: [.unsigned("battery", 1, 0, "%")],
        0x100D: [.signed("temperature", 2, -1, "Cel"), .unsigned("humidity", 2, -1, "%")],
        0x1010: [.unsigned("formaldehyde", 2, -2, "mg/m3")],
        0x101A: [.unsigned("weight", 2, 0, "g")],
        // The thermometer's own estimate of the body's temperature from these is not public.
        0x2000: [
            .signed("skin-temperature", 2, -2, "Cel"), .signed("pcb-temperature", 2, -2, "Cel"),
            .unsigned("battery", 1, 0, "%"),
        ],
        0x2003: [.unsigned("steps", 2, 0, "1"), .unsigned("heart-rate", 1, 0, "/min")],
        0x4801: [.float("temperature", "Cel")],
        0x4802: [.unsigned("humidity", 1, 0, "%")],
        0x4803: [.unsigned("battery", 1, 0, "%")],
        0x4808: [.float("humidity", "%")],
        0x4C01: [.float("temperature", "Cel")],
        0x4C02: [.unsigned("humidity", 1, 0, "%")],
        0x4C03: [.unsigned("battery", 1, 0, "%")],
        0x4C08: [.float("humidity", "%")],
    ]

    /// Objects whose one byte is a state.
    private static let states: [UInt16: [UInt8: String]] = [
        0x1002: [0: "awake", 1: "asleep"],
        0x101C: [0: "out-of-bed", 1: "in-bed"],
    ]

    private enum Special {
        static let weighing: UInt16 = 0x0012
        static let scaleS200: UInt16 = 0x4E16
        static let scaleS400: UInt16 = 0x6E16
    }

    /// Numbers from 4000 up are the product's own, so those of the scales count for these only.
    private static let productsS200: Set<UInt16> = [0x45C9, 0x4C04, 0x4DCB]
    private static let productsS400: Set<UInt16> = [0x30D9, 0x3BD5, 0x48CF]

    static func decode(
        _ objects: [UInt8], product: UInt16, into broadcast: inout Broadcast
    ) throws(DecodeError) {
        var cursor = ByteCursor(objects)
        var content = Broadcast.Content(sort: [], bytes: objects)
        var hasUnknown = false
        // What is too short for a number and a length is no object; some devices send such a byte.
        while cursor.remaining >= 3 {
            let number = try cursor.uint16("object id")
            let length = try cursor.uint8("object length")
            var object = ByteCursor(Array(try cursor.bytes(Int(length), "object")))
            content.sort += [UInt8(truncatingIfNeeded: number), UInt8(truncatingIfNeeded: number >> 8)]
            if try !take(number, &object, product: product, &broadcast.reading) { hasUnknown = true }
        }
        broadcast.contents = [content]
        if hasUnknown { broadcast.reading.flags.append(BTHomeObjects.unknownObjectFlag) }
    }

    /// Whether the object is known.
    private static func take(
        _ number: UInt16, _ object: inout ByteCursor, product: UInt16, _ reading: inout Reading
    ) throws(DecodeError) -> Bool {
        if let fields = fields[number] {
            for field in fields { reading.measurements.append(try measurement(field, &object)) }
            return true
        }
        if let names = states[number] {
            if let name = names[try object.uint8("state")] { reading.flags.append(name) }
            return true
        }
        switch number {
        case Special.weighing:
            reading.measurements.append(Measurement("weight", Int64(try object.uint16("weight")), 0, "g"))
            switch try object.uint8("weighing type") {
            case 1: reading.flags.append("weight-reduced")
            case 2: reading.flags.append("weight-increased")
            default: break
            }
            return true
        case Special.scaleS200 where productsS200.contains(product):
            try takeS200(&object, &reading)
            return true
        case Special.scaleS400 where productsS400.contains(product):
            try takeS400(&object, &reading)
            return true
        default:
            return false
        }
    }

    private static func measurement(
        _ field: Field, _ object: inout ByteCursor
    ) throws(DecodeError) -> Measurement {
        switch field.form {
        case .integer(let length, let isSigned, let exponent):
            Measurement(
                field.type, try object.integer(bytes: length, signed: isSigned, field.type), exponent,
                field.unit, code: field.code)
        case .float:
            Measurement(
                type: field.type, code: field.code, value: .float32(try object.uint32(field.type)),
                unit: field.unit)
        }
    }

    /// The user's slot, the weight in 10 g, and a time that is not decoded.
    private static func takeS200(
        _ object: inout ByteCursor, _ reading: inout Reading
    ) throws(DecodeError) {
        let user = try object.uint8("user")
        let weight = try object.uint32("weight")
        _ = try object.uint32("time")
        // The scale is empty.
        guard weight != 0 else { return }
        reading.user = Int(user)
        reading.measurements.append(.bodyWeight(Int64(weight), -2, "kg"))
    }

    /// The user's slot, 32 bits of values, and a time that is not decoded. The first advert of a
    /// weighing has weight, heart rate and the impedance at 50 kHz, the second that at 250 kHz alone.
    private static func takeS400(
        _ object: inout ByteCursor, _ reading: inout Reading
    ) throws(DecodeError) {
        let user = try object.uint8("user")
        let values = try object.uint32("values")
        _ = try object.uint32("time")
        let weightBits = Int64(values & 0x7FF)
        // All bits set is how the S400 Pro says that it has no weight.
        let weight = weightBits == 0x7FF ? 0 : weightBits
        let heartRate = Int64(values >> 11 & 0x7F)
        let impedance = Int64(values >> 18)
        // There is nothing when the person has stepped off.
        guard weight != 0 || heartRate != 0 || impedance != 0 else { return }
        reading.user = Int(user)
        if weight != 0 { reading.measurements.append(.bodyWeight(weight, -1, "kg")) }
        if heartRate != 0, heartRate != 0x7F {
            // Counted from 50 beats a minute.
            reading.measurements.append(Measurement("heart-rate", heartRate + 50, 0, "/min"))
        }
        guard impedance != 0 else { return }
        let type = weight == 0 && heartRate == 0 ? "impedance-high" : "impedance-low"
        reading.measurements.append(Measurement(type, impedance, -1, "Ohm"))
    }
}

extension Measurement {
    /// A person's weight.
    static func bodyWeight(_ coefficient: Int64, _ exponent: Int8, _ unit: String) -> Measurement {
        // MDC_MASS_BODY_ACTUAL
        Measurement("weight", coefficient, exponent, unit, code: 188736)
    }
}

extension Measurement.Value {
    /// A number of IEEE 754's binary32, with the fewest decimal digits that no other such number
    /// has: what a device meant that computed 26.1 in this form.
    static func float32(_ bits: UInt32) -> Self {
        let number = Float(bitPattern: bits)
        if number.isNaN { return .absent(.notANumber) }
        if number.isInfinite { return .absent(number < 0 ? .negativeInfinity : .positiveInfinity) }
        // Swift writes a float with those digits: -12.5, 1e-05, 1.5e+20.
        let parts = number.description.split(separator: "e")
        let mantissa = parts.first.map(String.init) ?? "0"
        var exponent = parts.dropFirst().first.flatMap { Int($0) } ?? 0
        let sides = mantissa.split(separator: ".", omittingEmptySubsequences: false)
        let whole = sides.first.map(String.init) ?? "0"
        // "26.0" has one digit more than is needed.
        let fraction = sides.dropFirst().first.map { $0 == "0" ? "" : String($0) } ?? ""
        exponent -= fraction.utf8.count
        guard let coefficient = Int64(whole + fraction), let scale = Int8(exactly: exponent) else {
            return .absent(.notANumber)
        }
        return .exact(ExactDecimal(coefficient: coefficient, exponent: scale))
    }
}
