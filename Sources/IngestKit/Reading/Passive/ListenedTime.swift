/// A clock that runs only while the gateway listens, so that silence is what was listened to and
/// not what could not be heard.
struct ListenedTime: Sendable, Equatable {
    /// What was counted until the clock last started or stopped.
    private var counted: Duration = .zero
    /// When it started; nil while it stands.
    private var runningSince: MonotonicInstant?

    var isRunning: Bool { runningSince != nil }

    /// The listened time at `instant`, which is not before the last start or stop.
    func elapsed(at instant: MonotonicInstant) -> Duration {
        guard let runningSince else { return counted }
        return counted + max(.zero, instant.since(runningSince))
    }

    /// Starts or stops the clock; does nothing if it is so already.
    mutating func run(_ runs: Bool, at instant: MonotonicInstant) {
        guard runs != isRunning else { return }
        counted = elapsed(at: instant)
        runningSince = runs ? instant : nil
    }

    /// When the listened time reaches `goal` if listening goes on; nil while the clock stands.
    func instant(reaching goal: Duration) -> MonotonicInstant? {
        runningSince.map { $0 + max(.zero, goal - counted) }
    }
}
