/// The E2E-CRC of the Continuous Glucose Monitoring Service 1.0.2: CRC-CCITT over all octets before
/// it, least significant bit first, seed 0xFFFF, least significant octet sent first.
enum EndToEndCRC {
    /// x¹⁶ + x¹² + x⁵ + 1 with its bits reversed.
    private static let polynomial: UInt16 = 0x8408

    static func checksum(_ bytes: some Sequence<UInt8>) -> UInt16 {
        var remainder: UInt16 = 0xFFFF
        for byte in bytes {
            remainder ^= UInt16(byte)
            for _ in 0..<8 {
                remainder = remainder & 1 != 0 ? remainder >> 1 ^ polynomial : remainder >> 1
            }
        }
        return remainder
    }

    /// Checks the two octets at the end of a value, where they are all that its fields have left:
    /// only sensors that support the CRC send them.
    /// - Parameter cursor: after the last field of `value`.
    static func check(_ cursor: inout ByteCursor, of value: [UInt8]) throws(DecodeError) {
        guard cursor.remaining == 2 else { return }
        try require(&cursor, of: value)
    }

    static func require(_ cursor: inout ByteCursor, of value: [UInt8]) throws(DecodeError) {
        let covered = value.count - cursor.remaining
        let sent = try cursor.uint16("E2E-CRC")
        guard sent == checksum(value.prefix(covered)) else {
            throw .checksumMismatch(field: "E2E-CRC")
        }
    }
}
