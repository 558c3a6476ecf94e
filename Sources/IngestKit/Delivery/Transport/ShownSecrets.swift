/// What a server was shown, or knows, and must not say back: its words are kept for operators to see.
struct ShownSecrets: Sendable {
    /// In the place of a secret.
    private static let mark = "[credential]"
    /// In the place of words that hold one in another form.
    static let withheld = "[withheld: the credential is in these words, in another form]"

    private let asSent: [String]
    private let searched: [[UInt8]]

    /// - Parameters:
    ///   - secrets: each a secret as a whole and in parts.
    ///   - asSent: texts with a secret and something public in them, as user:password. They are looked for in this form
    ///     alone.
    ///   - keys: secrets that are not text.
    init(_ secrets: String?..., asSent: [String?] = [], keys: [[UInt8]] = []) {
        let secrets = secrets.compactMap(\.self)
        self.asSent = (asSent.compactMap(\.self) + secrets).filter { !$0.isEmpty }
        searched = secrets.map { Array($0.utf8) } + keys
    }

    /// The words without the secrets. Words that hold one in another form, or a part of one, are withheld as a whole:
    /// nobody can tell what else of them gives the secret away.
    func redacted(_ words: String) -> String {
        var search = SecretSearch(searched)
        // A secret may have words in common with the mark.
        let rest = asSent.reduce(words) { $0.replacing($1, with: "\u{FFFD}") }
        guard !search.finds(in: Array(rest.utf8)) else { return Self.withheld }
        return asSent.reduce(words) { $0.replacing($1, with: Self.mark) }
    }
}
