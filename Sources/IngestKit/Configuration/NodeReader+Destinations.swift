import Yams

/// What types of destinations read.
extension NodeReader: SettingValue {
    func choice<Choice: RawRepresentable & CaseIterable>(of type: Choice.Type) -> Choice?
    where Choice.RawValue == String {
        choice(among: Array(type.allCases))
    }

    func choices<Choice: RawRepresentable & CaseIterable>(_ what: String, of type: Choice.Type) -> [Choice]?
    where Choice.RawValue == String {
        list(what) { $0.choice(of: type) }
    }

    /// A URL of one of these schemes, or of those that are for this machine alone.
    func url(schemes: [String], onLoopback: [String] = []) -> String? {
        let prefixes = TextForm.list(schemes.map { $0 + "://" })
        guard let text = node.scalar?.string, let url = URLText(text) else {
            // A URL may hold a secret, so it is not repeated.
            error(expected: "a URL that begins with \(prefixes)")
            return nil
        }
        if url.hasUserInformation {
            error(expected: "a URL without user and password; use credential")
            return nil
        }
        if onLoopback.contains(url.scheme) {
            guard url.isLoopback else {
                error(
                    expected:
                        "\(prefixes): \(url.scheme):// is for this machine only (localhost, 127.0.0.1, ::1)"
                )
                return nil
            }
        } else if !schemes.contains(url.scheme) {
            error(expected: "a URL that begins with \(prefixes)")
            return nil
        }
        return text
    }

    /// Nil without the URL that it must have.
    func statusDocuments() -> StatusSettings? {
        guard let entries = mapping(ConfigurationKeys.status) else { return nil }
        let url = entries.required("url", "a URL")?.url(schemes: ["https"], onLoopback: ["http"])
        let interval = entries["every"]?.duration(.seconds(60)...(.seconds(86_400)))
        return url.map { StatusSettings(url: $0, interval: interval ?? StatusSettings.usualInterval) }
    }

    /// Headers of requests that are not the gateway's own, and hold no secret.
    func headers() -> [HTTPHeader] {
        var names: Set<String> = []
        return (pairs() ?? []).compactMap { name, mark, value in
            // Field names are tokens (RFC 9110 5.6.2); these letters are all that is in use.
            guard TextForm.isName(name, limit: 64) else {
                log.error(at: mark, key: value.key, expected: "the name of a header")
                return nil
            }
            guard names.insert(name.lowercased()).inserted else {
                log.error(at: mark, key: value.key, "this header stands here twice: case does not count")
                return nil
            }
            switch name.lowercased() {
            case "authorization", "proxy-authorization", "cookie":
                log.error(at: mark, key: value.key, expected: "no secrets here; use credential")
                return nil
            case "host", "content-length", "content-type", "content-encoding", "transfer-encoding",
                "connection", "idempotency-key", "webhook-id", "webhook-timestamp", "webhook-signature",
                "expect", "te", "trailer", "upgrade":
                log.error(at: mark, key: value.key, "this header is the gateway's own")
                return nil
            default:
                guard let text = value.text(limit: 1024) else { return nil }
                return HTTPHeader(name: name, value: text)
            }
        }
    }
}
