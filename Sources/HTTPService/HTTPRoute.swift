/// Which requests are answered by what.
package struct HTTPRoute: Sendable {
    let method: String?
    let path: String
    let bodyLimit: Int
    let answer: @Sendable (HTTPRequest) async -> HTTPAnswer

    /// - Parameters:
    ///   - method: nil for any.
    ///   - path: its parts; one that begins with a colon is a parameter. `*` alone is any path.
    ///   - bodyLimit: the most that is taken of a body, in bytes.
    package init(
        _ method: String?, _ path: String, bodyLimit: Int,
        answer: @escaping @Sendable (HTTPRequest) async -> HTTPAnswer
    ) {
        self.method = method
        self.path = path
        self.bodyLimit = bodyLimit
        self.answer = answer
    }

    /// The parameters in a request of this route; nil when it is none.
    func parameters(method: String, path: Substring) -> [String: String]? {
        guard self.method == nil || self.method == method else { return nil }
        if self.path == "*" { return [:] }
        let names = self.path.split(separator: "/", omittingEmptySubsequences: false)
        let parts = path.split(separator: "/", omittingEmptySubsequences: false)
        guard names.count == parts.count else { return nil }
        var parameters: [String: String] = [:]
        for (name, part) in zip(names, parts) {
            if name.first == ":" {
                parameters[String(name.dropFirst())] = String(part)
            } else if name != part {
                return nil
            }
        }
        return parameters
    }
}
