import Crypto

/// What stands for a payload where only its equality with others matters: the first 128 bits of a SHA-256 of
/// its characteristic and bytes. It takes the same room for every payload.
package struct PayloadDigest: Sendable, Hashable {
    private let high: UInt64
    private let low: UInt64

    package init(_ payload: RawPayload) {
        var hash = SHA256()
        hash.update(data: Array(payload.characteristicText.utf8) + [0])
        hash.update(data: payload.bytes)
        let octets = Array(hash.finalize().prefix(16))
        high = octets[..<8].reduce(0) { $0 << 8 | UInt64($1) }
        low = octets[8...].reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// 32 lower-case hexadecimal digits.
    package var text: String {
        let halves = [high, low]
        return Hex.text((0..<16).map { UInt8(truncatingIfNeeded: halves[$0 / 8] >> (56 - 8 * ($0 % 8))) })
    }
}
