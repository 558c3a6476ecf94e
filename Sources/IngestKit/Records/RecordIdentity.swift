/// Names records by what was measured.
enum RecordIdentity {
    /// What tells two equal payloads of one device apart.
    enum Distinction: Equatable {
        /// Nothing is needed: the payload holds a full date that says when it was.
        case dateInPayload
        /// The moment of reception.
        case reception(bootID: String, MonotonicInstant)
        /// A wall time that the payload counts from and does not hold: the session's start for
        /// continuous glucose, the base time of its measurement for a glucose context.
        case base(DeviceTime)
    }

    /// The text that is hashed: `ADDRESS|CHARACTERISTIC|HEX|X`, ASCII.
    static func name(address: BluetoothAddress, raw: RawPayload, distinction: Distinction) -> String {
        let last =
            switch distinction {
            case .dateInPayload: ""
            case .reception(let bootID, let instant): "\(bootID):\(instant.nanoseconds)"
            case .base(let time): time.description
            }
        return "\(address)|\(raw.characteristicText)|\(Hex.text(raw.bytes))|\(last)"
    }

    /// - Parameter raw: the payload that names the record: of a dated one `RecordFactory.Circumstances.named`.
    static func id(address: BluetoothAddress, raw: RawPayload, distinction: Distinction) -> RecordID {
        let text = name(address: address, raw: raw, distinction: distinction)
        return RecordID(text: NameUUID.text(of: Array(text.utf8)))
    }
}

extension RawPayload {
    /// 4 or 32 upper-case hexadecimal digits, or `ADV` for a broadcast.
    package var characteristicText: String { characteristic?.description ?? "ADV" }
}
