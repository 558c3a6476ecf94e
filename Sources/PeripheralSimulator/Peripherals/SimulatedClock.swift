/// A peripheral's clock as it shows it over the air: Current Time (2A2B) or Date Time (2A08, GATT
/// Specification Supplement).
package struct SimulatedClock: Sendable {
    package let characteristic: BluetoothUUID
    package let service: BluetoothUUID
    /// Whether it lets itself be set.
    package let isSettable: Bool
    /// By how much it is ahead of the peripheral's `time`, in seconds.
    package internal(set) var lead: Int64
    /// How often it was set.
    package private(set) var timesSet = 0
    /// Whether it shows that its date is unknown, until it is set.
    private var isUnset: Bool

    /// - Parameter lead: by how much it is ahead of the peripheral's time, in seconds; nil for one that
    ///   was never set.
    package init(
        _ characteristic: BluetoothUUID, in service: BluetoothUUID, lead: Int64?, isSettable: Bool = true
    ) {
        self.characteristic = characteristic
        self.service = service
        self.isSettable = isSettable
        self.lead = lead ?? 0
        isUnset = lead == nil
    }

    /// The services with the clock's characteristic among them.
    func added(to services: [SimulatedService]) -> [SimulatedService] {
        let properties: SimulatedService.Characteristic.Properties = isSettable ? [.read, .write] : .read
        let shown = SimulatedService.Characteristic(characteristic, properties)
        var services = services
        if let place = services.firstIndex(where: { $0.uuid == service }) {
            services[place].characteristics.append(shown)
        } else {
            services.append(SimulatedService(service, [shown]))
        }
        return services
    }

    /// What it shows while the peripheral's time is this.
    func reading(at time: DeviceTime) -> DeviceTime {
        guard !isUnset else {
            return DeviceTime(year: 0, month: 0, day: 0, hours: 0, minutes: 0, seconds: 0)
        }
        return DeviceTime(wallSeconds: time.wallSeconds + lead) ?? time
    }

    /// The characteristic's value.
    func value(at time: DeviceTime) -> [UInt8] {
        // Day of week unknown, no fractions, no reason.
        Wire.bytes(reading(at: time)) + (characteristic == 0x2A2B ? [0, 0, 0] : [])
    }

    /// Takes over a value that was written.
    /// - Returns: the ATT error code with which it is refused; nil when it is taken.
    mutating func set(_ value: [UInt8], at time: DeviceTime) -> UInt8? {
        guard value.count == (characteristic == 0x2A2B ? 10 : 7) else {
            return ControlPointError.valueNotAllowed
        }
        let written = DeviceTime(
            year: Int(value[0]) | Int(value[1]) << 8, month: Int(value[2]), day: Int(value[3]),
            hours: Int(value[4]), minutes: Int(value[5]), seconds: Int(value[6]))
        guard written.isPossible else { return ControlPointError.valueNotAllowed }
        lead = written.wallSeconds - time.wallSeconds
        isUnset = false
        timesSet += 1
        return nil
    }
}
