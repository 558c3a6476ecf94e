/// Bytes as hexadecimal digits, and back.
///
/// Not generic: the callers are in other modules, for which the compiler would not specialise it.
package enum Hex {
    private static let digits = Array("0123456789abcdef".utf8)

    /// Two lower-case digits a byte.
    package static func text(_ bytes: [UInt8]) -> String {
        var text: [UInt8] = []
        text.reserveCapacity(bytes.count * 2)
        for byte in bytes {
            text.append(digits[Int(byte >> 4)])
            text.append(digits[Int(byte & 0xF)])
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// Reads pairs of digits in either case; blanks, tabs and carriage returns between pairs are
    /// passed over. Nil for anything else.
    package static func bytes(_ text: String) -> [UInt8]? {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.utf8.count / 2)
        var high: UInt8?
        for character in text.utf8 {
            if let digit = digit(character) {
                if let first = high {
                    bytes.append(first << 4 | digit)
                    high = nil
                } else {
                    high = digit
                }
            } else if high != nil || !(character == 0x20 || character == 0x09 || character == 0x0D) {
                return nil
            }
        }
        return high == nil ? bytes : nil
    }

    /// What a digit stands for, in either case.
    package static func digit(_ character: UInt8) -> UInt8? {
        switch character {
        case 0x30...0x39: character - 0x30
        case 0x41...0x46: character - 0x41 + 10
        case 0x61...0x66: character - 0x61 + 10
        default: nil
        }
    }
}
