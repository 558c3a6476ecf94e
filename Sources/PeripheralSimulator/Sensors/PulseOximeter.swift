/// A pulse oximeter: continuous values each second while it is worn, and spot-checks, made now or
/// stored (Pulse Oximeter Service 1.0.1).
package struct PulseOximeter: SimulatedSensor {
    /// Oxygen saturation in percent and pulse rate in beats per minute, as SFLOATs with exponent 0.
    package struct Value: Sendable, Equatable {
        package var saturation: Int16
        package var pulse: Int16

        package init(_ saturation: Int16, _ pulse: Int16) {
            self.saturation = saturation
            self.pulse = pulse
        }

        var bytes: [UInt8] { Wire.shortFloat(saturation, 0) + Wire.shortFloat(pulse, 0) }
    }

    /// PLX Spot-Check Measurement (2A5E).
    package struct SpotCheck: Sendable, Equatable {
        package var value: Value
        package var time: DeviceTime?
        /// The device's clock was never set (flags bit 4).
        package var isClockUnset: Bool

        package init(_ value: Value, at time: DeviceTime? = nil, isClockUnset: Bool = false) {
            self.value = value
            self.time = time
            self.isClockUnset = isClockUnset
        }

        package var payload: [UInt8] {
            let flags: UInt8 = (time == nil ? 0 : 0x01) | (isClockUnset ? 0x10 : 0)
            return [flags] + value.bytes + (time.map(Wire.bytes) ?? [])
        }
    }

    package static let service: BluetoothUUID = 0x1822
    package static let spotCheck: BluetoothUUID = 0x2A5E
    package static let continuous: BluetoothUUID = 0x2A5F
    package static let features: BluetoothUUID = 0x2A60
    package static let controlPoint: BluetoothUUID = 0x2A52

    /// Sent one a second, from the first again after the last; empty: it is not worn.
    package var values: [Value]
    /// Between two continuous values.
    package var interval = Duration.seconds(1)
    /// Made and not yet confirmed.
    package private(set) var spotChecks: [SpotCheck] = []
    /// Reported on request only; nil: it has no storage.
    package private(set) var stored: [SpotCheck]?
    /// What was written to the control point.
    package private(set) var requests: [[UInt8]] = []
    package private(set) var valuesSent = 0
    private let serial: String
    private let isStreaming: Bool
    private var made = 0
    private var confirmed = 0
    private var spotChecksSent = 0
    private var isIndicating = false
    private var isValueDue = false
    private var outgoing: [SensorStep] = []

    /// - Parameters:
    ///   - values: continuous ones; nil: it has no continuous measurement.
    ///   - stored: nil: it has no storage.
    package init(
        values: [Value]? = nil, spotChecks: [SpotCheck] = [], stored: [SpotCheck]? = nil,
        serial: String = "O-0001"
    ) {
        self.values = values ?? []
        isStreaming = values != nil
        self.stored = stored
        self.serial = serial
        made = stored?.count ?? 0
        for spotCheck in spotChecks { make(spotCheck) }
    }

    /// A spot-check is made.
    package mutating func make(_ spotCheck: SpotCheck) {
        spotChecks.append(spotCheck)
        made += 1
    }

    /// A spot-check is made and stored.
    package mutating func store(_ spotCheck: SpotCheck) {
        stored = (stored ?? []) + [spotCheck]
        made += 1
    }

    // MARK: The sensor

    package var services: [SimulatedService] {
        var characteristics = [Characteristic(Self.spotCheck, .indicate)]
        if isStreaming { characteristics.append(Characteristic(Self.continuous, .notify)) }
        // Storage (bit 2), and time stamps (bit 3).
        characteristics.append(
            Characteristic(Self.features, .read, value: [stored == nil ? 0x08 : 0x0C, 0x00]))
        if stored != nil { characteristics.append(Characteristic(Self.controlPoint, [.indicate, .write])) }
        return [
            SimulatedService(Self.service, characteristics),
            .deviceInformation(model: "Simulated Oximeter", serial: serial),
            SimulatedService(0x180F, [Characteristic(0x2A19, .read, value: [91])]),
        ]
    }

    package var advert: [UInt8] { .advert(services: [0x1822]) }

    package var tally: SensorTally {
        SensorTally(readings: made, offered: spotChecksSent, confirmed: confirmed)
    }

    package mutating func linked() {
        isIndicating = false
        isValueDue = false
        outgoing = []
    }

    /// "All records" is the one operator that the service allows (3.5).
    package mutating func written(
        _ value: [UInt8], to characteristic: BluetoothUUID, subscriptions: Set<BluetoothUUID>
    ) -> UInt8? {
        guard characteristic == Self.controlPoint, let stored else { return nil }
        if requests.count < 1_024 { requests.append(value) }
        guard subscriptions.contains(Self.controlPoint) else { return ControlPointError.notSubscribed }
        let request = RecordAccess(value)
        guard outgoing.isEmpty || request == .abort else { return ControlPointError.procedureInProgress }
        outgoing = request.stepsOfAll(
            stored.map { .send(Self.spotCheck, $0.payload) }, count: stored.count, opcode: value.first ?? 0)
        return nil
    }

    package mutating func next(_ subscriptions: Set<BluetoothUUID>) -> SensorStep? {
        if isIndicating {
            isIndicating = false
            confirmed += 1
            spotChecks.removeFirst()
        }
        if !outgoing.isEmpty {
            let step = outgoing.removeFirst()
            if case .send(Self.spotCheck, _) = step {
                spotChecksSent += 1
                confirmed = min(confirmed + 1, made)
            }
            return step
        }
        if let spotCheck = spotChecks.first, subscriptions.contains(Self.spotCheck) {
            isIndicating = true
            spotChecksSent += 1
            return .send(Self.spotCheck, spotCheck.payload)
        }
        guard isStreaming, !values.isEmpty, subscriptions.contains(Self.continuous) else { return nil }
        isValueDue.toggle()
        guard !isValueDue else { return .wait(interval) }
        let value = values[valuesSent % values.count]
        valuesSent += 1
        return .send(Self.continuous, [0x00] + value.bytes)
    }
}
