import Glibc

/// One line on a terminal that says how far long work is; nothing elsewhere.
enum Progress {
    private static var isShown: Bool { isatty(STDERR_FILENO) == 1 }

    static func show(_ text: String) {
        if isShown { StandardError.draw("\r\(TerminalText.line(text))\u{1B}[K") }
    }

    static func end() {
        if isShown { StandardError.draw("\r\u{1B}[K") }
    }
}
