public import IngestKit

/// A chest strap that sends the heart rate each second for as long as it is worn (Heart Rate Service
/// 1.0).
public struct HeartRateStrap: SimulatedSensor {
    /// What it says in one second.
    public struct Value: Sendable, Equatable {
        /// In beats per minute.
        public var rate: UInt16
        /// RR intervals in 1/1,024 s, the oldest first.
        public var intervals: [UInt16]
        /// In kilojoules, since it was put on.
        public var energy: UInt16?
        /// Whether it touches the skin.
        public var hasContact: Bool

        public init(
            _ rate: UInt16, intervals: [UInt16] = [], energy: UInt16? = nil, hasContact: Bool = true
        ) {
            self.hasContact = hasContact
            self.rate = rate
            self.intervals = intervals
            self.energy = energy
        }

        /// Heart Rate Measurement (2A37) of a sensor that detects contact.
        public var payload: [UInt8] {
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

    public static let service: BluetoothUUID = 0x180D
    public static let measurement: BluetoothUUID = 0x2A37
    public static let location: BluetoothUUID = 0x2A38

    /// Sent one a second, from the first again after the last.
    public var values: [Value]
    public var isWorn = true
    /// Between two values.
    public var interval = Duration.seconds(1)
    public private(set) var valuesSent = 0
    private let serial: String
    private var isValueDue = false

    public init(values: [Value] = [Value(72, intervals: [853, 848])], serial: String = "H-0001") {
        self.values = values
        self.serial = serial
    }

    public var services: [SimulatedService] {
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

    public var advert: [UInt8] { .advert(services: [0x180D]) }

    /// A stream has no end, and nothing to be counted against.
    public var tally: SensorTally { SensorTally() }

    public var hasMore: Bool { isWorn }

    public mutating func linked() {
        isValueDue = false
    }

    public mutating func next(_ subscriptions: Set<BluetoothUUID>) -> SensorStep? {
        guard isWorn, !values.isEmpty, subscriptions.contains(Self.measurement) else { return nil }
        isValueDue.toggle()
        guard !isValueDue else { return .wait(interval) }
        let value = values[valuesSent % values.count]
        valuesSent += 1
        return .send(Self.measurement, value.payload)
    }
}
