import Yams

/// Gathers what is found while one file is read, so that all of it can be told at once. What has
/// no mark is placed at the beginning of the file.
final class DiagnosticLog {
    /// More than an operator reads; keeps a file of rubbish from filling the terminal.
    private static let limit = 200

    let path: String
    private var found: [Diagnostic] = []
    /// Those that are left out.
    private var left = 0

    init(path: String) {
        self.path = path
    }

    func error(at mark: Yams.Mark?, key: String?, _ message: String) {
        add(.error, mark, key, message)
    }

    func warning(at mark: Yams.Mark?, key: String?, _ message: String) {
        add(.warning, mark, key, message)
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

    /// - Throws: everything found, if any of it is an error.
    /// - Returns: the warnings.
    func conclude() throws(ConfigurationError) -> [Diagnostic] {
        let all = diagnostics
        guard !all.contains(where: { $0.severity == .error }) else {
            throw ConfigurationError(diagnostics: all)
        }
        return all
    }

    private func add(_ severity: Diagnostic.Severity, _ mark: Yams.Mark?, _ key: String?, _ message: String) {
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
                message: message))
    }
}
