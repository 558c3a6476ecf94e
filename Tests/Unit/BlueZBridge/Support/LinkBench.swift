import TestSupport

@testable import BlueZBridge
@testable import PeripheralSimulator

/// One simulated peripheral and the real ATT client, on a clock that stands still.
struct LinkBench {
    let clock = DrivenClock(wall: DrivenClock.morning)
    let loop: RadioLoop
    let peripheral: SimulatedPeripheral

    init(
        services: [SimulatedService] = SimulatedService.thermometer(serial: "T-1"), longestPDU: Int = 247,
        readings: [SimulatedReading] = [.temperature(mantissa: 3660, exponent: -2, isDated: true)],
        readingsPerWakeUp: Int = 1
    ) throws {
        loop = try RadioLoop(clock: clock)
        peripheral = SimulatedPeripheral(
            device: .simulated(9), advert: .thermometerAdvert, services: services, longestPDU: longestPDU,
            readings: readings, readingsPerWakeUp: readingsPerWakeUp, loop: loop,
            time: { DeviceTime(year: 2026, month: 11, day: 20, hours: 9, minutes: 14, seconds: 57) })
    }

    /// - Parameter sensor: what the peripheral has.
    init(sensor: some SimulatedSensor) throws {
        loop = try RadioLoop(clock: clock)
        peripheral = SimulatedPeripheral(
            device: .simulated(9), sensor: sensor, loop: loop,
            time: { DeviceTime(year: 2026, month: 11, day: 20, hours: 9, minutes: 14, seconds: 57) })
    }

    /// Wakes the peripheral up and connects to it.
    func connect(
        remembering layout: AttributeLayout? = nil, _ behaviour: LinkBehaviour = LinkBehaviour()
    ) async throws -> AttributeLink {
        await peripheral.script([behaviour])
        let channel = try await loop.perform { [loop, peripheral] in
            peripheral.start(transmit: {})
            peripheral.wakeNow()
            return Result<PacketChannel, SystemError> { () throws(SystemError) in
                let (near, far) = try PacketChannel.pair(on: loop)
                peripheral.accept(far)
                return near
            }
        }.get()
        let link = AttributeLink(
            device: peripheral.device, channel: channel, loop: loop, clock: clock, remembered: layout)
        await link.open()
        return link
    }

    /// The reading's way as the gateway goes it: subscribe, take the value, confirm.
    @discardableResult
    func takeReading(
        _ link: AttributeLink, _ characteristic: BluetoothUUID = 0x2A1C, in service: BluetoothUUID = 0x1809
    ) async throws -> [UInt8] {
        try await link.subscribe(to: characteristic, in: service)
        guard let value = try await link.nextValue(within: .seconds(30)) else { throw NoValue() }
        try await link.confirm(value)
        return value.value
    }

    /// Waits until the peripheral's side of the link has ended.
    func linkEnded() async {
        for await occurrence in peripheral.occurrences where occurrence == .linkEnded { return }
    }

    /// Waits until the peripheral has seen a confirmation.
    func confirmationArrived() async {
        for await occurrence in peripheral.occurrences {
            if case .confirmed = occurrence { return }
        }
    }

    struct NoValue: Error {}
}
