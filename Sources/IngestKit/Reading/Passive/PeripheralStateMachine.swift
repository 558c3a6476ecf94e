/// When one peripheral is to be read: once for each time that it wakes up.
///
/// A peripheral goes on advertising for a while after it was read, so it is left alone until it has
/// been silent. A read that failed is tried again while the peripheral advertises, ever more rarely.
/// Silence counts only while the gateway listens (`ListenedTime`).
///
/// Where it cannot be observed, because the peripheral advertises to its bonded central only, time
/// takes its place (`isDirected`): left alone after a read for as long as one that falls silent with
/// its link's end, and its failures forgotten when none has come for the longest back-off.
///
/// Pure: it is told what happens and when. What has become due by the time of an input is done
/// before the input is looked at, so a late `tick` changes nothing.
struct PeripheralStateMachine: Sendable, Equatable {
    enum State: Sendable, Equatable {
        /// To be read at its next advert.
        case idle
        /// Being read, for the `attempt`-th time since it woke up, from 1.
        case reading(attempt: Int)
        /// Was read, and has not been silent since. `heard` is the listened time at its last
        /// advert, or at the read's end; at `rearm` it is read again although it never was silent.
        case quieting(heard: Duration, rearm: MonotonicInstant?)
        /// Was silent from the listened time `since` on, and may still go on advertising.
        case cooling(since: Duration, rearm: MonotonicInstant?)
        /// `failures` reads in a row failed; not to be read before `until`. `heard` as above.
        case backingOff(failures: Int, until: MonotonicInstant, heard: Duration)
    }

    enum Input: Sendable, Equatable {
        case advert
        case readStarted
        case readSucceeded
        /// With a random number, 0 to 1, for the back-off.
        case readFailed(jitter: Double)
        /// The read made room for another one: it is to be repeated.
        case readYielded
        /// The failed read is to be repeated at the next advert.
        case backOffEnded
        /// The scan that hears this peripheral runs, and no connection attempt holds it up; or not.
        case listening(Bool)
        /// Time has passed.
        case tick
    }

    enum Output: Sendable, Equatable {
        case none
        /// It wants to be read now. It goes on wanting it with every advert until `readStarted`.
        case read
    }

    private(set) var state: State = .idle
    private(set) var listened = ListenedTime()
    /// A change holds from the next input on.
    var timing: PassiveTiming
    /// For a model that never stops advertising: it is read again so long after a read.
    var rearm: Duration?
    /// Its adverts are not heard, or not all.
    var isDirected = false

    init(timing: PassiveTiming, rearm: Duration? = nil) {
        self.timing = timing
        self.rearm = rearm
    }

    /// Takes one input. Those that mean nothing in the present state change nothing.
    mutating func handle(_ input: Input, at now: MonotonicInstant) -> Output {
        while let due = transition(dueBy: now) { state = due }
        switch (state, input) {
        case (_, .listening(let isListening)):
            listened.run(isListening, at: now)
        case (.idle, .advert):
            return .read
        case (.idle, .readStarted):
            state = .reading(attempt: 1)
        case (.backingOff(let failures, _, _), .readStarted):
            state = .reading(attempt: failures + 1)
        case (.reading, .readSucceeded):
            let pause = isDirected ? timing.quietPeriod + timing.cooldown : rearm
            state = .quieting(heard: listened.elapsed(at: now), rearm: pause.map { now + $0 })
        case (.reading(let attempt), .readFailed(let jitter)):
            let delay = timing.backOff(failures: attempt, jitter: jitter)
            state = .backingOff(failures: attempt, until: now + delay, heard: listened.elapsed(at: now))
        case (.reading(let attempt), .readYielded):
            state =
                attempt == 1
                ? .idle
                : .backingOff(failures: attempt - 1, until: now, heard: listened.elapsed(at: now))
        case (.quieting(let heard, let rearm), .advert):
            // Adverts can arrive late, but take nothing back.
            let pause = timing.quietPeriod + timing.cooldown
            state = .quieting(
                heard: max(heard, listened.elapsed(at: now)),
                rearm: isDirected ? rearm.map { max($0, now + pause) } : rearm)
        case (.cooling(let since, let rearm), .advert):
            state = .quieting(heard: max(since, listened.elapsed(at: now)), rearm: rearm)
        case (.backingOff(let failures, let until, let heard), .advert):
            let heard = max(heard, listened.elapsed(at: now))
            state = .backingOff(failures: failures, until: until, heard: heard)
            return until <= now ? .read : .none
        case (.backingOff(let failures, let until, let heard), .backOffEnded):
            state = .backingOff(failures: failures, until: min(until, now), heard: heard)
        case (_, .advert), (_, .readStarted), (_, .readSucceeded), (_, .readFailed), (_, .readYielded),
            (_, .backOffEnded), (_, .tick):
            break
        }
        return .none
    }

    /// When time alone changes the state; nil if it does not, as things stand.
    var nextDeadline: MonotonicInstant? {
        next?.at
    }

    /// From when on a connection attempt may wait for it; nil if time alone does not bring that.
    var attemptsFrom: MonotonicInstant? {
        switch state {
        case .idle: MonotonicInstant(nanoseconds: 0)
        case .reading, .cooling: nil
        case .quieting(_, let rearm): rearm
        case .backingOff(_, let until, _): until
        }
    }

    /// What the next read's `attempt` would be, from 1.
    var nextAttempt: Int {
        if case .backingOff(let failures, _, _) = state { failures + 1 } else { 1 }
    }

    /// Whether its adverts matter though it is not to be read now.
    var needsListening: Bool {
        switch state {
        case .idle, .reading: false
        case .quieting, .cooling, .backingOff: !isDirected
        }
    }

    private func transition(dueBy now: MonotonicInstant) -> State? {
        guard let next, next.at <= now else { return nil }
        return next.state
    }

    /// What time alone does next, and when.
    private var next: (at: MonotonicInstant, state: State)? {
        switch state {
        case .idle, .reading:
            return nil
        case .quieting(let heard, let rearm):
            if isDirected, let rearm { return (rearm, .idle) }
            let goal = heard + timing.quietPeriod
            let silent = listened.instant(reaching: goal)
            if let rearm, silent.map({ rearm < $0 }) ?? true { return (rearm, .idle) }
            return silent.map { ($0, .cooling(since: goal, rearm: rearm)) }
        case .cooling(let since, _):
            return listened.instant(reaching: since + timing.cooldown).map { ($0, .idle) }
        case .backingOff(_, let until, _) where isDirected:
            return (until + timing.longestBackOff, .idle)
        case .backingOff(_, _, let heard):
            return listened.instant(reaching: heard + timing.quietPeriod).map { ($0, .idle) }
        }
    }
}
