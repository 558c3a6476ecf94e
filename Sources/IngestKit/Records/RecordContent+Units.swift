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
        // 1 lb is 0.45359237 kg, 1 in is 2.54 cm (the international pound and inch of 1959).
        case ("[lb_av]", "kg"): return own.times(45_359_237, exponent: -8)
        case ("[in_i]", "cm"): return own.times(254, exponent: -2)
        case ("m", "cm"): return own.times(1, exponent: 2)
        // Glucose has 180.156 g/mol.
        case ("mmol/L", "mg/dL") where type == "glucose": return own.scaled(by: 180_156, over: 10_000)
        // Whole mg/dL lie 0.0555 mmol/L apart: three decimals keep them apart.
        case ("mg/dL", "mmol/L") where type == "glucose":
            return own.scaled(by: 10_000, over: 180_156, moreDecimals: 3)
        default: return nil
        }
    }
}
