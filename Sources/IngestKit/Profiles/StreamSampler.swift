/// Picks what becomes a record from a stream of values: one of each interval.
package struct StreamSampler<Value> {
    private let interval: Duration
    private var intervalEnd: MonotonicInstant?
    /// The newest value of this interval, while none of it could be used.
    private var spare: Value?

    package init(interval: Duration) {
        self.interval = interval
    }

    /// A value came.
    /// - Parameter isUsable: whether it holds a number; one that does not stands for its interval
    ///   only if no other does.
    /// - Returns: what becomes a record now, in order.
    package mutating func offer(_ value: Value, isUsable: Bool, at now: MonotonicInstant) -> [Value] {
        var taken: [Value] = []
        if let end = intervalEnd, now < end {
            guard spare != nil else { return [] }
        } else {
            taken = flush()
            intervalEnd = now + interval
            spare = value
        }
        guard isUsable else {
            spare = value
            return taken
        }
        spare = nil
        return taken + [value]
    }

    /// The stream ended, or its interval: what it leaves.
    package mutating func flush() -> [Value] {
        defer { spare = nil }
        return spare.map { [$0] } ?? []
    }
}
