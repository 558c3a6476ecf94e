/// Text on a terminal: without what a terminal obeys instead of showing it, and in columns, of which some characters take
/// two.
package enum TerminalText {
    /// Of a terminal that nobody has made wider.
    static let columns = 80

    /// Characters that are wide or full-width (Unicode Standard Annex 11), and emoji.
    private static let wide: [ClosedRange<UInt32>] = [
        0x1100...0x115F, 0x2E80...0x303E, 0x3041...0xA4CF, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F,
        0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x1F300...0x1FAFF, 0x20000...0x3FFFD,
    ]

    /// Text of several lines in which every character is shown. What is not is replaced by its escape in JSON: `\u009b`.
    /// So a JSON text stays the same value, in which such characters stand within strings alone.
    ///
    /// Not shown are control characters but line breaks and tabs, format characters (of direction, of no width, tags),
    /// separators of lines and paragraphs, and what Unicode has not assigned (UAX 44, General_Category), and whatever
    /// else is ignored by default but the choice of an emoji's form (Default_Ignorable_Code_Point).
    package static func shown(_ text: String) -> String {
        escaped(text, where: { !isShown($0) && $0 != "\n" && $0 != "\t" })
    }

    /// The same of foreign text within a line, which it cannot end.
    package static func line(_ text: some StringProtocol) -> String {
        escaped(String(text), where: { !isShown($0) })
    }

    private static func escaped(_ text: String, where isEscaped: (Unicode.Scalar) -> Bool) -> String {
        // Nearly all text, and long documents above all. What Unicode says of each character takes many times as long.
        let showsLineBreaks = !isEscaped("\n")
        let isPlain = text.utf8.allSatisfy {
            (0x20..<0x7F).contains($0) || (showsLineBreaks && $0 == UInt8(ascii: "\n"))
        }
        guard !isPlain, text.unicodeScalars.contains(where: isEscaped) else { return text }
        var result = ""
        for scalar in text.unicodeScalars {
            guard isEscaped(scalar) else {
                result.unicodeScalars.append(scalar)
                continue
            }
            for unit in String(scalar).utf16 {
                let digits = String(unit, radix: 16)
                result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            }
        }
        return result
    }

    private static func isShown(_ scalar: Unicode.Scalar) -> Bool {
        let properties = scalar.properties
        return switch properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .unassigned: false
        default: !properties.isDefaultIgnorableCodePoint || properties.isVariationSelector
        }
    }

    package static func width(of text: some StringProtocol) -> Int {
        text.reduce(0) { $0 + width(of: $1) }
    }

    private static func width(of character: Character) -> Int {
        guard let first = character.unicodeScalars.first?.value else { return 0 }
        return wide.contains { $0.contains(first) } ? 2 : 1
    }

    package static func padded(_ text: String, to width: Int) -> String {
        text + String(repeating: " ", count: max(0, width - self.width(of: text)))
    }

    /// The text, or its beginning with a dot for the rest.
    package static func cut(_ text: String, to width: Int) -> String {
        guard self.width(of: text) > width else { return text }
        var short = ""
        var used = 1
        for character in text {
            used += self.width(of: character)
            guard used <= width else { break }
            short.append(character)
        }
        return short + "…"
    }

    /// Lines of at most 80 columns, broken between words; a longer word stands alone. All but the first are indented.
    package static func wrapped(_ text: String, indentation: Int) -> [String] {
        let indent = String(repeating: " ", count: indentation)
        var lines: [String] = []
        for word in text.split(separator: " ", omittingEmptySubsequences: false) {
            if let last = lines.last, width(of: last) + 1 + width(of: word) <= columns {
                lines[lines.count - 1] = last + " " + word
            } else {
                lines.append((lines.isEmpty ? "" : indent) + word)
            }
        }
        return lines
    }
}
