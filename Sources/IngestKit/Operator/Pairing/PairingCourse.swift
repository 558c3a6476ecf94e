/// The search for the device that a pairing is for: waits until one is heard, and chooses among several.
///
/// Pure: the driver tells it what is heard and what came of a pairing, does what it answers, and calls
/// `wake` now and then.
struct PairingCourse: Sendable {
    /// A device that may be the one.
    struct Candidate: Sendable, Equatable {
        let device: DeviceAddress
        var entry: AllowedPeripheral
        let adapter: AdapterID
        /// dBm; nil where the controller does not know.
        var rssi: Int?
        var isInPairingMode: Bool
        var lastHeard: MonotonicInstant

        /// Whether it may be the device that its entry names, behind another address.
        var isHidden: Bool { entry.address.map { $0 != device.address } ?? false }
    }

    enum Action: Sendable, Equatable {
        /// Pair with it now, and tell by `failed` if that comes to nothing.
        case pair(Candidate)
        case fail(PairingFailure)
    }

    /// How long the device may take until it is heard: time to walk to it and to press its button.
    static let window = Duration.seconds(120)
    /// How long a device that showed itself may take, when nobody waits for it: reading waits meanwhile.
    static let automaticWindow = Duration.seconds(10)
    /// From the first advert in pairing mode to the choice, so that several can be compared. Devices in
    /// pairing mode advertise several times a second.
    static let settling = Duration.seconds(1)
    /// How long a device that does not say that it is in pairing mode waits for one that does.
    static let patience = Duration.seconds(15)
    /// Who was not heard for so long is not chosen: connecting to it would only hold the adapter.
    static let freshness = Duration.seconds(5)
    /// So often a device that went away before it answered is waited for again.
    static let mostAttempts = 3
    /// Who is compared, at most: addresses are whatever a sender writes.
    static let mostCandidates = 32

    private struct Key: Hashable {
        let device: DeviceAddress
        let adapter: AdapterID
    }

    private let end: MonotonicInstant
    private var candidates: [Key: Candidate] = [:]
    /// When the first of those that are compared was heard, and the first of them in pairing mode.
    private var firstHeard: MonotonicInstant?
    private var firstInPairingMode: MonotonicInstant?
    private var attempts = 0
    private var isPairing = false

    /// - Parameter now: from when on the window counts.
    init(at now: MonotonicInstant, window: Duration = window) {
        end = now + window
    }

    /// A device that may be the one advertised. What a bond forbids is the driver's to look at.
    mutating func heard(_ advertisement: Advertisement, as entry: AllowedPeripheral) -> Action? {
        let now = advertisement.received
        let key = Key(device: advertisement.device, adapter: advertisement.adapter)
        forget(before: now)
        guard !isPairing, candidates[key] != nil || candidates.count < Self.mostCandidates else { return nil }
        let isInPairingMode = advertisement.isInPairingMode
        candidates[key] = Candidate(
            device: advertisement.device, entry: entry, adapter: advertisement.adapter,
            rssi: advertisement.rssi, isInPairingMode: isInPairingMode, lastHeard: now)
        firstHeard = firstHeard ?? now
        if isInPairingMode { firstInPairingMode = firstInPairingMode ?? now }
        return wake(at: now)
    }

    /// Does what has become due.
    mutating func wake(at now: MonotonicInstant) -> Action? {
        guard !isPairing else { return nil }
        forget(before: now)
        let isOver = now >= end
        if let firstInPairingMode, isOver || now >= firstInPairingMode + Self.settling,
            let action = choose(where: \.isInPairingMode)
        {
            return action
        }
        if let firstHeard, isOver || now >= firstHeard + Self.patience {
            return choose { _ in true }
        }
        return isOver ? .fail(.notHeard) : nil
    }

    /// The pairing came to nothing. Who only went away is waited for again.
    mutating func failed(_ error: PairingError, at now: MonotonicInstant) -> Action? {
        guard error == .notReachable, attempts < Self.mostAttempts, now < end else {
            return .fail(.error(error))
        }
        isPairing = false
        candidates = [:]
        firstHeard = nil
        firstInPairingMode = nil
        return nil
    }

    /// Drops who was not heard lately, and what was counted from them.
    private mutating func forget(before now: MonotonicInstant) {
        candidates = candidates.filter { now.since($0.value.lastHeard) < Self.freshness }
        if candidates.isEmpty { firstHeard = nil }
        if !candidates.values.contains(where: \.isInPairingMode) { firstInPairingMode = nil }
    }

    /// The strongest of those for which `isWanted` holds. A device that is heard under the address that
    /// its entry names hides behind no other.
    private mutating func choose(where isWanted: (Candidate) -> Bool) -> Action? {
        let seen = Set(candidates.values.filter { !$0.isHidden }.map(\.entry.address))
        let wanted = candidates.values.filter { !$0.isHidden || !seen.contains($0.entry.address) }
        let best = wanted.filter(isWanted).max { left, right in
            let (weaker, stronger) = (left.rssi ?? -128, right.rssi ?? -128)
            // Equal ones in an order that does not depend on chance.
            return weaker == stronger
                ? (left.device.address.value, left.adapter.index)
                    > (right.device.address.value, right.adapter.index)
                : weaker < stronger
        }
        guard let best else { return nil }
        isPairing = true
        attempts += 1
        return .pair(best)
    }
}
