/// Values that an instrument shows while it still measures: the pressure in a cuff (2A36), a
/// temperature that has not settled (2A1E). The measurement itself is the peripheral's reading.
package struct IntermediateValues: SimulatedSensor {
    package let services: [SimulatedService]
    package let advert: [UInt8]
    /// Whether they are sent though nobody subscribed.
    package var areUnasked = false
    /// Between two.
    package var pause = Duration.milliseconds(250)
    package private(set) var sent = 0
    private let characteristic: BluetoothUUID
    private let payloads: [[UInt8]]
    private var outgoing: [SensorStep] = []
    private var hasBegun = false

    /// A cuff that is being inflated.
    /// - Parameter pressures: in mmHg, 0 to 2,045.
    package static func cuff(pressures: [Int16], serial: String = "B-0001") -> IntermediateValues {
        // The current pressure; diastolic and mean pressure are not known yet.
        let unknown: [UInt8] = [0xFF, 0x07]
        return IntermediateValues(
            0x2A36, pressures.map { [0x00] + Wire.shortFloat($0, 0) + unknown + unknown },
            in: SimulatedService.cuff(serial: serial), advert: .cuffAdvert)
    }

    /// A thermometer whose value has not settled.
    /// - Parameter temperatures: in 0.1 degrees Celsius.
    package static func thermometer(temperatures: [Int16], serial: String = "T-0001") -> IntermediateValues {
        IntermediateValues(
            0x2A1E, temperatures.map { [0x00] + Wire.bytes(Int32($0)).prefix(3) + [0xFF] },
            in: SimulatedService.thermometer(serial: serial), advert: .thermometerAdvert)
    }

    private init(
        _ characteristic: BluetoothUUID, _ payloads: [[UInt8]], in services: [SimulatedService],
        advert: [UInt8]
    ) {
        self.characteristic = characteristic
        self.payloads = payloads
        self.advert = advert
        var services = services
        services[0].characteristics.append(Characteristic(characteristic, .notify))
        self.services = services
    }

    package var tally: SensorTally { SensorTally() }

    package mutating func linked() {
        hasBegun = false
        outgoing = []
    }

    package mutating func next(_ subscriptions: Set<BluetoothUUID>) -> SensorStep? {
        if !hasBegun {
            // Unasked ones begin with the first subscription of any kind.
            guard areUnasked ? !subscriptions.isEmpty : subscriptions.contains(characteristic) else {
                return nil
            }
            hasBegun = true
            for payload in payloads {
                if !outgoing.isEmpty { outgoing.append(.wait(pause)) }
                outgoing.append(
                    areUnasked ? .notifyUnasked(characteristic, payload) : .send(characteristic, payload))
            }
        }
        guard !outgoing.isEmpty else { return nil }
        let step = outgoing.removeFirst()
        if case .wait = step { return step }
        sent += 1
        return step
    }
}
