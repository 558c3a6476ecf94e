import NIOHTTP1

/// A request that has come whole.
package struct HTTPRequest: Sendable {
    package let method: String
    /// As it was sent, without the query.
    package let path: String
    /// What the route names, such as `id` of `/v1/orders/:id`.
    package let parameters: [String: String]
    /// The bytes after the head; nil when they are more than the route takes.
    package let body: [UInt8]?
    /// The user of the process at the other end of a Unix domain socket, when it connected (SO_PEERCRED, unix(7)); nil
    /// elsewhere.
    package let user: UInt32?
    private let query: Substring
    private let headers: HTTPHeaders

    init(_ head: HTTPRequestHead, parameters: [String: String], body: [UInt8]?, user: UInt32?) {
        let parts = head.uri.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        method = head.method.rawValue
        path = String(parts[0])
        query = parts.count > 1 ? parts[1] : ""
        headers = head.headers
        self.parameters = parameters
        self.body = body
        self.user = user
    }

    /// The first value of a header, whose name has no case.
    package func header(_ name: String) -> String? {
        headers.first(name: name)
    }

    /// What the query says of `name`, as it was sent.
    package func query(_ name: String) -> String? {
        for pair in query.split(separator: "&") {
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            if parts[0] == name { return parts.count > 1 ? String(parts[1]) : "" }
        }
        return nil
    }
}

/// What a request is answered with. Its length and what becomes of the connection are said by the server.
package struct HTTPAnswer: Sendable {
    /// 200 to 599.
    package var status: Int
    package var headers: [String: String]
    package var body: [UInt8]

    package init(_ status: Int, headers: [String: String] = [:], body: [UInt8] = []) {
        self.status = status
        self.headers = headers
        self.body = body
    }
}
