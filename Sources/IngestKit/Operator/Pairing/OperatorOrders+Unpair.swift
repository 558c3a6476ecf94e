extension OperatorOrders {
    /// Removes the bonds of a device, or of all devices that entries of a model name by address, and
    /// forgets that there were any.
    /// - Returns: the devices, by their identity addresses.
    package func unpair(_ target: PairingTarget) async throws(UnpairFailure) -> [BluetoothAddress] {
        guard let keeper = ports.bondKeeper, let all = await keptBonds() else { throw .noKeeper }
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
