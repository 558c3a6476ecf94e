/// Numbers and UUIDs as Bluetooth sends them: least significant byte first.
package enum Wire {
    package static func bytes<Number: FixedWidthInteger>(_ number: Number) -> [UInt8] {
        (0..<Number.bitWidth / 8).map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) }
    }

    /// 2 bytes for an assigned number, else 16.
    static func bytes(_ uuid: BluetoothUUID) -> [UInt8] {
        if let short = uuid.short { return bytes(short) }
        return bytes(uuid.low) + bytes(uuid.high)
    }

    /// An IEEE 11073 SFLOAT: the mantissa has 12 bits, the exponent 4.
    static func shortFloat(_ mantissa: Int16, _ exponent: Int8) -> [UInt8] {
        bytes(UInt16(bitPattern: mantissa) & 0x0FFF | UInt16(UInt8(bitPattern: exponent) & 0x0F) << 12)
    }

    /// Date Time: year, month, day, hours, minutes, seconds.
    static func bytes(_ time: DeviceTime) -> [UInt8] {
        bytes(UInt16(clamping: time.year))
            + [time.month, time.day, time.hours, time.minutes, time.seconds].map { UInt8(clamping: $0) }
    }

    /// The number at `position`; nil past the end.
    package static func number(_ bytes: [UInt8], at position: Int) -> UInt16? {
        guard position >= 0, position + 2 <= bytes.count else { return nil }
        return UInt16(bytes[position]) | UInt16(bytes[position + 1]) << 8
    }

    static func copy(_ bytes: Span<UInt8>) -> [UInt8] {
        bytes.indices.map { bytes[$0] }
    }
}
