/// Shapes of text that more than one key asks for.
package enum TextForm {
    /// Printable text on one line.
    package static func isLine(_ text: String, limit: Int) -> Bool {
        let size = text.utf8.count
        // A character has one byte at least.
        guard size > 0, size <= limit || size <= 4 * limit && text.count <= limit else { return false }
        return text.unicodeScalars.allSatisfy { !$0.isControl && $0 != "\u{2028}" && $0 != "\u{2029}" }
    }

    /// Letters, digits, dots, dashes and underscores of ASCII; not a directory's own name.
    package static func isName(_ text: String, limit: Int) -> Bool {
        !text.isEmpty && text.utf8.count <= limit && text != "." && text != ".."
            && text.utf8.allSatisfy { byte in
                switch byte {
                case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F: true
                default: false
                }
            }
    }

    /// Not longer than Linux takes (PATH_MAX with its terminator: 4096).
    package static func isAbsolutePath(_ text: String) -> Bool {
        text.hasPrefix("/") && text.utf8.count < 4096 && isLine(text, limit: 4095)
    }

    /// `YYYY-MM-DD`, a day of the Gregorian calendar.
    package static func isDate(_ text: String) -> Bool {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.map(\.utf8.count) == [4, 2, 2],
            parts.allSatisfy({ $0.utf8.allSatisfy { (0x30...0x39).contains($0) } }),
            let year = Int(parts[0]), let month = Int(parts[1]), let day = Int(parts[2]),
            (1...12).contains(month)
        else { return false }
        let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
        let days = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
        return (1...days[month - 1]).contains(day)
    }

    /// `a, b or c`.
    package static func list(_ words: [String]) -> String {
        guard let last = words.last, words.count > 1 else { return words.first ?? "" }
        return words.dropLast().joined(separator: ", ") + " or " + last
    }
}

extension Unicode.Scalar {
    /// Whether it is a control code (Unicode 23.1). The same as its general category says, which takes much longer to
    /// look up.
    package var isControl: Bool { value < 0x20 || (0x7F...0x9F).contains(value) }
}

/// Durations as files write them: a decimal number and a unit.
package enum DurationText {
    private static let units: [(suffix: String, microseconds: Int64)] = [
        ("ms", 1_000), ("s", 1_000_000), ("m", 60_000_000), ("h", 3_600_000_000), ("d", 86_400_000_000),
    ]

    /// Reads `2.5ms`, `10s`, `7d`: up to 9 digits, then up to 3 decimals; nil for anything else.
    package static func read(_ text: String) -> Duration? {
        let digits = text.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
        guard let unit = units.first(where: { $0.suffix == text.dropFirst(digits.count) }) else { return nil }
        let parts = digits.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        guard let whole = parts.first, (1...9).contains(whole.utf8.count), let number = Int64(whole) else {
            return nil
        }
        var thousandths: Int64 = 0
        if parts.count == 2 {
            guard (1...3).contains(parts[1].utf8.count),
                let decimals = Int64(parts[1] + String(repeating: "0", count: 3 - parts[1].utf8.count))
            else { return nil }
            thousandths = decimals
        }
        return .microseconds(number * unit.microseconds + thousandths * unit.microseconds / 1_000)
    }

    /// In the largest unit that gives a whole number; milliseconds with decimals below.
    package static func write(_ duration: Duration) -> String {
        let (seconds, attoseconds) = duration.components
        let microseconds = seconds * 1_000_000 + attoseconds / 1_000_000_000_000
        for unit in units.reversed() where microseconds != 0 && microseconds % unit.microseconds == 0 {
            return "\(microseconds / unit.microseconds)\(unit.suffix)"
        }
        guard microseconds != 0 else { return "0s" }
        var decimals = String(1_000 + microseconds % 1_000).dropFirst()
        while decimals.last == "0" { decimals.removeLast() }
        return "\(microseconds / 1_000).\(decimals)ms"
    }
}

/// Sizes as files write them, in powers of 1024.
package enum SizeText {
    private static let units: [(suffix: String, bytes: UInt64)] = [
        ("TiB", 1 << 40), ("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10), ("B", 1),
    ]

    /// Reads `16MiB`: up to 9 digits and a unit; nil for anything else.
    package static func read(_ text: String) -> UInt64? {
        let digits = text.prefix { $0.isASCII && $0.isNumber }
        guard (1...9).contains(digits.utf8.count), let number = UInt64(digits),
            let unit = units.first(where: { $0.suffix == text.dropFirst(digits.count) })
        else { return nil }
        let (bytes, overflow) = number.multipliedReportingOverflow(by: unit.bytes)
        return overflow ? nil : bytes
    }

    package static func write(_ bytes: UInt64) -> String {
        for unit in units where bytes >= unit.bytes && bytes % unit.bytes == 0 {
            return "\(bytes / unit.bytes)\(unit.suffix)"
        }
        return "0B"
    }
}
