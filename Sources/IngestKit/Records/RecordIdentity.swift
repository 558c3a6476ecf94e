import Crypto

/// Names records: UUID version 5 (RFC 9562, section 5.5) of what was measured.
enum RecordIdentity {
    /// What tells two equal payloads of one device apart.
    enum Distinction: Equatable {
        /// Nothing is needed: the payload holds a full date.
        case dateInPayload
        /// The moment of reception.
        case reception(bootID: String, MonotonicInstant)
    }

    /// 02322d06-b248-45e8-8c81-81d8effc6022: fixed for ever, or every record would get another name.
    private static let namespace: [UInt8] = [
        0x02, 0x32, 0x2D, 0x06, 0xB2, 0x48, 0x45, 0xE8, 0x8C, 0x81, 0x81, 0xD8, 0xEF, 0xFC, 0x60, 0x22,
    ]

    /// The text that is hashed: `ADDRESS|CHARACTERISTIC|HEX|X`, ASCII.
    static func name(address: BluetoothAddress, raw: RawPayload, distinction: Distinction) -> String {
        let last =
            switch distinction {
            case .dateInPayload: ""
            case .reception(let bootID, let instant): "\(bootID):\(instant.nanoseconds)"
            }
        return "\(address)|\(raw.characteristicText)|\(Hex.text(raw.bytes))|\(last)"
    }

    static func id(address: BluetoothAddress, raw: RawPayload, distinction: Distinction) -> RecordID {
        var hash = Insecure.SHA1()
        hash.update(data: namespace)
        hash.update(data: Array(name(address: address, raw: raw, distinction: distinction).utf8))
        var octets = Array(hash.finalize().prefix(16))
        octets[6] = octets[6] & 0x0F | 0x50
        octets[8] = octets[8] & 0x3F | 0x80
        let groups = [octets[0..<4], octets[4..<6], octets[6..<8], octets[8..<10], octets[10..<16]]
        return RecordID(text: groups.map(Hex.text).joined(separator: "-"))
    }
}

extension RawPayload {
    /// 4 or 32 upper-case hexadecimal digits, or `ADV` for a broadcast.
    var characteristicText: String { characteristic?.description ?? "ADV" }
}
