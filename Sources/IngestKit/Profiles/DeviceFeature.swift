/// What a device says it can do, in one of its feature characteristics.
public struct DeviceFeature: Sendable, Equatable, Codable {
    /// How finely it measures.
    public struct Quantity: Sendable, Equatable, Codable {
        /// In kebab case: `weight-resolution`.
        public var type: String
        /// A decimal number with the digits of its definition.
        public var value: String
        /// In UCUM.
        public var unit: String
    }

    /// 4 upper-case hexadecimal digits.
    public var characteristic: String
    /// As `ingestd decode` names them.
    public var flags: [String]
    public var quantities: [Quantity]

    init(_ characteristic: BluetoothUUID, _ reading: Reading) {
        self.characteristic = characteristic.description
        flags = reading.flags
        quantities = reading.measurements.compactMap { measurement in
            guard case .exact(let value) = measurement.value else { return nil }
            return Quantity(type: measurement.type, value: value.description, unit: measurement.unit)
        }
    }

    func isOf(_ characteristic: BluetoothUUID) -> Bool {
        self.characteristic == characteristic.description
    }
}
