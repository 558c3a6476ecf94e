/// A Bluetooth adapter as the simulated kernel knows it.
package struct SimulatedAdapter: Sendable {
    package var index: UInt16
    package var address: BluetoothAddress
    package var isPowered: Bool
    package var isLowEnergy: Bool
    /// Whether the controller matches advert patterns itself (Microsoft's extension).
    package var matchesPatterns: Bool
    /// How many links its controller makes at a time; nil: any number.
    package var mostLinks: Int?
    /// For how long its controller reports no adverts after a link has ended.
    package var deafness: Duration
    /// How its controller does not answer any more; nil: it answers.
    package internal(set) var death: Death?
    /// How many links have ended that it is still deaf from.
    var deafFrom = 0
    /// The patterns of the monitors in place, by handle.
    package internal(set) var monitors: [UInt16: [AdvertisementPattern]] = [:]
    /// Devices on the kernel's list with action 0, to be reported.
    package internal(set) var reported: Set<DeviceAddress> = []
    /// Whether a discovery is under way: an active scan, which reports every device.
    package internal(set) var isDiscovering = false
    /// Links that another process left behind.
    package internal(set) var links: [DeviceAddress]
    /// Parameters of the last Set Default Configuration.
    package internal(set) var defaultConfiguration: [UInt8]?
    private var lastHandle: UInt16 = 0

    package init(
        index: UInt16, address: BluetoothAddress, isPowered: Bool = true, isLowEnergy: Bool = true,
        matchesPatterns: Bool = false, links: [DeviceAddress] = [], mostLinks: Int? = nil,
        deafness: Duration = .zero
    ) {
        self.deafness = deafness
        self.mostLinks = mostLinks
        self.links = links
        self.index = index
        self.address = address
        self.isPowered = isPowered
        self.isLowEnergy = isLowEnergy
        self.matchesPatterns = matchesPatterns
    }

    /// A controller that does not answer any more, and hears nothing.
    package enum Death: Sendable {
        case untilPoweredOn
        case forGood
    }

    var settings: UInt32 {
        (isPowered ? ManagementProtocol.Setting.powered : 0)
            | (isLowEnergy ? ManagementProtocol.Setting.lowEnergy : 0)
    }

    mutating func addMonitor(_ patterns: [AdvertisementPattern]) -> UInt16 {
        lastHandle &+= 1
        monitors[lastHandle] = patterns
        return lastHandle
    }

    /// How the kernel reports this advert, if it does.
    enum Report: Equatable {
        case monitor(handle: UInt16)
        case device
    }

    func report(of device: DeviceAddress, data: [UInt8]) -> Report? {
        guard isPowered, isLowEnergy, deafFrom == 0, death == nil else { return nil }
        if isDiscovering { return .device }
        guard matchesPatterns else {
            return monitors.keys.min().map { .monitor(handle: $0) }
        }
        let match = monitors.filter { Self.matches($0.value, data) }.keys.min()
        if let match { return .monitor(handle: match) }
        return reported.contains(device) ? .device : nil
    }

    private static func matches(_ patterns: [AdvertisementPattern], _ data: [UInt8]) -> Bool {
        var structures = AdvertisementStructures(data.span)
        while let (type, range) = structures.next() {
            for pattern in patterns where pattern.type == type {
                if data[range].dropFirst(Int(pattern.offset)).starts(with: pattern.bytes) { return true }
            }
        }
        return false
    }
}
