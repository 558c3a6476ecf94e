/// Which devices have a bond, which want one, and what stands in the way of a read for want of one
/// (docs/notes/decisions.md, "Pairing"). It belongs to `PassiveGateway`, whose actor it runs on.
final class BondKeeping {
    /// What an advert may lead to.
    enum Admission {
        case read
        case pairing
        case nothing
    }

    private let devices: any DeviceStore
    private let events: EventLog
    private let clock: any GatewayClock
    private(set) var table = BondTable()
    private(set) var automatic = AutomaticPairing()
    /// Whether `table` and `automatic` hold what the queue remembers of bonds and automatic pairings.
    private(set) var hasRecalled = false
    /// Raised when a bond may be gone.
    private let mayBeLost = WakeUp()

    init(_ ports: PassiveGateway.Ports) {
        devices = ports.devices
        events = ports.events
        clock = ports.clock
    }

    /// Takes over from the queue which devices had bonds and which automatic pairings are spent. Does nothing if that
    /// has been done.
    func recall() async throws {
        guard !hasRecalled else { return }
        let bonded = try await devices.rememberedBonds()
        let spent = try await devices.spentPairings()
        table.recall(bonded)
        automatic.recall(spent)
        hasRecalled = true
    }

    // MARK: Changes

    /// The bonds are now these.
    /// - Returns: devices whose adapter has changed, with the one over which they are read now.
    func changed(_ list: BondList) -> [(device: DeviceAddress, adapter: BluetoothAddress?)] {
        mayBeLost.raise()
        return table.update(list, at: clock.now)
    }

    /// The adapters are now these.
    func changed(adapters: [AdapterState]) {
        table.update(adapters: adapters, at: clock.now)
        mayBeLost.raise()
    }

    /// The allow-list has changed.
    func reload() { table.reload() }

    /// A link to the device was encrypted, and the device is read so from here on, also if nobody can be asked for the
    /// bond.
    func encrypted(_ device: DeviceAddress) {
        table.clear(device)
        table.remember(device, isBonded: true)
    }

    /// There is a bond now.
    /// - Returns: as `changed`.
    func paired(_ bond: Bond) -> [(device: DeviceAddress, adapter: BluetoothAddress?)] {
        encrypted(bond.device)
        guard var all = table.all, !all.contains(bond) else { return [(bond.device, bond.adapter)] }
        // Before the keeper's own word, which may come later, takes the place of this.
        all = all.filter { $0.device != bond.device }
        all.insert(bond)
        return changed(.known(all))
    }

    /// The device has no bond any more.
    /// - Returns: as `changed`.
    func unpaired(_ device: DeviceAddress) -> [(device: DeviceAddress, adapter: BluetoothAddress?)] {
        table.clear(device)
        table.remember(device, isBonded: false)
        let changes = table.all.map { all in changed(.known(all.filter { $0.device != device })) } ?? []
        return changes + [(device, nil)]
    }

    // MARK: Lost bonds

    /// Waits until a bond may be gone.
    func waitForLoss() async {
        await mayBeLost.wait()
        _ = mayBeLost.consume()
        // bluetoothd lists its adapters and devices one by one.
        try? await clock.sleep(for: BondTable.grace)
    }

    /// A pairing, which replaces bonds, has ended.
    func lookAgain() { mayBeLost.raise() }

    /// Tells if the bond of a device is gone, which may not be heard without it.
    /// - Parameter remembered: the adapter with which it had a bond by our own memory.
    func lookForLoss(of device: DeviceAddress, as entry: AllowedPeripheral, remembered: BluetoothAddress) {
        let notice = table.missing(device, as: entry, remembered: remembered, at: clock.now)
        guard case .bondLost(let words) = notice else { return }
        events.emit(.bondLost(entry.reference, error: words))
    }

    // MARK: Reads

    /// What the advert may lead to.
    func admit(_ advertisement: Advertisement, as entry: AllowedPeripheral, _ list: AllowList) -> Admission {
        let device = advertisement.device
        let now = advertisement.received
        let mayBeRead: Admission = table.admits(device, at: now) ? .read : .nothing
        guard advertisement.isInPairingMode, pairsUnasked(device, as: entry, list) else { return mayBeRead }
        // Some always say that they are in pairing mode, and give their readings without a bond.
        if !entry.requiresBond, automatic.isBackingOff(entry, at: now) { return mayBeRead }
        // A link without a bond would end its pairing mode and bring nothing.
        return table.isSettled(at: now) ? .pairing : .nothing
    }

    /// How the read may have a link. Tells what stands in its way.
    /// - Parameter remembered: the adapter with which the device had a bond by our own memory.
    func verdict(on request: PassiveGateway.Request, remembered: BluetoothAddress?) -> BondTable.Verdict {
        let verdict = table.verdict(
            on: request.device, as: request.entry, remembered: remembered, over: request.adapter,
            at: clock.now)
        if case .refused(let notice) = verdict { tell(notice, of: request) }
        return verdict
    }

    /// What comes of a read whose link could not be made.
    func connectionFailed(
        _ error: LinkError, _ request: PassiveGateway.Request, isEncrypted: Bool
    ) -> ReadSession.Outcome {
        guard error.isOfMissingKeys, isEncrypted else {
            return withAdvice(.failed(.link(error)), request, isEncrypted: isEncrypted)
        }
        let now = clock.now
        guard let known = table.bonds(of: request.device) else { return .failed(.link(error)) }
        if known.isEmpty {
            // The bond may be one that bluetoothd has not listed yet.
            return table.isSettled(at: now) ? .failed(.link(error)) : .refused
        }
        tell(table.keysRefused(by: request.device, as: request.entry, at: now), of: request)
        return .refused
    }

    /// Adds to a failure what may be its cause: a model that wants a bond, and has none.
    func withAdvice(
        _ outcome: ReadSession.Outcome, _ request: PassiveGateway.Request, isEncrypted: Bool
    ) -> ReadSession.Outcome {
        guard case .failed(var failure) = outcome, !isEncrypted, request.entry.model.bonding == .required
        else {
            return outcome
        }
        failure.advice =
            "this model gives its readings to a bonded gateway only: \(BondTable.pairIt(request.entry))"
        return .failed(failure)
    }

    private func tell(_ notice: BondTable.Notice?, of request: PassiveGateway.Request) {
        switch notice {
        case nil: break
        case .bondLost(let words): events.emit(.bondLost(request.entry.reference, error: words))
        case .readFailed(let words):
            events.emit(.readFailed(request.entry.reference, error: words, attempt: request.attempt))
        }
    }

    // MARK: Pairing

    /// Whether the gateway pairs with the device without being asked, now or when the back-off ends. A private address
    /// hides who sends. The device chooses the identity that it gives with its keys, and the kernel and bluetoothd then
    /// put them in the place of the keys of whoever has that identity; so it takes an operator.
    func pairsUnasked(_ device: DeviceAddress, as entry: AllowedPeripheral, _ list: AllowList) -> Bool {
        !device.isPrivate && hasRecalled && table.wantsAutomaticPairing(device, as: entry)
            && !automatic.isSpent(entry)
            && (entry.address != nil || unnamedBonds(list) < AutomaticPairing.mostUnnamedBonds)
    }

    /// Bonds of devices that no entry names by address.
    private func unnamedBonds(_ list: AllowList) -> Int {
        table.all?.count { !list.pins($0.device.address) } ?? 0
    }

    /// Whether the passkey of the entry may be given while nobody looks on: once, until an operator has paired under
    /// the entry. That is on the disk before the passkey is given.
    func spendPasskey(of entry: AllowedPeripheral) async -> Bool {
        guard !automatic.isSpent(entry) else { return false }
        automatic.set(entry, isSpent: true)
        do {
            try await devices.setPairing(entry.entryKey, isSpent: true)
            return true
        } catch {
            events.emit(storeError: error)
            return false
        }
    }

    /// A pairing under the entry has succeeded: it may have another automatic one.
    func restorePasskey(of entry: AllowedPeripheral) async {
        guard automatic.isSpent(entry) else { return }
        do {
            try await devices.setPairing(entry.entryKey, isSpent: false)
            automatic.set(entry, isSpent: false)
        } catch {
            events.emit(storeError: error)
        }
    }

    /// Whether the gateway may pair by itself under this entry now.
    func mayPair(_ entry: AllowedPeripheral) -> Bool { automatic.allows(entry, at: clock.now) }

    /// What came of a pairing that the gateway began by itself.
    func automaticPairing(as entry: AllowedPeripheral, succeeded: Bool) {
        if succeeded {
            automatic.succeeded(entry, at: clock.now)
        } else {
            automatic.failed(entry, at: clock.now)
        }
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
