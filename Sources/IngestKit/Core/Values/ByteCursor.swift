/// Reads a payload from front to back. Every read names its field and is bounded: a payload that is
/// too short is an error that says where it ends, never a trap.
package struct ByteCursor {
    private let bytes: [UInt8]
    private var position = 0

    package init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// How many bytes are left.
    package var remaining: Int { bytes.count - position }

    package mutating func uint8(_ field: String) throws(DecodeError) -> UInt8 {
        let start = try advance(by: 1, field)
        return bytes[start]
    }

    /// Least significant octet first, as all GATT fields are.
    package mutating func uint16(_ field: String) throws(DecodeError) -> UInt16 {
        let start = try advance(by: 2, field)
        return UInt16(bytes[start]) | UInt16(bytes[start + 1]) << 8
    }

    /// Least significant octet first.
    package mutating func uint24(_ field: String) throws(DecodeError) -> UInt32 {
        let start = try advance(by: 3, field)
        return UInt32(bytes[start]) | UInt32(bytes[start + 1]) << 8 | UInt32(bytes[start + 2]) << 16
    }

    /// Least significant octet first.
    package mutating func uint32(_ field: String) throws(DecodeError) -> UInt32 {
        let start = try advance(by: 4, field)
        return UInt32(bytes[start]) | UInt32(bytes[start + 1]) << 8 | UInt32(bytes[start + 2]) << 16
            | UInt32(bytes[start + 3]) << 24
    }

    /// A number of `count` octets, the least significant first.
    /// - Parameter count: 0 to 8.
    package mutating func unsigned(_ count: Int, _ field: String) throws(DecodeError) -> UInt64 {
        let start = try advance(by: count, field)
        var value: UInt64 = 0
        var index = start + count
        while index > start {
            index -= 1
            value = value << 8 | UInt64(bytes[index])
        }
        return value
    }

    /// Most significant octet first, as files of time zones are.
    mutating func bigEndianUInt32(_ field: String) throws(DecodeError) -> UInt32 {
        try uint32(field).byteSwapped
    }

    /// Most significant octet first.
    mutating func bigEndianInt64(_ field: String) throws(DecodeError) -> Int64 {
        let start = try advance(by: 8, field)
        var value: UInt64 = 0
        for byte in bytes[start..<start + 8] { value = value << 8 | UInt64(byte) }
        return Int64(bitPattern: value)
    }

    /// The next `count` bytes.
    /// - Parameter count: not negative.
    package mutating func bytes(_ count: Int, _ field: String) throws(DecodeError) -> ArraySlice<UInt8> {
        let start = try advance(by: count, field)
        return bytes[start..<start + count]
    }

    /// All bytes that are left.
    package mutating func rest() -> ArraySlice<UInt8> {
        defer { position = bytes.count }
        return bytes[position...]
    }

    private mutating func advance(by count: Int, _ field: String) throws(DecodeError) -> Int {
        guard count <= remaining else {
            throw .truncated(field: field, needed: count, had: remaining)
        }
        defer { position += count }
        return position
    }
}
