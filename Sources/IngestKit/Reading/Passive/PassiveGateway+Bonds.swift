/// What bonds decide in passive reading.
extension PassiveGateway {
    /// The bonds that there are.
    package var bonds: BondTable { bonding.table }

    /// Follows who keeps the bonds until the task is cancelled.
    func followBonds() async {
        guard let keeper = ports.bondKeeper else { return }
        await withDiscardingTaskGroup { group in
            group.addTask { await keeper.run() }
            group.addTask { await self.lookForLostBonds() }
            for await list in keeper.bonds { bind(bonding.changed(list)) }
            group.cancelAll()
        }
    }

    /// Tells of bonds that are gone without waiting for an advert, until the task is cancelled: who sends
    /// under private addresses, or to its bonded central alone, is not heard any more.
    private func lookForLostBonds() async {
        while !Task.isCancelled {
            await bonding.waitForLoss()
            for entry in allowList.entries where entry.broadcastFormat == nil {
                guard let address = entry.address else { continue }
                for type in [AddressType.public, .random] {
                    let device = DeviceAddress(address, type)
                    // An order may replace the bond, and has all looked at again at its end.
                    guard let adapter = try? await ports.devices.recall(device)?.bondedAdapter, !isHeld
                    else { continue }
                    bonding.lookForLoss(of: device, as: entry, remembered: adapter)
                }
            }
        }
    }

    /// Devices are read over other adapters from now on.
    func bind(_ changes: [(device: DeviceAddress, adapter: BluetoothAddress?)]) {
        for (device, adapter) in changes {
            perform(scheduler.bind(device, to: adapter, at: ports.clock.now))
        }
    }

    /// Whether what was heard may lead to a read. It may lead to a pairing instead.
    func mayBeRead(_ advertisement: Advertisement, as entry: AllowedPeripheral) -> Bool {
        switch bonding.admit(advertisement, as: entry, allowList) {
        case .read: return true
        case .nothing: return false
        case .pairing:
            wish.yield(Wish(advertisement: advertisement, entry: entry))
            return false
        }
    }

    /// Whether the read may have a link, and if so whether it must be encrypted.
    func allowsLink(for request: Request, remembered: BluetoothAddress?) -> Bool? {
        switch bonding.verdict(on: request, remembered: remembered) {
        case .open: return false
        case .encrypted: return true
        case .elsewhere(let adapter):
            // While nobody lists the bonds the scheduler knows of none.
            bind([(request.device, adapter)])
            return nil
        case .refused: return nil
        }
    }

    // MARK: For pairings

    /// Whether the gateway pairs with the device without being asked, now or when the back-off ends.
    package func pairsUnasked(_ device: DeviceAddress, as entry: AllowedPeripheral) -> Bool {
        bonding.pairsUnasked(device, as: entry, allowList)
    }

    /// Whether the gateway may pair by itself under this entry now.
    package func mayPair(_ entry: AllowedPeripheral) -> Bool { bonding.mayPair(entry) }

    /// Whether the passkey of the entry was given while nobody looked on.
    package func hasSpentPasskey(of entry: AllowedPeripheral) -> Bool { bonding.automatic.isSpent(entry) }

    /// Whether the passkey of the entry may be given while nobody looks on.
    package func spendPasskey(of entry: AllowedPeripheral) async -> Bool {
        await bonding.spendPasskey(of: entry)
    }

    /// A pairing under the entry has succeeded: it may have another automatic one.
    package func restorePasskey(of entry: AllowedPeripheral) async { await bonding.restorePasskey(of: entry) }

    /// What came of a pairing that the gateway began by itself.
    package func automaticPairing(as entry: AllowedPeripheral, succeeded: Bool) {
        bonding.automaticPairing(as: entry, succeeded: succeeded)
    }

    /// There is a bond now: the device is read over its adapter from now on.
    package func paired(_ bond: Bond) {
        // What it shows to a bonded gateway may be another.
        strangers.forget(bond.device)
        bind(bonding.paired(bond))
    }

    /// The device has no bond any more.
    package func unpaired(_ device: DeviceAddress) {
        strangers.forget(device)
        bind(bonding.unpaired(device))
    }
}
