/// How fast a part of long work goes, on average since it began.
struct Pace {
    /// Before that, an average says little.
    private static let patience = Duration.seconds(1)

    private let begin: ContinuousClock.Instant
    /// Of the whole work, what had been done when this part began, from 0 to 1.
    private let done: Double

    init(from begin: ContinuousClock.Instant, done: Double) {
        self.begin = begin
        self.done = done
    }

    /// How many a second, or nil as long as that is not known.
    /// - Parameter count: what this part has brought so far.
    func rate(of count: Int, at now: ContinuousClock.Instant) -> Int? {
        seconds(until: now).map { Int(Double(count) / $0) }
    }

    /// The seconds that the rest of the work takes at this pace, or nil as long as that is not known.
    /// - Parameter share: what has been done of the whole work, from 0 to 1.
    func secondsLeft(at share: Double, _ now: ContinuousClock.Instant) -> Int? {
        guard share > done, let seconds = seconds(until: now) else { return nil }
        // A part that has hardly begun may take for ever by this; nobody waits for longer than a year.
        return Int(min(seconds * (1 - share) / (share - done), 31_536_000).rounded(.up))
    }

    private func seconds(until now: ContinuousClock.Instant) -> Double? {
        let time = now - begin
        return time >= Self.patience ? time / .seconds(1) : nil
    }
}
