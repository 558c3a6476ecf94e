extension Record {
    /// The record as every destination and command writes it, version 1 (docs/records.md): one
    /// line, fixed order of members, unknown ones left out, numbers with the device's digits.
    package var json: String {
        var text = JSONText()
        text.reserve(Self.usualLength)
        writeBeginning(to: &text)
        RecordText.write(stage, time, to: &text)
        writeMiddle(to: &text)
        RecordText.write(subject: subject, to: &text)
        writeEnd(to: &text)
        return text.string
    }

    /// The record without what its dating decides.
    package var text: RecordText {
        var text = JSONText()
        text.reserve(Self.usualLength)
        writeBeginning(to: &text)
        let beginning = text.bytes.count
        writeMiddle(to: &text)
        let middle = text.bytes.count
        writeEnd(to: &text)
        return RecordText(
            beginning: String(decoding: text.bytes[..<beginning], as: UTF8.self),
            middle: String(decoding: text.bytes[beginning..<middle], as: UTF8.self),
            end: String(decoding: text.bytes[middle...], as: UTF8.self))
    }

    /// In bytes; most are shorter.
    private static let usualLength = 1000

    /// Up to `kind`.
    private func writeBeginning(to text: inout JSONText) {
        text.beginObject()
        text.member("version", 1)
        text.member("id", id.text)
        text.member("kind", kind.rawValue)
    }

    /// From `measurements` to `user`.
    private func writeMiddle(to text: inout JSONText) {
        if kind != .undecoded {
            text.key("measurements")
            text.beginArray()
            for measurement in measurements { text.value(measurement, withCode: true) }
            text.endArray()
        }
        if !flags.isEmpty { text.member("flags", flags) }
        if let sequence { text.member("sequence", sequence) }
        if let user { text.member("user", user) }
    }

    /// From `related` on.
    private func writeEnd(to text: inout JSONText) {
        if let related { text.member("related", related.text) }
        text.key("device")
        text.value(device)
        text.member("gateway", gateway)
        text.member("software", software)
        text.key("raw")
        text.value(raw)
        if isSimulated { text.member("simulated", true) }
        text.endObject()
    }
}

/// A record as JSON, with gaps for what its dating decides.
package struct RecordText: Sendable, Equatable, Codable {
    /// Up to `kind`.
    var beginning: String
    /// From `measurements` to `user`.
    var middle: String
    /// From `related` on.
    var end: String

    package func filled(stage: Record.Stage, time: RecordTime, subject: String?) -> String {
        // Members of an object that has some already: each begins with a comma.
        var first = JSONText(continuing: true)
        Self.write(stage, time, to: &first)
        var second = JSONText(continuing: true)
        Self.write(subject: subject, to: &second)
        return beginning + first.string + middle + second.string + end
    }

    fileprivate static func write(_ stage: Record.Stage, _ time: RecordTime, to text: inout JSONText) {
        text.member("stage", stage.rawValue)
        text.key("time")
        text.value(time)
    }

    fileprivate static func write(subject: String?, to text: inout JSONText) {
        if let subject { text.member("subject", subject) }
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
            ("serial", device.serial), ("firmware", device.firmware), ("hardware", device.hardware),
            ("software", device.software), ("system_id", device.systemID),
        ]
        for case (let name, let text?) in texts { member(name, text) }
        if let udi = device.udi {
            key("udi")
            beginObject()
            for case (let name, let text?) in udi.members { member(name, text) }
            endObject()
        }
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
