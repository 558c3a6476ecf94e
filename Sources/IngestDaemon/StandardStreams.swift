import SystemPackage

/// Standard output, unbuffered: what was written is seen at once, through a pipe too. Of whatever is written a terminal
/// obeys nothing but line breaks and tabs (`TerminalText.shown`).
enum StandardOutput {
    /// Writes `text` whole.
    /// - Throws: `Errno`, such as `.brokenPipe` for a reader that went away.
    static func write(_ text: String) throws {
        try draw(TerminalText.shown(text))
    }

    /// Writes what moves the cursor or sets colours, and has no foreign text in it that is not made harmless.
    static func draw(_ text: String) throws {
        try FileDescriptor.standardOutput.writeAll(text.utf8)
    }
}

/// Standard input, for what is not to be an argument: those are seen by everybody on the box.
enum StandardInput {
    /// The argument, or the first line of standard input for `-`.
    static func argument(_ text: String) -> String {
        text == "-" ? readLine() ?? "" : text
    }
}

/// Standard error, a line at a time. Foreign text is escaped as on standard output.
enum StandardError {
    /// That standard error is closed cannot be told to anyone.
    static func print(_ line: String) {
        draw(TerminalText.shown(line) + "\n")
    }

    /// Writes what moves the cursor, and has no foreign text in it that is not made harmless.
    static func draw(_ text: String) {
        _ = try? FileDescriptor.standardError.writeAll(text.utf8)
    }
}
