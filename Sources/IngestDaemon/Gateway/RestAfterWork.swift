/// Notices that the gateway is at rest again after it had work, by what its status says; knows when the status is to be
/// looked at again.
struct RestAfterWork {
    /// How long nothing must have changed.
    static let shortest = Duration.seconds(20)
    /// How soon a queue that did not answer in time is asked again. Until then the status says that the disk does not
    /// answer.
    static let afterNoAnswer = Duration.seconds(5)

    private struct Work: Equatable {
        let bytes: UInt64
        let submitted: [Int]
    }

    private var last: Work?
    private var hasWorked = false
    private var hasAnswer = true

    /// When the status is to be looked at again.
    var nextLook: Duration? { !hasAnswer ? Self.afterNoAnswer : hasWorked ? Self.shortest : nil }

    /// - Returns: whether this status is the first without work since the last one with it. One without the queue's
    ///   answer says nothing of work.
    mutating func begins(with status: GatewayStatus) -> Bool {
        hasAnswer = status.queue.bytes != nil
        guard let bytes = status.queue.bytes else { return false }
        let work = Work(bytes: bytes, submitted: status.destinations.map(\.submitted))
        defer { last = work }
        let wasAtWork = hasWorked
        hasWorked = last.map { $0 != work } ?? true
        return wasAtWork && !hasWorked
    }
}
