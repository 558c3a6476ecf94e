/// The answers about a destination, before it is written.
struct DestinationDraft: Sendable, Equatable {
    var name = ""
    var type = ""
    /// Values of further keys, in the order in which they were given.
    var values: [(key: String, value: String)] = []
    var secret: String?

    static func == (left: Self, right: Self) -> Bool {
        left.name == right.name && left.type == right.type && left.secret == right.secret
            && left.values.map(\.key) == right.values.map(\.key)
            && left.values.map(\.value) == right.values.map(\.value)
    }

    subscript(key: String) -> String? {
        get { values.first { $0.key == key }?.value }
        set {
            let place = values.firstIndex { $0.key == key }
            if let place { values.remove(at: place) }
            if let newValue { values.insert((key, newValue), at: place ?? values.count) }
        }
    }

    /// A file of conf.d.
    /// - Parameter credential: path of the file with the secret.
    func text(credential: String?) -> String {
        var lines = [
            "# Written by ingestd setup.", "destinations:", "  - name: \(name)", "    type: \(type)",
        ]
        lines += values.map { key, value in
            // A truth value between quotation marks would be a text.
            "    \(key): \(["true", "false"].contains(value) ? value : EntryText.quoted(value))"
        }
        if let credential { lines.append("    credential: \(EntryText.quoted(credential))") }
        return lines.joined(separator: "\n") + "\n"
    }

    /// What the type needs with these answers, by its own form.
    func needs() -> DestinationNeeds {
        let asked = AskedEntries(self)
        _ = DestinationForms.named(type)?.read(asked)
        return asked.needs
    }
}

/// What a type of destination asks of its entries.
struct DestinationNeeds: Sendable, Equatable {
    /// Keys that it cannot do without and that have no answer yet, with what was expected.
    var missing: [(key: String, what: String)] = []
    /// Whether a credential has no effect.
    var ignoresCredential = false

    static func == (left: Self, right: Self) -> Bool {
        left.missing.map(\.key) == right.missing.map(\.key)
            && left.ignoresCredential == right.ignoresCredential
    }
}

/// Answers in the place of a file's entries. A form that reads them says what it needs.
private final class AskedEntries: DestinationEntries {
    let draft: DestinationDraft
    var needs = DestinationNeeds()

    init(_ draft: DestinationDraft) {
        self.draft = draft
    }

    subscript(key: String) -> AskedValue? {
        if key == "credential" {
            return AskedValue(text: draft.secret ?? "-") { [self] in needs.ignoresCredential = true }
        }
        return draft[key].map { AskedValue(text: $0) {} }
    }

    func required(_ key: String, _ what: String) -> AskedValue? {
        let isAnswered = key == "credential" ? draft.secret != nil : draft[key] != nil
        guard !isAnswered else { return self[key] }
        needs.missing.append((key, what))
        return nil
    }

    func signingKey(_ key: String) -> CredentialName? { nil }
}

/// An answer as a form reads it. Whether it is right is told by the check of the whole configuration.
private struct AskedValue: SettingValue {
    let text: String
    let warn: () -> Void

    func text(_ what: String, limit: Int) -> String? { text }
    func boolean() -> Bool? { Bool(text) }
    func choice<Choice: RawRepresentable & CaseIterable>(of type: Choice.Type) -> Choice?
    where Choice.RawValue == String { Choice(rawValue: text) }
    func choices<Choice: RawRepresentable & CaseIterable>(_ what: String, of type: Choice.Type) -> [Choice]?
    where Choice.RawValue == String { nil }
    func value<Value>(_ what: String, _ read: (String) -> Value?) -> Value? { read(text) }
    func url(schemes: [String], onLoopback: [String]) -> String? { text }
    func headers() -> [HTTPHeader] { [] }
    func statusDocuments() -> StatusSettings? { nil }
    func error(expected what: String) {}
    func warning(_ message: String) { warn() }
}
