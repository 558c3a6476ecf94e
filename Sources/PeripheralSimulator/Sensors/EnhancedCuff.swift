/// A cuff with the characteristics of Blood Pressure Service 1.1.1: it indicates what it has just measured in the enhanced
/// form and in the plain one, to whoever subscribed to which, and may keep readings.
package struct EnhancedCuff: SimulatedSensor {
    /// A reading that is kept (2B36).
    package struct Stored: Sendable, Equatable {
        package var number: UInt16
        package var characteristic: BluetoothUUID
        package var value: [UInt8]

        package init(_ number: UInt16, _ value: [UInt8], of characteristic: BluetoothUUID = measurement) {
            self.number = number
            self.value = value
            self.characteristic = characteristic
        }
    }

    package static let plainMeasurement: BluetoothUUID = 0x2A35
    package static let measurement: BluetoothUUID = 0x2B34
    package static let record: BluetoothUUID = 0x2B36
    package static let controlPoint: BluetoothUUID = 0x2A52

    /// Made and not yet confirmed, in both forms.
    package private(set) var made: [(plain: [UInt8], enhanced: [UInt8])] = []
    /// Reported on request only; nil: it has no memory.
    package var stored: [Stored]?
    /// Bytes of a segment of a record, its header included.
    package var segment = 20
    /// What was written to the control point.
    package private(set) var requests: [[UInt8]] = []
    private let serial: String
    private var count = 0
    private var confirmed = 0
    private var sent = 0
    private var isIndicating = false
    private var outgoing: [SensorStep] = []

    package init(
        _ made: [(plain: [UInt8], enhanced: [UInt8])] = [], stored: [Stored]? = nil,
        serial: String = "E-0001"
    ) {
        self.made = made
        self.stored = stored
        self.serial = serial
        count = made.count + (stored?.count ?? 0)
    }

    /// Measures once more; the two forms of the reading.
    package mutating func measure(_ reading: (plain: [UInt8], enhanced: [UInt8])) {
        made.append(reading)
        count += 1
    }

    package var services: [SimulatedService] {
        var characteristics = [
            Characteristic(Self.plainMeasurement, .indicate), Characteristic(Self.measurement, .indicate),
            Characteristic(0x2A49, .read, value: [0, 0]),
        ]
        if stored != nil {
            characteristics.append(Characteristic(Self.record, .notify))
            characteristics.append(Characteristic(Self.controlPoint, [.indicate, .write]))
        }
        return [
            SimulatedService(0x1810, characteristics),
            .deviceInformation(model: "Simulated Enhanced Cuff", serial: serial),
            SimulatedService(0x180F, [Characteristic(0x2A19, .read, value: [55])]),
        ]
    }

    package var advert: [UInt8] { .cuffAdvert }

    package var tally: SensorTally { SensorTally(readings: count, offered: sent, confirmed: confirmed) }

    package mutating func linked() {
        isIndicating = false
        outgoing = []
    }

    package mutating func written(
        _ value: [UInt8], to characteristic: BluetoothUUID, subscriptions: Set<BluetoothUUID>
    ) -> UInt8? {
        guard characteristic == Self.controlPoint, let stored else { return nil }
        if requests.count < 1_024 { requests.append(value) }
        guard subscriptions.contains(Self.controlPoint) else { return ControlPointError.notSubscribed }
        let request = RecordAccess(value)
        guard outgoing.isEmpty || request == .abort else { return ControlPointError.procedureInProgress }
        outgoing = request.stepsOfAll(
            stored.flatMap(segments).map { .send(Self.record, $0) }, count: stored.count,
            opcode: value.first ?? 0)
        return nil
    }

    /// A record, with a header in front of each of its segments.
    private func segments(_ stored: Stored) -> [[UInt8]] {
        let whole = Wire.bytes(stored.number) + Wire.bytes(stored.characteristic.short ?? 0) + stored.value
        let size = max(1, segment - 1)
        let parts = stride(from: 0, to: whole.count, by: size).map { whole[$0..<min($0 + size, whole.count)] }
        return parts.enumerated().map { index, part in
            let isLast = index == parts.count - 1
            return [UInt8(index & 0b11_1111) << 2 | (isLast ? 0b10 : 0) | (index == 0 ? 0b01 : 0)] + part
        }
    }

    package mutating func next(_ subscriptions: Set<BluetoothUUID>) -> SensorStep? {
        if isIndicating {
            isIndicating = false
            confirmed += 1
            made.removeFirst()
        }
        if !outgoing.isEmpty {
            let step = outgoing.removeFirst()
            if case .send(Self.record, let segment) = step, segment[0] & 0b10 != 0 {
                sent += 1
                confirmed = min(confirmed + 1, count)
            }
            return step
        }
        guard let reading = made.first else { return nil }
        for (characteristic, value) in [
            (Self.measurement, reading.enhanced), (Self.plainMeasurement, reading.plain),
        ] where subscriptions.contains(characteristic) {
            isIndicating = true
            sent += 1
            return .send(characteristic, value)
        }
        return nil
    }
}
