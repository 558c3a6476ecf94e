/// How many links one adapter has at a time: as many as are configured, or fewer where its controller has refused
/// another one (Core Specification Vol 1 Part F 2.9 and 2.13: 0x09, Connection Limit Exceeded; 0x0D, Limited Resources).
struct LinkCapacity: Sendable, Equatable {
    /// How long a refusal counts before one more link is tried.
    static let retryInterval: Duration = .seconds(3_600)

    /// Nil: nothing was refused.
    private var lowered: Int?
    /// When one more is tried.
    private(set) var nextTry: MonotonicInstant?

    /// - Parameter configured: 1 to 8.
    func links(configured: Int) -> Int { min(configured, lowered ?? configured) }

    /// The controller refused another link.
    /// - Parameter up: how many links it had, at least 1.
    mutating func refused(with up: Int, at now: MonotonicInstant) {
        lowered = max(1, up)
        nextTry = now + Self.retryInterval
    }

    /// Allows one more link for each hour since the refusal.
    mutating func recover(configured: Int, at now: MonotonicInstant) {
        while let due = nextTry, due <= now, let current = lowered {
            let isWhole = current + 1 >= configured
            lowered = isWhole ? nil : current + 1
            nextTry = isWhole ? nil : due + Self.retryInterval
        }
    }
}
