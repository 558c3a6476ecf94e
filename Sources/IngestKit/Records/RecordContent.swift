import FoundationEssentials

/// What a record says, taken out of its canonical JSON: numbers keep the text that they have there.
package struct RecordContent: Equatable {
    /// A number of the record.
    package struct Value: Equatable {
        package let type: String
        /// In UCUM.
        package let unit: String
        /// As JSON; nil where the device marked it as absent.
        package let number: String?
        /// IEEE 11073-10101 (MDC).
        package var code: UInt32?
        /// Why there is no number.
        package var absent: AbsentReason?
    }

    /// What an image is.
    package struct Image: Equatable {
        /// The kind of the entry that it belongs to.
        let of: RecordKind
        /// Its media type.
        package let type: String
    }

    package var id = ""
    package var kind: RecordKind = .undecoded
    package var stage: Record.Stage = .live
    /// When it was measured, in seconds since 1970, and how far the zone of the record is ahead of UTC.
    package var time: Int64 = 0
    package var utcOffsetSeconds = 0
    /// When it ended, for what took a span of time.
    package var end: Int64?
    package var timeSource: RecordTime.Source = .unknown
    /// When the gateway received it, in UTC: `2026-11-20T09:15:04Z`.
    package var received = ""
    /// The device's wall clock.
    package var deviceTime: DeviceTime?
    package var clockOffsetSeconds: Int?
    package var values: [Value] = []
    package var flags: [String] = []
    /// Nil is nobody.
    package var subject: String?
    package var manufacturer: String?
    package var model: String?
    package var serial: String?
    package var firmware: String?
    package var hardware: String?
    package var software: String?
    /// An EUI-64 in 16 upper-case hexadecimal digits.
    package var systemID: String?
    package var udi: UniqueDeviceIdentifier?
    /// Where it is from; nil for a device that was read.
    package var origin: RecordEntry.Origin?
    /// What an export calls the program or device that it has the measurement from, and its version.
    package var originName: String?
    package var originVersion: String?
    /// The device's identity address, upper case with colons; empty where no device was read.
    package var address = ""
    package var gateway = ""
    /// The model's number in the catalogue.
    package var peripheralID: Int?
    /// The id of the record that this one belongs to.
    package var related: String?
    /// 4 or 32 hexadecimal digits, or `ADV`; empty where no device was read.
    package var characteristic = ""
    package var isSimulated = false
    /// Nil for a reading.
    package var image: Image?

    /// The record that an image belongs to; nil for a reading.
    package var imageOf: RecordReference? {
        guard let image, let related else { return nil }
        return RecordReference(id: RecordID(text: related), kind: image.of)
    }

    /// Whether a meter was tested, and nobody measured.
    package var isControlSolution: Bool { !Reading.controlSolutionFlags.isDisjoint(with: flags) }

    /// Nil for what is no record of version 1.
    package init?(json: String) {
        guard (try? read(json)) != nil, !id.isEmpty else { return nil }
    }

    private typealias Malformed = ReceivedBatch.Malformed

    private mutating func read(_ json: String) throws(Malformed) {
        let members = try Self.members(of: json)
        id = try Self.text(members["id"])
        guard members["version"] == "1", let kind = RecordKind(rawValue: try Self.text(members["kind"]))
        else { throw Malformed(offset: 0) }
        self.kind = kind
        stage = Record.Stage(rawValue: try Self.text(members["stage"] ?? "\"live\"")) ?? .live
        subject = try members["subject"].map(Self.text)
        try readTime(members["time"])
        flags = try members["flags"].map(Self.texts) ?? []
        let device = try members["device"].map(Self.members) ?? [:]
        manufacturer = try device["manufacturer"].map(Self.text)
        model = try device["model"].map(Self.text)
        serial = try device["serial"].map(Self.text)
        firmware = try device["firmware"].map(Self.text)
        hardware = try device["hardware"].map(Self.text)
        software = try device["software"].map(Self.text)
        systemID = try device["system_id"].map(Self.text)
        if let udi = try device["udi"].map(Self.members) {
            self.udi = UniqueDeviceIdentifier(
                label: try udi["label"].map(Self.text),
                deviceIdentifier: try udi["device_identifier"].map(Self.text),
                issuer: try udi["issuer"].map(Self.text), authority: try udi["authority"].map(Self.text))
        }
        if let origin = try members["origin"].map(Self.members) {
            self.origin = RecordEntry.Origin(rawValue: try Self.text(origin["type"]))
            originName = try origin["name"].map(Self.text)
            originVersion = try origin["version"].map(Self.text)
        }
        address = try device["address"].map(Self.text) ?? ""
        gateway = try members["gateway"].map(Self.text) ?? ""
        peripheralID = device["peripheral_id"].flatMap { Int($0) }
        related = try members["related"].map(Self.text)
        let raw = try members["raw"].map(Self.members) ?? [:]
        characteristic = try raw["characteristic"].map(Self.text) ?? ""
        isSimulated = members["simulated"] == "true"
        if let image = try members["image"].map(Self.members) {
            guard let kind = RecordKind(rawValue: try Self.text(image["of"])) else {
                throw Malformed(offset: 0)
            }
            self.image = Image(of: kind, type: try Self.text(image["type"]))
        }
        guard let measurements = members["measurements"] else { return }
        var scanner = JSONScanner(Array(measurements.utf8))
        var found: [Value] = []
        try scanner.array { (scanner: inout JSONScanner) throws(Malformed) in
            let measurement = try Self.members(of: try scanner.value(depth: 1))
            found.append(
                Value(
                    type: try Self.text(measurement["type"]), unit: try Self.text(measurement["unit"]),
                    number: measurement["value"].flatMap { $0 == "null" ? nil : $0 },
                    code: try measurement["code"].map(Self.text).flatMap { UInt32($0) },
                    absent: try measurement["absent"].map(Self.text).flatMap(AbsentReason.init)))
        }
        values = found
    }

    private mutating func readTime(_ json: String?) throws(Malformed) {
        let members = try json.map(Self.members) ?? [:]
        guard let source = RecordTime.Source(rawValue: try Self.text(members["source"])),
            let (time, offset) = Self.moment(try Self.text(members["value"]))
        else { throw Malformed(offset: 0) }
        timeSource = source
        received = try members["received"].map(Self.text) ?? ""
        self.time = time
        utcOffsetSeconds = offset
        end = try members["end"].map(Self.text).flatMap { Self.moment($0)?.time }
        clockOffsetSeconds = members["clock_offset_s"].flatMap { Int($0) }
        // A wall time counts as if it were UTC.
        deviceTime = try members["device"].map(Self.text).flatMap { Self.moment($0 + "+00:00") }
            .flatMap { DeviceTime(wallSeconds: $0.time) }
    }

    /// When the gateway received it, in seconds since 1970.
    package var receivedSeconds: Int64 {
        Self.moment(received.replacing("Z", with: "+00:00"))?.time ?? time
    }

    /// Reads `2026-11-20T09:15:00+00:00`.
    private static func moment(_ text: String) -> (time: Int64, offset: Int)? {
        let bytes = Array(text.utf8)
        func number(_ range: Range<Int>) -> Int? { Int(String(decoding: bytes[range], as: UTF8.self)) }
        guard bytes.count == 25, let year = number(0..<4), let month = number(5..<7),
            let day = number(8..<10), let hours = number(11..<13), let minutes = number(14..<16),
            let seconds = number(17..<19), let offsetHours = number(20..<22),
            let offsetMinutes = number(23..<25)
        else { return nil }
        let wall = DeviceTime(
            year: year, month: month, day: day, hours: hours, minutes: minutes, seconds: seconds)
        guard wall.isPossible else { return nil }
        let sign = bytes[19] == UInt8(ascii: "-") ? -1 : 1
        let offset = sign * (offsetHours * 3600 + offsetMinutes * 60)
        return (wall.wallSeconds - Int64(offset), offset)
    }

    /// A record of nobody as one of this person: everything else, its id too, stays as it is.
    /// - Returns: the text as it was where it is somebody's already, or no record.
    package static func assigning(_ subject: String, to json: String) -> String {
        var scanner = JSONScanner(Array(json.utf8))
        var text = JSONText()
        var isThere = false
        text.beginObject()
        do {
            try scanner.object { (name: String, scanner: inout JSONScanner) throws(Malformed) in
                let name = String(name.dropFirst().dropLast())
                // Where the canonical order of members has it (docs/records.md).
                if !isThere, ["subject", "related", "device", "origin", "gateway"].contains(name) {
                    isThere = true
                    if name != "subject" { text.member("subject", subject) }
                }
                text.key(foreign: name)
                text.value(json: Array(try scanner.value(depth: 1).utf8))
            }
        } catch {
            return json
        }
        text.endObject()
        return isThere ? text.string : json
    }

    /// An object's members, each as JSON.
    private static func members(of object: String) throws(Malformed) -> [String: String] {
        var scanner = JSONScanner(Array(object.utf8))
        var members: [String: String] = [:]
        try scanner.object { (name: String, scanner: inout JSONScanner) throws(Malformed) in
            members[String(name.dropFirst().dropLast())] = try scanner.value(depth: 1)
        }
        return members
    }

    private static func texts(_ json: String) throws(Malformed) -> [String] {
        var scanner = JSONScanner(Array(json.utf8))
        var texts: [String] = []
        try scanner.array { (scanner: inout JSONScanner) throws(Malformed) in
            texts.append(try text(try scanner.value(depth: 1)))
        }
        return texts
    }

    private static func text(_ json: String?) throws(Malformed) -> String {
        guard let json, let text = try? JSONDecoder().decode(String.self, from: Data(json.utf8)) else {
            throw Malformed(offset: 0)
        }
        return text
    }
}
