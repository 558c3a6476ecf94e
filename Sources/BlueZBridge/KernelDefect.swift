import Glibc

/// A defect of the running kernel that the gateway has to live with: docs/notes/bluez.md, "A kernel that crashes".
package struct KernelDefect: Sendable, Equatable {
    /// Of Debian's kernels 6.1.x, the first and the last one that have it.
    private static let defective = 187...192

    /// The kernel's version as Debian counts it, such as 6.1.192-2.
    package let version: String

    /// Nil for a kernel of which no defect is known.
    /// - Parameter line: what /proc/version says. Debian's kernels end it with "Debian 6.1.192-2 (2026-11-16)".
    package init?(procVersion line: String) {
        let words = line.split(whereSeparator: \.isWhitespace)
        guard let mark = words.firstIndex(of: "Debian"), mark + 1 < words.endIndex else { return nil }
        let version = words[mark + 1]
        let numbers = version.split(separator: "-")[0].split(separator: ".")
        guard numbers.count == 3, numbers[0] == "6", numbers[1] == "1", let number = Int(numbers[2]),
            Self.defective.contains(number)
        else { return nil }
        self.version = String(version)
    }

    /// That of the kernel that runs; nil also where /proc/version cannot be read.
    package static func ofRunningKernel() -> KernelDefect? {
        var names = utsname()
        // The kernel puts /proc/version together from these (init/version.c, linux_proc_banner).
        guard unsafe uname(&names) == 0 else { return nil }
        let version = unsafe withUnsafeBytes(of: &names.version) { bytes in
            unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
        }
        return KernelDefect(procVersion: version)
    }

    /// What is wrong and the way out, as the end of a sentence.
    package var message: String {
        "Linux \(version) crashes when a link breaks before its first answer and its socket is closed, and keeps some "
            + "memory of each link: install Debian 12's newer kernel (linux-image-6.12-amd64 or -arm64), a later fixed "
            + "one or Debian 13, and restart the box"
    }
}
