/// What was learned of devices that no entry names by address and that have not given a record. Addresses are
/// whatever a sender writes, so nothing of it is written to the disk, and only the last ones are kept in this
/// run. Without it, a device that hangs up when its clock is read would be asked for it on every link.
struct StrangerMemories: Sendable {
    /// Of how many devices at most; the one that was noted first gives way.
    static let most = 128

    private var memories: [DeviceAddress: DeviceMemory] = [:]
    /// The one that was noted first comes first.
    private var order: [DeviceAddress] = []

    var count: Int { memories.count }

    /// What is known of a device.
    /// - Parameter stored: what the queue knows of it.
    func memory(of device: DeviceAddress, stored: DeviceMemory?) -> DeviceMemory {
        if let stored, !stored.isBondAlone { return stored }
        var memory = memories[device] ?? DeviceMemory()
        memory.bondedAdapter = stored?.bondedAdapter
        return memory
    }

    /// A link to the device has ended.
    /// - Parameter memory: nil if the queue remembers all of it.
    mutating func note(_ memory: DeviceMemory?, of device: DeviceAddress) {
        forget(device)
        guard let memory else { return }
        memories[device] = memory.shortened
        order.append(device)
        if order.count > Self.most { memories[order.removeFirst()] = nil }
    }

    mutating func forget(_ device: DeviceAddress) {
        guard memories.removeValue(forKey: device) != nil else { return }
        order.removeAll { $0 == device }
    }
}

extension DeviceMemory {
    /// Characteristics of a device that no entry names by address, as far as their handles are remembered: more
    /// than a reading of any profile looks at.
    private static let mostOfStranger = 32

    /// Nothing but the bond.
    var bondAlone: DeviceMemory {
        var memory = DeviceMemory()
        memory.bondedAdapter = bondedAdapter
        return memory
    }

    var isBondAlone: Bool { self == bondAlone }

    /// Without handles if there are too many: they are found anew on the next link.
    var shortened: DeviceMemory {
        guard layout.characteristicCount > Self.mostOfStranger else { return self }
        var memory = self
        memory.layout = .unknown
        return memory
    }
}
