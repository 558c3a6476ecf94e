/// Pairing: our link first, then Device1.Pair over it (docs/notes/bluez.md, "Bonds").
extension BlueZBondKeeper {
    /// Whether a change of what is known is waited for.
    enum Waiting {
        case none
        /// One came while nobody waited.
        case hasChanged
        case until(CheckedContinuation<Void, Never>)
    }

    /// The pairing under way.
    struct Pairing {
        let number: UInt64
        let device: DeviceAddress
        let began: MonotonicInstant
        let responder: any PairingResponder
        /// The objects of bluetoothd, as they become known.
        var adapter = ""
        var path: String?
        var owner: String?
        /// Whether its device's questions are answered.
        var isOpen = false
        var question: (request: BusRequest, task: Task<Void, Never>)?
        /// The passkey that is shown, and the showing of it.
        var display: (passkey: UInt32, task: Task<Void, Never>)?
        var answers = PairingAnswers.none
        /// What bluetoothd answered to Pair.
        var reply: Result<[BusValue], BusError>?
        var isCancelled = false
        var waiting = Waiting.none

        /// When it is given up: a person takes longer than a device.
        var deadline: MonotonicInstant {
            began + (answers == .none ? .seconds(60) : .seconds(120))
        }
    }

    /// bluetoothd tells of a link, and of its end, within a moment.
    private static let objectTimeout = Duration.seconds(5)
    /// Longer than any pairing takes: what is waited for is `Pairing.deadline`.
    private static let pairTimeout = Duration.seconds(130)

    package func pair(
        _ device: DeviceAddress, on adapter: AdapterID, keepsLink: Bool,
        responder: any PairingResponder
    ) async throws(PairingError) -> Bond {
        guard pairing == nil else { throw .busy }
        lastPairing += 1
        let number = lastPairing
        pairing = Pairing(number: number, device: device, began: clock.now, responder: responder)
        defer { endPairing() }
        let result = await withTaskCancellationHandler {
            await outcome(device, adapter, keepsLink: keepsLink)
        } onCancel: {
            loop.run { [weak self] in
                self?.assumeIsolated { keeper in
                    guard keeper.pairing?.number == number else { return }
                    keeper.pairing?.isCancelled = true
                    keeper.poke()
                }
            }
        }
        return try result.get()
    }

    private func outcome(
        _ device: DeviceAddress, _ adapter: AdapterID, keepsLink: Bool
    ) async -> Result<Bond, PairingError> {
        do throws(PairingError) {
            return .success(try await pairWithin(device, adapter, keepsLink: keepsLink))
        } catch {
            return .failure(error)
        }
    }

    private func endPairing() {
        withdrawQuestion()
        pairing?.display?.task.cancel()
        pairing = nil
    }

    private func pairWithin(
        _ device: DeviceAddress, _ adapter: AdapterID, keepsLink: Bool
    ) async throws(PairingError) -> Bond {
        let (bus, owner, address) = try await findAdapter(adapter)
        let path = pairing?.adapter ?? ""
        var known = bluetoothd?.objects?.path(of: device, on: path)
        if let there = known, let bond = bluetoothd?.objects?.bond(at: there) {
            if try await isAlive(bond, on: adapter, keepsLink: keepsLink) {
                await pairing?.responder.keepsBond()
                return bond
            }
            // The device has forgotten it, and bluetoothd pairs with no device that has a bond.
            try await removeDevice(there, of: path, at: owner, on: bus)
            known = nil
        }
        if let known, bluetoothd?.objects?.devices[known]?.isConnected == true {
            // bluetoothd reads it: the channel has one owner.
            await disconnect(known, at: owner, on: bus)
        }
        let wasPairable = try await registerAgent(for: path, at: owner, on: bus)
        let result: Result<Bond, PairingError>
        do throws(PairingError) {
            let bond = try await bonded(
                Target(device: device, adapter: adapter, address: address, isKnown: known != nil),
                keepsLink: keepsLink, at: owner, on: bus)
            result = .success(bond)
        } catch {
            result = .failure(error)
        }
        await unregisterAgent(wasPairable: wasPairable, for: path, at: owner, on: bus)
        return try result.get()
    }

    /// What is paired, and where.
    private struct Target {
        let device: DeviceAddress
        let adapter: AdapterID
        let address: BluetoothAddress
        /// Whether bluetoothd had an object for it already.
        let isKnown: Bool
    }

    /// Makes a link, has bluetoothd pair over it, and leaves everything as it should be afterwards.
    private func bonded(
        _ target: Target, keepsLink: Bool, at owner: String, on bus: BusConnection
    ) async throws(PairingError) -> Bond {
        // The device may ask as soon as it is connected, before Pair is called.
        pairing?.isOpen = true
        defer { pairing?.isOpen = false }
        let channel = try await connect(to: target.device, from: target.address)
        // Refuses what the device asks of an ATT server in the meantime.
        let bearer = AttributeBearer(channel: channel, loop: loop, clock: clock)
        bearer.open()
        do throws(PairingError) {
            let bond = try await keys(at: owner, on: bus)
            let hasEnded = bearer.ended != nil || !isConnected
            bearer.close()
            if !keepsLink { await hangUp(bond.device, target.adapter) }
            if hasEnded || !keepsLink, let path = pairing?.path {
                // Where the device hung up first bluetoothd found the channel free, and is about to
                // connect, to read all services and to keep the link.
                await disconnect(path, at: owner, on: bus)
            }
            return bond
        } catch {
            await cleanUp(target, bearer, at: owner, on: bus)
            throw error
        }
    }

    /// Waits until bluetoothd is known to be there or not, and finds the adapter in what it has.
    private func findAdapter(
        _ adapter: AdapterID
    ) async throws(PairingError) -> (bus: BusConnection, owner: String, address: BluetoothAddress) {
        let deadline = clock.now + Self.objectTimeout
        do throws(PairingError) {
            try await wait(
                before: { _ in deadline },
                until: { keeper in
                    switch keeper.owner {
                    case .unknown: false
                    case .nobody: true
                    case .bluetoothd(let bluetoothd): bluetoothd.objects != nil && !bluetoothd.isRefreshing
                    }
                })
        } catch .timedOut {
            throw .noKeeper
        }
        guard let bus, let bluetoothd, let objects = bluetoothd.objects else { throw .noKeeper }
        let path = "/org/bluez/\(adapter)"
        guard let found = objects.adapters[path], found.isPowered else { throw .adapterUnavailable }
        pairing?.adapter = path
        pairing?.owner = bluetoothd.owner
        return (bus, bluetoothd.owner, found.address)
    }

    /// Whether bluetoothd takes the device for connected.
    private var isConnected: Bool {
        guard let path = pairing?.path else { return false }
        return bluetoothd?.objects?.devices[path]?.isConnected == true
    }

    /// Has bluetoothd end its links and its attempts to make one.
    private func disconnect(_ path: String, at owner: String, on bus: BusConnection) async {
        // Without a link it fails, or not: what is wanted holds.
        _ = try? await bus.call(
            BusCall(to: owner, path, BluetoothdObjects.deviceInterface, "Disconnect"),
            within: Self.answerTimeout)
    }

    private func connect(
        to device: DeviceAddress, from adapter: BluetoothAddress
    ) async throws(PairingError) -> PacketChannel {
        do throws(LinkError) {
            return try await connector.connect(
                to: device, from: adapter, requiresEncryption: false, isolation: self)
        } catch {
            throw pairing?.isCancelled == true ? .cancelled : PairingError(error)
        }
    }

    /// Whether the device still takes the keys of a bond that bluetoothd has.
    private func isAlive(
        _ bond: Bond, on adapter: AdapterID, keepsLink: Bool
    ) async throws(PairingError) -> Bool {
        do throws(LinkError) {
            let channel = try await connector.connect(
                to: bond.device, from: bond.adapter, requiresEncryption: true, isolation: self)
            channel.close()
            if !keepsLink { await hangUp(bond.device, adapter) }
            return true
        } catch .bondRefused {
            return false
        } catch .notEncrypted {
            // The kernel lacks the keys that bluetoothd shows.
            return false
        } catch {
            throw pairing?.isCancelled == true ? .cancelled : PairingError(error)
        }
    }

    /// Has bluetoothd pair over the link that is up, and waits for the keys.
    private func keys(at owner: String, on bus: BusConnection) async throws(PairingError) -> Bond {
        let objectDeadline = clock.now + Self.objectTimeout
        do throws(PairingError) {
            try await wait(
                before: { _ in objectDeadline },
                until: { keeper in
                    guard let pairing = keeper.pairing, let objects = keeper.bluetoothd?.objects,
                        let path = objects.path(of: pairing.device, on: pairing.adapter)
                    else { return false }
                    keeper.pairing?.path = path
                    return objects.devices[path]?.isConnected == true
                })
        } catch .timedOut {
            // The device hung up at once.
            throw .notReachable
        }
        guard let path = pairing?.path else { throw .notReachable }
        // A device that asks for security itself may be ahead of us.
        if let bond = bluetoothd?.objects?.bond(at: path) { return bond }
        let number = pairing?.number
        let call = bus.send(
            BusCall(to: owner, path, BluetoothdObjects.deviceInterface, "Pair"), within: Self.pairTimeout
        ) { [weak self] result in
            self?.assumeIsolated { keeper in
                guard keeper.pairing?.number == number else { return }
                keeper.pairing?.reply = result
                keeper.poke()
            }
        }
        // bluetoothd 5.66 never answers a Pair that went well while the ATT channel is ours: its own
        // reading of the services, with which it would answer, cannot begin.
        defer { if let call { bus.forget(call) } }
        try await wait(
            before: { $0.deadline },
            until: { keeper in
                keeper.bluetoothd?.objects?.bond(at: path) != nil || keeper.pairing?.reply != nil
                    || keeper.bluetoothd?.objects?.bondTakenOver(at: path) != nil
                    || keeper.bluetoothd?.objects?.devices[path] == nil
            })
        if let bond = bluetoothd?.objects?.bond(at: path) { return bond }
        if let bond = bluetoothd?.objects?.bondTakenOver(at: path) { return bond }
        switch pairing?.reply {
        case .failure(let error): throw PairingError(pair: error, after: pairing?.answers ?? .none)
        // Paired, with keys that are not kept.
        case .success: throw .refused
        case nil: throw .notReachable
        }
    }

    /// Leaves nothing of a pairing that came to nothing.
    private func cleanUp(
        _ target: Target, _ bearer: AttributeBearer, at owner: String, on bus: BusConnection
    ) async {
        let path = pairing?.path
        let isBonded = path.flatMap { bluetoothd?.objects?.bond(at: $0) } != nil
        if let path, pairing?.reply == nil, !isBonded {
            // With no pairing under way this would remove keys, of which there are none.
            _ = try? await bus.call(
                BusCall(to: owner, path, BluetoothdObjects.deviceInterface, "CancelPairing"),
                within: Self.objectTimeout)
        }
        bearer.close()
        await hangUp(target.device, target.adapter)
        if let path, !target.isKnown, !isBonded {
            // Pair had it stored.
            try? await removeDevice(path, of: "/org/bluez/\(target.adapter)", at: owner, on: bus)
        }
    }

    // MARK: Waiting

    /// Returns when `isMet`; looks at every change.
    /// - Throws: `cancelled`, `noKeeper` when bluetoothd has gone or is another, `timedOut`.
    private func wait(
        before deadline: (Pairing) -> MonotonicInstant, until isMet: (isolated BlueZBondKeeper) -> Bool
    ) async throws(PairingError) {
        while true {
            if isMet(self) { return }
            guard let pairing, !pairing.isCancelled else { throw .cancelled }
            if let owner = pairing.owner, bluetoothd?.owner != owner { throw .noKeeper }
            let left = deadline(pairing).since(clock.now)
            guard left > .zero else { throw pairing.answers == .awaited ? .noAnswer : .timedOut }
            await changed(within: left)
        }
    }

    private func changed(within duration: Duration) async {
        if case .hasChanged? = pairing?.waiting {
            pairing?.waiting = .none
            return
        }
        let timer = loop.after(duration) { [weak self] in self?.assumeIsolated { $0.poke() } }
        await withCheckedContinuation { pairing?.waiting = .until($0) }
        loop.cancel(timer)
    }

    /// Has the pairing, and removals that wait, look at what has changed.
    func poke() {
        let removals = waitingForObjects
        waitingForObjects = []
        for removal in removals { removal.resume() }
        guard case .until(let waiter)? = pairing?.waiting else {
            pairing?.waiting = .hasChanged
            return
        }
        pairing?.waiting = .none
        waiter.resume()
    }
}
