extension ReadScheduler {
    /// How one adapter heard a peripheral last.
    struct Hearing: Sendable {
        /// In dBm; nil where the controller does not know.
        var rssi: Int?
        var at: MonotonicInstant
    }

    /// A peripheral that waits to be read.
    struct Wait: Sendable {
        var since: MonotonicInstant
        /// The listened time at its last advert.
        var heard: Duration
        /// It was not heard for so long during a pause that it may have gone: it is read when it is
        /// heard again.
        var isOverdue = false
    }

    struct Failure: Sendable {
        let adapter: AdapterID
        let at: MonotonicInstant
    }

    struct Peripheral: Sendable {
        var entry: AllowedPeripheral
        var machine: PeripheralStateMachine
        var lastHeard: MonotonicInstant
        /// Of adapters that are present, or about to be.
        var hearings: [AdapterID: Hearing] = [:]
        var wait: Wait?
        /// When its last read ended.
        var readEnded: MonotonicInstant?
        /// Its last read, if that failed.
        var failed: Failure?
        /// Reads in a row that failed, also over times in which it was silent.
        var failures = 0
        /// Its last read gave nothing for want of a bond.
        var wantsBond = false
        /// Whether it was read since the start, or that was tried.
        var wasTried = false
        /// How long it may use a link while others wait, if no entry names it by address.
        var turn = ReadScheduler.shortestTurn
        /// Being read, but no longer allowed: forgotten when the read ends.
        var isWithdrawn = false

        init(entry: AllowedPeripheral, machine: PeripheralStateMachine, lastHeard: MonotonicInstant) {
            self.entry = entry
            self.machine = machine
            self.lastHeard = lastHeard
        }

        var isEvictable: Bool {
            entry.address == nil && machine.state == .idle && wait == nil
        }

        /// When it will have waited too long; nil if it does not wait, or nobody listens.
        var waitsUntil: MonotonicInstant? {
            wait.flatMap { machine.listened.instant(reaching: $0.heard + ReadScheduler.longestWait) }
        }

        /// Whether `adapter` hears it: not much longer ago than any other did.
        func hears(_ adapter: AdapterID) -> Bool {
            hearings[adapter].map { lastHeard.since($0.at) < ReadScheduler.longestWait } ?? false
        }

        mutating func noteEnd(_ outcome: ReadOutcome, wantsBond: Bool) {
            failures = outcome == .succeeded ? 0 : failures + 1
            self.wantsBond = wantsBond
        }

        mutating func note(_ advertisement: Advertisement) {
            // Adverts can arrive late, but take nothing back.
            lastHeard = max(lastHeard, advertisement.received)
            let before = hearings[advertisement.adapter]?.at ?? advertisement.received
            hearings[advertisement.adapter] = Hearing(
                rssi: advertisement.rssi, at: max(before, advertisement.received))
        }
    }
}
