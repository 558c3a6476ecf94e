/// Battery Level (GATT Specification Supplement): one byte, percent.
package enum BatteryLevel {
    package static let service: BluetoothUUID = 0x180F
    package static let characteristic: BluetoothUUID = 0x2A19

    /// The charge in percent, 0 to 100; larger numbers are prohibited.
    package static func percent(_ bytes: [UInt8]) throws(DecodeError) -> Int {
        var cursor = ByteCursor(bytes)
        return try percent(&cursor)
    }

    @Sendable
    static func decode(_ cursor: inout ByteCursor) throws(DecodeError) -> Reading {
        let percent = try percent(&cursor)
        return Reading(
            kind: .battery,
            measurements: [
                Measurement(
                    type: "battery", code: nil,
                    value: .exact(ExactDecimal(coefficient: Int64(percent), exponent: 0)), unit: "%")
            ])
    }

    private static func percent(_ cursor: inout ByteCursor) throws(DecodeError) -> Int {
        let level = try cursor.uint8("battery level")
        guard level <= 100 else { throw .prohibitedValue(field: "battery level") }
        return Int(level)
    }
}
