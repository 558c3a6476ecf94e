import SystemPackage

/// Standard output, unbuffered: what was written is seen at once, through a pipe too.
enum StandardOutput {
    /// Writes `text` whole.
    /// - Throws: `Errno`, such as `.brokenPipe` for a reader that went away.
    static func write(_ text: String) throws {
        try FileDescriptor.standardOutput.writeAll(text.utf8)
    }
}

/// Standard error, a line at a time.
enum StandardError {
    /// That standard error is closed cannot be told to anyone.
    static func print(_ line: String) {
        write("\(line)\n")
    }

    static func write(_ text: String) {
        _ = try? FileDescriptor.standardError.writeAll(text.utf8)
    }
}
