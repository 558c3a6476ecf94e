import NIOHTTP1

/// A request that has come whole.
public struct HTTPRequest: Sendable {
    public let method: String
    /// As it was sent, without the query.
    public let path: String
    /// What the route names, such as `id` of `/v1/orders/:id`.
    public let parameters: [String: String]
    /// The bytes after the head; nil when they are more than the route takes.
    public let body: [UInt8]?
    private let query: Substring
    private let headers: HTTPHeaders

    init(_ head: HTTPRequestHead, parameters: [String: String], body: [UInt8]?) {
        let parts = head.uri.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        method = head.method.rawValue
        path = String(parts[0])
        query = parts.count > 1 ? parts[1] : ""
        headers = head.headers
        self.parameters = parameters
        self.body = body
    }

    /// The first value of a header, whose name has no case.
    public func header(_ name: String) -> String? {
        headers.first(name: name)
    }

    /// What the query says of `name`, as it was sent.
    public func query(_ name: String) -> String? {
        for pair in query.split(separator: "&") {
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            if parts[0] == name { return parts.count > 1 ? String(parts[1]) : "" }
        }
        return nil
    }
}

/// What a request is answered with. Its length and what becomes of the connection are said by the server.
public struct HTTPAnswer: Sendable {
    /// 200 to 599.
    public var status: Int
    public var headers: [String: String]
    public var body: [UInt8]

    public init(_ status: Int, headers: [String: String] = [:], body: [UInt8] = []) {
        self.status = status
        self.headers = headers
        self.body = body
    }
}
