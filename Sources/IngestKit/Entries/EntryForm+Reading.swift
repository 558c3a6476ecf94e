/// Why what somebody wrote is no entry.
package enum EntryError: Error, Equatable, CustomStringConvertible {
    case value(String, expected: String)
    case unit(String, form: String, expected: String)
    /// - Parameter other: a unit in which it would be plausible.
    case implausible(type: String, value: String, unit: String, bounds: String, other: String?)
    /// It would be plausible in several units.
    case ambiguous(type: String, value: String, units: String)
    case diastolicAbove
    case noPulse(form: String)
    case noMeal(form: String)
    case meal(String, expected: String)

    package var description: String {
        switch self {
        case .value(let text, let expected): "\(text): expected \(expected)"
        case .unit(let text, let form, let expected): "\(text): \(form) is in \(expected)"
        case .implausible(let type, let value, let unit, let bounds, let other):
            "\(type) \(value) \(unit) is not plausible: expected \(bounds)"
                + (other.map { "; if it is in \($0), write the unit behind it" } ?? "")
        case .ambiguous(let type, let value, let units):
            "\(type) \(value) may be \(units): write the unit behind it"
        case .diastolicAbove:
            "the diastolic pressure is not below the systolic one: the systolic one is first"
        case .noPulse(let form): "\(form) has no pulse rate: it goes with blood-pressure and spo2"
        case .noMeal(let form): "\(form) has no meal: it goes with glucose and with what is eaten"
        case .meal(let word, let expected): "\(word): expected \(expected)"
        }
    }
}

extension EntryForm {
    /// Reads what somebody wrote. The digits stay as they are.
    /// - Parameters:
    ///   - unit: nil is the form's first.
    ///   - pulse: beats a minute, measured with it.
    package func read(_ text: String, unit: String?, pulse: String? = nil) throws(EntryError) -> [RecordEntry
        .Value]
    {
        let index = unit.map { name in units.firstIndex { $0.spellings.contains(name) } } ?? 0
        guard let index else { throw .unit(unit ?? "", form: name, expected: unitNames) }
        let parts = text.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        let expected = types.count == 1 ? "a number such as 5.4" : "two numbers such as 120/80"
        guard parts.count == types.count else { throw .value(text, expected: expected) }
        var numbers: [ExactDecimal] = []
        var values: [RecordEntry.Value] = []
        for (place, part) in parts.enumerated() {
            guard let number = Self.number(part)?.times(1, exponent: units[index].exponent) else {
                throw .value(text, expected: expected)
            }
            let type = types[place]
            try check(number, type: type.type, unit: index, isSecond: place == 1, isUnitWritten: unit != nil)
            numbers.append(number)
            values.append(
                RecordEntry.Value(
                    type: type.type, code: type.code, number: number, unit: units[index].recorded))
        }
        if numbers.count == 2, !numbers[1].isBelow(numbers[0]) { throw .diastolicAbove }
        if let pulse { values.append(try pulseRate(pulse)) }
        return values
    }

    /// The flags of an entry: what was said of a meal.
    package func flags(meal: String?) throws(EntryError) -> [String] {
        guard let meal else { return [] }
        guard !meals.isEmpty else { throw .noMeal(form: name) }
        guard let flag = meals.first(where: { $0.key == meal })?.value else {
            throw .meal(meal, expected: "one of \(meals.map(\.key).joined(separator: ", "))")
        }
        return [flag]
    }

    private func pulseRate(_ text: String) throws(EntryError) -> RecordEntry.Value {
        guard let pulseCode else { throw .noPulse(form: name) }
        guard let number = Self.number(text) else { throw .value(text, expected: "a number such as 62") }
        let unit = Self.pulse
        guard number.isWithin(unit.plausible) else {
            throw .implausible(
                type: "pulse-rate", value: number.description, unit: unit.recorded,
                bounds: shown(unit.plausible), other: nil)
        }
        return RecordEntry.Value(type: "pulse-rate", code: pulseCode, number: number, unit: unit.recorded)
    }

    private func check(
        _ number: ExactDecimal, type: String, unit index: Int, isSecond: Bool, isUnitWritten: Bool
    ) throws(EntryError) {
        func bounds(_ index: Int) -> ClosedRange<Int64> { isSecond ? second[index] : units[index].plausible }
        let other = units.indices.first { place in
            place != index && units[place].exponent == 0 && number.isWithin(bounds(place))
        }
        guard !number.isWithin(bounds(index)) else {
            if let plainFrom, !isUnitWritten, other != nil,
                number.exponent < 0 || !number.isWithin(plainFrom...bounds(index).upperBound)
            {
                throw .ambiguous(type: type, value: number.description, units: unitNames)
            }
            return
        }
        throw .implausible(
            type: type, value: number.description, unit: units[index].recorded, bounds: shown(bounds(index)),
            other: isUnitWritten ? nil : other.map { units[$0].spellings[0] })
    }

    private func shown(_ bounds: ClosedRange<Int64>) -> String {
        func text(_ hundredths: Int64) -> String {
            hundredths % 100 == 0
                ? String(hundredths / 100) : ExactDecimal(coefficient: hundredths, exponent: -2).description
        }
        return "\(text(bounds.lowerBound)) to \(text(bounds.upperBound))"
    }

    /// Up to 12 digits, with a point or without.
    private static func number(_ text: String) -> ExactDecimal? {
        let isWritten = text.utf8.allSatisfy { (0x30...0x39).contains($0) || $0 == UInt8(ascii: ".") }
        guard isWritten, text.utf8.count <= 13, let first = text.utf8.first, let last = text.utf8.last,
            first != UInt8(ascii: "."), last != UInt8(ascii: ".")
        else { return nil }
        return ExactDecimal(json: text)
    }
}

extension ExactDecimal {
    /// Whether it lies within bounds that are in hundredths. Of numbers of up to 12 digits, with 14 decimals and three
    /// zeros more at most.
    fileprivate func isWithin(_ hundredths: ClosedRange<Int64>) -> Bool {
        let scaled = Int128(coefficient) * 100 * Self.power(max(exponent, 0))
        let unit = Self.power(max(-exponent, 0))
        return scaled >= Int128(hundredths.lowerBound) * unit
            && scaled <= Int128(hundredths.upperBound) * unit
    }

    /// Both have been found to be within bounds, and have no zeros more.
    fileprivate func isBelow(_ other: ExactDecimal) -> Bool {
        Int128(coefficient) * Self.power(-other.exponent) < Int128(other.coefficient) * Self.power(-exponent)
    }

    private static func power(_ exponent: Int8) -> Int128 {
        (0..<exponent).reduce(Int128(1)) { power, _ in power * 10 }
    }
}

extension RecordEntry {
    /// What somebody measured and wrote.
    /// - Parameters:
    ///   - flags: what was said beside it; no part of its name, so that the same measurement with another word is none
    ///     more.
    ///   - isTimeWritten: whether the moment was; else it is that of writing.
    package static func manual(
        _ form: EntryForm, _ values: [Value], flags: [String] = [], at time: EntryTime, isTimeWritten: Bool,
        subject: String?
    ) -> RecordEntry {
        let said = values.map { "\($0.type)=\($0.number) \($0.unit)" }.joined(separator: ",")
        return RecordEntry(
            kind: form.kind, origin: .manual, start: time.instant, utcOffset: time.utcOffset,
            timeSource: isTimeWritten ? .entered : .received, values: values, flags: flags, subject: subject,
            name: "MANUAL|\(form.kind.rawValue)|\(time.instant)|\(said)")
    }
}
