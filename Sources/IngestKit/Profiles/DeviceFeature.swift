/// What a device says it can do, in one of its feature characteristics.
package struct DeviceFeature: Sendable, Equatable, Codable {
    /// How finely it measures.
    package struct Quantity: Sendable, Equatable, Codable {
        /// In kebab case: `weight-resolution`.
        package var type: String
        /// A decimal number with the digits of its definition.
        package var value: String
        /// In UCUM.
        package var unit: String
    }

    /// 4 upper-case hexadecimal digits.
    package var characteristic: String
    /// As `ingestd decode` names them.
    package var flags: [String]
    package var quantities: [Quantity]

    package init(_ characteristic: BluetoothUUID, _ reading: Reading) {
        self.characteristic = characteristic.description
        flags = reading.flags
        quantities = reading.measurements.compactMap { measurement in
            guard case .exact(let value) = measurement.value else { return nil }
            return Quantity(type: measurement.type, value: value.description, unit: measurement.unit)
        }
    }

    package func isOf(_ characteristic: BluetoothUUID) -> Bool {
        self.characteristic == characteristic.description
    }
}
