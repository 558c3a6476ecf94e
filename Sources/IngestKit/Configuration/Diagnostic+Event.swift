extension Diagnostic {
    /// For the journal, in which no address of a device and no name of a person may stand: the place, the key as far as
    /// it is one of ours, and what was expected. What was found is for `ingestd check`.
    package var eventText: String {
        var text = path
        if let line, let column { text += ":\(line):\(column)" }
        if let key { text += ": \(Self.ours(of: key))" }
        return text + (expectation.map { ": \($0)" } ?? "")
    }

    private static func ours(of key: String) -> String {
        key.split(separator: ".").map { part in
            known.contains(String(part.prefix { $0 != "[" })) ? String(part) : "…"
        }.joined(separator: ".")
    }

    private static let known = Set(
        (ConfigurationKeys.all + CatalogueKeys.all).flatMap { $0.keys.map(\.name) })
}

extension ConfigurationCheck {
    /// Why it cannot be used, for an event: the first error; nil where there is none.
    package var rejection: String? {
        let errors = diagnostics.filter { $0.severity == .error }
        guard let first = errors.first else { return nil }
        let more = errors.count > 1 ? ", and \(errors.count - 1) more" : ""
        return "\(first.eventText)\(more): see ingestd check"
    }
}
