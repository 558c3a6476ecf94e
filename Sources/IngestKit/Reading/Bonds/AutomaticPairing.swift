/// How often the gateway pairs by itself. Pure.
///
/// A passkey is given once without an operator. Each pairing with the same passkey shows an impostor more of it: with
/// passkey entry both sides confirm the code bit by bit, and the step at which a pairing fails tells the bits before
/// it (Core Specification Vol 3 Part H 2.3.5.6.3).
///
/// Whoever is in range can claim to be a model in pairing mode under any address, so devices that no
/// entry names by address share one delay.
struct AutomaticPairing: Sendable {
    /// No more are paired automatically once there are so many bonds with devices that no entry names by address.
    static let mostUnnamedBonds = 32
    /// After the first failure; it doubles with each further one.
    static let firstDelay = Duration.seconds(60)
    static let longestDelay = Duration.seconds(3_600)
    /// Devices that are remembered to have failed. Only pinned ones, and one for all others.
    private struct Failures {
        var count: Int
        var until: MonotonicInstant
    }

    private var failures: [BluetoothAddress?: Failures] = [:]
    /// Entries whose passkey was given without an operator, by `AllowedPeripheral.entryKey`.
    private var spent: Set<String> = []

    /// Takes over what an earlier run has noted.
    mutating func recall(_ entries: Set<String>) {
        spent.formUnion(entries)
    }

    /// Whether the entry has a passkey, and it was given without an operator.
    func isSpent(_ entry: AllowedPeripheral) -> Bool {
        entry.passkey != nil && spent.contains(entry.entryKey)
    }

    mutating func set(_ entry: AllowedPeripheral, isSpent: Bool) {
        if isSpent { spent.insert(entry.entryKey) } else { spent.remove(entry.entryKey) }
    }

    /// Whether the device may be paired with now.
    func allows(_ entry: AllowedPeripheral, at now: MonotonicInstant) -> Bool {
        failures[entry.address].map { now >= $0.until } ?? true
    }

    /// Whether pairing with the device failed, and it is too early to try again.
    func isBackingOff(_ entry: AllowedPeripheral, at now: MonotonicInstant) -> Bool {
        failures[entry.address].map { $0.count > 0 && now < $0.until } ?? false
    }

    mutating func succeeded(_ entry: AllowedPeripheral, at now: MonotonicInstant) {
        failures[entry.address] = nil
        // One bond a minute with devices that only claim to be of a model.
        if entry.address == nil { failures[nil] = Failures(count: 0, until: now + Self.firstDelay) }
    }

    mutating func failed(_ entry: AllowedPeripheral, at now: MonotonicInstant) {
        let count = (failures[entry.address]?.count ?? 0) + 1
        var delay = Self.firstDelay
        for _ in 1..<count where delay < Self.longestDelay { delay *= 2 }
        failures[entry.address] = Failures(count: count, until: now + min(delay, Self.longestDelay))
    }
}
