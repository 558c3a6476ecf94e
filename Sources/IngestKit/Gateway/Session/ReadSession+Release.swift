/// The release of committed records for delivery, with what the link taught of the device.
extension ReadSession {
    /// A record is released for delivery this long after its commit at most.
    private static let longestFreeze = Duration.seconds(30)

    var deviceBlock: DeviceBlock {
        DeviceBlock(
            peripheralID: entry.model.id, address: device.address, alias: entry.alias,
            manufacturer: memory.manufacturer, model: memory.model, serial: memory.serial,
            firmware: memory.firmware, battery: memory.battery)
    }

    /// Releases records whose link outlasts the bound.
    func freezeInTime() async {
        for await _ in firstUnfrozen {
            while let oldest = unfrozen.first {
                do {
                    try await environment.clock.sleep(until: oldest.committed + Self.longestFreeze)
                } catch {
                    return
                }
                // The session may have released it meanwhile.
                guard let first = unfrozen.first, first.committed == oldest.committed else { continue }
                await freeze()
                // Where that failed, the end of the link is the next occasion.
                if unfrozen.first?.committed == oldest.committed { return }
            }
        }
    }

    func freeze() async {
        guard !unfrozen.isEmpty else { return }
        let block = deviceBlock
        let records = unfrozen.map { item in
            var record = item.record
            record.device = block
            record.flags = withStandingFlags(record)
            return record
        }
        releasing.formUnion(records.map(\.id))
        defer { releasing.subtract(records.map(\.id)) }
        do {
            try await environment.store.freeze(records)
            let released = Set(records.map(\.id))
            unfrozen.removeAll { released.contains($0.record.id) }
        } catch {
            // They are safe in the queue, and released with the next that is, or at the next start;
            // when the gateway is stopping that is all there is to say.
            guard !Task.isCancelled else { return }
            environment.events.emit(storeError: error)
        }
    }
}
