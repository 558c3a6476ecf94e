extension SimulatedPeripheral {
    /// When a peripheral wakes up and how long it stays awake.
    public struct Rhythm: Sendable {
        /// From the start to the first wake-up.
        public var firstWakeUp: Duration
        /// From the end of one wake-up to the next one; nil: it wakes up when it is told to.
        public var pause: Duration?
        /// How long it cannot be woken up, once asleep.
        public var shortestSleep: Duration
        /// How long it advertises when nobody connects; nil: it never stops.
        public var patience: Duration?
        /// Between two adverts.
        public var advertInterval: Duration
        /// How long it stays connected after its last reading was confirmed.
        public var linger: Duration
        /// How long nothing may go over a link before it hangs up; nil: it waits.
        public var idle: Duration?
        /// Whether it advertises again as soon as a link has ended.
        public var staysAwake: Bool
        /// Whether its adverts are directed at its bonded central (ADV_DIRECT_IND), so that no scan
        /// reports them.
        public var isDirected = false

        public init(
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
    public enum Occurrence: Sendable, Equatable {
        case wokeUp
        case connected
        /// So many readings are confirmed by now.
        case confirmed(Int)
        case linkEnded
        case asleep
    }
}
