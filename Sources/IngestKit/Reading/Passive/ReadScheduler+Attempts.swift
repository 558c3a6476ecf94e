/// Standing connection attempts, for peripherals that advertise to their bonded central only. A passive
/// scan tells nobody of those (process_adv_report in net/bluetooth/hci_event.c drops ADV_DIRECT_IND),
/// but the kernel connects on them while a connection is wanted.
///
/// An attempt costs the others something: repeated adverts are not heard while it waits, so nobody's
/// silence can be told. Therefore it gives way to who wants to be read, and to whose debounce is under
/// way; not for ever, so that it gets its turn beside devices that never fall silent.
extension ReadScheduler {
    /// How a connection attempt ended that did not connect.
    package enum AttemptEnd: Sendable, Hashable {
        /// Nobody was there within its time.
        case expired
        case withdrawn
        /// The kernel refused it, or the link could not be made.
        case failed
    }

    /// One peripheral's place among those that take turns.
    struct Turn: Sendable {
        /// When its last attempt began; nil: it is new.
        var began: MonotonicInstant?
        /// Attempts in a row that failed without expiring.
        var failures = 0
        /// After a failed one.
        var notBefore: MonotonicInstant?
    }

    struct Attempt: Sendable {
        let device: DeviceAddress
        var isWithdrawn = false
    }

    /// How long other devices' debounce holds an attempt off at most: a device that was read falls
    /// silent within that time, or never.
    static let longestHold: Duration = .seconds(60)

    /// The attempt that waited for `device` has connected: it is to be read now over that link, and
    /// `finished` tells how that ended. Nil if it is not wanted any more: close the link, and tell by
    /// `attemptEnded`.
    package mutating func connected(
        _ device: DeviceAddress, at now: MonotonicInstant
    ) -> [Action]? {
        guard let adapter = attempts.first(where: { $0.value.device == device })?.key,
            turns[device] != nil, var peripheral = peripherals[device]
        else { return nil }
        let hasWokenUp = peripheral.machine.state == .idle
        _ = peripheral.machine.handle(.readStarted, at: now)
        guard case .reading(let attempt) = peripheral.machine.state else { return nil }
        attempts[adapter] = nil
        turns[device]?.failures = 0
        peripheral.wasTried = true
        peripheral.lastHeard = now
        peripherals[device] = peripheral
        reads[device] = newRead(device, of: peripheral, over: adapter, attempt: attempt, .linked(now))
        updateListening(at: now)
        return hasWokenUp ? [.discovered(peripheral.entry, device)] : []
    }

    /// The attempt that waited for `device` has ended without a link.
    package mutating func attemptEnded(
        _ device: DeviceAddress, _ end: AttemptEnd, at now: MonotonicInstant
    ) -> [Action] {
        guard let adapter = attempts.first(where: { $0.value.device == device })?.key else { return [] }
        attempts[adapter] = nil
        updateListening(at: now)
        switch end {
        case .expired: turns[device]?.failures = 0
        case .failed where scanning[adapter] == true:
            let failures = (turns[device]?.failures ?? 0) + 1
            turns[device]?.failures = failures
            turns[device]?.notBefore = now + timing.backOff(failures: failures, jitter: jitter())
        // An adapter that goes away takes its attempt with it.
        case .withdrawn, .failed: break
        }
        return startReads(at: now)
    }

    func isAwaited(_ device: DeviceAddress) -> Bool {
        attempts.contains { $0.value.device == device }
    }

    /// Has those take turns that are both listed and bonded now.
    mutating func updateTurns(at now: MonotonicInstant) -> [Action] {
        let before = turns
        turns = [:]
        for device in bonds.keys {
            guard let entry = directed[device.address] else { continue }
            turns[device] = before[device] ?? Turn()
            if peripherals[device] == nil { peripherals[device] = newPeripheral(entry: entry, at: now) }
            peripherals[device]?.machine.isDirected = true
        }
        for device in before.keys where turns[device] == nil {
            peripherals[device]?.machine.isDirected = false
        }
        let gone = attempts.filter { turns[$0.value.device] == nil }.keys
        return withdrawAttempts(where: gone.contains)
    }

    /// Has the attempts of these adapters withdrawn, each once.
    mutating func withdrawAttempts(where condition: (AdapterID) -> Bool) -> [Action] {
        var actions: [Action] = []
        for (adapter, attempt) in attempts where !attempt.isWithdrawn && condition(adapter) {
            attempts[adapter]?.isWithdrawn = true
            actions.append(.withdraw(attempt.device, adapter))
        }
        return actions
    }

    /// Starts an attempt on each adapter that nobody else needs.
    mutating func startAttempts(at now: MonotonicInstant) -> [Action] {
        var actions: [Action] = []
        for adapter in scanning.keys.sorted(by: { $0.index < $1.index }) {
            guard scanning[adapter] == true, attempts[adapter] == nil,
                let device = nextTurn(on: adapter, at: now), let peripheral = peripherals[device]
            else {
                heldSince[adapter] = nil
                continue
            }
            let since = heldSince[adapter] ?? now
            heldSince[adapter] = since
            guard !isReading(over: adapter), !connecting.contains(adapter), !isWanted(adapter) else {
                continue
            }
            if let end = holdEnd(of: adapter, heldSince: since), end > now {
                reviewAt(end)
                continue
            }
            heldSince[adapter] = nil
            attempts[adapter] = Attempt(device: device)
            turns[device]?.began = now
            updateListening(at: now)
            actions.append(
                .attempt(device, peripheral.entry, adapter, attempt: peripheral.machine.nextAttempt))
        }
        return actions
    }

    /// Who is to be waited for next on this adapter: who had no turn for the longest time.
    private mutating func nextTurn(on adapter: AdapterID, at now: MonotonicInstant) -> DeviceAddress? {
        var next: (device: DeviceAddress, began: MonotonicInstant?)?
        for (device, turn) in turns where isAllowed(adapter, for: device) && !isAwaited(device) {
            guard let peripheral = peripherals[device], peripheral.wait == nil,
                let from = peripheral.machine.attemptsFrom
            else { continue }
            let start = max(from, turn.notBefore ?? from)
            guard start <= now else {
                reviewAt(start)
                continue
            }
            if let best = next, !Self.isEarlier((device, turn.began), best) { continue }
            next = (device, turn.began)
        }
        return next?.device
    }

    private static func isEarlier(
        _ left: (device: DeviceAddress, began: MonotonicInstant?),
        _ right: (device: DeviceAddress, began: MonotonicInstant?)
    ) -> Bool {
        switch (left.began, right.began) {
        case (let first?, let second?) where first != second: first < second
        case (nil, .some): true
        case (.some, nil): false
        default: left.device.address.value < right.device.address.value
        }
    }

    /// Whether somebody who waits to be read may be read over this adapter.
    private func isWanted(_ adapter: AdapterID) -> Bool {
        queue.contains { device in
            guard let peripheral = peripherals[device], peripheral.wait?.isOverdue == false,
                !fullStrangers.include(device.address, peripheral.entry)
            else { return false }
            return isAllowed(adapter, for: device) && peripheral.hears(adapter)
        }
    }

    /// Until when the debounce of others holds an attempt on this adapter off; nil if none does.
    ///
    /// Each device does for `longestHold` after its read; later only for as long as it takes to tell
    /// that it is silent, once between two attempts. All together do for `longestHold`.
    private func holdEnd(of adapter: AdapterID, heldSince: MonotonicInstant) -> MonotonicInstant? {
        var end: MonotonicInstant?
        for (device, peripheral) in peripherals where peripheral.machine.needsListening {
            // Another adapter may do the listening.
            guard listeners(for: peripheral, device) == [adapter] else { continue }
            let silence = heldSince + timing.quietPeriod + timing.cooldown
            let recent = (peripheral.readEnded ?? heldSince) + Self.longestHold
            let hold = min(heldSince + Self.longestHold, max(recent, silence))
            end = max(end ?? hold, hold)
        }
        return end
    }
}
