/// A measurement that a simulated peripheral has to give, in its profile's own bytes.
package struct SimulatedReading: Sendable {
    package let characteristic: BluetoothUUID
    /// The payload, given the device's clock when it first wakes up with this reading. A repetition
    /// has the same bytes.
    let payload: @Sendable (DeviceTime) -> [UInt8]

    /// Any payload.
    package init(_ characteristic: BluetoothUUID, payload: [UInt8]) {
        self.init(characteristic) { _ in payload }
    }

    private init(_ characteristic: BluetoothUUID, payload: @escaping @Sendable (DeviceTime) -> [UInt8]) {
        self.characteristic = characteristic
        self.payload = payload
    }

    /// Temperature Measurement (2A1C, GATT Specification Supplement): degrees Celsius as an IEEE
    /// 11073 FLOAT, mantissa times ten to the exponent, with the time stamp where `isDated`.
    /// - Parameter mantissa: -8,388,605 to 8,388,605.
    package static func temperature(
        mantissa: Int32, exponent: Int8, isDated: Bool
    ) -> SimulatedReading {
        let float = Wire.bytes(UInt32(bitPattern: mantissa)).prefix(3) + [UInt8(bitPattern: exponent)]
        return SimulatedReading(0x2A1C) { time in
            [isDated ? 0x02 : 0x00] + float + (isDated ? Wire.bytes(time) : [])
        }
    }

    /// Blood Pressure Measurement (2A35, GATT Specification Supplement) in mmHg, with time stamp and
    /// pulse rate: each an IEEE 11073 SFLOAT with the exponent 0.
    /// - Parameters: each 0 to 2,045.
    package static func bloodPressure(
        systolic: UInt16, diastolic: UInt16, mean: UInt16, pulse: UInt16
    ) -> SimulatedReading {
        SimulatedReading(0x2A35) { time in
            [0x06] + Wire.bytes(systolic) + Wire.bytes(diastolic) + Wire.bytes(mean) + Wire.bytes(time)
                + Wire.bytes(pulse)
        }
    }
}
