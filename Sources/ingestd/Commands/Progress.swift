import Glibc
import SystemPackage

/// One line on a terminal that says how far long work is; nothing elsewhere.
enum Progress {
    private static var isShown: Bool { isatty(STDERR_FILENO) == 1 }

    static func show(_ text: String) {
        if isShown { _ = try? FileDescriptor.standardError.writeAll("\r\(text)\u{1B}[K".utf8) }
    }

    static func end() {
        if isShown { _ = try? FileDescriptor.standardError.writeAll("\r\u{1B}[K".utf8) }
    }
}
