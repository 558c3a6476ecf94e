/// A chest strap that sends the heart rate each second for as long as it is worn (Heart Rate Service
/// 1.0).
package struct HeartRateStrap: SimulatedSensor {
    /// What it says in one second.
    package struct Value: Sendable, Equatable {
        /// In beats per minute.
        package var rate: UInt16
        /// RR intervals in 1/1,024 s, the oldest first.
        package var intervals: [UInt16]
        /// In kilojoules, since it was put on.
        package var energy: UInt16?
        /// Whether it touches the skin.
        package var hasContact: Bool

        package init(
            _ rate: UInt16, intervals: [UInt16] = [], energy: UInt16? = nil, hasContact: Bool = true
        ) {
            self.hasContact = hasContact
            self.rate = rate
            self.intervals = intervals
            self.energy = energy
        }

        /// Heart Rate Measurement (2A37) of a sensor that detects contact.
        package var payload: [UInt8] {
            var flags: UInt8 = hasContact ? 0x06 : 0x04
            var bytes: [UInt8] = []
            if rate > 0xFF {
                flags |= 0x01
                bytes += Wire.bytes(rate)
            } else {
                bytes.append(UInt8(rate))
            }
            if let energy {
                flags |= 0x08
                bytes += Wire.bytes(energy)
            }
            if !intervals.isEmpty {
                flags |= 0x10
                bytes += intervals.flatMap(Wire.bytes)
            }
            return [flags] + bytes
        }
    }

    package static let service: BluetoothUUID = 0x180D
    package static let measurement: BluetoothUUID = 0x2A37
    package static let location: BluetoothUUID = 0x2A38

    /// Sent one a second, from the first again after the last.
    package var values: [Value]
    package var isWorn = true
    /// Between two values.
    package var interval = Duration.seconds(1)
    package private(set) var valuesSent = 0
    private let serial: String
    private var isValueDue = false

    package init(values: [Value] = [Value(72, intervals: [853, 848])], serial: String = "H-0001") {
        self.values = values
        self.serial = serial
    }

    package var services: [SimulatedService] {
        [
            SimulatedService(
                Self.service,
                [
                    Characteristic(Self.measurement, .notify),
                    // The chest.
                    Characteristic(Self.location, .read, value: [1]),
                ]),
            .deviceInformation(model: "Simulated Strap", serial: serial),
            SimulatedService(0x180F, [Characteristic(0x2A19, .read, value: [55])]),
        ]
    }

    package var advert: [UInt8] { .advert(services: [0x180D]) }

    /// A stream has no end, and nothing to be counted against.
    package var tally: SensorTally { SensorTally() }

    package var hasMore: Bool { isWorn }

    package mutating func linked() {
        isValueDue = false
    }

    package mutating func next(_ subscriptions: Set<BluetoothUUID>) -> SensorStep? {
        guard isWorn, !values.isEmpty, subscriptions.contains(Self.measurement) else { return nil }
        isValueDue.toggle()
        guard !isValueDue else { return .wait(interval) }
        let value = values[valuesSent % values.count]
        valuesSent += 1
        return .send(Self.measurement, value.payload)
    }
}
