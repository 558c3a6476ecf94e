extension DeliveryAnswer {
    /// What an HTTP answer means for a batch (docs/reliability.md has the table).
    /// - Parameters:
    ///   - status: the final status, 200 to 599; anything else is a broken backend.
    ///   - reply: the body, as far as it was kept.
    package init(httpStatus status: Int, retryAfter: Duration?, reply: String?) {
        let error = "HTTP \(status)"
        switch status {
        case 200..<300:
            self = .taken(httpStatus: status)
        case 300..<400:
            self = .misplaced(httpStatus: status, error: "answers with a redirect (HTTP \(status))")
        case 401, 403:
            self = .unauthorized(httpStatus: status)
        // What nginx means by its own 495, 496 and 497, which it sends as 400.
        case 400 where Self.isNginx(reply, "No required SSL certificate was sent"),
            400 where Self.isNginx(reply, "The SSL certificate error"), 495, 496:
            self = .unauthorized(httpStatus: status)
        case 400 where Self.isNginx(reply, "The plain HTTP request was sent to HTTPS port"), 497:
            self = .misplaced(httpStatus: status, error: "expects https:// at this port (HTTP \(status))")
        case 404, 405, 410:
            self = .misplaced(httpStatus: status, error: "does not know the URL (HTTP \(status))")
        case 407:
            self = .misplaced(
                httpStatus: status, error: "is behind a proxy that wants a credential (HTTP 407)")
        case 409:
            self = .inProgress(httpStatus: status, retryAfter: retryAfter)
        case 413:
            self = .tooLarge(httpStatus: status)
        case 425, 429:
            self = .busy(httpStatus: status, error: error, retryAfter: retryAfter)
        case 408:
            self = .unavailable(httpStatus: status, error: error, retryAfter: retryAfter)
        case 400..<500:
            self = .refused(httpStatus: status, error: error, reply: reply)
        default:
            self = .unavailable(httpStatus: status, error: error, retryAfter: retryAfter)
        }
    }

    /// Whether the reply is the page of nginx (ngx_http_special_response.c) that says this. Such an
    /// answer is about the connection, and must not be taken for one about the content.
    private static func isNginx(_ reply: String?, _ sentence: String) -> Bool {
        reply.map { $0.hasPrefix("<html>") && $0.contains("<title>400 \(sentence)</title>") } ?? false
    }
}
