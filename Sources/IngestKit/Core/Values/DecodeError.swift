/// Why bytes from a peripheral are not a reading. Carries names of fields and counts of bytes,
/// never a measured value, so that it may go into the journal.
package enum DecodeError: Error, Sendable, Equatable {
    /// There is no decoder for this characteristic.
    case unknownCharacteristic(BluetoothUUID)
    /// The bytes end inside a field that the layout or the flags promise.
    case truncated(field: String, needed: Int, had: Int)
    /// A field holds what its definition reserves or prohibits.
    case prohibitedValue(field: String)
    /// The bytes before a checksum are not those that it was made of.
    case checksumMismatch(field: String)
    /// More bytes than an attribute can hold.
    case tooLong(count: Int, limit: Int)
    /// No broadcast format knows any of an advert's structures.
    case noBroadcast
    /// It is encrypted, and there is no key.
    case keyNeeded
    /// It is encrypted with another key, or it was changed on its way.
    case keyMismatch
    /// It is encrypted, and the device's address, which is part of the encryption, is not known.
    case addressNeeded
    /// It names another device than the one that sent it.
    case otherAddress
    /// It is encrypted in a way that shows no wrong key, so that it could say anything.
    case unverifiable
}

extension DecodeError: CustomStringConvertible {
    /// One line in our words, for events, dead letters and the `decode` command.
    package var description: String {
        switch self {
        case .unknownCharacteristic(let characteristic):
            "no decoder for characteristic \(characteristic)"
        case .truncated(let field, let needed, let had):
            "truncated: \(field) needs \(needed) byte\(needed == 1 ? "" : "s"), \(had) left"
        case .prohibitedValue(let field):
            "prohibited value in \(field)"
        case .checksumMismatch(let field):
            "\(field) does not fit"
        case .tooLong(let count, let limit):
            "\(count) bytes, at most \(limit) are possible"
        case .noBroadcast:
            "no data of a broadcast format (BTHome, MiBeacon, Mi scale) in the advertisement"
        case .keyNeeded:
            "encrypted: the device's bind key is needed"
        case .keyMismatch:
            "encrypted: the bind key does not fit"
        case .addressNeeded:
            "encrypted: the device's address is needed beside the key"
        case .otherAddress:
            "the payload names another device than its sender"
        case .unverifiable:
            "encrypted as before MiBeacon version 4, which shows no wrong key: not supported"
        }
    }
}
