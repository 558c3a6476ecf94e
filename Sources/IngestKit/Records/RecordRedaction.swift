/// What a destination may be kept from getting of a record.
package enum RedactedField: String, Sendable, Hashable, CaseIterable {
    /// The bytes that the device sent.
    case raw
    /// The device's address, and its System ID, which is mostly made of it.
    case address
    case subject
    /// The device's serial number, and the Unique Device Identifier, which may hold it.
    case serial

    fileprivate var ofRecord: String? {
        switch self {
        case .raw: "raw"
        case .subject: "subject"
        case .address, .serial: nil
        }
    }

    fileprivate var ofDevice: [String] {
        switch self {
        case .address: ["address", "system_id"]
        case .serial: ["serial", "udi"]
        case .raw, .subject: []
        }
    }
}

extension RecordContent {
    /// A record's canonical JSON without these fields; all else stays as it is. Nil for what is no JSON object.
    package static func json(_ json: String, without fields: Set<RedactedField>) -> String? {
        guard !fields.isEmpty else { return json }
        let ofDevice = Set(fields.flatMap(\.ofDevice))
        return members(of: json, without: Set(fields.compactMap(\.ofRecord))) { name, value in
            name == "device" ? members(of: value, without: ofDevice) : value
        }
    }

    private static func members(
        of object: String, without names: Set<String>, _ kept: (String, String) -> String? = { $1 }
    ) -> String? {
        var scanner = JSONScanner(Array(object.utf8))
        var text = JSONText()
        text.beginObject()
        do {
            try scanner.members { (name: String, scanner: inout JSONScanner) throws(JSONScanner.Malformed) in
                let value = try scanner.value(depth: 1)
                guard !names.contains(name) else { return }
                guard let value = kept(name, value) else { throw JSONScanner.Malformed(offset: 0) }
                text.key(foreign: name)
                text.value(json: Array(value.utf8))
            }
            try scanner.end()
        } catch {
            return nil
        }
        text.endObject()
        return text.string
    }
}
