import IngestRecords

/// The entries of one destination in the configuration file, as its type reads them. What is wrong is told with its place
/// in the file.
package protocol DestinationEntries {
    associatedtype Value: SettingValue

    /// Nil where the key is absent.
    subscript(key: String) -> Value? { get }
    /// The same, where the key has to be there: it is an error if it is absent.
    /// - Parameter what: what was expected, as "a URL".
    func required(_ key: String, _ what: String) -> Value?
    /// A credential whose keys sign requests.
    func signingKey(_ key: String) -> CredentialName?
}

/// One value of the configuration file. What is read is nil where something else stands there, which is told.
package protocol SettingValue {
    /// Text of one line, of 1 to `limit` characters.
    func text(_ what: String, limit: Int) -> String?
    func boolean() -> Bool?
    func choice<Choice: RawRepresentable & CaseIterable>(of type: Choice.Type) -> Choice?
    where Choice.RawValue == String
    /// A list of such, which is not empty.
    /// - Parameter what: what one of them is, as "field".
    func choices<Choice: RawRepresentable & CaseIterable>(_ what: String, of type: Choice.Type) -> [Choice]?
    where Choice.RawValue == String
    /// - Parameter what: what was expected, as "an absolute URI".
    func value<Value>(_ what: String, _ read: (String) -> Value?) -> Value?
    /// A URL of one of these schemes, or of those that are for this machine alone.
    func url(schemes: [String], onLoopback: [String]) -> String?
    func headers() -> [HTTPHeader]
    /// Where and how often status documents go.
    func statusDocuments() -> StatusSettings?
    func error(expected what: String)
    func warning(_ message: String)
}

extension SettingValue {
    func text() -> String? { text("text", limit: 128) }
    func redactedFields() -> Set<RedactedField> { Set(choices("field", of: RedactedField.self) ?? []) }
    func httpURL() -> String? { url(schemes: ["https"], onLoopback: ["http"]) }
}

/// Keys that several types have.
extension KeyDescription {
    static let batch = KeyDescription("batch", "mapping", default: "see its keys", "Records of one request.")
    static let gzip = KeyDescription("gzip", "boolean", default: "`false`", "Compresses request bodies.")
    static let headers = KeyDescription(
        "headers", "mapping of name to value", default: "none",
        "Further headers of each request. No secrets: those are credentials.")
    static let proxy = KeyDescription(
        "proxy", "URL, `http://HOST:PORT` or `socks5://HOST:PORT`", default: "none",
        "The way out. TLS goes through it to the destination.")
    static let status = KeyDescription(
        "status", "mapping", default: "none",
        "Where status documents go: how the gateway fares, also when nobody measures anything.")
    static let oauth = KeyDescription(
        "oauth", "mapping", default: "none",
        "Where the tokens of requests are asked for (RFC 6749, section 4.4), instead of `credential`.")
    static let redact = KeyDescription(
        "redact", "list of \(TextForm.list(RedactedField.allCases.map { "`\($0.rawValue)`" }))",
        default: "none",
        "What this destination does not get of a record.")
}
