import FoundationEssentials

/// Lines that scroll by and lines that are typed: all that the dialogue of `setup` needs of a terminal, so that it works
/// on a serial console and with a screen reader.
protocol Terminal: Sendable {
    /// Writes a line, at most 80 columns wide.
    func write(_ line: String) throws
    /// Writes what is asked, and leaves the cursor behind it.
    func prompt(_ text: String) throws
    /// The next line that is typed; nil if there are no more.
    /// - Throws: `CancellationError`.
    func line() async throws -> String?
    /// Asks for a line that must not be seen.
    func secret(_ question: String) async throws -> String?
}

/// Text in lines of 79 columns: some terminals break a line that is 80 wide.
enum PlainText {
    static let columns = 79

    /// Whether the terminal shows letters beyond ASCII: it does where the locale is one of UTF-8 (locale(7)).
    private static let showsLetters = isOfUTF8(ProcessInfo.processInfo.environment)

    static func isOfUTF8(_ environment: [String: String]) -> Bool {
        let locale =
            ["LC_ALL", "LC_CTYPE", "LANG"].lazy.compactMap { environment[$0] }.first { !$0.isEmpty } ?? ""
        return ["utf-8", "utf8"].contains { locale.lowercased().hasSuffix($0) }
    }

    /// What the terminal may not show is a question mark.
    static func plain(_ text: some StringProtocol, showsLetters: Bool = showsLetters) -> String {
        String(
            String.UnicodeScalarView(
                text.unicodeScalars.map {
                    (" "..."~").contains($0) || showsLetters && isLetterOfOneColumn($0) ? $0 : "?"
                }))
    }

    /// Of the scripts of Europe: others have letters that are two columns wide, or go from right to left.
    private static func isLetterOfOneColumn(_ scalar: Unicode.Scalar) -> Bool {
        ("\u{00C0}"..<"\u{0530}").contains(scalar) && scalar.properties.isAlphabetic
            && scalar.properties.canonicalCombiningClass == .notReordered
    }

    /// Broken between words, and within those that are too long for a line. A line break stays one.
    static func lines(_ text: String) -> [String] {
        text.split(separator: "\n", omittingEmptySubsequences: false).flatMap { line -> [String] in
            let indent = String(line.prefix { $0 == " " })
            let room = max(20, columns - indent.count)
            let lines = TerminalText.wrapped(plain(line), width: room).flatMap { broken($0, room) }
            return lines.isEmpty ? [""] : lines.map { indent + $0 }
        }
    }

    static func cut(_ text: String) -> String { String(plain(text).prefix(columns)) }

    private static func broken(_ line: String, _ room: Int) -> [String] {
        stride(from: 0, to: line.count, by: room).map { start in
            String(line.dropFirst(start).prefix(room))
        }
    }
}
