extension RecordContent.Value {
    /// The number in a destination's unit, as JSON: with its own digits where it has that unit. Nil where it is absent,
    /// or cannot be converted.
    /// - Parameter wanted: in UCUM.
    package func number(in wanted: String) -> String? {
        wanted == unit ? number : converted(to: wanted)?.description
    }

    /// The number in a destination's unit, computed in decimals. Nil where it is absent, or cannot be converted.
    package func converted(to wanted: String) -> ExactDecimal? {
        guard let own = number.flatMap({ ExactDecimal(json: $0) }) else { return nil }
        switch (unit, wanted) {
        case (wanted, _): return own
        // 1 mmHg is 133.322387415 Pa (BIPM, The International System of Units, 8th edition, table 8).
        case ("kPa", "mm[Hg]"): return own.scaled(by: 1_000_000_000_000, over: 133_322_387_415)
        case ("[degF]", "Cel"): return own.scaled(minus: 32, by: 5, over: 9, moreDecimals: 1)
        // 1 lb is 0.45359237 kg, 1 st is 14 lb, 1 oz 1/16 lb, 1 in is 2.54 cm, 1 ft 12 in (the international pound and
        // yard of 1959). Rounded to as many decimals as keep two neighbours of the device's apart, and no more.
        case ("[lb_av]", "kg"): return own.scaled(by: 45_359_237, over: 100_000_000, moreDecimals: 1)
        case ("[stone_av]", "kg"): return own.scaled(by: 635_029_318, over: 100_000_000, moreDecimals: 1)
        case ("[oz_av]", "kg"):
            return own.scaled(by: 28_349_523_125, over: 1_000_000_000_000, moreDecimals: 2)
        case ("[stone_av]", "[lb_av]"): return own.times(14, exponent: 0)
        // A sixteenth has four decimals.
        case ("[oz_av]", "[lb_av]"): return own.scaled(by: 1, over: 16, moreDecimals: 4)
        case ("[ft_i]", "[in_i]"): return own.times(12, exponent: 0)
        case ("[in_i]", "cm"): return own.scaled(by: 254, over: 100)
        case ("[ft_i]", "cm"): return own.scaled(by: 3_048, over: 100)
        case ("g", "kg"): return own.times(1, exponent: -3)
        case ("m", "cm"): return own.times(1, exponent: 2)
        case ("mm", "cm"): return own.times(1, exponent: -1)
        case ("/s", "/min"): return own.times(60, exponent: 0)
        // Glucose has 180.156 g/mol.
        case ("mmol/L", "mg/dL") where type == "glucose": return own.scaled(by: 180_156, over: 10_000)
        // Whole mg/dL lie 0.0555 mmol/L apart: three decimals keep them apart.
        case ("mg/dL", "mmol/L") where type == "glucose":
            return own.scaled(by: 10_000, over: 180_156, moreDecimals: 3)
        default: return Self.linear(own, from: unit, to: wanted)
        }
    }

    /// What a unit is of the first one of its quantity, which has 1: exactly.
    private static let units: [String: (quantity: String, numerator: Int64, denominator: Int64)] = [
        "m": ("length", 1, 1), "km": ("length", 1_000, 1), "cm": ("length", 1, 100),
        "mm": ("length", 1, 1_000),
        "[in_i]": ("length", 254, 10_000), "[ft_i]": ("length", 3_048, 10_000),
        "[yd_i]": ("length", 9_144, 10_000),
        "[mi_i]": ("length", 1_609_344, 1_000),
        "g": ("mass", 1, 1), "kg": ("mass", 1_000, 1), "mg": ("mass", 1, 1_000), "ug": ("mass", 1, 1_000_000),
        "[oz_av]": ("mass", 28_349_523_125, 1_000_000_000), "[lb_av]": ("mass", 45_359_237, 100_000),
        "J": ("energy", 1, 1), "kJ": ("energy", 1_000, 1), "kcal": ("energy", 4_184, 1),
        "s": ("time", 1, 1), "ms": ("time", 1, 1_000), "min": ("time", 60, 1), "h": ("time", 3_600, 1),
        "d": ("time", 86_400, 1),
        // A US fluid ounce is 29.5735295625 mL, an imperial one 28.4130625 mL.
        "mL": ("volume", 1, 1), "L": ("volume", 1_000, 1),
        "[foz_us]": ("volume", 295_735_295_625, 10_000_000_000),
        "[foz_br]": ("volume", 284_130_625, 10_000_000), "[cup_us]": ("volume", 2_365_882_365, 10_000_000),
        "[pt_us]": ("volume", 473_176_473, 1_000_000),
    ]

    /// Between units of one quantity: exact where the factor is a whole number or a power of ten; else rounded to as many
    /// decimals as keep two neighbours of the device's apart.
    private static func linear(_ own: ExactDecimal, from unit: String, to wanted: String) -> ExactDecimal? {
        guard let from = units[unit], let to = units[wanted], from.quantity == to.quantity else { return nil }
        var numerator = Int128(from.numerator) * Int128(to.denominator)
        var denominator = Int128(from.denominator) * Int128(to.numerator)
        let divisor = greatestCommonDivisor(numerator, denominator)
        (numerator, denominator) = (numerator / divisor, denominator / divisor)
        var exponent: Int8 = 0
        while numerator % 10 == 0 { (numerator, exponent) = (numerator / 10, exponent + 1) }
        while denominator % 10 == 0 { (denominator, exponent) = (denominator / 10, exponent - 1) }
        if denominator == 1, let factor = Int64(exactly: numerator) {
            return own.times(factor, exponent: exponent)
        }
        while exponent > 0 { (numerator, exponent) = (numerator * 10, exponent - 1) }
        while exponent < 0 { (denominator, exponent) = (denominator * 10, exponent + 1) }
        var more: Int8 = 0
        var grown = numerator
        while grown < denominator { (grown, more) = (grown * 10, more + 1) }
        guard let over = Int64(exactly: denominator), let by = Int64(exactly: numerator) else { return nil }
        return own.scaled(by: by, over: over, moreDecimals: more)
    }

    private static func greatestCommonDivisor(_ first: Int128, _ second: Int128) -> Int128 {
        second == 0 ? first : greatestCommonDivisor(second, first % second)
    }
}
