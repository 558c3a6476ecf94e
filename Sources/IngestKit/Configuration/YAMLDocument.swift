import FoundationEssentials
import Yams

/// A YAML file as nodes that know their line and column.
struct YAMLDocument {
    /// A configuration is a few kilobytes; a larger file is some other file.
    static let maximumSize = 1 << 20

    let root: NodeReader
    let log: DiagnosticLog

    /// - Parameters:
    ///   - text: one YAML document. An empty one reads as an empty mapping.
    ///   - path: names the file in diagnostics.
    /// - Throws: the syntax error, with its place. The parser stops at the first.
    init(text: String, path: String) throws(ConfigurationError) {
        guard text.utf8.count <= Self.maximumSize else {
            throw ConfigurationError(path: path, expected: "at most 1 MiB")
        }
        log = DiagnosticLog(path: path)
        let node: Node?
        do {
            try Self.checkForm(of: text, path: path)
            try Self.checkKeys(of: text, path: path)
            // libyaml itself refuses more than 1000 levels of nesting.
            // Values are read by what is expected of them, so that no resolver has to tell their types: the default
            // one matches every key against seven regular expressions.
            node = try Parser(yaml: text, resolver: .basic, encoding: .utf8).singleRoot()
        } catch let error as ConfigurationError {
            throw error
        } catch {
            throw ConfigurationError(diagnostics: [Self.diagnostic(of: error, text: text, path: path)])
        }
        root = NodeReader(node: node ?? .mapping(.init([])), key: "", log: log)
    }

    /// The parser computes a hash of each key: of keys within keys, once for each level. No key of ours is a collection.
    private static let mostKeysOfCollections = 8

    /// Refuses, before the parser takes them for granted, what costs it far more than its length: directives but %YAML,
    /// because the prefix that %TAG sets is copied into each node, and many keys that are collections (`? ` and `]:`).
    private static func checkForm(of text: String, path: String) throws(ConfigurationError) {
        var (line, keys, last) = (1, 0, Unicode.Scalar("\n"))
        // Whether a node can begin here: at the start of a line, and after what introduces one.
        var isOpen = true
        var rest = text.unicodeScalars[...]
        while let scalar = rest.popFirst() {
            let isFirst = isLineBreak(last)
            if isFirst, scalar == "%", !rest.starts(with: "YAML ".unicodeScalars) {
                throw ConfigurationError(
                    path: path, line: line, column: 1, expected: "no line that begins with %")
            }
            let endsHere = rest.first.map { $0 == " " || $0 == "\t" || isLineBreak($0) } ?? true
            if isOpen, scalar == "?", endsHere { keys += 1 }
            if scalar == ":", last == "]" || last == "}" { keys += 1 }
            guard keys <= mostKeysOfCollections else {
                throw ConfigurationError(
                    path: path, line: line, column: 1,
                    expected: "plain keys: too many here begin with ? or end with ] or }")
            }
            switch scalar {
            case " ", "\t": break
            case "-", "?", ":": isOpen = endsHere
            case "[", "{", ",": isOpen = true
            default: isOpen = isLineBreak(scalar)
            }
            if isLineBreak(scalar), scalar != "\r" { line += 1 }
            // Blanks may stand between a collection and its colon.
            if (scalar != " " && scalar != "\t") || isLineBreak(last) { last = scalar }
        }
    }

    /// What ends a line for libyaml.
    private static func isLineBreak(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar {
        case "\n", "\r", "\u{85}", "\u{2028}", "\u{2029}": true
        default: false
        }
    }

    /// Stands for the sign of an alias in the first parse: a character for private use that no known file contains.
    private static let mute: Unicode.Scalar = "\u{F8FE}"

    /// Refuses keys that are no scalars where there are aliases. The parser computes a hash of each key: of one that is
    /// made of aliases of aliases, for longer than anybody waits. So the text is parsed with its aliases as scalars first,
    /// which takes a time by its length.
    /// - Throws: `ConfigurationError`, or what is wrong with the text.
    private static func checkKeys(of text: String, path: String) throws {
        guard text.utf8.contains(UInt8(ascii: "*")), text.utf8.contains(UInt8(ascii: "&")) else { return }
        var plain = String.UnicodeScalarView()
        for scalar in text.unicodeScalars { plain.append(scalar == "*" ? mute : scalar) }
        guard let root = try Parser(yaml: String(plain), resolver: .basic, encoding: .utf8).singleRoot()
        else {
            return
        }
        var nodes = [root]
        while let node = nodes.popLast() {
            switch node {
            case .sequence(let sequence): nodes += sequence
            case .mapping(let mapping):
                for (key, value) in mapping {
                    nodes.append(value)
                    if case .scalar(let scalar) = key,
                        scalar.style != .plain || scalar.string.unicodeScalars.first != mute
                    {
                        continue
                    }
                    throw ConfigurationError(
                        path: path, line: key.mark?.line ?? 1, column: key.mark?.column ?? 1,
                        expected: "a plain key")
                }
            case .scalar, .alias: break
            }
        }
    }

    /// Reads a file of at most `maximumSize` bytes of UTF-8.
    /// - Throws: one diagnostic without a place when the file cannot be read.
    static func contents(of path: String) throws(ConfigurationError) -> String {
        let bytes: [UInt8]
        do {
            bytes = try BoundedFile.read(path, limit: maximumSize)
        } catch {
            switch error {
            case .missing:
                throw ConfigurationError(
                    path: path,
                    message:
                        "there is no such file; name another with --config, or put the shipped ingestd.yaml there"
                )
            case .notAFile: throw ConfigurationError(path: path, expected: "a regular file")
            case .tooLarge: throw ConfigurationError(path: path, expected: "at most 1 MiB")
            case .unreadable:
                throw ConfigurationError(
                    path: path, message: "this user may not read it; run the command as root")
            }
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw ConfigurationError(path: path, expected: "text in UTF-8")
        }
        return text
    }

    private static func diagnostic(of error: any Error, text: String, path: String) -> Diagnostic {
        switch error as? YamlError {
        case .scanner(let context, let problem, let mark, _), .parser(let context, let problem, let mark, _),
            .composer(let context, let problem, let mark, _):
            let circumstance = context.map { "\($0.text), " } ?? ""
            let hint = YAMLHint.forError(in: text, atLine: mark.line).map { "; \($0)" } ?? ""
            return Diagnostic(
                .error, path: path, line: mark.line, column: mark.column,
                message: "not valid YAML: \(circumstance)\(problem)\(hint)")
        case .duplicatedKeysInMapping(let duplicates, let context):
            return Diagnostic(
                .error, path: path, line: context.mark.line, column: context.mark.column,
                key: duplicates.first, message: "expected each key once; it stands here and again below",
                expectation: "expected each key once; it stands here and again below")
        case .reader(let problem, let offset, _, _):
            let (line, column) = place(ofCharacter: offset ?? 0, in: text)
            return Diagnostic(
                .error, path: path, line: line, column: column, message: "not valid YAML: \(problem)")
        default:
            return Diagnostic(.error, path: path, line: 1, column: 1, message: "not valid YAML")
        }
    }

    private static func place(ofCharacter offset: Int, in text: String) -> (line: Int, column: Int) {
        let before = text.prefix(offset)
        let lines = before.split(separator: "\n", omittingEmptySubsequences: false)
        return (lines.count, (lines.last?.unicodeScalars.count ?? 0) + 1)
    }
}
