extension Record {
    /// The record as every destination and command writes it, version 1 (docs/records.md): one
    /// line, fixed order of members, unknown ones left out, numbers with the device's digits.
    public var json: String {
        var text = JSONText()
        text.beginObject()
        text.member("version", 1)
        text.member("id", id.text)
        text.member("kind", kind.rawValue)
        text.member("stage", stage.rawValue)
        text.key("time")
        text.value(time)
        if kind != .undecoded {
            text.key("measurements")
            text.beginArray()
            for measurement in measurements { text.value(measurement, withCode: true) }
            text.endArray()
        }
        if !flags.isEmpty { text.member("flags", flags) }
        if let sequence { text.member("sequence", sequence) }
        if let user { text.member("user", user) }
        if let subject { text.member("subject", subject) }
        if let related { text.member("related", related.text) }
        text.key("device")
        text.value(device)
        text.member("gateway", gateway)
        text.key("raw")
        text.value(raw)
        if isSimulated { text.member("simulated", true) }
        text.endObject()
        return text.string
    }
}

extension JSONText {
    fileprivate mutating func value(_ time: RecordTime) {
        beginObject()
        member("value", time.value)
        member("source", time.source.rawValue)
        if let device = time.device { member("device", device.description) }
        if let offset = time.clockOffsetSeconds { member("clock_offset_s", offset) }
        member("received", time.received)
        endObject()
    }

    fileprivate mutating func value(_ device: DeviceBlock) {
        beginObject()
        member("peripheral_id", device.peripheralID)
        member("address", device.address.description)
        let texts = [
            ("alias", device.alias), ("manufacturer", device.manufacturer), ("model", device.model),
            ("serial", device.serial), ("firmware", device.firmware),
        ]
        for case (let name, let text?) in texts { member(name, text) }
        if let battery = device.battery { member("battery", battery) }
        endObject()
    }

    fileprivate mutating func value(_ raw: RawPayload) {
        beginObject()
        member("characteristic", raw.characteristicText)
        member("hex", Hex.text(raw.bytes))
        endObject()
    }
}
