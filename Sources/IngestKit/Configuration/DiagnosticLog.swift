import Yams

/// Gathers what is found while one file is read, so that all of it can be told at once. What has
/// no mark is placed at the beginning of the file.
final class DiagnosticLog {
    /// More than an operator reads; keeps a file of rubbish from filling the terminal.
    private static let limit = 200
    /// Entries of mappings and items of lists, counted as often as aliases repeat them: far more than any file in use
    /// has, and few enough to be read in a second.
    private static let mostEntries = 50_000

    let path: String
    private var found: [Diagnostic] = []
    /// Those that are left out.
    private var left = 0
    private var entries = 0

    init(path: String) {
        self.path = path
    }

    /// Whether what is found from here on may still be shown.
    var hasRoom: Bool { left == 0 }

    /// Counts entries that are about to be read; those of the first container that are too many are an error.
    /// - Returns: whether the file may have so many.
    func takes(_ count: Int, at mark: Yams.Mark?, key: String?) -> Bool {
        guard entries <= Self.mostEntries else { return false }
        entries += count
        guard entries > Self.mostEntries else { return true }
        error(
            at: mark, key: key,
            expected:
                "at most \(Self.mostEntries) entries in the whole file, those that aliases repeat counted each time"
        )
        return false
    }

    /// - Parameter expectation: as in `Diagnostic`.
    func error(at mark: Yams.Mark?, key: String?, _ message: String, expectation: String? = nil) {
        add(.error, mark, key, message, expectation)
    }

    /// - Parameter what: the end of "expected …", in our words alone.
    func error(at mark: Yams.Mark?, key: String?, expected what: String) {
        error(at: mark, key: key, "expected \(what)", expectation: "expected \(what)")
    }

    func warning(at mark: Yams.Mark?, key: String?, _ message: String) {
        add(.warning, mark, key, message, nil)
    }

    /// In the order of the file.
    var diagnostics: [Diagnostic] {
        // Sorting by offset too keeps the order of discovery where two stand at the same place.
        let sorted = found.enumerated().sorted { left, right in
            let (a, b) = (left.element, right.element)
            return (a.line ?? 0, a.column ?? 0, left.offset) < (b.line ?? 0, b.column ?? 0, right.offset)
        }.map(\.element)
        guard left > 0, let severity = sorted.last?.severity else { return sorted }
        return sorted + [Diagnostic(severity, path: path, message: "and \(left) more, which are not shown")]
    }

    private func add(
        _ severity: Diagnostic.Severity, _ mark: Yams.Mark?, _ key: String?, _ message: String,
        _ expectation: String?
    ) {
        if found.count >= Self.limit {
            left += 1
            // Errors decide, and have the room of warnings.
            guard severity == .error, let last = found.lastIndex(where: { $0.severity == .warning }) else {
                return
            }
            found.remove(at: last)
        }
        found.append(
            Diagnostic(
                severity, path: path, line: mark?.line ?? 1, column: mark?.column ?? 1, key: key,
                message: message, expectation: expectation))
    }
}
