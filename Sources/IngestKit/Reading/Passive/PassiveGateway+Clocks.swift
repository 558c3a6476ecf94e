/// Clocks of devices that were read while the gateway's own was not known to be right, until they can be
/// compared.
struct UncomparedClocks: Sendable {
    struct Item: Sendable {
        let entry: AllowedPeripheral
        let clock: DeviceClockReading
    }

    /// Of how many devices at most; who sends can invent addresses.
    static let most = 1_024

    private(set) var items: [DeviceAddress: Item] = [:]
    /// Raised when one has come.
    let noted = WakeUp()

    /// The device's clock was looked at.
    /// - Parameter clock: nil where nothing is left to compare.
    mutating func note(_ clock: DeviceClockReading?, of device: DeviceAddress, as entry: AllowedPeripheral) {
        guard let clock else {
            items[device] = nil
            return
        }
        guard items[device] != nil || items.count < Self.most else { return }
        items[device] = Item(entry: entry, clock: clock)
        noted.raise()
    }

    mutating func take(_ device: DeviceAddress) -> Item? { items.removeValue(forKey: device) }
}

extension PassiveGateway {
    /// Compares clocks that wait for it once the gateway's own is right, and tells of those that are
    /// wrong, until the task is cancelled. Their records are dated by the queue.
    func compareClocks() async {
        while !Task.isCancelled {
            // Lowered before anything is looked at: what comes then raises it again.
            _ = uncomparedClocks.noted.consume()
            if let reading = ports.clock.trustedReading {
                await compareClocks(
                    by: BootTime(bootID: environment.factory.bootID, reading),
                    at: reading.wallNanoseconds / 1_000_000_000)
            }
            if uncomparedClocks.items.isEmpty {
                await uncomparedClocks.noted.wait()
            } else {
                // As often as the clock is judged.
                try? await ports.clock.sleep(for: JudgedClock.interval)
            }
        }
    }

    private func compareClocks(by time: BootTime, at seconds: Int64) async {
        // What a read under way remembers at its end would take the place of what is noted here.
        for device in Array(uncomparedClocks.items.keys) where !isBeingRead(device) {
            guard let item = uncomparedClocks.take(device),
                let observed = item.clock.observation(by: time, in: environment.factory.zone),
                let skew = ClockSkew(observed, item.entry.clock == .set ? .isSetNext : .byHand)
            else { continue }
            await tell(skew, of: device, as: item.entry, saysZone: observed.saysZone == true, at: seconds)
        }
    }

    private func isBeingRead(_ device: DeviceAddress) -> Bool {
        isReadingAtOnce || scheduler.reads[device] != nil
    }

    private func tell(
        _ skew: ClockSkew, of device: DeviceAddress, as entry: AllowedPeripheral, saysZone: Bool,
        at seconds: Int64
    ) async {
        do {
            let stored = try await ports.devices.recall(device)
            var memory = strangers.memory(of: device, stored: stored)
            guard !ClockSkew.isRecent(memory.lastSkewNotice, at: seconds) else { return }
            // Only one of its readings says in which zone its clock is: that is judged on its next link.
            guard saysZone || memory.saysOffset != true else { return }
            memory.lastSkewNotice = seconds
            if entry.address == nil, stored?.isBondAlone != false {
                strangers.note(memory, of: device)
            } else {
                try await ports.devices.remember(memory, of: device)
            }
        } catch {
            return ports.events.emit(storeError: error)
        }
        ports.events.emit(.clockSkew(entry.reference, error: skew.message))
    }
}
