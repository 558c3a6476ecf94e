import FoundationEssentials
import Yams

/// A configuration as a bug report may show it: its keys, and of its values only those that name nobody and lead nowhere.
package struct RedactedConfiguration: Sendable, Equatable {
    private static let mark = "[removed]"
    /// Of all files; a file whose anchors multiply has more.
    private static let mostLines = 2_000

    /// Keys whose values say who, where, or with what, whatever they look like.
    private static let hidden: Set<String> = [
        "address", "alias", "application_id", "client_id", "headers", "main_callback_url", "organization",
        "patient_system", "proxy", "scope", "status_topic", "subject", "token_url", "topic", "url", "user",
        "user_id", "users",
    ]
    /// Keys whose values are names of credentials, files and destinations.
    private static let names: Set<String> = [
        "ca_file", "client_certificate", "client_key", "credential", "destinations", "key", "name", "passkey",
        "private_key", "secret", "signing_key", "state_directory", "time_zone",
    ]

    /// A line for each value, and one for each file.
    package private(set) var lines: [String] = []
    /// What was taken out, as far as it is more than two characters: it must not stand elsewhere in a report either.
    package private(set) var removed: Set<String> = []

    /// Reads a configuration's file and those of `conf.d` beside it.
    package init(path: String) {
        for file in [path] + ConfigurationPieces(beside: path).paths {
            lines.append("# \(file)")
            do throws(ConfigurationError) {
                add(
                    try YAMLDocument(text: YAMLDocument.contents(of: file), path: file).root.node, in: nil,
                    depth: 0)
            } catch {
                lines.append("# it cannot be read")
            }
        }
        if lines.count >= Self.mostLines { lines.append("# the rest is left out") }
    }

    /// As `init(path:)`, of one text.
    init(text: String) throws(ConfigurationError) {
        add(try YAMLDocument(text: text, path: "c.yaml").root.node, in: nil, depth: 0)
    }

    /// A text without what was taken out of the configuration, and without Bluetooth addresses.
    /// - Parameter secrets: further words to take out.
    package func redacted(_ text: String, secrets: [String] = []) -> String {
        var text = text
        let words = removed.union(secrets.filter { $0.count > 2 })
        // The longest first: a word may be a part of another.
        for word in words.sorted(by: { ($0.count, $0) > ($1.count, $1) }) {
            text = text.replacing(word, with: Self.mark)
        }
        return Self.withoutAddresses(text)
    }

    // MARK: - The walk

    private mutating func add(_ node: Node, in key: String?, depth: Int) {
        let indentation = String(repeating: " ", count: depth * 2)
        switch node {
        case .mapping(let mapping):
            let hiddenKey = key.flatMap { Self.hidden.contains($0) ? $0 : nil }
            for (name, value) in mapping where lines.count < Self.mostLines {
                let text = name.scalar?.string ?? ""
                let isKnown = hiddenKey == nil && Self.known.contains(text)
                if !isKnown { note(text) }
                // What is below a hidden key stays hidden, whatever its own keys are called.
                add(value, isKnown ? text : Self.mark, in: hiddenKey ?? text, indentation, depth)
            }
        case .sequence(let items):
            for item in items where lines.count < Self.mostLines {
                if let scalar = item.scalar {
                    lines.append(indentation + "- " + shown(scalar.string, in: key))
                } else {
                    lines.append(indentation + "-")
                    add(item, in: key, depth: depth + 1)
                }
            }
        case .scalar(let scalar): lines.append(indentation + shown(scalar.string, in: key))
        case .alias: lines.append(indentation + Self.mark)
        }
    }

    private mutating func add(
        _ value: Node, _ title: String, in key: String, _ indentation: String, _ depth: Int
    ) {
        if let scalar = value.scalar {
            lines.append("\(indentation)\(title): \(shown(scalar.string, in: key))")
        } else {
            lines.append("\(indentation)\(title):")
            // Nesting that no configuration has says nothing.
            if depth < 16 { add(value, in: key, depth: depth + 1) }
        }
    }

    // MARK: - Values

    private static let known = Set(ConfigurationKeys.all.flatMap { $0.keys.map(\.name) })

    private mutating func shown(_ text: String, in key: String?) -> String {
        if text.isEmpty { return "" }
        if let key, !Self.hidden.contains(key), Self.known.contains(key), Self.isPlain(text, in: key) {
            return text
        }
        note(text)
        if let url = URLText(text) {
            note(url.host)
            note(url.rest)
            return "\(url.scheme)://\(Self.mark)"
        }
        return Self.mark
    }

    private mutating func note(_ text: String) {
        if text.count > 2 { removed.insert(text) }
    }

    /// Whether a value says how much, how long, which of a few, or where on this box.
    private static func isPlain(_ text: String, in key: String) -> Bool {
        guard text.utf8.count <= 128, BluetoothAddress(text) == nil else { return false }
        let isWord = text.allSatisfy { $0.isASCII && ($0.isLowercase || $0.isNumber || $0 == "-") }
        let isNumber = text.utf8.first.map { (0x30...0x39).contains($0) } ?? false
        if isNumber, text.utf8.count <= 12,
            text.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber || $0 == ".") })
        {
            return true
        }
        if names.contains(key) {
            return text.utf8.allSatisfy { (0x21...0x7E).contains($0) } && !text.contains("://")
        }
        return isWord && text.utf8.count <= 32 && !free.contains(key)
    }

    /// Keys whose values may be any word.
    private static let free: Set<String> = ["id", "peripherals"]

    /// Addresses as the kernel, bluetoothd and this program write them.
    private static func withoutAddresses(_ text: String) -> String {
        var rest = Array(text.utf8)[...]
        var result: [UInt8] = []
        while let byte = rest.first {
            let word = rest.prefix(17)
            if word.count == 17, Hex.digit(byte) != nil,
                BluetoothAddress(String(decoding: word, as: UTF8.self).replacing("_", with: ":")) != nil
            {
                result += Array(mark.utf8)
                rest = rest.dropFirst(17)
            } else {
                result.append(byte)
                rest = rest.dropFirst()
            }
        }
        return String(decoding: result, as: UTF8.self)
    }
}
