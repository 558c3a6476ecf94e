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
    /// How far the zone of `end` is ahead of UTC: the clocks may have been changed in between. Nil: as that of `time`.
    package var endUTCOffsetSeconds: Int?
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
    /// The operator's name for the device.
    package var alias: String?
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

    /// The day on which it began, by its own clock: `2026-11-20`.
    package var localDate: String {
        DeviceTime(wallSeconds: time + Int64(utcOffsetSeconds)).map { String("\($0)".prefix(10)) } ?? ""
    }

    /// Whether a meter was tested, and nobody measured.
    package var isControlSolution: Bool { !Reading.controlSolutionFlags.isDisjoint(with: flags) }

    /// Nil for what is no record of version 1.
    package init?(json: String) {
        guard (try? read(json)) != nil, !id.isEmpty else { return nil }
    }

    private typealias Malformed = ReceivedBatch.Malformed

    private mutating func read(_ json: String) throws(Malformed) {
        var scanner = JSONScanner(Array(json.utf8))
        var isOfVersion = false
        var known: RecordKind?
        var isDated = false
        try scanner.members { (name: String, scanner: inout JSONScanner) throws(Malformed) in
            switch name {
            case "version": isOfVersion = try scanner.value(depth: 1) == "1"
            case "id": id = try scanner.string()
            case "kind": known = RecordKind(rawValue: try scanner.string())
            case "stage": stage = Record.Stage(rawValue: try scanner.string()) ?? .live
            case "subject": subject = try scanner.string()
            case "time": isDated = try readTime(&scanner)
            case "flags": flags = try scanner.strings()
            case "device": try readDevice(&scanner)
            case "origin": (origin, originName, originVersion) = try Self.provenance(&scanner)
            case "gateway": gateway = try scanner.string()
            case "related": related = try scanner.string()
            case "raw":
                try scanner.texts { (name: String, text: String) in
                    if name == "characteristic" { characteristic = text }
                }
            case "simulated": isSimulated = try scanner.value(depth: 1) == "true"
            case "image": image = try Self.image(&scanner)
            case "measurements": values = try Self.values(&scanner)
            default: try scanner.skip(depth: 1)
            }
        }
        guard isOfVersion, isDated, let known else { throw Malformed(offset: 0) }
        kind = known
    }

    private mutating func readDevice(_ scanner: inout JSONScanner) throws(Malformed) {
        try scanner.members { (name: String, scanner: inout JSONScanner) throws(Malformed) in
            switch name {
            case "alias": alias = try scanner.string()
            case "manufacturer": manufacturer = try scanner.string()
            case "model": model = try scanner.string()
            case "serial": serial = try scanner.string()
            case "firmware": firmware = try scanner.string()
            case "hardware": hardware = try scanner.string()
            case "software": software = try scanner.string()
            case "system_id": systemID = try scanner.string()
            case "udi":
                var parts: [String: String] = [:]
                try scanner.texts { parts[$0] = $1 }
                udi = UniqueDeviceIdentifier(
                    label: parts["label"], deviceIdentifier: parts["device_identifier"],
                    issuer: parts["issuer"], authority: parts["authority"])
            case "address": address = try scanner.string()
            case "peripheral_id": peripheralID = Int(try scanner.value(depth: 1))
            default: try scanner.skip(depth: 1)
            }
        }
    }

    private typealias Provenance = (origin: RecordEntry.Origin?, name: String?, version: String?)

    private static func provenance(_ scanner: inout JSONScanner) throws(Malformed) -> Provenance {
        var parts: [String: String] = [:]
        try scanner.texts { parts[$0] = $1 }
        guard let type = parts["type"] else { throw Malformed(offset: 0) }
        return (RecordEntry.Origin(rawValue: type), parts["name"], parts["version"])
    }

    private static func image(_ scanner: inout JSONScanner) throws(Malformed) -> Image {
        var parts: [String: String] = [:]
        try scanner.texts { parts[$0] = $1 }
        guard let kind = parts["of"].flatMap(RecordKind.init(rawValue:)), let type = parts["type"] else {
            throw Malformed(offset: 0)
        }
        return Image(of: kind, type: type)
    }

    private static func values(_ scanner: inout JSONScanner) throws(Malformed) -> [Value] {
        var values: [Value] = []
        try scanner.array { (scanner: inout JSONScanner) throws(Malformed) in
            var type: String?
            var unit: String?
            var number: String?
            var code: UInt32?
            var absent: AbsentReason?
            try scanner.members { (name: String, scanner: inout JSONScanner) throws(Malformed) in
                switch name {
                case "type": type = try scanner.string()
                case "unit": unit = try scanner.string()
                case "value":
                    let text = try scanner.value(depth: 1)
                    number = text == "null" ? nil : text
                case "code": code = UInt32(try scanner.string())
                case "absent": absent = AbsentReason(rawValue: try scanner.string())
                default: try scanner.skip(depth: 1)
                }
            }
            guard let type, let unit else { throw Malformed(offset: 0) }
            values.append(Value(type: type, unit: unit, number: number, code: code, absent: absent))
        }
        return values
    }

    /// - Returns: whether it says when, and by whose clock.
    private mutating func readTime(_ scanner: inout JSONScanner) throws(Malformed) -> Bool {
        var source: RecordTime.Source?
        var value: (time: Int64, offset: Int)?
        try scanner.members { (name: String, scanner: inout JSONScanner) throws(Malformed) in
            switch name {
            case "source": source = RecordTime.Source(rawValue: try scanner.string())
            case "value": value = Self.moment(try scanner.string())
            case "received": received = try scanner.string()
            case "end":
                let moment = Self.moment(try scanner.string())
                (end, endUTCOffsetSeconds) = (moment?.time, moment?.offset)
            case "clock_offset_s": clockOffsetSeconds = Int(try scanner.value(depth: 1))
            case "device":
                // A wall time counts as if it were UTC.
                deviceTime = Self.moment(try scanner.string() + "+00:00")
                    .flatMap { DeviceTime(wallSeconds: $0.time) }
            default: try scanner.skip(depth: 1)
            }
        }
        guard let source, let value else { return false }
        timeSource = source
        (time, utcOffsetSeconds) = value
        return true
    }

    /// What stands before the word in `RecordEntry.json`. Within a string its quotation marks would be escaped.
    private static let originType = Array(#""origin":{"type":""#.utf8)

    /// Where a record of ours is from, by its canonical JSON, which is not read any further: each entry that is delivered is
    /// asked for. Nil for a reading of a device.
    package static func origin(of json: String) -> RecordEntry.Origin? {
        let bytes = Array(json.utf8)
        let length = originType.count
        guard bytes.count > length,
            let start = (0..<bytes.count - length).first(where: { bytes[$0..<$0 + length] == originType[...] }
            )
        else { return nil }
        let word = bytes[(start + length)...].prefix { $0 != UInt8(ascii: "\"") }
        return RecordEntry.Origin(rawValue: String(decoding: word, as: UTF8.self))
    }

    /// What a record holds as `measurements`, as it stands there; nil where it has none.
    package static func measurements(of json: String) -> String? {
        var scanner = JSONScanner(Array(json.utf8))
        var measurements: String?
        try? scanner.members { (name: String, scanner: inout JSONScanner) throws(Malformed) in
            if name == "measurements" {
                measurements = try scanner.value(depth: 1)
            } else {
                try scanner.skip(depth: 1)
            }
        }
        return measurements
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
                let name = String(Substring(name.utf8.dropFirst().dropLast()))
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
}

extension JSONScanner {
    /// Passes an object, and calls `member` with the name and the text of each string in it.
    fileprivate mutating func texts(_ member: (String, String) -> Void) throws(Malformed) {
        try members { (name: String, scanner: inout JSONScanner) throws(Malformed) in
            if scanner.isAtString() { member(name, try scanner.string()) } else { try scanner.skip(depth: 2) }
        }
    }

    /// Passes an array of strings.
    fileprivate mutating func strings() throws(Malformed) -> [String] {
        var texts: [String] = []
        try array { (scanner: inout JSONScanner) throws(Malformed) in texts.append(try scanner.string()) }
        return texts
    }
}
