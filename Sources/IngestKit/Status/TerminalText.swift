/// Text in the columns of a terminal, in which some characters take two.
enum TerminalText {
    /// Of a terminal that nobody has made wider.
    static let columns = 80

    /// Characters that are wide or full-width (Unicode Standard Annex 11), and emoji.
    private static let wide: [ClosedRange<UInt32>] = [
        0x1100...0x115F, 0x2E80...0x303E, 0x3041...0xA4CF, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F,
        0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x1F300...0x1FAFF, 0x20000...0x3FFFD,
    ]

    static func width(of text: some StringProtocol) -> Int {
        text.reduce(0) { $0 + width(of: $1) }
    }

    private static func width(of character: Character) -> Int {
        guard let first = character.unicodeScalars.first?.value else { return 0 }
        return wide.contains { $0.contains(first) } ? 2 : 1
    }

    static func padded(_ text: String, to width: Int) -> String {
        text + String(repeating: " ", count: max(0, width - self.width(of: text)))
    }

    /// The text, or its beginning with a dot for the rest.
    static func cut(_ text: String, to width: Int) -> String {
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
    static func wrapped(_ text: String, indentation: Int) -> [String] {
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
