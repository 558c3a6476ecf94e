package import FoundationEssentials

/// Writes JSON (RFC 8259) without blanks, members in the order in which they are added: the same
/// input always gives the same bytes. Numbers are integers or exact decimals; no floating point.
///
/// Commas are its own concern; that begins and ends pair up is the caller's.
package struct JSONText: Sendable {
    /// The text so far, in UTF-8.
    package private(set) var bytes: [UInt8] = []
    /// Whether a value stands before the next one on the same level.
    private var needsComma = false

    package init() {}

    /// - Parameter continuing: whether it goes on with an object or array that has something in it.
    package init(continuing: Bool) {
        needsComma = continuing
    }

    package var string: String { String(decoding: bytes, as: UTF8.self) }

    package mutating func beginObject() { begin("{") }
    package mutating func endObject() { end("}") }
    package mutating func beginArray() { begin("[") }
    package mutating func endArray() { end("]") }

    /// The name of the member whose value comes next.
    /// - Parameter name: one of this program's own, in which nothing has to be escaped.
    package mutating func key(_ name: String) {
        separate()
        bytes.append(UInt8(ascii: "\""))
        let start = bytes.count
        bytes += name.utf8
        assert(!mustEscape(from: start), "a name that is not the program's own")
        bytes.append(UInt8(ascii: "\""))
        bytes.append(UInt8(ascii: ":"))
        needsComma = false
    }

    /// The same, of a name that somebody else has made.
    package mutating func key(foreign name: String) {
        value(name)
        bytes.append(UInt8(ascii: ":"))
        needsComma = false
    }

    package mutating func value(_ text: String) {
        separate()
        bytes.append(UInt8(ascii: "\""))
        let start = bytes.count
        bytes += text.utf8
        if mustEscape(from: start) {
            bytes.removeSubrange(start...)
            for byte in text.utf8 { appendEscaped(byte) }
        }
        bytes.append(UInt8(ascii: "\""))
    }

    package mutating func value(_ number: Int) {
        separate()
        bytes += String(number).utf8
    }

    package mutating func value(_ number: ExactDecimal) {
        separate()
        number.append(to: &bytes)
    }

    package mutating func value(_ truth: Bool) {
        separate()
        bytes += (truth ? "true" : "false").utf8
    }

    package mutating func null() {
        separate()
        bytes += "null".utf8
    }

    /// Inserts a value that is JSON already.
    package mutating func value(json: [UInt8]) {
        separate()
        bytes += json
    }

    /// Bytes as base64 (RFC 4648, section 4), a part at a time: an image is large.
    package mutating func value(base64 data: Data) {
        separate()
        bytes.append(UInt8(ascii: "\""))
        var rest = data[...]
        while !rest.isEmpty {
            let part = rest.prefix(Self.base64Part)
            bytes += part.base64EncodedData()
            rest = rest.dropFirst(part.count)
        }
        bytes.append(UInt8(ascii: "\""))
    }

    /// How long so many bytes are as base64.
    package static func base64Length(of count: Int) -> Int { (count + 2) / 3 * 4 }

    /// Makes room for so many bytes, so that what is long is not copied as it grows.
    package mutating func reserve(_ count: Int) { bytes.reserveCapacity(count) }

    /// A multiple of three, so that the parts make a whole.
    private static let base64Part = 3 << 14

    package mutating func member(_ name: String, _ text: String) {
        key(name)
        value(text)
    }

    package mutating func member(_ name: String, _ number: Int) {
        key(name)
        value(number)
    }

    package mutating func member(_ name: String, _ truth: Bool) {
        key(name)
        value(truth)
    }

    package mutating func member(_ name: String, _ texts: [String]) {
        key(name)
        beginArray()
        for text in texts { value(text) }
        endArray()
    }

    private mutating func begin(_ bracket: Unicode.Scalar) {
        separate()
        bytes.append(UInt8(ascii: bracket))
        needsComma = false
    }

    private mutating func end(_ bracket: Unicode.Scalar) {
        bytes.append(UInt8(ascii: bracket))
        needsComma = true
    }

    private mutating func separate() {
        if needsComma { bytes.append(UInt8(ascii: ",")) }
        needsComma = true
    }

    /// Whether there is something to escape from here on. Without a branch for each byte, which would double what a
    /// text costs.
    private func mustEscape(from start: Int) -> Bool {
        var found: UInt8 = 0
        for byte in bytes[start...] {
            found |= byte < 0x20 ? 1 : 0
            found |= byte == UInt8(ascii: "\"") ? 1 : 0
            found |= byte == UInt8(ascii: "\\") ? 1 : 0
        }
        return found != 0
    }

    /// RFC 8259 section 7: quotation mark, reverse solidus and control characters must be escaped.
    private mutating func appendEscaped(_ byte: UInt8) {
        switch byte {
        case UInt8(ascii: "\""): bytes += "\\\"".utf8
        case UInt8(ascii: "\\"): bytes += "\\\\".utf8
        case 0x08: bytes += "\\b".utf8
        case 0x09: bytes += "\\t".utf8
        case 0x0A: bytes += "\\n".utf8
        case 0x0C: bytes += "\\f".utf8
        case 0x0D: bytes += "\\r".utf8
        case 0x00..<0x20: bytes += ("\\u00" + Hex.text([byte])).utf8
        default: bytes.append(byte)
        }
    }
}
