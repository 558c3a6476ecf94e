/// Lines that scroll by and lines that are typed: all that the dialogue of `setup` needs of a terminal, so that it works
/// on a serial console and with a screen reader.
protocol Terminal: Sendable {
    /// Writes a line of ASCII, at most 80 columns wide.
    func write(_ line: String) throws
    /// Writes what is asked, and leaves the cursor behind it.
    func prompt(_ text: String) throws
    /// The next line that is typed; nil if there are no more.
    /// - Throws: `CancellationError`.
    func line() async throws -> String?
    /// Asks for a line that must not be seen.
    func secret(_ question: String) async throws -> String?
}

/// Text in ASCII and lines of 79 columns: some terminals break a line that is 80 wide.
enum PlainText {
    static let columns = 79

    /// What is no ASCII, or no character that is shown, is a question mark.
    static func ascii(_ text: some StringProtocol) -> String {
        String(
            String.UnicodeScalarView(text.unicodeScalars.map { (" "..."~").contains($0) ? $0 : "?" }))
    }

    /// Broken between words, and within those that are too long for a line. A line break stays one.
    static func lines(_ text: String) -> [String] {
        text.split(separator: "\n", omittingEmptySubsequences: false).flatMap { line -> [String] in
            let indent = String(line.prefix { $0 == " " })
            let room = max(20, columns - indent.count)
            let lines = TerminalText.wrapped(ascii(line), width: room).flatMap { broken($0, room) }
            return lines.isEmpty ? [""] : lines.map { indent + $0 }
        }
    }

    static func cut(_ text: String) -> String { String(ascii(text).prefix(columns)) }

    private static func broken(_ line: String, _ room: Int) -> [String] {
        stride(from: 0, to: line.count, by: room).map { start in
            String(line.dropFirst(start).prefix(room))
        }
    }
}
