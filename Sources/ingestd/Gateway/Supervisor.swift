import BlueZBridge
import IngestKit
import ServiceLifecycle
import Synchronization

/// When each delivery loop was last seen to turn.
final class Pulse: Sendable {
    /// Longer than the longest request with its time-outs; a loop that is silent for so long hangs.
    static let bound = Duration.seconds(150)

    private let clock: SystemClock
    private let beats = Mutex<[String: MonotonicInstant]>([:])

    init(clock: SystemClock) {
        self.clock = clock
    }

    /// Expects a beat under this name from now on.
    func register(_ name: String) -> @Sendable () -> Void {
        beat(name)
        return { [self] in beat(name) }
    }

    private func beat(_ name: String) {
        let now = clock.now
        beats.withLock { $0[name] = now }
    }

    /// Whether every loop has turned lately.
    var isAlive: Bool {
        let now = clock.now
        return beats.withLock { $0.values.allSatisfy { now.since($0) < Self.bound } }
    }
}

/// Tells the service manager that the gateway is up and how it fares, and feeds the watchdog while
/// the radio's loop and every delivery loop turn.
struct Supervisor: Service {
    /// How often the status is told where no watchdog sets the pace.
    private static let defaultInterval = Duration.seconds(60)

    let clock: JudgedClock
    let loop: RadioLoop
    let pulse: Pulse
    let events: EventLog
    let status: StatusReport
    let metricsFile: MetricsFile
    /// Destinations of which it was said that they have no form for some records.
    private let noticed = Notices()

    init(
        clock: JudgedClock, loop: RadioLoop, pulse: Pulse, events: EventLog, status: StatusReport,
        metricsFile: MetricsFile
    ) {
        self.clock = clock
        self.loop = loop
        self.pulse = pulse
        self.events = events
        self.status = status
        self.metricsFile = metricsFile
    }

    func run() async throws {
        let timeout = ServiceManager.watchdogTimeout
        // Twice within the time-out, as sd_watchdog_enabled(3) recommends.
        let interval = timeout.map { $0 / 2 } ?? Self.defaultInterval
        await loop.turned()
        events.emit(.started(version: Version.current))
        ServiceManager.ready(status: await tell())
        await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                do {
                    try await clock.sleep(for: interval)
                } catch {
                    return
                }
                // A radio that hangs keeps us here, and the watchdog unfed.
                await loop.turned()
                guard pulse.isAlive else { continue }
                ServiceManager.alive()
                ServiceManager.status(await tell())
            }
        }
    }

    /// Writes the metrics; returns the state of the gateway in a line.
    private func tell() async -> String {
        let now = await status.now()
        metricsFile.write(Metrics(now))
        for destination in now.destinations where destination.skipped > 0 && noticed.isFirst(destination.name) {
            StandardError.print(
                "\(destination.name) has no form for \(destination.skipped) records so far: they are not "
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
