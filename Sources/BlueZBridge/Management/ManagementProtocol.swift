/// The kernel's Bluetooth management protocol: packets of a six-byte header and little-endian
/// parameters (BlueZ doc/mgmt-api.txt; kernel include/net/bluetooth/mgmt.h).
package enum ManagementProtocol {
    /// opcode or event, controller index, length of parameters: each 16 bits.
    static let headerLength = 6
    /// The index of commands and events that concern no controller.
    package static let noIndex: UInt16 = 0xFFFF

    package enum Opcode {
        package static let readIndexList: UInt16 = 0x0003
        package static let readInformation: UInt16 = 0x0004
        package static let setPowered: UInt16 = 0x0005
        package static let setLowEnergy: UInt16 = 0x000D
        package static let disconnect: UInt16 = 0x0014
        package static let getConnections: UInt16 = 0x0015
        package static let startDiscovery: UInt16 = 0x0023
        package static let stopDiscovery: UInt16 = 0x0024
        package static let getClockInformation: UInt16 = 0x0032
        package static let addDevice: UInt16 = 0x0033
        package static let removeDevice: UInt16 = 0x0034
        package static let setDefaultConfiguration: UInt16 = 0x004C
        package static let readMonitorFeatures: UInt16 = 0x0051
        package static let addPatternsMonitor: UInt16 = 0x0052
        package static let removeMonitor: UInt16 = 0x0053
    }

    package enum Event {
        package static let commandComplete: UInt16 = 0x0001
        package static let commandStatus: UInt16 = 0x0002
        package static let indexAdded: UInt16 = 0x0004
        package static let indexRemoved: UInt16 = 0x0005
        package static let newSettings: UInt16 = 0x0006
        package static let deviceFound: UInt16 = 0x0012
        package static let deviceRemoved: UInt16 = 0x001B
        package static let monitorRemoved: UInt16 = 0x002C
        package static let monitorDeviceFound: UInt16 = 0x002F
    }

    /// A command's result.
    package enum Status {
        package static let success: UInt8 = 0x00
        package static let unknownCommand: UInt8 = 0x01
        package static let notConnected: UInt8 = 0x02
        package static let failed: UInt8 = 0x03
        /// What the kernel makes of a controller's ETIMEDOUT (net/bluetooth/mgmt.c, mgmt_errno_status): the number of
        /// "authentication failed".
        package static let hciTimeout: UInt8 = 0x05
        package static let noResources: UInt8 = 0x07
        package static let timeout: UInt8 = 0x08
        package static let busy: UInt8 = 0x0A
        package static let rejected: UInt8 = 0x0B
        package static let notSupported: UInt8 = 0x0C
        package static let invalidParameters: UInt8 = 0x0D
        package static let notPowered: UInt8 = 0x0F
        package static let invalidIndex: UInt8 = 0x11
        package static let blockedByRadioSwitch: UInt8 = 0x12
        package static let permissionDenied: UInt8 = 0x14
    }

    /// Bits of a controller's settings.
    package enum Setting {
        package static let powered: UInt32 = 1 << 0
        package static let lowEnergy: UInt32 = 1 << 9
    }

    /// Types of `0x004C` parameters (kernel net/bluetooth/mgmt_config.c), in units of 0.625 ms.
    enum DefaultParameter {
        static let scanInterval: [UInt16] = [0x000D, 0x0013, 0x0015]
        static let scanWindow: [UInt16] = [0x000E, 0x0014, 0x0016]
    }

    /// What Add Device asks of the kernel.
    package enum DeviceAction {
        /// Report its adverts, do not connect.
        package static let report: UInt8 = 0
    }

    /// Flag of a found device that takes no connection.
    package static let notConnectableFlag: UInt32 = 1 << 2
    /// The kernel's most patterns of one monitor (HCI_MAX_ADV_MONITOR_NUM_PATTERNS).
    static let patternsPerMonitor = 16
    /// The kernel's "no RSSI" (HCI_RSSI_INVALID).
    static let noRSSI: Int8 = 127

    /// A command or event as bytes.
    package static func packet(_ code: UInt16, index: UInt16, _ parameters: [UInt8]) -> [UInt8] {
        var packet: [UInt8] = []
        packet.reserveCapacity(headerLength + parameters.count)
        for number in [code, index, UInt16(clamping: parameters.count)] {
            packet += [UInt8(truncatingIfNeeded: number), UInt8(truncatingIfNeeded: number >> 8)]
        }
        return packet + parameters
    }

    /// A device as the kernel writes it: address, least significant octet first, and type.
    package static func bytes(of device: DeviceAddress) -> [UInt8] {
        octets(of: device.address) + [type(device.type)]
    }

    package static func octets(of address: BluetoothAddress) -> [UInt8] {
        (0..<6).map { UInt8(truncatingIfNeeded: address.value >> (UInt64($0) * 8)) }
    }

    /// 1 LE public, 2 LE random; 0 would be BR/EDR.
    package static func type(_ type: AddressType) -> UInt8 {
        type == .public ? 1 : 2
    }
}

/// Reads management parameters in place: little-endian, bounded, nil past the end. For events that
/// come by the thousand and are mostly not for us, so that nothing is copied.
package struct ManagementReader: ~Escapable {
    private let bytes: Span<UInt8>
    private var position = 0

    @_lifetime(copy bytes)
    package init(_ bytes: Span<UInt8>) {
        self.bytes = bytes
    }

    package var remaining: Int { bytes.count - position }

    package mutating func byte() -> UInt8? {
        number(octets: 1).map { UInt8(truncatingIfNeeded: $0) }
    }

    package mutating func number16() -> UInt16? {
        number(octets: 2).map { UInt16(truncatingIfNeeded: $0) }
    }

    package mutating func number32() -> UInt32? {
        number(octets: 4).map { UInt32(truncatingIfNeeded: $0) }
    }

    package mutating func address() -> BluetoothAddress? {
        number(octets: 6).map { BluetoothAddress(value: $0) }
    }

    /// Inlined, so that each caller has its own few loads.
    @inline(__always)
    private mutating func number(octets: Int) -> UInt64? {
        guard remaining >= octets else { return nil }
        defer { position += octets }
        var number: UInt64 = 0
        for octet in (0..<octets).reversed() { number = number << 8 | UInt64(bytes[position + octet]) }
        return number
    }

    /// Where the next `count` bytes lie.
    package mutating func range(_ count: Int) -> Range<Int>? {
        guard count >= 0, remaining >= count else { return nil }
        defer { position += count }
        return position..<position + count
    }
}
