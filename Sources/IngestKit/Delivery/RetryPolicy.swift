/// How long to wait before a batch is sent again: full jitter over a doubling bound, so that many
/// gateways whose backend comes back do not all call at once.
package struct RetryPolicy: Sendable, Hashable {
    /// The bound after the first failure.
    package let base: Duration
    /// What the bound does not grow beyond.
    package let cap: Duration
    /// At most this much of a server's Retry-After is honoured.
    package let retryAfterCap: Duration

    /// 1 s doubling to 5 min; Retry-After up to 1 h.
    package static let standard = RetryPolicy(
        base: .seconds(1), cap: .seconds(300), retryAfterCap: .seconds(3600))

    /// Of status documents, none of which is worth more than the next.
    package static let ofStatus = RetryPolicy(
        base: .seconds(10), cap: .seconds(300), retryAfterCap: .seconds(3600))

    /// - Parameters:
    ///   - failures: in a row, 1 or more.
    ///   - retryAfter: what the server asked for; the wait is not shorter, up to the cap.
    ///   - random: 0 up to 1.
    package func delay(afterFailures failures: Int, retryAfter: Duration?, random: Double) -> Duration {
        var bound = base
        for _ in 1..<max(failures, 1) where bound < cap { bound *= 2 }
        let jittered = min(bound, cap) * min(max(random, 0), 1)
        guard let retryAfter else { return jittered }
        return max(jittered, min(retryAfter, retryAfterCap))
    }

    /// After an answer that says that the credential or the URL is wrong. It may be over soon, as while a backend is
    /// brought up to date: the first ones are like other failures. Then the wait has no jitter.
    /// - Parameter rejections: in a row, 1 or more.
    package func delay(afterRejections rejections: Int, random: Double) -> Duration {
        rejections <= 5 ? delay(afterFailures: rejections, retryAfter: nil, random: random) : cap
    }
}
