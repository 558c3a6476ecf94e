/// How bonds decide what is read, and what pairing needs of passive reading (docs/notes/decisions.md,
/// "Pairing").
extension PassiveGateway {
    // MARK: Bonds

    /// Follows who keeps the bonds until the task is cancelled.
    func followBonds() async {
        guard let keeper = ports.bondKeeper else { return }
        await withDiscardingTaskGroup { group in
            group.addTask { await keeper.run() }
            group.addTask { await self.lookForLostBonds() }
            for await list in keeper.bonds { bondsChanged(list) }
            group.cancelAll()
        }
    }

    /// Takes over from the queue which devices had bonds and which automatic pairings are spent. Does nothing if that
    /// has been done.
    func recallBonds() async throws {
        guard !hasRecalledBonds else { return }
        let devices = try await ports.devices.rememberedBonds()
        let spent = try await ports.devices.spentPairings()
        bonds.recall(devices)
        pairing.automatic.recall(spent)
        hasRecalledBonds = true
    }

    private func bondsChanged(_ list: BondList) {
        let now = ports.clock.now
        for change in bonds.update(list, at: now) {
            perform(scheduler.bind(change.device, to: change.adapter, at: now))
        }
        bondsToLookFor.raise()
    }

    /// Tells of bonds that are gone without waiting for an advert, until the task is cancelled: who sends
    /// under private addresses, or to its bonded central alone, is not heard any more.
    private func lookForLostBonds() async {
        while !Task.isCancelled {
            await bondsToLookFor.wait()
            _ = bondsToLookFor.consume()
            // bluetoothd tells of one thing after the other.
            try? await ports.clock.sleep(for: BondTable.grace)
            for entry in allowList.entries where entry.broadcastFormat == nil {
                guard let address = entry.address else { continue }
                for type in [AddressType.public, .random] {
                    await lookForBond(of: DeviceAddress(address, type), as: entry)
                }
            }
        }
    }

    private func lookForBond(of device: DeviceAddress, as entry: AllowedPeripheral) async {
        // A pairing replaces bonds, and has this done anew at its end.
        guard let remembered = try? await ports.devices.recall(device)?.bondedAdapter,
            pairing.listener == nil,
            case .bondLost(let words) = bonds.missing(
                device, as: entry, remembered: remembered, at: ports.clock.now)
        else { return }
        ports.events.emit(.bondLost(entry.reference, error: words))
    }

    /// Whether what was heard may lead to a read.
    func mayBeRead(_ advertisement: Advertisement, as entry: AllowedPeripheral) -> Bool {
        let device = advertisement.device
        let now = advertisement.received
        guard advertisement.isInPairingMode, pairsUnasked(device, as: entry) else {
            return bonds.admits(device, at: now)
        }
        // Some always say that they are in pairing mode, and give their readings without a bond.
        if !entry.requiresBond, pairing.automatic.isBackingOff(entry, at: now) {
            return bonds.admits(device, at: now)
        }
        if bonds.isSettled(at: now) {
            pairing.wish.yield(PairingHold.Wish(advertisement: advertisement, entry: entry))
        }
        // A link without a bond would end its pairing mode and bring nothing.
        return false
    }

    /// Whether the read may have a link, and if so whether it must be encrypted; tells what stands in
    /// its way.
    func allowsLink(for request: Request, remembered: BluetoothAddress?) -> Bool? {
        let verdict = bonds.verdict(
            on: request.device, as: request.entry, remembered: remembered, over: request.adapter,
            at: ports.clock.now)
        switch verdict {
        case .open: return false
        case .encrypted: return true
        case .elsewhere(let adapter):
            // While nobody lists the bonds the scheduler knows of none.
            perform(scheduler.bind(request.device, to: adapter, at: ports.clock.now))
            return nil
        case .refused(let notice):
            tell(notice, of: request)
            return nil
        }
    }

    func connectionFailed(
        _ error: LinkError, _ request: Request, isEncrypted: Bool
    ) -> ReadSession.Outcome {
        guard error.isOfMissingKeys, isEncrypted else {
            return withAdvice(.failed(error.words), request, isEncrypted: isEncrypted)
        }
        let now = ports.clock.now
        guard let known = bonds.bonds(of: request.device) else { return .failed(error.words) }
        if known.isEmpty {
            // While bluetoothd has not told of all its bonds nothing can be said.
            return bonds.isSettled(at: now) ? .failed(error.words) : .refused
        }
        tell(bonds.keysRefused(by: request.device, as: request.entry, at: now), of: request)
        return .refused
    }

    /// Adds to a failure what may be its cause: a model that wants a bond, and has none.
    func withAdvice(
        _ outcome: ReadSession.Outcome, _ request: Request, isEncrypted: Bool
    ) -> ReadSession.Outcome {
        guard case .failed(let words) = outcome, !isEncrypted, request.entry.model.bonding == .required else {
            return outcome
        }
        return .failed(
            words + "; this model gives its readings to a bonded gateway only: "
                + BondTable.pairIt(request.entry))
    }

    private func tell(_ notice: BondTable.Notice?, of request: Request) {
        switch notice {
        case nil: break
        case .bondLost(let words): ports.events.emit(.bondLost(request.entry.reference, error: words))
        case .readFailed(let words):
            ports.events.emit(.readFailed(request.entry.reference, error: words, attempt: request.attempt))
        }
    }

    // MARK: Pairing

    /// Starts no read from now on, and has `listener` hear every advert, until `endPairing`.
    /// - Parameters:
    ///   - target: what is to be heard besides what is read.
    ///   - listener: says whether an advert is to lead to no read, also later.
    func beginPairing(
        of target: PairingTarget? = nil, _ listener: @escaping @Sendable (Advertisement) -> Bool
    ) async {
        pairing.listener = listener
        perform(scheduler.pause(at: ports.clock.now))
        await listen(for: target)
    }

    /// What the radio has to report now.
    var filter: AdvertisementFilter {
        pairing.target.map { allowList.filter(pairing: $0) } ?? allowList.filter
    }

    private func listen(for target: PairingTarget?) async {
        let before = filter
        pairing.target = target
        if filter != before { await ports.radio.update(filter) }
    }

    /// - Parameter device: was paired.
    func endPairing(of device: DeviceAddress? = nil) async {
        pairing.listener = nil
        bondsToLookFor.raise()
        perform(scheduler.resume(at: ports.clock.now, after: device))
        await listen(for: nil)
    }

    /// Whether the gateway pairs with the device without being asked, now or when the back-off ends. A private address
    /// hides who sends. The device chooses the identity that it gives with its keys, and the kernel and bluetoothd then
    /// put them in the place of the keys of whoever has that identity; so it takes an operator.
    func pairsUnasked(_ device: DeviceAddress, as entry: AllowedPeripheral) -> Bool {
        !device.isPrivate && hasRecalledBonds && bonds.wantsAutomaticPairing(device, as: entry)
            && !pairing.automatic.isSpent(entry)
            && (entry.address != nil || unnamedBonds < AutomaticPairing.mostUnnamedBonds)
    }

    /// Bonds of devices that no entry names by address.
    private var unnamedBonds: Int {
        bonds.all?.count { !allowList.pins($0.device.address) } ?? 0
    }

    /// Whether the passkey of the entry may be given while nobody looks on: once, until an operator has paired under
    /// the entry. That is on the disk before the passkey is given.
    func spendPasskey(of entry: AllowedPeripheral) async -> Bool {
        guard !pairing.automatic.isSpent(entry) else { return false }
        pairing.automatic.set(entry, isSpent: true)
        do {
            try await ports.devices.setPairing(entry.entryKey, isSpent: true)
            return true
        } catch {
            ports.events.emit(storeError: error)
            return false
        }
    }

    /// A pairing under the entry has succeeded: it may have another automatic one.
    func restorePasskey(of entry: AllowedPeripheral) async {
        guard pairing.automatic.isSpent(entry) else { return }
        do {
            try await ports.devices.setPairing(entry.entryKey, isSpent: false)
            pairing.automatic.set(entry, isSpent: false)
        } catch {
            ports.events.emit(storeError: error)
        }
    }

    /// Whether the gateway may pair by itself under this entry now.
    func mayPair(_ entry: AllowedPeripheral) -> Bool {
        pairing.automatic.allows(entry, at: ports.clock.now)
    }

    /// What came of a pairing that the gateway began by itself.
    func automaticPairing(as entry: AllowedPeripheral, succeeded: Bool) {
        if succeeded {
            pairing.automatic.succeeded(entry, at: ports.clock.now)
        } else {
            pairing.automatic.failed(entry, at: ports.clock.now)
        }
    }

    /// Whether a read that was started has not ended yet.
    var isReading: Bool { pairing.readsUnderWay + pairing.attemptsUnderWay > 0 }

    /// The same but for standing attempts.
    var isReadingAtOnce: Bool { pairing.readsUnderWay > 0 }

    func isForPairing(_ advertisement: Advertisement) -> Bool {
        pairing.listener?(advertisement) ?? false
    }

    /// There is a bond now: the device is read over its adapter from now on.
    func paired(_ bond: Bond) {
        let now = ports.clock.now
        // What it shows to a bonded gateway may be another.
        strangers.forget(bond.device)
        bonds.clear(bond.device)
        bonds.remember(bond.device, isBonded: true)
        if var all = bonds.all, !all.contains(bond) {
            // Before the keeper's own word, which may come later, takes the place of this.
            all = all.filter { $0.device != bond.device }
            all.insert(bond)
            bondsChanged(.known(all))
        } else {
            perform(scheduler.bind(bond.device, to: bond.adapter, at: now))
        }
    }

    /// The device has no bond any more.
    func unpaired(_ device: DeviceAddress) {
        strangers.forget(device)
        bonds.clear(device)
        bonds.remember(device, isBonded: false)
        if let all = bonds.all { bondsChanged(.known(all.filter { $0.device != device })) }
        perform(scheduler.bind(device, to: nil, at: ports.clock.now))
    }

    /// Reads the device over the link that its pairing has left up. The pause holds meanwhile.
    func readAfterPairing(_ device: DeviceAddress, as entry: AllowedPeripheral, over adapter: AdapterID) {
        perform(scheduler.readAfterPairing(device, as: entry, over: adapter, at: ports.clock.now))
    }
}

extension PassiveGateway {
    /// Sets the clock of a device that expects it over the link that its pairing has left up, then hangs
    /// up. Where that fails, the next link sets it.
    func setClockAfterPairing(
        _ device: DeviceAddress, as entry: AllowedPeripheral, over adapter: AdapterID
    ) async {
        pairing.readsUnderWay += 1
        defer { pairing.readsUnderWay -= 1 }
        let outcome = await read(
            Request(device: device, entry: entry, adapter: adapter, attempt: 1, isForClock: true))
        guard case .storeUnusable(let error) = outcome else { return }
        unusableStore = error
        // Ends `run`, which tells of it.
        requestsContinuation.finish()
    }
}

extension LinkError {
    /// Whether the link was not made because it could not be encrypted.
    fileprivate var isOfMissingKeys: Bool {
        switch self {
        case .notEncrypted, .bondRefused: true
        default: false
        }
    }
}

extension ReadSession.Outcome {
    /// Whether the peripheral gave nothing over a link without encryption.
    var isForWantOfBond: Bool {
        guard case .failed(let words) = self else { return false }
        return words.hasPrefix(LinkError.notEncrypted.words)
    }
}
