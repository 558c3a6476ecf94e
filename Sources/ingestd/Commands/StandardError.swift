import Glibc

/// Standard error, a line at a time.
enum StandardError {
    /// Writes the line and a newline; gives up silently when nobody can be told.
    static func print(_ line: String) {
        var bytes = Array((line + "\n").utf8)[...]
        while !bytes.isEmpty {
            let written = unsafe bytes.withUnsafeBytes { buffer in
                unsafe write(STDERR_FILENO, buffer.baseAddress, buffer.count)
            }
            if written < 0 && errno == EINTR { continue }
            guard written > 0 else { return }
            bytes = bytes.dropFirst(written)
        }
    }
}
