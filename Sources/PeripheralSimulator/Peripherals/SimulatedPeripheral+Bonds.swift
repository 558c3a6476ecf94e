/// How it is paired.
extension SimulatedPeripheral {
    /// How long the link of a pairing may be left unused.
    private static let pairingPatience = Duration.seconds(10)

    // MARK: For tests

    /// Changes how it is paired, and what it keeps of its bonds.
    package func changeBonding(_ body: @escaping @Sendable (inout SimulatedBonding) -> Void) async {
        await loop.perform {
            guard var bonding = self.bonding else {
                preconditionFailure("this peripheral knows no bonds")
            }
            body(&bonding)
            self.bonding = bonding
        }
    }

    /// Forgets all its bonds, as with new batteries.
    package func forgetBonds() async {
        await changeBonding { $0.keys = [] }
    }

    /// Has keys of an adapter, as after a bond.
    package func restoreKeys(of adapter: BluetoothAddress) async {
        await changeBonding { $0.keys.insert(adapter) }
    }

    // MARK: On the radio's loop

    /// What it sends in its adverts.
    package var advert: [UInt8] {
        guard let bonding else { return plainAdvert }
        return plainAdvert.advert(isInPairingMode: bonding.isInPairingMode)
    }

    /// The address under which it has its bonds.
    var identity: DeviceAddress { bonding?.identity ?? device }
    var claimsIdentity: Bool { bonding?.claimsIdentity ?? false }

    func hasKeys(of adapter: BluetoothAddress) -> Bool { bonding?.keys.contains(adapter) == true }

    /// A central connects to pair.
    func beginPairing() throws(PairingError) -> SimulatedBonding.Method {
        if let obstacle = obstacle() {
            throw obstacle == .adapterUnavailable ? .adapterUnavailable : .notReachable
        }
        guard let bonding, bonding.isInPairingMode else { throw .refused }
        cancelTimers()
        isPairing = true
        return bonding.method
    }

    /// The pairing has ended, and with it its link unless that is kept.
    func endPairing(with adapter: BluetoothAddress, isBonded: Bool, keepsLink: Bool) {
        isPairing = false
        guard transmit != nil else { return }
        if isBonded {
            bonding?.isInPairingMode = false
            if bonding?.completesAtHangUp != true || !keepsLink { bonding?.keys.insert(adapter) }
            if bonding?.forgetsWhenHungUpOn == true, !keepsLink { bonding?.keys.remove(adapter) }
        }
        guard isBonded, keepsLink else { return stayAwake() }
        // Whoever has kept the link has to use it.
        pairingLink = adapter
        timers.append(
            loop.after(Self.pairingPatience) { [weak self] in
                self?.pairingLink = nil
                self?.sleep()
            })
    }
}
