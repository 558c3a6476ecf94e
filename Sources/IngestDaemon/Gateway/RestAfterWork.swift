/// Notices that the gateway is at rest again after it had work, by what its status says.
struct RestAfterWork {
    /// How long nothing must have changed.
    static let shortest = Duration.seconds(20)

    private struct Work: Equatable {
        let bytes: UInt64?
        let submitted: [Int]
    }

    private var last: Work?
    private var hasWorked = false

    /// When the status is to be looked at again.
    var nextLook: Duration? { hasWorked ? Self.shortest : nil }

    /// - Returns: whether this status is the first without work since the last one with it.
    mutating func begins(with status: GatewayStatus) -> Bool {
        let work = Work(bytes: status.queue.bytes, submitted: status.destinations.map(\.submitted))
        defer { last = work }
        let wasAtWork = hasWorked
        hasWorked = last.map { $0 != work } ?? true
        return wasAtWork && !hasWorked
    }
}
