extension PassiveGateway {
    /// A device, and what is known of it without the queue.
    package struct KnownPeripheral: Sendable {
        /// The device; both that it can be where an entry names an address that was not heard; none for an entry for a
        /// model of which none was heard.
        package let devices: [DeviceAddress]
        package var status: GatewayStatus.Peripheral
    }

    /// The adapters that are there.
    package var adapterStatus: [GatewayStatus.Adapter] {
        adapterStates.map {
            GatewayStatus.Adapter(
                name: $0.id.description, isListening: listening.contains($0.id), reason: $0.reason,
                links: scheduler.capacity(of: $0.id), configuredLinks: scheduler.links,
                resets: $0.resets, isBeyondHelp: $0.isBeyondHelp)
        }
    }

    /// Each entry of the allow-list with the devices that were heard for it, in the order of the list.
    package func knownPeripherals() async -> [KnownPeripheral] {
        var known: [KnownPeripheral] = []
        for entry in allowList.entries {
            let heard = entry.broadcastFormat == nil ? connected(entry) : await broadcasting(entry)
            known += heard.isEmpty ? [unheard(entry, at: ports.clock.now)] : heard
        }
        return known
    }

    private func connected(_ entry: AllowedPeripheral) -> [KnownPeripheral] {
        let now = ports.clock.now
        return scheduler.peripherals.filter { $0.value.entry == entry && !$0.value.isWithdrawn }
            .sorted { $0.key.address.description < $1.key.address.description }
            .map { device, peripheral in
                KnownPeripheral(devices: [device], status: status(of: device, peripheral, at: now))
            }
    }

    /// What is broadcast is read when it is heard: between two adverts nothing is under way.
    private func broadcasting(_ entry: AllowedPeripheral) async -> [KnownPeripheral] {
        let heard = await broadcasts.heard(for: entry)
        let now = ports.clock.now
        return heard.map { device, instant, signal in
            var status = GatewayStatus.Peripheral(
                id: entry.model.id, alias: entry.alias, address: device.address.description,
                isPinned: entry.address != nil, state: .idle,
                lastSeen: Int(now.since(instant).components.seconds), signal: signal)
            status.seenAt = instant
            return KnownPeripheral(devices: [device], status: status)
        }
    }

    /// What the bonds say of a device that was not heard since the start.
    private func unheard(_ entry: AllowedPeripheral, at now: MonotonicInstant) -> KnownPeripheral {
        let devices = entry.address.map { [DeviceAddress($0, .public), DeviceAddress($0, .random)] } ?? []
        // A list that is not complete yet says nothing of what is missing.
        let isBonded: Bool? =
            devices.isEmpty || bonds.all == nil || !bonds.isSettled(at: now)
            ? nil : devices.contains { bonds.bonds(of: $0)?.isEmpty == false }
        let isMissing = isBonded == false && entry.requiresBond
        return KnownPeripheral(
            devices: devices,
            status: GatewayStatus.Peripheral(
                id: entry.model.id, alias: entry.alias, address: entry.address?.description,
                isPinned: entry.address != nil, state: isMissing ? .bondMissing : .unheard,
                isBonded: isBonded))
    }

    private func status(
        of device: DeviceAddress, _ peripheral: ReadScheduler.Peripheral, at now: MonotonicInstant
    ) -> GatewayStatus.Peripheral {
        var status = GatewayStatus.Peripheral(
            id: peripheral.entry.model.id, alias: peripheral.entry.alias, address: device.address.description,
            isPinned: peripheral.entry.address != nil, state: state(of: device, peripheral),
            lastSeen: Int(now.since(peripheral.lastHeard).components.seconds),
            signal: peripheral.hearings.values.compactMap(\.rssi).max(),
            isBonded: bonds.bonds(of: device).map { !$0.isEmpty }, failures: peripheral.failures)
        status.seenAt = peripheral.lastHeard
        return status
    }

    private func state(
        of device: DeviceAddress, _ peripheral: ReadScheduler.Peripheral
    ) -> GatewayStatus.Peripheral.State {
        switch bonds.obstacles[device] {
        case .lost, .neverPaired, .keysRefused: return .bondMissing
        // The bonded device is another one, and this one is not to be paired.
        case .adapterAbsent, .otherType, nil: break
        }
        if peripheral.wantsBond, bonds.bonds(of: device)?.isEmpty ?? true { return .bondMissing }
        if peripheral.wait != nil { return .waiting }
        switch peripheral.machine.state {
        case .idle: return .idle
        case .reading: return .reading
        case .quieting: return .quieting
        case .cooling: return .cooling
        case .backingOff: return .backingOff
        }
    }
}
