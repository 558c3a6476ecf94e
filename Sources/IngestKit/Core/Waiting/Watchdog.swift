/// Feeds the service manager's watchdog for as long as the radio's loop and every delivery loop turn, and the disk has
/// not hung for half an hour. It asks nothing of the queue, so that what takes long there does not end the service.
package struct Watchdog: Sendable {
    private let interval: Duration
    private let clock: any GatewayClock
    private let pulse: Pulse
    private let turned: @Sendable () async -> Void
    private let feed: @Sendable () -> Void

    /// - Parameters:
    ///   - interval: half of the watchdog's time-out, as sd_watchdog_enabled(3) recommends.
    ///   - turned: returns once the radio's loop has taken a turn.
    package init(
        interval: Duration, clock: any GatewayClock, pulse: Pulse,
        turned: @escaping @Sendable () async -> Void, feed: @escaping @Sendable () -> Void
    ) {
        self.interval = interval
        self.clock = clock
        self.pulse = pulse
        self.turned = turned
        self.feed = feed
    }

    /// Runs until the task is cancelled.
    package func run() async {
        while (try? await clock.sleep(for: interval)) != nil {
            // A radio that hangs keeps us here.
            await turned()
            if pulse.isAlive { feed() }
        }
    }
}
