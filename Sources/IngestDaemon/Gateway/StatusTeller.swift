import FoundationEssentials
import Synchronization

/// Sends a destination the status document: soon after the start, soon after a problem has begun or ended, and after an
/// interval at the latest. Nothing is queued, and what fails is tried again with a newer document. Records do not wait for
/// it.
final class StatusTeller: Sendable {
    /// By then what changes together has changed, and a start is over.
    static let settling = Duration.seconds(5)
    /// Between two documents, however often something changes.
    static let pause = Duration.seconds(60)
    /// After so many failures in a row `ingestd status` names the destination. Fewer do not matter, because the next
    /// document replaces the one that was lost.
    static let failuresTold = 3

    private struct Waiting {
        /// The latest moment for the next document.
        var due: MonotonicInstant
        /// Whether a change brings it forward, and to no sooner than when.
        var earliest: MonotonicInstant?
    }

    private let destination: String
    private let outlet: StatusOutlet
    private let clock: JudgedClock
    private let policy: RetryPolicy
    private let random: @Sendable () -> Double
    private let now: @Sendable () async -> GatewayStatus
    private let standing: StatusStanding
    /// The problems that were told last.
    private let told = Mutex<[String]?>(nil)

    /// - Parameters:
    ///   - now: asks all parts of the gateway how they fare.
    ///   - standing: gets to know what fails.
    ///   - random: 0 up to 1, for the jitter.
    init(
        to destination: String, by outlet: StatusOutlet, clock: JudgedClock, standing: StatusStanding,
        policy: RetryPolicy = .ofStatus,
        random: @escaping @Sendable () -> Double = { .random(in: 0..<1) },
        now: @escaping @Sendable () async -> GatewayStatus
    ) {
        self.destination = destination
        self.outlet = outlet
        self.clock = clock
        self.policy = policy
        self.random = random
        self.standing = standing
        self.now = now
    }

    /// Somebody has asked how the gateway fares, and this came of it.
    func note(_ status: GatewayStatus) {
        let isChanged = told.withLock { $0.map { $0 != status.publicProblems } ?? false }
        if isChanged { outlet.changes.raise() }
    }

    /// Returns when the task is cancelled.
    func run() async {
        var waiting = Waiting(due: clock.now + Self.settling)
        while !Task.isCancelled {
            // Not looked at while there is nothing that it would change.
            if let earliest = waiting.earliest, outlet.changes.consume() {
                waiting.due = min(waiting.due, max(clock.now + Self.settling, earliest))
                waiting.earliest = nil
            }
            if clock.now >= waiting.due {
                waiting = await send()
            } else {
                await wait(for: waiting)
            }
        }
    }

    private var failures: Int { standing.failures(of: destination) }

    private func send() async -> Waiting {
        let status = await now()
        let document = StatusDocument(
            status, kernel: RunningKernel.version,
            wallSeconds: clock.trustedWallNanoseconds.map { $0 / 1_000_000_000 },
            without: outlet.redacted)
        let failure = await outlet.send(Array(document.json.utf8)).failure
        guard !Task.isCancelled else { return Waiting(due: clock.now) }
        standing.note(failure?.error, of: destination)
        guard let failure else {
            told.withLock { $0 = status.publicProblems }
            // Of what this one made: a new connection, or the end of its own failure.
            _ = outlet.changes.consume()
            return Waiting(due: clock.now + outlet.interval, earliest: clock.now + Self.pause)
        }
        let delay = policy.delay(afterFailures: failures, retryAfter: failure.retryAfter, random: random())
        return Waiting(due: clock.now + max(delay, policy.base))
    }

    private func wait(for waiting: Waiting) async {
        let (clock, changes) = (clock, outlet.changes)
        await withTaskGroup { group in
            group.addTask { try? await clock.sleep(until: waiting.due) }
            if waiting.earliest != nil { group.addTask { await changes.wait() } }
            await group.next()
            group.cancelAll()
        }
    }
}

/// Which destinations do not take status documents, for the status.
final class StatusStanding: Sendable {
    private struct Failing {
        var count = 0
        var error = ""
    }

    private let failing = Mutex<[String: Failing]>([:])

    /// One sentence for each of them, with what to do.
    var problems: [String] {
        failing.withLock { failing in
            failing.filter { $0.value.count >= StatusTeller.failuresTold }.sorted { $0.key < $1.key }.map {
                "\($0.key) does not take status documents (\($0.value.error)): they are tried again by themselves"
            }
        }
    }

    /// In a row.
    func failures(of destination: String) -> Int { failing.withLock { $0[destination]?.count ?? 0 } }

    /// - Parameter error: in our words; nil when a document was taken.
    func note(_ error: String?, of destination: String) {
        failing.withLock { failing in
            failing[destination] = error.map {
                Failing(count: (failing[destination]?.count ?? 0) + 1, error: $0)
            }
        }
    }
}

/// The version of the kernel that runs.
enum RunningKernel {
    /// As `uname -r` prints it; nil where it cannot be read.
    static let version: String? = {
        let text = try? String(contentsOfFile: "/proc/sys/kernel/osrelease", encoding: .utf8)
        return text.map { $0.filter { !$0.isWhitespace } }
    }()
}
