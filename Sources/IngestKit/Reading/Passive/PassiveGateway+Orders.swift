/// An order that has the radio: no read is started meanwhile, and the order hears each advert.
struct RadioHold: Sendable {
    /// Says whether an advert is to lead to no read, also later.
    let listener: @Sendable (Advertisement) -> Bool
    /// What is to be heard besides what is read: a device that is paired may send under any address.
    let target: PairingTarget?
}

/// What orders need of passive reading, which waits meanwhile.
extension PassiveGateway {
    /// A device that is to be paired without being asked.
    package struct Wish: Sendable {
        package let advertisement: Advertisement
        package let entry: AllowedPeripheral
    }

    /// Wishes that wait for a reader. They come again with each advert.
    static let mostWishes = 16

    // MARK: The radio

    /// Whether an order has the radio.
    var isHeld: Bool { holder != nil }

    /// Gives the radio to an order, which waits until `isReading` is false, and then gives it back by `release`.
    package func hold(
        for target: PairingTarget? = nil, _ listener: @escaping @Sendable (Advertisement) -> Bool
    ) async {
        await setHold(RadioHold(listener: listener, target: target)) {
            scheduler.pause(at: ports.clock.now)
        }
    }

    /// The order has ended: reads start again.
    /// - Parameter device: the order has used a link to it, which has just ended.
    package func release(after device: DeviceAddress? = nil) async {
        bonding.lookAgain()
        await setHold(nil) { scheduler.resume(at: ports.clock.now, after: device) }
    }

    private func setHold(_ new: RadioHold?, _ change: () -> [ReadScheduler.Action]) async {
        let before = filter
        holder = new
        perform(change())
        if filter != before { await ports.radio.update(filter) }
    }

    /// What the radio has to report now.
    var filter: AdvertisementFilter {
        holder?.target.map { allowList.filter(pairing: $0) } ?? allowList.filter
    }

    /// Whether a read that was started has not ended yet.
    package var isReading: Bool { readsUnderWay + attemptsUnderWay > 0 }

    /// The same but for standing attempts, which wait for a peripheral nearly all of the time.
    package var isReadingAtOnce: Bool { readsUnderWay > 0 }

    // MARK: Scans and reads

    /// An active scan has begun or ended. Repeated adverts are filtered then, and nobody's silence can be told, as
    /// while a connection is attempted.
    package func setScansActively(_ isScanning: Bool) {
        let now = ports.clock.now
        for adapter in scheduler.scanning.keys { scheduler.connecting(adapter, isScanning, at: now) }
        perform([])
    }

    /// Whether the device may be read over this adapter.
    package func mayRead(_ device: DeviceAddress, over adapter: AdapterID) -> Bool {
        scheduler.isAllowed(adapter, for: device)
    }

    /// A device of the target that no scan reports, and the adapter that has its keys.
    package func directedDevice(
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
    package func readForOperator(
        _ device: DeviceAddress, as entry: AllowedPeripheral, over adapter: AdapterID, isDirected: Bool,
        _ observer: ReadObserver
    ) async -> ReadSession.Outcome? {
        var request = Request(device: device, entry: entry, adapter: adapter, attempt: 1)
        request.observer = observer
        request.isDirected = isDirected
        guard observer.isDryRun || takesReadings else {
            return .failed(ReadFailure(cause: .queueFull))
        }
        guard diskAnswers else { return .failed(.diskHangs) }
        guard observer.isDryRun || !scheduler.fullStrangers.include(device.address, entry) else {
            return .failed(.session(.strangersFull))
        }
        if isDirected {
            scheduler.turns[device]?.began = ports.clock.now
        } else if !startForOperator(request) {
            return .failed(ReadFailure(cause: .adapterInUse))
        }
        readsUnderWay += 1
        let outcome = await read(request)
        readsUnderWay -= 1
        if isDirected, let end = attempts.takeEnd(of: device) {
            return end == .expired ? nil : outcome
        }
        guard !observer.isDryRun else { return outcome }
        if case .storeUnusable(let error) = outcome {
            unusableStore = error
            // Ends `run`, which throws the error.
            requestsContinuation.finish()
            return outcome
        }
        tellFailure(outcome, request)
        perform(
            scheduler.finished(
                device, outcome: outcome.ofRead, at: ports.clock.now))
        return outcome
    }

    /// The device counts as being read from now on, but in a dry run.
    /// - Returns: whether it may be.
    func startForOperator(_ request: Request) -> Bool {
        guard request.observer?.isDryRun == false else { return true }
        return !scheduler.readAfterPairing(
            request.device, as: request.entry, over: request.adapter, at: ports.clock.now
        ).isEmpty
    }

    // MARK: Over the link of a pairing

    /// Reads the device over the link that its pairing has left up. The hold goes on meanwhile.
    package func readAfterPairing(
        _ device: DeviceAddress, as entry: AllowedPeripheral, over adapter: AdapterID
    ) {
        perform(scheduler.readAfterPairing(device, as: entry, over: adapter, at: ports.clock.now))
    }

    /// Sets the clock of a device that expects it over the link that its pairing has left up, then hangs
    /// up. If that fails, the next link sets it.
    package func setClockAfterPairing(
        _ device: DeviceAddress, as entry: AllowedPeripheral, over adapter: AdapterID
    ) async {
        readsUnderWay += 1
        defer { readsUnderWay -= 1 }
        let outcome = await read(
            Request(device: device, entry: entry, adapter: adapter, attempt: 1, isForClock: true))
        guard case .storeUnusable(let error) = outcome else { return }
        unusableStore = error
        // Ends `run`, which throws the error.
        requestsContinuation.finish()
    }
}
