/// The times that passive reading lives by.
package struct PassiveTiming: Sendable, Hashable {
    /// A device that was not heard for so long, while listened for, has stopped advertising.
    package var quietPeriod: Duration
    /// A device stays silent for so much longer before its next advert is a new wake-up.
    package var cooldown: Duration
    /// The back-off after the first failed read; it doubles with each further one.
    package var firstBackOff: Duration
    /// Where the back-off stops doubling.
    package var longestBackOff: Duration
    /// Between the records of a streaming profile.
    package var streamInterval: Duration
    /// How long a streaming profile holds its link.
    package var streamMaximum: Duration

    package init(
        quietPeriod: Duration = .seconds(10), cooldown: Duration = .seconds(5),
        firstBackOff: Duration = .seconds(2), longestBackOff: Duration = .seconds(300),
        streamInterval: Duration = .seconds(60), streamMaximum: Duration = .seconds(600)
    ) {
        self.streamInterval = streamInterval
        self.streamMaximum = streamMaximum
        self.quietPeriod = quietPeriod
        self.cooldown = cooldown
        self.firstBackOff = firstBackOff
        self.longestBackOff = longestBackOff
    }

    /// How long a device is left alone after its `failures`-th failed read in a row.
    ///
    /// Half of the delay is fixed and half is random ("equal jitter"): two gateways that collided
    /// at one peripheral part, and no retry follows on the heels of a failure.
    /// - Parameter failures: from 1.
    /// - Parameter jitter: random, 0 to 1.
    func backOff(failures: Int, jitter: Double) -> Duration {
        var delay = firstBackOff
        var doublings = failures - 1
        while doublings > 0, delay < longestBackOff {
            delay *= 2
            doublings -= 1
        }
        return min(delay, longestBackOff) * (0.5 + min(max(jitter, 0), 1) / 2)
    }
}
