extension SimulatedAdapter {
    /// Carries a command out: its status and the parameters of its answer.
    mutating func perform(_ opcode: UInt16, _ parameters: [UInt8]) -> (status: UInt8, answer: [UInt8]) {
        typealias Opcode = ManagementProtocol.Opcode
        typealias Status = ManagementProtocol.Status
        if death != nil, needsController(opcode, parameters) { return (Status.hciTimeout, []) }
        switch opcode {
        case Opcode.readInformation:
            return (Status.success, information)
        case Opcode.setPowered, Opcode.setLowEnergy:
            guard parameters.count == 1, parameters[0] <= 1 else { return (Status.invalidParameters, []) }
            if opcode == Opcode.setPowered {
                isPowered = parameters[0] == 1
            } else {
                isLowEnergy = parameters[0] == 1
            }
            return (Status.success, Wire.bytes(settings))
        case Opcode.setDefaultConfiguration:
            defaultConfiguration = parameters
            return (Status.success, [])
        case Opcode.readMonitorFeatures:
            return (Status.success, monitorFeatures)
        case Opcode.addPatternsMonitor:
            guard isPowered else { return (Status.notPowered, []) }
            guard let patterns = Self.patterns(parameters) else { return (Status.invalidParameters, []) }
            return (Status.success, Wire.bytes(addMonitor(patterns)))
        case Opcode.removeMonitor:
            return removeMonitor(parameters)
        case Opcode.getConnections:
            return (Status.success, Wire.bytes(UInt16(links.count)) + links.flatMap(ManagementProtocol.bytes))
        case Opcode.disconnect:
            guard let place = links.firstIndex(where: { ManagementProtocol.bytes(of: $0) == parameters })
            else { return (Status.notConnected, []) }
            return (Status.success, ManagementProtocol.bytes(of: links.remove(at: place)))
        case Opcode.getClockInformation:
            // Nobody has a link to the address that stands for the adapter's own.
            return (isPowered ? Status.notConnected : Status.notPowered, parameters)
        case Opcode.startDiscovery, Opcode.stopDiscovery:
            return changeDiscovery(parameters, isStarted: opcode == Opcode.startDiscovery)
        case Opcode.addDevice, Opcode.removeDevice:
            return changeDevice(parameters, isAdded: opcode == Opcode.addDevice)
        default:
            return (Status.unknownCommand, [])
        }
    }

    /// Whether the controller has to answer for the command to succeed. One that is powered on may begin to; another one
    /// is not even powered off (net/bluetooth/hci_sync.c, hci_power_off_sync, which ends the scan first).
    private mutating func needsController(_ opcode: UInt16, _ parameters: [UInt8]) -> Bool {
        typealias Opcode = ManagementProtocol.Opcode
        switch (opcode, death) {
        case (Opcode.setPowered, .untilPoweredOn):
            if parameters == [1] { death = nil }
            return false
        case (Opcode.setPowered, .forGood): return parameters == [0]
        case (Opcode.disconnect, _), (Opcode.startDiscovery, _): return true
        default: return false
        }
    }

    /// Address, version, manufacturer, supported and current settings, class, name, short name.
    private var information: [UInt8] {
        let supported = ManagementProtocol.Setting.powered | ManagementProtocol.Setting.lowEnergy
        return ManagementProtocol.octets(of: address) + [0x0C] + Wire.bytes(UInt16(0x05F1))
            + Wire.bytes(supported) + Wire.bytes(settings) + [UInt8](repeating: 0, count: 3 + 249 + 11)
    }

    /// Supported and enabled features, most handles, most patterns, handles.
    private var monitorFeatures: [UInt8] {
        let features = Wire.bytes(UInt32(matchesPatterns ? 1 : 0))
        let handles = monitors.keys.sorted()
        return features + features + Wire.bytes(UInt16(32)) + [16]
            + Wire.bytes(UInt16(clamping: handles.count)) + handles.flatMap { Wire.bytes($0) }
    }

    private mutating func removeMonitor(_ parameters: [UInt8]) -> (UInt8, [UInt8]) {
        guard let handle = Wire.number(parameters, at: 0), parameters.count == 2,
            monitors.removeValue(forKey: handle) != nil
        else { return (ManagementProtocol.Status.invalidIndex, []) }
        return (ManagementProtocol.Status.success, parameters)
    }

    /// The parameters are the types of address.
    private mutating func changeDiscovery(_ parameters: [UInt8], isStarted: Bool) -> (UInt8, [UInt8]) {
        guard isPowered else { return (ManagementProtocol.Status.notPowered, parameters) }
        guard isDiscovering != isStarted else {
            return (
                isStarted ? ManagementProtocol.Status.busy : ManagementProtocol.Status.rejected, parameters
            )
        }
        isDiscovering = isStarted
        return (ManagementProtocol.Status.success, parameters)
    }

    private mutating func changeDevice(_ parameters: [UInt8], isAdded: Bool) -> (UInt8, [UInt8]) {
        var reader = ManagementReader(parameters.span)
        guard let address = reader.address(), let type = reader.byte(), type == 1 || type == 2 else {
            return (ManagementProtocol.Status.invalidParameters, [])
        }
        let device = DeviceAddress(address, type == 1 ? .public : .random)
        if isAdded {
            // Only reporting is simulated; the other actions would connect.
            guard reader.byte() == ManagementProtocol.DeviceAction.report, !device.isPrivate else {
                return (ManagementProtocol.Status.invalidParameters, [])
            }
            reported.insert(device)
        } else {
            guard reported.remove(device) != nil else {
                return (ManagementProtocol.Status.invalidParameters, [])
            }
        }
        return (ManagementProtocol.Status.success, Array(parameters.prefix(7)))
    }

    /// A count, then so many of AD type, offset, length and 31 bytes.
    private static func patterns(_ parameters: [UInt8]) -> [AdvertisementPattern]? {
        guard let count = parameters.first, (1...16).contains(count),
            parameters.count == 1 + Int(count) * 34
        else { return nil }
        var patterns: [AdvertisementPattern] = []
        for start in stride(from: 1, to: parameters.count, by: 34) {
            let length = Int(parameters[start + 2])
            guard length <= 31,
                let pattern = AdvertisementPattern(
                    type: parameters[start], offset: parameters[start + 1],
                    bytes: Array(parameters[(start + 3)..<(start + 3 + length)]))
            else { return nil }
            patterns.append(pattern)
        }
        return patterns
    }
}
