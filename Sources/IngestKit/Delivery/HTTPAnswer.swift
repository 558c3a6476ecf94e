extension DeliveryAnswer {
    /// What an HTTP answer means for a batch (docs/reliability.md has the table).
    /// - Parameters:
    ///   - status: the final status, 200 to 599; anything else is a broken backend.
    ///   - reply: the body, as far as it was kept.
    public init(httpStatus status: Int, retryAfter: Duration?, reply: String?) {
        let error = "HTTP \(status)"
        switch status {
        case 200..<300:
            self = .taken(httpStatus: status)
        case 300..<400:
            self = .misplaced(httpStatus: status, error: "answers with a redirect (HTTP \(status))")
        case 401, 403:
            self = .unauthorized(httpStatus: status)
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
}
