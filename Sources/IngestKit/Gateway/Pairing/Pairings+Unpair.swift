/// Why a bond was not removed.
package enum UnpairFailure: Error, Sendable, Equatable {
    case noKeeper
    /// Another pairing is under way.
    case busy
    /// There is no bond of the target with a device of the allow-list.
    case notBonded(PairingTarget)
    /// A model was named, and which device of it is meant cannot be told. The bonds that there are.
    case whichDevice(Int, [BluetoothAddress])
    case error(PairingError)

    /// One sentence that says what to do.
    package var words: String {
        switch self {
        case .noKeeper: return PairingError.noKeeper.words
        case .busy: return PairingRefusal.busy.words
        case .notBonded(let target): return "there is no bond with \(target)"
        case .whichDevice(let id, let bonds):
            let list = bonds.map(\.description).joined(separator: ", ")
            return "no entry with id \(id) names a bonded device by its address: give the address"
                + (list.isEmpty ? " (there are no bonds)" : " (there are bonds with \(list))")
        case .error(let error): return error.words
        }
    }

    /// As the control socket tells it.
    package var reason: FailureReason {
        switch self {
        case .noKeeper: .noKeeper
        case .busy: .busy
        case .notBonded: .notBonded
        case .whichDevice: .whichDevice
        case .error(let error): error.reason
        }
    }
}

extension Pairings {
    /// Removes the bonds of a device, or of all devices that entries of a model name by address, and
    /// forgets that there were any.
    /// - Returns: the devices, by their identity addresses.
    package func unpair(_ target: PairingTarget) async throws(UnpairFailure) -> [BluetoothAddress] {
        guard let keeper = ports.bondKeeper, let all = await gateway.bonds.all else { throw .noKeeper }
        guard !isPairing else { throw .busy }
        let list = await gateway.allowList
        let addresses: Set<BluetoothAddress>
        switch target {
        case .device(let address): addresses = [address]
        case .model(let id):
            addresses = Set(list.entries.filter { $0.model.id == id }.compactMap(\.address))
        }
        var devices: Set<DeviceAddress> = []
        for address in addresses {
            let ours = list.entries.contains { $0.address == address }
            for type in [AddressType.public, .random] {
                let device = DeviceAddress(address, type)
                let isBonded = all.contains { $0.device == device }
                let isRemembered = await bondedAdapter(of: device) != nil
                // Bonds of what this gateway does not read, a keyboard's, are not its to remove.
                if isRemembered || isBonded && ours { devices.insert(device) }
            }
        }
        guard !devices.isEmpty else {
            if case .model(let id) = target {
                throw .whichDevice(id, Set(all.map(\.device.address)).sorted { $0.value < $1.value })
            }
            throw .notBonded(target)
        }
        // A read would remember the bond again at its end.
        try await whileNothingIsRead { () async throws(UnpairFailure) in
            for device in devices {
                for bond in all where bond.device == device {
                    do throws(PairingError) {
                        try await keeper.unpair(bond)
                    } catch {
                        guard error == .notBonded else { throw UnpairFailure.error(error) }
                    }
                }
                await remember(nil, of: device)
                await gateway.unpaired(device)
            }
        }
        return devices.map(\.address).sorted { $0.value < $1.value }
    }

    private func bondedAdapter(of device: DeviceAddress) async -> BluetoothAddress? {
        guard let memory = try? await ports.devices.recall(device) else { return nil }
        return memory.bondedAdapter
    }
}
