import Crypto
import FoundationEssentials

/// Names a request by its bytes, so that the same bytes have the same key after any restart.
public enum IdempotencyKey {
    /// 02322d06-b248-45e8-8c81-81d8effc6022, the namespace of the records' names too.
    private static let namespace: [UInt8] = [
        0x02, 0x32, 0x2d, 0x06, 0xb2, 0x48, 0x45, 0xe8, 0x8c, 0x81, 0x81, 0xd8, 0xef, 0xfc, 0x60, 0x22,
    ]

    /// UUID version 5 (RFC 9562, section 5.5) of a request body before compression, in lower case.
    public static func of(_ body: [UInt8]) -> String {
        var hash = Insecure.SHA1()
        hash.update(data: namespace)
        hash.update(data: body)
        var octets = Array(hash.finalize().prefix(16))
        octets[6] = octets[6] & 0x0F | 0x50
        octets[8] = octets[8] & 0x3F | 0x80
        let groups = [octets[0..<4], octets[4..<6], octets[6..<8], octets[8..<10], octets[10..<16]]
        return groups.map(Hex.text).joined(separator: "-")
    }
}
