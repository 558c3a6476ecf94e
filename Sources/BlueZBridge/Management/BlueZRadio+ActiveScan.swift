/// Active scans for an operator, as the kernel's discovery.
extension BlueZRadio: ActiveScanner {
    /// The kernel ends a discovery after 10.24 s (DISCOV_LE_TIMEOUT), also when this process is gone; it is ended
    /// and begun anew before that. Each begins with an empty filter of repeated adverts.
    private static let longestDiscovery = Duration.seconds(10)
    /// How long an adapter is waited for that is not there yet: the service may have started a moment ago.
    static let adapterPatience = Duration.seconds(5)
    private static let adapterLook = Duration.milliseconds(250)
    /// Start and Stop Discovery, address types: LE public and LE random (mgmt-api.txt, bits 1 and 2).
    private static let addressTypes: [UInt8] = [0b110]

    package func scanActively(
        for duration: Duration, found: @escaping @Sendable (Advertisement) -> Void
    ) async throws(ActiveScanError) {
        guard receiver.onEvery == nil else { throw .busy }
        receiver.onEvery = found
        filterInKernel()
        defer {
            receiver.onEvery = nil
            filterInKernel()
        }
        await awaitAdapter()
        let end = clock.now + duration
        var hasScanned = false
        repeat {
            let started: [UInt16]
            do throws(ActiveScanError) {
                started = try await startDiscovery()
                hasScanned = true
            } catch {
                // An adapter that went away under way takes nothing back of what was heard.
                guard hasScanned else { throw error }
                started = []
            }
            try? await clock.sleep(until: min(end, clock.now + Self.longestDiscovery))
            // Not stopped by a cancellation: the answer is awaited all the same.
            for index in started {
                _ = try? await command(ManagementProtocol.Opcode.stopDiscovery, index, Self.addressTypes)
            }
        } while clock.now < end && !Task.isCancelled
    }

    private func awaitAdapter() async {
        let end = clock.now + Self.adapterPatience
        while !inventory.values.contains(where: \.canDiscover), clock.now < end, !Task.isCancelled {
            try? await clock.sleep(for: Self.adapterLook)
        }
    }

    /// - Returns: the adapters whose discovery is ours to stop.
    private func startDiscovery() async throws(ActiveScanError) -> [UInt16] {
        var started: [UInt16] = []
        var failure: ActiveScanError?
        var isUnderWay = false
        for (index, adapter) in inventory.sorted(by: { $0.key < $1.key })
        where adapter.canDiscover {
            do throws(ManagementError) {
                try await command(ManagementProtocol.Opcode.startDiscovery, index, Self.addressTypes)
                started.append(index)
            } catch {
                switch error {
                // Somebody else's discovery brings the same.
                case .status(ManagementProtocol.Status.busy, _): isUnderWay = true
                case .status(ManagementProtocol.Status.notPowered, _):
                    failure = failure ?? .refused("\(adapter.id) is powered off: bluetoothctl power on")
                default: failure = failure ?? .refused("\(adapter.id): \(error.message)")
                }
            }
        }
        if started.isEmpty, !isUnderWay { throw failure ?? .noAdapter }
        return started
    }
}

extension Adapter {
    fileprivate var id: AdapterID { AdapterID(index: index) }
    fileprivate var canDiscover: Bool { isSelected && address != nil }
}
