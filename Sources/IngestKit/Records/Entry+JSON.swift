extension RecordEntry {
    /// The record, version 1 (docs/records.md); nil for what is not sound, or was received outside of the calendar.
    func json(gateway: String, received: Int64) -> String? {
        guard isSound, DeviceTime(wallSeconds: received) != nil else { return nil }
        var text = JSONText()
        begin(&text, id: id(gateway: gateway), kind: kind, received: received)
        text.key("measurements")
        text.beginArray()
        for value in values { text.value(value) }
        text.endArray()
        if !flags.isEmpty { text.member("flags", flags) }
        if let subject { text.member("subject", subject) }
        addDevice(to: &text)
        text.key("origin")
        text.beginObject()
        text.member("type", origin.rawValue)
        if let name = source.name { text.member("name", name) }
        if let version = source.version { text.member("version", version) }
        text.endObject()
        text.member("gateway", gateway)
        text.member("software", Software.version)
        text.endObject()
        return text.string
    }

    /// What the queue keeps beside the bytes of the entry's image (docs/records.md); nil as above.
    func json(ofImage form: EntryImage, size: Int, id: RecordID, gateway: String, received: Int64) -> String?
    {
        guard isSound, DeviceTime(wallSeconds: received) != nil else { return nil }
        var text = JSONText()
        begin(&text, id: id, kind: .image, received: received)
        text.key("image")
        text.beginObject()
        text.member("of", kind.rawValue)
        text.member("type", form.rawValue)
        text.member("size", size)
        text.endObject()
        if let subject { text.member("subject", subject) }
        text.member("related", self.id(gateway: gateway).text)
        text.member("gateway", gateway)
        text.endObject()
        return text.string
    }

    /// Up to the times.
    private func begin(_ text: inout JSONText, id: RecordID, kind: RecordKind, received: Int64) {
        text.beginObject()
        text.member("version", 1)
        text.member("id", id.text)
        text.member("kind", kind.rawValue)
        text.member("stage", stage.rawValue)
        text.key("time")
        text.beginObject()
        text.member("value", ReadingTime.text(start, offset: utcOffset))
        if let end { text.member("end", ReadingTime.text(end, offset: endUTCOffset ?? utcOffset)) }
        text.member("source", timeSource.rawValue)
        text.member("received", ReadingTime.text(received, offset: nil))
        text.endObject()
    }

    private func addDevice(to text: inout JSONText) {
        let members = [
            ("manufacturer", source.manufacturer), ("model", source.model), ("firmware", source.firmware),
        ].compactMap { name, value in value.map { (name, $0) } }
        guard !members.isEmpty else { return }
        text.key("device")
        text.beginObject()
        for (name, value) in members { text.member(name, value) }
        text.endObject()
    }
}

extension JSONText {
    fileprivate mutating func value(_ value: RecordEntry.Value) {
        beginObject()
        member("type", value.type)
        if let code = value.code { member("code", String(code)) }
        key("value")
        self.value(json: Array(value.number.utf8))
        member("unit", value.unit)
        endObject()
    }
}
