extension Record {
    /// The record as every destination and command writes it, version 1 (docs/records.md): one
    /// line, fixed order of members, unknown ones left out, numbers with the device's digits.
    public var json: String {
        text.filled(stage: stage, time: time, subject: subject)
    }

    /// The record without what its dating decides.
    var text: RecordText {
        var text = JSONText()
        text.beginObject()
        text.member("version", 1)
        text.member("id", id.text)
        text.member("kind", kind.rawValue)
        let beginning = text.bytes.count
        if kind != .undecoded {
            text.key("measurements")
            text.beginArray()
            for measurement in measurements { text.value(measurement, withCode: true) }
            text.endArray()
        }
        if !flags.isEmpty { text.member("flags", flags) }
        if let sequence { text.member("sequence", sequence) }
        if let user { text.member("user", user) }
        let middle = text.bytes.count
        if let related { text.member("related", related.text) }
        text.key("device")
        text.value(device)
        text.member("gateway", gateway)
        text.key("raw")
        text.value(raw)
        if isSimulated { text.member("simulated", true) }
        text.endObject()
        return RecordText(
            beginning: String(decoding: text.bytes[..<beginning], as: UTF8.self),
            middle: String(decoding: text.bytes[beginning..<middle], as: UTF8.self),
            end: String(decoding: text.bytes[middle...], as: UTF8.self))
    }
}

/// A record as JSON, with gaps for what its dating decides.
struct RecordText: Sendable, Equatable, Codable {
    /// Up to `kind`.
    var beginning: String
    /// From `measurements` to `user`.
    var middle: String
    /// From `related` on.
    var end: String

    func filled(stage: Record.Stage, time: RecordTime, subject: String?) -> String {
        // Members of an object that has some already: each begins with a comma.
        var first = JSONText(continuing: true)
        first.member("stage", stage.rawValue)
        first.key("time")
        first.value(time)
        var second = JSONText(continuing: true)
        if let subject { second.member("subject", subject) }
        return beginning + first.string + middle + second.string + end
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
