/// The device that a session reads, and what is known of it. The queue remembers that after the link.
final class KnownDevice {
    let entry: AllowedPeripheral
    let device: DeviceAddress
    var memory: DeviceMemory
    /// Whether the peripheral has a memory that is asked for.
    var hasStoredRecords = false
    /// Whether the queue is to remember what is learned of the device. Anybody can invent addresses, so one that no
    /// entry names has to give a record first. Its bond is remembered in any case.
    private(set) var outlivesRun: Bool

    init(_ target: ReadSession.Target) {
        entry = target.entry
        device = target.device
        memory = target.memory
        outlivesRun = target.entry.address != nil || target.isRemembered
    }

    /// The device has given a record.
    func gaveRecord() { outlivesRun = true }

    /// The memory, as far as the queue remembers it.
    func kept(_ memory: DeviceMemory) -> DeviceMemory {
        entry.address == nil ? memory.shortened : memory
    }

    /// What the queue does not remember of the device; nil if there is nothing.
    var volatileMemory: DeviceMemory? { outlivesRun ? nil : memory }

    /// Has the queue remember what it is to remember. If that fails, the next link learns it anew.
    func remember(in devices: any DeviceStore) async {
        if outlivesRun {
            try? await devices.remember(kept(memory), of: device)
        } else if memory.bondedAdapter != nil {
            try? await devices.remember(memory.bondAlone, of: device)
        }
    }

    // MARK: In its records

    var block: DeviceBlock {
        DeviceBlock(
            peripheralID: entry.model.id, address: device.address, alias: entry.alias,
            manufacturer: memory.manufacturer, model: memory.model, serial: memory.serial,
            firmware: memory.firmware, hardware: memory.hardware, software: memory.software,
            systemID: memory.systemID, udi: memory.udi, battery: memory.battery)
    }

    /// A record's flags, with what holds for each of the device's measurements if the record says
    /// nothing of it.
    func withStandingFlags(_ record: Record) -> [String] {
        guard record.kind != .undecoded, let standing = memory.standingFlags else { return record.flags }
        return record.flags
            + standing.filter { flag in
                let subject = flag.prefix { $0 != "-" } + "-"
                return !record.flags.contains { $0.hasPrefix(subject) }
            }
    }
}
