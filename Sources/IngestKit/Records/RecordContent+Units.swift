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
        default: return nil
        }
    }
}
