/// Which adapters hear a peripheral, and which of them are known to receive. A controller may be deaf for a
/// while after a link. A device whose adverts it misses then is not silent.
extension ReadScheduler {
    /// What the driver is to do while nothing happens.
    package struct Outlook: Sendable, Equatable {
        /// When `wake` is to be called; nil if there is nothing to wait for.
        package var deadline: MonotonicInstant?
        /// Adapters of which any advert, whoever's, is to be told by `received`: they have to prove that
        /// they receive.
        package var signs: Set<AdapterID> = []
    }

    /// What is to be waited for from `now` on.
    package func outlook(at now: MonotonicInstant) -> Outlook {
        var outlook = Outlook(deadline: pauses == 0 ? review : nil)
        for (device, peripheral) in peripherals {
            outlook.note(peripheral.machine.nextDeadline)
            // While nothing can start, nobody waits too long.
            if pauses == 0 { outlook.note(peripheral.waitsUntil) }
            guard let from = peripheral.machine.signFrom else { continue }
            if from > now {
                outlook.note(from)
            } else {
                outlook.signs.formUnion(listeners(for: peripheral, device))
            }
        }
        return outlook
    }

    /// An adapter has received an advert, whoever's.
    package mutating func received(on adapter: AdapterID, at now: MonotonicInstant) -> [Action] {
        receive(on: adapter, at: now)
        return wake(at: now)
    }

    /// Notes that an adapter has received something.
    mutating func receive(on adapter: AdapterID, at now: MonotonicInstant) {
        guard isListening(adapter) else { return }
        if receiving.insert(adapter).inserted { updateListening(at: now) }
        for (device, peripheral) in peripherals where peripheral.machine.signFrom != nil {
            guard listeners(for: peripheral, device).contains(adapter) else { continue }
            _ = peripherals[device]?.machine.handle(.sign, at: now)
        }
    }

    /// The adapters that would hear `peripheral` now if it advertised: of those that hear it the ones that
    /// listen; where none of those is present, any other has to do.
    func listeners(for peripheral: Peripheral, _ device: DeviceAddress) -> [AdapterID] {
        let allowed = scanning.keys.filter { isAllowed($0, for: device) }
        let hearing = allowed.filter(peripheral.hears)
        return (hearing.isEmpty ? allowed : hearing).filter(isListening)
    }

    /// Whether this adapter hears each advert: while a connection attempt waits, the kernel keeps the
    /// controller's filter of repeated adverts on (hci_passive_scan_sync). The adapter then reports the
    /// first advert of a device that wakes up, and none of those that follow.
    private func isListening(_ adapter: AdapterID) -> Bool {
        scanning[adapter] == true && !connecting.contains(adapter) && attempts[adapter] == nil
    }

    /// Tells each peripheral whether it would be heard now, as far as that has changed.
    mutating func updateListening(at now: MonotonicInstant) {
        for device in peripherals.keys { updateListening(for: device, at: now) }
    }

    mutating func updateListening(for device: DeviceAddress, at now: MonotonicInstant) {
        guard let peripheral = peripherals[device] else { return }
        let listeners = listeners(for: peripheral, device)
        if peripheral.machine.listened.isRunning == listeners.isEmpty {
            _ = peripherals[device]?.machine.handle(.listening(!listeners.isEmpty), at: now)
        }
        let isReceiving = listeners.contains(where: receiving.contains)
        if peripheral.machine.received.isRunning != isReceiving {
            _ = peripherals[device]?.machine.handle(.receiving(isReceiving), at: now)
        }
    }
}

extension ReadScheduler.Outlook {
    fileprivate mutating func note(_ instant: MonotonicInstant?) {
        guard let instant else { return }
        deadline = min(deadline ?? instant, instant)
    }
}
