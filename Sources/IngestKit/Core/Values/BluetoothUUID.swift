/// A Bluetooth UUID: of the 16-bit assigned numbers, or a vendor's 128 bits
/// (Core Specification Vol 3 Part B 2.5.1).
package struct BluetoothUUID: Hashable, Sendable {
    /// The 128 bits, most significant first, in two halves.
    package let high: UInt64
    package let low: UInt64

    /// 00000000-0000-1000-8000-00805F9B34FB, on which the short forms are placed.
    private static let baseHigh: UInt64 = 0x0000_0000_0000_1000
    private static let baseLow: UInt64 = 0x8000_0080_5F9B_34FB

    package init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// An assigned number such as 0x1809.
    package init(_ short: UInt16) {
        self.high = UInt64(short) << 32 | Self.baseHigh
        self.low = Self.baseLow
    }

    /// The assigned number, if this is one of 16 bits.
    package var short: UInt16? {
        guard low == Self.baseLow, high & 0xFFFF_FFFF == Self.baseHigh, high >> 48 == 0 else {
            return nil
        }
        return UInt16(truncatingIfNeeded: high >> 32)
    }

    /// Reads 4 or 32 hexadecimal digits; dashes in the long form are allowed.
    package init?(_ text: some StringProtocol) {
        let digits = text.utf8.filter { $0 != 0x2D }
        guard digits.allSatisfy(\.isHexDigit) else { return nil }
        switch digits.count {
        case 4:
            guard let short = UInt16(text, radix: 16) else { return nil }
            self.init(short)
        case 32:
            let plain = String(decoding: digits, as: UTF8.self)
            guard let high = UInt64(plain.prefix(16), radix: 16),
                let low = UInt64(plain.suffix(16), radix: 16)
            else { return nil }
            self.init(high: high, low: low)
        default:
            return nil
        }
    }
}

extension BluetoothUUID: CustomStringConvertible {
    /// 4 upper-case hexadecimal digits, or 32 without dashes, as record identities write it.
    package var description: String {
        if let short { return Self.padded(UInt64(short), digits: 4) }
        return Self.padded(high, digits: 16) + Self.padded(low, digits: 16)
    }

    private static func padded(_ number: UInt64, digits: Int) -> String {
        let text = String(number, radix: 16, uppercase: true)
        return String(repeating: "0", count: digits - text.utf8.count) + text
    }
}

extension BluetoothUUID: Codable {
    /// From the form of `description`.
    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let uuid = Self(try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "not a Bluetooth UUID")
        }
        self = uuid
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}

extension BluetoothUUID: ExpressibleByIntegerLiteral {
    package init(integerLiteral value: UInt16) {
        self.init(value)
    }
}
