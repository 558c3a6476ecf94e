/// A number with exactly the decimal digits that a device sent: `coefficient` × 10^`exponent`.
///
/// 36.6 and 36.60 are different values here, because they claim different precision.
package struct ExactDecimal: Sendable, Hashable {
    package let coefficient: Int64
    /// The range is that of the FLOAT-Type of IEEE 11073-20601, the widest that devices send.
    package let exponent: Int8

    package init(coefficient: Int64, exponent: Int8) {
        self.coefficient = coefficient
        self.exponent = exponent
    }

    /// Appends the number in ASCII as a JSON number, always written out and never with an
    /// exponent; at most 147 characters, by the ranges of both parts. A negative exponent gives as
    /// many decimals, trailing zeros among them; zero with a positive exponent is `0`.
    func append(to text: inout [UInt8]) {
        let digits = Array(String(coefficient.magnitude).utf8)
        if coefficient < 0 { text.append(UInt8(ascii: "-")) }
        if exponent >= 0 {
            text += digits
            if coefficient != 0 {
                text += repeatElement(UInt8(ascii: "0"), count: Int(exponent))
            }
            return
        }
        let decimals = -Int(exponent)
        if digits.count > decimals {
            text += digits.dropLast(decimals)
        } else {
            text.append(UInt8(ascii: "0"))
        }
        text.append(UInt8(ascii: "."))
        text += repeatElement(UInt8(ascii: "0"), count: max(0, decimals - digits.count))
        text += digits.suffix(decimals)
    }
}

extension ExactDecimal: CustomStringConvertible {
    /// The number written out: `36.60`.
    package var description: String {
        var text: [UInt8] = []
        append(to: &text)
        return String(decoding: text, as: UTF8.self)
    }
}
