/// Whether bytes are one JSON object (RFC 8259) without anything around it: written for these checks, so that a fault of
/// the writer is not repeated in the reader.
package struct JSONCheck {
    private let text: [UInt8]
    private let takesExponents: Bool
    private var position = 0

    /// - Parameter takesExponents: whether numbers may have exponents. Our answers have none (docs/records.md).
    package static func isObject(_ text: String, takesExponents: Bool = false) -> Bool {
        var check = JSONCheck(text: Array(text.utf8), takesExponents: takesExponents)
        return check.object() && check.position == check.text.count
    }

    private init(text: [UInt8], takesExponents: Bool) {
        self.text = text
        self.takesExponents = takesExponents
    }

    private var next: UInt8 { position < text.count ? text[position] : 0 }

    private mutating func take(_ character: UnicodeScalar) -> Bool {
        guard next == UInt8(ascii: character) else { return false }
        position += 1
        return true
    }

    private mutating func take(word: StaticString) -> Bool {
        word.withUTF8Buffer { word in
            for byte in word {
                guard next == byte else { return false }
                position += 1
            }
            return true
        }
    }

    private mutating func object() -> Bool {
        guard take("{") else { return false }
        if take("}") { return true }
        repeat {
            guard string(), take(":"), value() else { return false }
        } while take(",")
        return take("}")
    }

    private mutating func array() -> Bool {
        guard take("[") else { return false }
        if take("]") { return true }
        repeat {
            guard value() else { return false }
        } while take(",")
        return take("]")
    }

    private mutating func value() -> Bool {
        switch next {
        case UInt8(ascii: "{"): object()
        case UInt8(ascii: "["): array()
        case UInt8(ascii: "\""): string()
        case UInt8(ascii: "t"): take(word: "true")
        case UInt8(ascii: "f"): take(word: "false")
        case UInt8(ascii: "n"): take(word: "null")
        default: number()
        }
    }

    private mutating func string() -> Bool {
        guard take("\"") else { return false }
        while position < text.count {
            let byte = text[position]
            position += 1
            switch byte {
            case UInt8(ascii: "\""): return true
            case UInt8(ascii: "\\"): guard escape() else { return false }
            case 0..<0x20: return false
            default: break
            }
        }
        return false
    }

    private mutating func escape() -> Bool {
        let byte = next
        position += 1
        guard byte == UInt8(ascii: "u") else { return ("\"\\/bfnrt" as String).utf8.contains(byte) }
        for _ in 0..<4 {
            guard UnicodeScalar(next).properties.isASCIIHexDigit else { return false }
            position += 1
        }
        return true
    }

    private mutating func number() -> Bool {
        _ = take("-")
        if !take("0") {
            guard digits() else { return false }
        }
        if take(".") {
            guard digits() else { return false }
        }
        guard takesExponents, take("e") || take("E") else { return true }
        _ = take("+") || take("-")
        return digits()
    }

    private mutating func digits() -> Bool {
        let start = position
        while (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(next) { position += 1 }
        return position > start
    }
}
