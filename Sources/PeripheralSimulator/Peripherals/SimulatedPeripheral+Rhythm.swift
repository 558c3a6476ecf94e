extension SimulatedPeripheral {
    /// When a peripheral wakes up and how long it stays awake.
    package struct Rhythm: Sendable {
        /// From the start to the first wake-up.
        package var firstWakeUp: Duration
        /// From the end of one wake-up to the next one; nil: it wakes up when it is told to.
        package var pause: Duration?
        /// How long it cannot be woken up, once asleep.
        package var shortestSleep: Duration
        /// How long it advertises when nobody connects; nil: it never stops.
        package var patience: Duration?
        /// Between two adverts.
        package var advertInterval: Duration
        /// How long it stays connected after its last reading was confirmed.
        package var linger: Duration
        /// How long nothing may go over a link before it hangs up; nil: it waits.
        package var idle: Duration?
        /// Whether it advertises again as soon as a link has ended.
        package var staysAwake: Bool
        /// Whether its adverts are directed at its bonded central (ADV_DIRECT_IND), so that no scan
        /// reports them.
        package var isDirected = false
        /// Whether it advertises and answers no connection request.
        package var isDeaf = false

        package init(
            firstWakeUp: Duration = .milliseconds(500), pause: Duration? = nil,
            shortestSleep: Duration = .zero, patience: Duration? = .seconds(10),
            advertInterval: Duration = .milliseconds(100), linger: Duration = .seconds(10),
            idle: Duration? = nil, staysAwake: Bool = false
        ) {
            self.firstWakeUp = firstWakeUp
            self.pause = pause
            self.shortestSleep = shortestSleep
            self.patience = patience
            self.advertInterval = advertInterval
            self.linger = linger
            self.idle = idle
            self.staysAwake = staysAwake
        }
    }

    /// Something that a test may wait for.
    package enum Occurrence: Sendable, Equatable {
        case wokeUp
        case connected
        /// So many readings are confirmed by now.
        case confirmed(Int)
        case linkEnded
        case asleep
    }
}
