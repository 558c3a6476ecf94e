/// When one peripheral is to be read: once for each time that it wakes up.
///
/// A peripheral goes on advertising for a while after it was read, so it is left alone until it has
/// been silent. A read that failed is tried again while the peripheral advertises, ever more rarely.
///
/// Deafness is not silence. Silence counts only while the gateway listens, and from when its adapter has
/// proved that it receives: by a sign, which is any advert, whoever's. It is proved when a sign has come in
/// its last `closingTime` too. Without any sign it takes `unprovenShare` times as long.
///
/// Where it cannot be observed, because the peripheral advertises to its bonded central only, time
/// takes its place (`isDirected`): left alone after a read for as long as one that falls silent with
/// its link's end, and its failures forgotten when none has come for the longest back-off.
///
/// Pure: it is told what happens and when. What has become due by the time of an input is done
/// before the input is looked at, so a late `tick` changes nothing.
struct PeripheralStateMachine: Sendable, Equatable {
    /// The last part of a silence, in which a sign has to come.
    static let closingTime: Duration = .seconds(2)
    /// How many times as long a silence lasts in a home where nothing else advertises.
    static let unprovenShare = 3

    /// A point of the machine's two clocks.
    struct Moment: Sendable, Equatable {
        /// For how long the gateway had listened.
        var listened: Duration
        /// For how much of that its adapter was known to receive.
        var received: Duration
    }

    enum State: Sendable, Equatable {
        /// To be read at its next advert.
        case idle
        /// Being read, for the `attempt`-th time since it woke up, from 1.
        case reading(attempt: Int)
        /// Was read, and has not been silent since. `heard` is when its last advert came, or when the
        /// read ended; at `rearm` it is read again although it never was silent.
        case quieting(heard: Moment, rearm: MonotonicInstant?)
        /// Was silent, proved or not, as was found at `since`; may still go on advertising.
        case cooling(since: Moment, rearm: MonotonicInstant?, isProved: Bool)
        /// `failures` reads in a row failed; not to be read before `until`. `heard` as above.
        case backingOff(failures: Int, until: MonotonicInstant, heard: Moment)
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
        /// Since that scan was last held up, or a link ended, its adapter has received something; or not.
        /// While nobody listens it has not.
        case receiving(Bool)
        /// An adapter that hears this peripheral has received something, whoever's.
        case sign
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
    private(set) var received = ListenedTime()
    /// The received time at the last sign.
    private var signed: Duration = .zero
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
            if !isListening { received.run(false, at: now) }
        case (_, .receiving(let isReceiving)):
            let begins = isReceiving && listened.isRunning && !received.isRunning
            received.run(isReceiving && listened.isRunning, at: now)
            // What has proved it was a sign.
            if begins { signed = received.elapsed(at: now) }
        case (_, .sign):
            signed = received.elapsed(at: now)
        case (.idle, .advert):
            return .read
        case (.idle, .readStarted):
            state = .reading(attempt: 1)
        case (.backingOff(let failures, _, _), .readStarted):
            state = .reading(attempt: failures + 1)
        case (.reading, .readSucceeded):
            let pause = isDirected ? timing.quietPeriod + timing.cooldown : rearm
            state = .quieting(heard: moment(at: now), rearm: pause.map { now + $0 })
        case (.reading(let attempt), .readFailed(let jitter)):
            let delay = timing.backOff(failures: attempt, jitter: jitter)
            state = .backingOff(failures: attempt, until: now + delay, heard: moment(at: now))
        case (.reading(let attempt), .readYielded):
            state =
                attempt == 1
                ? .idle
                : .backingOff(failures: attempt - 1, until: now, heard: moment(at: now))
        case (.quieting(let heard, let rearm), .advert):
            // Adverts can arrive late, but take nothing back.
            let pause = timing.quietPeriod + timing.cooldown
            state = .quieting(
                heard: moment(at: now, notBefore: heard),
                rearm: isDirected ? rearm.map { max($0, now + pause) } : rearm)
        case (.cooling(let since, let rearm, _), .advert):
            state = .quieting(heard: moment(at: now, notBefore: since), rearm: rearm)
        case (.backingOff(let failures, let until, let heard), .advert):
            let heard = moment(at: now, notBefore: heard)
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

    /// When time alone changes the state, if no sign comes before; nil if it does not, as things stand.
    var nextDeadline: MonotonicInstant? {
        next?.at
    }

    /// From when on a sign is waited for; nil if none is, as things stand.
    var signFrom: MonotonicInstant? {
        guard !isDirected, listened.isRunning else { return nil }
        switch state {
        case .idle, .reading: return nil
        case .cooling(_, _, let isProved):
            return isProved && !received.isRunning ? MonotonicInstant(nanoseconds: 0) : nil
        case .quieting(let heard, _), .backingOff(_, _, let heard):
            let closing = closing(of: heard)
            guard received.isRunning else { return MonotonicInstant(nanoseconds: 0) }
            return signed < closing ? received.instant(reaching: closing) : nil
        }
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

    private func moment(at instant: MonotonicInstant) -> Moment {
        Moment(listened: listened.elapsed(at: instant), received: received.elapsed(at: instant))
    }

    /// Adverts can arrive late, but take nothing back.
    private func moment(at instant: MonotonicInstant, notBefore earliest: Moment) -> Moment {
        let moment = moment(at: instant)
        return Moment(
            listened: max(earliest.listened, moment.listened),
            received: max(earliest.received, moment.received))
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
            let silence = silence(since: heard)
            if let rearm, silence.map({ rearm < $0.at }) ?? true { return (rearm, .idle) }
            return silence.map {
                ($0.at, .cooling(since: moment(at: $0.at), rearm: rearm, isProved: $0.isProved))
            }
        case .cooling(let since, _, let isProved):
            let end =
                isProved
                ? received.instant(reaching: since.received + timing.cooldown)
                : listened.instant(reaching: since.listened + timing.cooldown)
            return end.map { ($0, .idle) }
        case .backingOff(_, let until, _) where isDirected:
            return (until + timing.longestBackOff, .idle)
        case .backingOff(_, _, let heard):
            return silence(since: heard).map { ($0.at, .idle) }
        }
    }

    /// From which received time on a sign proves the silence that has begun at `heard`.
    private func closing(of heard: Moment) -> Duration {
        heard.received + max(.zero, timing.quietPeriod - Self.closingTime)
    }

    /// When the silence that has begun at `heard` is one, if nothing more is heard than has been.
    private func silence(since heard: Moment) -> (at: MonotonicInstant, isProved: Bool)? {
        let unproved = listened.instant(
            reaching: heard.listened + timing.quietPeriod * Self.unprovenShare)
        let proved =
            signed >= closing(of: heard)
            ? received.instant(reaching: max(signed, heard.received + timing.quietPeriod)) : nil
        if let proved, unproved.map({ proved <= $0 }) ?? true { return (proved, true) }
        return unproved.map { ($0, false) }
    }
}
