/// What scans and reads of an operator need of passive reading, which waits meanwhile.
extension PassiveGateway {
    /// An active scan has begun or ended. Repeated adverts are filtered then, and nobody's silence can be told, as
    /// while a connection is attempted.
    func setScansActively(_ isScanning: Bool) {
        let now = ports.clock.now
        for adapter in scheduler.scanning.keys { scheduler.connecting(adapter, isScanning, at: now) }
        perform([])
    }

    /// Whether the device may be read over this adapter.
    func mayRead(_ device: DeviceAddress, over adapter: AdapterID) -> Bool {
        scheduler.isAllowed(adapter, for: device)
    }

    /// A device of the target that no scan reports, and the adapter that has its keys.
    func directedDevice(
        of target: PairingTarget
    ) -> (device: DeviceAddress, entry: AllowedPeripheral, adapter: AdapterID)? {
        // Who had no turn for the longest time comes first.
        let turns = scheduler.turns.sorted { left, right in
            guard let began = right.value.began else { return false }
            return left.value.began.map { $0 < began } ?? true
        }
        for device in turns.map(\.key) {
            guard let entry = allowList.directed[device.address], entry.isMeant(by: target, device) else {
                continue
            }
            let adapter = scheduler.scanning.keys.first { scheduler.isAllowed($0, for: device) }
            if let adapter { return (device, entry, adapter) }
        }
        return nil
    }

    /// Reads a device out of its turn, in the pause that holds. A dry run leaves its debounce as it is.
    /// - Parameter isDirected: whether nobody has heard it.
    /// - Returns: nil if it is directed, and was not there.
    func readForOperator(
        _ device: DeviceAddress, as entry: AllowedPeripheral, over adapter: AdapterID, isDirected: Bool,
        _ witness: ReadWitness
    ) async -> ReadSession.Outcome? {
        var request = Request(device: device, entry: entry, adapter: adapter, attempt: 1)
        request.witness = witness
        request.isDirected = isDirected
        guard witness.isDryRun || takesReadings else {
            return .failed("there is no room for readings: ingestd status says why")
        }
        guard diskAnswers else { return .failed(ReadSession.hangingDisk) }
        guard witness.isDryRun || !scheduler.fullStrangers.include(device.address, entry) else {
            return .failed(SessionError.strangersFull.words)
        }
        if isDirected {
            scheduler.turns[device]?.began = ports.clock.now
        } else if !startForOperator(request) {
            return .failed("its adapter is in use")
        }
        pairing.readsUnderWay += 1
        let outcome = await read(request)
        pairing.readsUnderWay -= 1
        if isDirected, let end = attempts.takeEnd(of: device) {
            return end == .expired ? nil : outcome
        }
        guard !witness.isDryRun else { return outcome }
        if case .storeUnusable(let error) = outcome {
            unusableStore = error
            // Ends `run`, which tells of it.
            requestsContinuation.finish()
            return outcome
        }
        if case .failed(let words) = outcome, !Task.isCancelled {
            ports.events.emit(.readFailed(entry.reference, error: words, attempt: 1))
        }
        perform(
            scheduler.finished(
                device, outcome: outcome == .succeeded ? .succeeded : .failed, at: ports.clock.now))
        return outcome
    }

    /// The device counts as being read from now on, but in a dry run.
    /// - Returns: whether it may be.
    func startForOperator(_ request: Request) -> Bool {
        guard request.witness?.isDryRun == false else { return true }
        return !scheduler.readAfterPairing(
            request.device, as: request.entry, over: request.adapter, at: ports.clock.now
        ).isEmpty
    }
}

extension ReadWitness {
    /// The surroundings of a session that is looked on.
    func environment(_ environment: ReadSession.Environment) -> ReadSession.Environment {
        guard isDryRun else { return environment }
        return ReadSession.Environment(
            store: DryRunStore(store: environment.store),
            devices: DryRunDevices(devices: environment.devices),
            events: EventLog(sink: NoEvents()),
            clock: environment.clock, factory: environment.factory, log: .silent)
    }

    func link(_ link: any PeripheralLink) -> any PeripheralLink {
        isDryRun ? DryRunLink(link: link, hungUp: hungUp) : link
    }

    /// A dry run sets no clock.
    func entry(_ entry: AllowedPeripheral) -> AllowedPeripheral {
        guard isDryRun else { return entry }
        var entry = entry
        entry.clock = .observe
        return entry
    }

    /// One reading of a stream is enough.
    func timing(_ timing: PassiveTiming) -> PassiveTiming {
        var timing = timing
        timing.streamMaximum = min(timing.streamMaximum, timing.streamInterval)
        return timing
    }

    private struct NoEvents: EventSink {
        package func write(_ entry: JournalEntry) {}
    }
}

extension AllowedPeripheral {
    /// Whether a device of this entry is what an operator names so.
    func isMeant(by target: PairingTarget, _ device: DeviceAddress) -> Bool {
        switch target {
        case .model(let id): model.id == id
        case .device(let address): device.address == address
        }
    }
}
