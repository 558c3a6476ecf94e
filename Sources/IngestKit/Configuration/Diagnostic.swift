/// One finding about a configuration or catalogue file.
package struct Diagnostic: Sendable, Hashable {
    package enum Severity: String, Sendable, Hashable {
        /// The file cannot be used.
        case error
        /// The file can be used, but something in it is suspicious.
        case warning
    }

    package let severity: Severity
    /// The file, as it was named by whoever asked to read it.
    package let path: String
    /// Line and column, each from 1; columns count Unicode scalars. Nil when the finding is about
    /// the file as a whole.
    package let line: Int?
    package let column: Int?
    /// The key, from the root: `destinations[0].url`. Nil when the finding is about no key.
    package let key: String?
    package let message: String
    /// What the format asks for there, in our words alone: the message without what stands in the file. Nil for a message
    /// that is about what stands there.
    package let expectation: String?

    package init(
        _ severity: Severity, path: String, line: Int? = nil, column: Int? = nil, key: String? = nil,
        message: String, expectation: String? = nil
    ) {
        self.expectation = expectation
        self.severity = severity
        self.path = path
        self.line = line
        self.column = column
        self.key = key
        self.message = message
    }
}

extension Diagnostic: CustomStringConvertible {
    /// `PATH:LINE:COLUMN: KEY: MESSAGE`; warnings say so before the message. One line, also if the file has line breaks in
    /// a key or a value.
    package var description: String {
        TerminalText.line(text)
    }

    private var text: String {
        var text = path
        if let line, let column { text += ":\(line):\(column)" }
        if let key { text += ": \(key)" }
        if severity == .warning { text += ": warning" }
        return text + ": " + message
    }
}

/// A configuration or catalogue that cannot be used: every error that was found, and the warnings.
package struct ConfigurationError: Error, Sendable, Equatable {
    /// In the order of the file; at least one is an error.
    package let diagnostics: [Diagnostic]

    package init(diagnostics: [Diagnostic]) {
        self.diagnostics = diagnostics
    }

    init(path: String, message: String) {
        self.init(diagnostics: [Diagnostic(.error, path: path, message: message)])
    }

    /// - Parameter what: the end of "expected …", in our words alone.
    init(path: String, line: Int? = nil, column: Int? = nil, key: String? = nil, expected what: String) {
        let message = "expected \(what)"
        self.init(diagnostics: [
            Diagnostic(
                .error, path: path, line: line, column: column, key: key, message: message,
                expectation: message)
        ])
    }
}

extension ConfigurationError: CustomStringConvertible {
    /// One diagnostic a line.
    package var description: String {
        diagnostics.map(\.description).joined(separator: "\n")
    }
}
