/// When an adapter is switched off and on because its controller does not work any more: one that stops answering does
/// not begin again by itself, and commands that are repeated do not help.
///
/// Pure: it is told what happens and when.
package struct AdapterRecovery: Sendable, Equatable {
    package enum Reason: Sendable, Equatable {
        /// The kernel or the controller did not answer a command in its time.
        case unanswered(opcode: UInt16)
        /// The kernel has been busy with a connection attempt for `longestAttempt`.
        case endlessAttempt
        /// Nothing at all was heard for `longestSilence` by an adapter that had always heard something.
        case nothingHeard

        /// Our words for it.
        package var message: String {
            switch self {
            case .unanswered(let opcode): "no answer to command 0x\(String(opcode, radix: 16))"
            case .endlessAttempt: "a connection attempt that does not end"
            case .nothingHeard:
                "nothing heard for 30 min, after a day in which each half hour brought something"
            }
        }
    }

    /// So long its links may go on before it is switched off.
    package static let longestDelay: Duration = .seconds(900)
    /// From one try to the next: of the first ones, and of all others.
    package static let firstRetry: Duration = .seconds(60)
    package static let retry: Duration = .seconds(900)
    /// The same where the reason is that nothing is heard: a home may have become quiet.
    package static let silenceRetry: Duration = .seconds(21_600)
    /// After so many failed tries in a row the status says that they do not help.
    package static let hopefulTries = 3
    /// The kernel ends an attempt of its own after 20 s (HCI_LE_CONN_TIMEOUT).
    package static let longestAttempt: Duration = .seconds(300)
    /// With the filter open, which it is from `BlueZRadio.trust` on.
    package static let longestSilence: Duration = .seconds(1_800)

    /// The half hours of the last day in which something was heard, one bit each, the one of `lastHeard` the lowest.
    private var halfHours: UInt64 = 0
    private let begin: MonotonicInstant
    private var lastHeard: MonotonicInstant?
    private var wanted: Reason?
    private var wantedSince: MonotonicInstant?
    private var busySince: MonotonicInstant?
    /// Tries in a row that have not helped.
    private var tries = 0
    private var lastTry: MonotonicInstant?
    /// How often it was switched off and on.
    package private(set) var resets = 0
    /// Why it was last.
    package private(set) var lastReason: Reason?

    /// - Parameter begin: when the adapter appeared.
    package init(at begin: MonotonicInstant) {
        self.begin = begin
    }

    /// Whether the tries so far have not helped; they go on.
    package var isBeyondHelp: Bool { tries >= Self.hopefulTries }

    /// It is to be switched off and on for this reason.
    package mutating func want(_ reason: Reason, at now: MonotonicInstant) {
        guard wanted == nil else { return }
        wanted = reason
        wantedSince = now
    }

    /// It received an advert.
    package mutating func heard(at now: MonotonicInstant) {
        let slot = Self.slot(now.since(begin))
        let before = lastHeard.map { Self.slot($0.since(begin)) } ?? slot
        halfHours = (slot - before < 64 ? halfHours << UInt64(max(0, slot - before)) : 0) | 1
        lastHeard = now
        if lastReason == .nothingHeard { tries = 0 }
        if wanted == .nothingHeard { wanted = nil }
    }

    /// All that was asked of it was done.
    package mutating func answered() {
        if lastReason != .nothingHeard { tries = 0 }
    }

    /// A connection attempt ended, because the kernel was busy with another one, or for another reason.
    package mutating func attempted(isBusy: Bool, at now: MonotonicInstant) {
        guard isBusy else {
            busySince = nil
            return
        }
        let since = busySince ?? now
        busySince = since
        if now.since(since) >= Self.longestAttempt { want(.endlessAttempt, at: now) }
    }

    /// When silence will be a reason; nil if it is none.
    package var silenceDue: MonotonicInstant? {
        let day: UInt64 = (1 << 48) - 1
        guard wanted == nil, let lastHeard, halfHours & day == day else { return nil }
        return lastHeard + BlueZRadio.trust + Self.longestSilence
    }

    /// When it is to be switched off and on; nil if it is not.
    /// - Parameter hasLinks: whether links over it are up, by which it works still.
    package func due(hasLinks: Bool) -> MonotonicInstant? {
        guard let wanted, let wantedSince else { return nil }
        let pause =
            switch wanted {
            case .nothingHeard: Self.silenceRetry
            case .unanswered, .endlessAttempt: isBeyondHelp ? Self.retry : Self.firstRetry
            }
        let next = max(wantedSince, lastTry.map { $0 + pause } ?? wantedSince)
        return hasLinks ? max(next, wantedSince + Self.longestDelay) : next
    }

    /// It is switched off and on.
    package mutating func begin(at now: MonotonicInstant) {
        lastReason = wanted
        wanted = nil
        busySince = nil
        tries += 1
        resets += 1
        lastTry = now
    }

    private static func slot(_ duration: Duration) -> Int64 {
        max(0, duration.components.seconds / 1_800)
    }
}
