extension BroadcastFormat {
    /// BTHome v2 (bthome.io/format, bthome.io/encryption), service data of FCD2.
    static let bthome = BroadcastFormat(
        name: "bthome", kinds: [.bthome], services: [0xFCD2], hasKeys: true, decoder: BTHome.decode)
}

/// BTHome v2: a device information byte, then objects of a number and a value; all of them may be
/// encrypted.
enum BTHome {
    private struct Information: OptionSet {
        let rawValue: UInt8

        static let encrypted = Information(rawValue: 1 << 0)
        /// Reserved today. Earlier devices put their address before the objects when it is set, and
        /// the format's own parser (bthome-ble) reads it so.
        static let address = Information(rawValue: 1 << 1)
        static let triggered = Information(rawValue: 1 << 2)

        /// Bits 5 to 7.
        var version: UInt8 { rawValue >> 5 }
    }

    /// Bytes of the counter and the check value, which stand at the end of what is encrypted.
    private static let counterLength = 4
    private static let tagLength = 4

    @Sendable
    static func decode(
        _ cursor: inout ByteCursor, _ context: BroadcastFormat.Context
    ) throws(DecodeError) -> Broadcast {
        let information = Information(rawValue: try cursor.uint8("device information"))
        guard information.version == 2 else { throw .prohibitedValue(field: "BTHome version") }
        var address = context.address
        if information.contains(.address) {
            let named = try cursor.address("address")
            guard address == nil || address == named else { throw .otherAddress }
            address = named
        }
        var broadcast = Broadcast(reading: Reading(kind: .bthome), contents: [])
        broadcast.isTriggered = information.contains(.triggered)
        var objects: [UInt8]
        if information.contains(.encrypted) {
            let (message, counter) = try decrypt(&cursor, information, key: context.key, address: address)
            objects = message
            broadcast.counter = counter
            broadcast.isEncrypted = true
        } else {
            objects = Array(cursor.rest())
        }
        try BTHomeObjects.decode(objects, into: &broadcast)
        if broadcast.reading.sequence == nil { broadcast.reading.sequence = broadcast.counter.map(Int.init) }
        return broadcast
    }

    private static func decrypt(
        _ cursor: inout ByteCursor, _ information: Information, key: BindKey?, address: BluetoothAddress?
    ) throws(DecodeError) -> (message: [UInt8], counter: UInt32) {
        let length = cursor.remaining - counterLength - tagLength
        guard length >= 0 else {
            throw .truncated(
                field: "counter and check value", needed: counterLength + tagLength, had: cursor.remaining)
        }
        guard let key else { throw .keyNeeded }
        guard let address else { throw .addressNeeded }
        let ciphertext = Array(try cursor.bytes(length, "objects"))
        var counterField = ByteCursor(Array(try cursor.bytes(counterLength, "counter")))
        let counter = try counterField.uint32("counter")
        let tag = Array(try cursor.bytes(tagLength, "check value"))
        let nonce = address.octets + [0xD2, 0xFC, information.rawValue] + littleEndian(counter)
        guard let message = AESCCM.open(ciphertext, tag: tag, key: key.bytes, nonce: nonce) else {
            throw .keyMismatch
        }
        return (message, counter)
    }

    private static func littleEndian(_ number: UInt32) -> [UInt8] {
        (0..<UInt32(4)).map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) }
    }
}
