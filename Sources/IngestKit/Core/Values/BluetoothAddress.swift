/// A Bluetooth device address (BD_ADDR, Core Specification Vol 6 Part B 1.3): 48 bits, written
/// most significant octet first.
package struct BluetoothAddress: Hashable, Sendable {
    /// The address as a number, 0 to 2^48 - 1; the first octet in writing is the most significant.
    package let value: UInt64

    /// Six octets of two digits, with colons between.
    private static let writtenLength = 17

    /// - Parameter value: only its lower 48 bits count.
    package init(value: UInt64) {
        self.value = value & 0xFFFF_FFFF_FFFF
    }

    /// Reads `F1:F1:F1:F1:F1:F1`, in upper or lower case; nil for anything else.
    package init?(_ text: some StringProtocol) {
        var value: UInt64 = 0
        var count = 0
        for byte in text.utf8 {
            // Each third one is a colon.
            if count % 3 == 2 {
                guard byte == UInt8(ascii: ":") else { return nil }
            } else {
                guard let digit = Hex.digit(byte) else { return nil }
                value = value << 4 | UInt64(digit)
            }
            count += 1
            guard count <= Self.writtenLength else { return nil }
        }
        guard count == Self.writtenLength else { return nil }
        self.value = value
    }
}

extension BluetoothAddress: CustomStringConvertible {
    /// Upper case with colons, as records and configurations write it.
    package var description: String {
        var text: [UInt8] = []
        text.reserveCapacity(Self.writtenLength)
        for shift in stride(from: 40, through: 0, by: -8) {
            if !text.isEmpty { text.append(UInt8(ascii: ":")) }
            text.append(Self.digit(value >> UInt64(shift + 4)))
            text.append(Self.digit(value >> UInt64(shift)))
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// The lowest four bits as a digit in ASCII.
    private static func digit(_ number: UInt64) -> UInt8 {
        let digit = UInt8(truncatingIfNeeded: number & 0xF)
        return digit + (digit < 10 ? 0x30 : 0x37)
    }
}

extension BluetoothAddress: Codable {
    /// From the form in which it is written.
    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let address = Self(try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "not a Bluetooth address")
        }
        self = address
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}

extension UInt8 {
    /// Whether this ASCII character is one of 0-9, a-f, A-F.
    package var isHexDigit: Bool {
        switch self {
        case 0x30...0x39, 0x41...0x46, 0x61...0x66: true
        default: false
        }
    }
}

/// How the bits of an LE address are to be read (Core Specification Vol 6 Part B 1.3).
package enum AddressType: String, Hashable, Sendable, Codable {
    /// Assigned by the IEEE.
    case `public`
    /// Static or private; the two most significant bits say which.
    case random
}

/// One LE device as the radio tells devices apart: the address and its type.
package struct DeviceAddress: Hashable, Sendable {
    package let address: BluetoothAddress
    package let type: AddressType

    package init(_ address: BluetoothAddress, _ type: AddressType) {
        self.address = address
        self.type = type
    }

    /// The same 48 bits as an address of the other type. The two are different devices to the radio, and one
    /// identity to the allow-list.
    package var otherType: DeviceAddress {
        DeviceAddress(address, type == .public ? .random : .public)
    }

    /// Whether the address is resolvable or non-resolvable private, so that it says nothing of
    /// the device's identity (Vol 6 Part B 1.3.2: the two top bits are 01 or 00).
    package var isPrivate: Bool {
        type == .random && address.value >> 46 != 0b11
    }
}
