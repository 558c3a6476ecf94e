import Crypto

/// UUID version 5 (RFC 9562, section 5.5) in this program's namespace.
package enum NameUUID {
    /// 02322d06-b248-45e8-8c81-81d8effc6022: fixed for ever, or every record would get another name.
    private static let namespace: [UInt8] = [
        0x02, 0x32, 0x2D, 0x06, 0xB2, 0x48, 0x45, 0xE8, 0x8C, 0x81, 0x81, 0xD8, 0xEF, 0xFC, 0x60, 0x22,
    ]

    /// The name of these bytes, in lower case with dashes.
    package static func text(of name: [UInt8]) -> String {
        var hash = Insecure.SHA1()
        hash.update(data: namespace)
        hash.update(data: name)
        var octets = Array(hash.finalize().prefix(16))
        octets[6] = octets[6] & 0x0F | 0x50
        octets[8] = octets[8] & 0x3F | 0x80
        return text(ofBytes: octets)
    }

    /// The form of a UUID's 16 bytes, in lower case with dashes (RFC 9562, section 4).
    package static func text(ofBytes octets: [UInt8]) -> String {
        let groups = [octets[0..<4], octets[4..<6], octets[6..<8], octets[8..<10], octets[10..<16]]
        return groups.map { Hex.text(Array($0)) }.joined(separator: "-")
    }
}
