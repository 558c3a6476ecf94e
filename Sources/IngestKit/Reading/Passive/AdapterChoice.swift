/// Decides over which of the adapters that hear a peripheral it is read.
///
/// One advert reaches several adapters within milliseconds, and not all of them catch each advert, so
/// the first to tell of it does not decide: the others get a moment. Then the strongest signal reads,
/// because a weak one loses packets, and with them the link. A weaker adapter that is free is better
/// than a stronger one that is not, while its signal still carries a link: devices do not wait long.
struct AdapterChoice {
    /// Time for the other adapters to hear a peripheral that woke up. Health devices advertise every
    /// 20 to 100 ms at first (Core Specification Vol 3 Part C, appendix A, has 20 to 60 ms), and our
    /// scan listens half of the time, so that an adapter within reach hears one of several adverts.
    static let gathering: Duration = .milliseconds(200)
    /// In dBm. Controllers lose packets below about -90; 10 dB is what a body in between takes.
    static let sufficientSignal = -80
    /// How long a peripheral waits for a stronger adapter that is busy, when all that are free hear it
    /// faintly. Devices advertise for 30 s or so, and then comes the connection.
    static let patience: Duration = .seconds(5)

    enum Use: Sendable, Equatable {
        case free
        /// A standing connection attempt for another peripheral waits there, which can be withdrawn.
        case waiting
        /// Another peripheral is being connected to.
        case connecting
        /// It has as many links as it may have.
        case full

        var isUsable: Bool { self == .free || self == .waiting }
    }

    struct Candidate: Sendable, Equatable {
        let adapter: AdapterID
        /// In dBm; nil where it is not known, which counts as the weakest.
        let rssi: Int?
        let use: Use

        fileprivate var isSufficient: Bool { rssi.map { $0 >= AdapterChoice.sufficientSignal } ?? false }
    }

    enum Answer: Sendable, Equatable {
        case read(AdapterID)
        /// Withdraw the attempt that waits there, to read.
        case withdraw(AdapterID)
        /// Nothing to do before this moment; nil: before a link is free.
        case wait(until: MonotonicInstant?)
    }

    /// Adapters that hear the peripheral, in any order.
    var candidates: [Candidate]
    /// Whether another adapter that listens has not heard it yet.
    var othersMayHear: Bool
    /// Since when it wants to be read.
    var waitingSince: MonotonicInstant

    func answer(at now: MonotonicInstant) -> Answer {
        let gathered = waitingSince + Self.gathering
        if othersMayHear, now < gathered { return .wait(until: gathered) }
        let strongest = candidates.sorted(by: Self.isStronger)
        let patienceEnds = waitingSince + Self.patience
        let usable = strongest.enumerated().filter { place, candidate in
            guard candidate.use.isUsable else { return false }
            return place == 0 || candidate.isSufficient || now >= patienceEnds
        }.map(\.element)
        if let free = usable.first(where: { $0.use == .free }) { return .read(free.adapter) }
        if let waiting = usable.first { return .withdraw(waiting.adapter) }
        return .wait(until: candidates.contains(where: \.use.isUsable) ? patienceEnds : nil)
    }

    /// Of two that are equal the one with the lower index.
    private static func isStronger(_ left: Candidate, _ right: Candidate) -> Bool {
        let (first, second) = (left.rssi ?? .min, right.rssi ?? .min)
        return first == second ? left.adapter.index < right.adapter.index : first > second
    }
}
