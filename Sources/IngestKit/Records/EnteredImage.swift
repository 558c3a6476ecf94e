import Crypto
package import FoundationEssentials

/// The photograph of an entry as the queue takes it: a record of the kind `image` beside the entry's own.
package struct EnteredImage: Sendable, Equatable {
    /// Names these bytes for this entry, so that an image that is sent again is known, and another one is not.
    package let id: RecordID
    package let bytes: Data
    /// What it is, and whose, as canonical JSON.
    package let body: String

    /// - Parameters:
    ///   - received: when the gateway got it, in seconds since 1970.
    /// - Returns: nil for what is no image or too large, and for an entry that is no record.
    package init?(_ bytes: Data, of entry: RecordEntry, gateway: String, received: Int64) {
        let record = entry.id(gateway: gateway)
        let digest = Hex.text(Array(SHA256.hash(data: bytes)))
        let id = RecordID(text: NameUUID.text(of: Array("IMAGE|\(record)|\(digest)".utf8)))
        guard let form = EntryImage(bytes), bytes.count <= EntryImage.largest,
            let body = entry.json(
                ofImage: form, size: bytes.count, id: id, gateway: gateway, received: received)
        else { return nil }
        self.id = id
        self.bytes = bytes
        self.body = body
    }
}

/// A record, as events name it.
package struct RecordReference: Sendable, Equatable {
    package let id: RecordID
    package let kind: RecordKind
}
