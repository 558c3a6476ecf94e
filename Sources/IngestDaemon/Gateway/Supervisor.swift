import ServiceLifecycle
import Synchronization

/// Tells the service manager that the gateway is up and how it fares, and has the watchdog fed while
/// the radio's loop and every delivery loop turn.
struct Supervisor: Service {
    /// How often the status is told where no watchdog sets the pace. Where one does no timer is set: each wakes an idle
    /// processor up.
    private static let interval = Duration.seconds(60)
    /// After that nothing of the start is under way any more.
    private static let startInterval = Duration.seconds(10)

    let clock: JudgedClock
    let loop: RadioLoop
    let pulse: Pulse
    let events: EventLog
    let status: StatusReport
    let metricsFile: MetricsFile
    /// Who tell destinations how the gateway fares.
    let tellers: [StatusTeller]
    /// Raised when something that is told has changed.
    let changes: [WakeUp]
    /// Raised when the watchdog was fed, and the processor is awake: the status is told then.
    private let fed = WakeUp()
    /// Destinations of which it was said that they have no form for some records.
    private let noticed = Notices()

    func run() async throws {
        let timeout = ServiceManager.watchdogTimeout
        await loop.turned()
        events.emit(.started(version: Version.current))
        ServiceManager.ready()
        await cancelWhenGracefulShutdown {
            await withTaskGroup { group in
                if let timeout {
                    // Twice within the time-out, as sd_watchdog_enabled(3) recommends.
                    let watchdog = Watchdog(
                        interval: timeout / 2, clock: clock, pulse: pulse,
                        turned: { [loop] in await loop.turned() },
                        feed: { [fed] in
                            ServiceManager.alive()
                            fed.raise()
                        })
                    group.addTask { await watchdog.run() }
                }
                group.addTask {
                    if (try? await clock.sleep(for: Self.startInterval)) != nil { ProgramPages.unmap() }
                }
                // Beside it: what it asks of the queue may have to wait.
                group.addTask {
                    let changes = changes + [fed]
                    var rest = RestAfterWork()
                    while !Task.isCancelled {
                        // Lowered before anything is looked at: what changes then raises them again.
                        for change in changes { _ = change.consume() }
                        let now = await status.now()
                        ServiceManager.status(tell(now))
                        if rest.begins(with: now) { Allocator.giveBackFreedMemory() }
                        await wait(
                            for: changes, atMost: rest.nextLook ?? (timeout == nil ? Self.interval : nil))
                    }
                }
            }
        }
        await metricsFile.remove()
    }

    /// Returns when the time is over, or something has changed.
    private func wait(for changes: [WakeUp], atMost interval: Duration?) async {
        await withTaskGroup { group in
            if let interval { group.addTask { try? await clock.sleep(for: interval) } }
            for change in changes { group.addTask { await change.wait() } }
            await group.next()
            group.cancelAll()
        }
    }

    /// Writes the metrics; returns the state of the gateway in a line.
    private func tell(_ now: GatewayStatus) -> String {
        metricsFile.write(Metrics(now))
        for teller in tellers { teller.note(now) }
        for destination in now.destinations where destination.skipped > 0 && noticed.isFirst(destination.name)
        {
            StandardError.print(
                "\(destination.name) has no form for \(destination.skipped.counted("record")) so far: not "
                    + "delivered there")
        }
        return now.line
    }
}

/// What was said already in this run.
private final class Notices: Sendable {
    private let said = Mutex<Set<String>>([])

    func isFirst(_ name: String) -> Bool {
        said.withLock { $0.insert(name).inserted }
    }
}
