import Synchronization

/// How fast the outbox writes: journald drops without a word what a unit writes beyond its limit
/// (journald.conf(5), RateLimitBurst=; `LogRateLimitBurst=` in systemd/ingestd.service), and the numbers of events would
/// have gaps.
package final class TellingPace: Sendable {
    /// The unit's limit, 20,000 entries in 30 s, less a fifth for the events that no outbox holds: what is there at once,
    /// and what comes in 30 s.
    static let burst = 4_000
    static let perSecond = 400

    private let burst: Int
    private let perSecond: Int
    /// Until when what was written has used the pace up, beyond the burst; nil before the first entry.
    private let usedUntil = Mutex<MonotonicInstant?>(nil)

    package init(burst: Int = TellingPace.burst, perSecond: Int = TellingPace.perSecond) {
        self.burst = burst
        self.perSecond = perSecond
    }

    /// Notes that so many entries are about to be written.
    /// - Returns: how long to wait before.
    func take(_ count: Int, at now: MonotonicInstant) -> Duration {
        usedUntil.withLock { used in
            let end = max(used ?? now, now) + .seconds(count) / perSecond
            used = end
            return max(.zero, end.since(now) - .seconds(burst) / perSecond)
        }
    }
}
