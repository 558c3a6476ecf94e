import FoundationEssentials

/// Writes JSON (RFC 8259) without blanks, members in the order in which they are added: the same
/// input always gives the same bytes. Numbers are integers or exact decimals; no floating point.
///
/// Commas are its own concern; that begins and ends pair up is the caller's.
public struct JSONText: Sendable {
    /// The text so far, in UTF-8.
    public private(set) var bytes: [UInt8] = []
    /// Whether a value stands before the next one on the same level.
    private var needsComma = false

    public init() {}

    /// - Parameter continuing: whether it goes on with an object or array that has something in it.
    init(continuing: Bool) {
        needsComma = continuing
    }

    public var string: String { String(decoding: bytes, as: UTF8.self) }

    public mutating func beginObject() { begin("{") }
    public mutating func endObject() { end("}") }
    public mutating func beginArray() { begin("[") }
    public mutating func endArray() { end("]") }

    /// The name of the member whose value comes next.
    public mutating func key(_ name: String) {
        value(name)
        bytes.append(UInt8(ascii: ":"))
        needsComma = false
    }

    public mutating func value(_ text: String) {
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

    public mutating func value(_ number: Int) {
        separate()
        bytes += String(number).utf8
    }

    public mutating func value(_ number: ExactDecimal) {
        separate()
        number.append(to: &bytes)
    }

    public mutating func value(_ truth: Bool) {
        separate()
        bytes += (truth ? "true" : "false").utf8
    }

    public mutating func null() {
        separate()
        bytes += "null".utf8
    }

    /// Inserts a value that is JSON already.
    public mutating func value(json: [UInt8]) {
        separate()
        bytes += json
    }

    /// Bytes as base64 (RFC 4648, section 4), a part at a time: an image is large.
    mutating func value(base64 data: Data) {
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
    static func base64Length(of count: Int) -> Int { (count + 2) / 3 * 4 }

    /// Makes room for so many bytes, so that what is long is not copied as it grows.
    mutating func reserve(_ count: Int) { bytes.reserveCapacity(count) }

    /// A multiple of three, so that the parts make a whole.
    private static let base64Part = 3 << 14

    public mutating func member(_ name: String, _ text: String) {
        key(name)
        value(text)
    }

    public mutating func member(_ name: String, _ number: Int) {
        key(name)
        value(number)
    }

    public mutating func member(_ name: String, _ truth: Bool) {
        key(name)
        value(truth)
    }

    public mutating func member(_ name: String, _ texts: [String]) {
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
