/// A webhook's body taken apart without decoding: each record keeps the bytes that it came with,
/// digits included.
package struct ReceivedBatch: Sendable, Equatable {
    /// Why a body is no batch.
    package typealias Malformed = JSONScanner.Malformed

    /// The gateway's name as JSON, with its quotation marks; nil when it is missing, and for lines.
    package let gateway: String?
    /// Each record on one line: line breaks between its tokens are blanks.
    package let records: [String]

    /// Takes apart `{"version":1,"gateway":"…","records":[…]}`; other members are passed over.
    package init(_ bytes: [UInt8]) throws(Malformed) {
        var scanner = JSONScanner(bytes)
        var gateway: String?
        var records: [String]?
        try scanner.object { (name: String, scanner: inout JSONScanner) throws(Malformed) in
            switch name {
            case "\"gateway\"": gateway = try scanner.value(depth: 1)
            case "\"records\"":
                var found: [String] = []
                try scanner.array { (scanner: inout JSONScanner) throws(Malformed) in
                    found.append(try scanner.value(depth: 2))
                }
                records = found
            default: _ = try scanner.value(depth: 1)
            }
        }
        try scanner.end()
        guard let records else { throw Malformed(offset: bytes.count) }
        self.gateway = gateway
        self.records = records
    }
}

extension ReceivedBatch {
    /// Takes apart one record a line; empty lines are passed over.
    package init(lines bytes: [UInt8]) throws(Malformed) {
        var records: [String] = []
        for line in bytes.split(whereSeparator: { $0 == 0x0A || $0 == 0x0D }) {
            var scanner = JSONScanner(Array(line))
            do throws(Malformed) {
                records.append(try scanner.value(depth: 0))
                try scanner.end()
            } catch {
                throw Malformed(offset: line.startIndex + error.offset)
            }
        }
        guard !records.isEmpty else { throw Malformed(offset: bytes.count) }
        gateway = nil
        self.records = records
    }

    /// A record in one line for people: when, what, and from which device. What is no record comes
    /// back as it is.
    package static func summary(of record: String) -> String {
        (try? summarized(record)) ?? record
    }

    private static func summarized(_ record: String) throws(Malformed) -> String {
        let members = try members(of: record)
        guard let kind = members["kind"], let measurements = members["measurements"] else { return record }
        var scanner = JSONScanner(Array(measurements.utf8))
        var values: [String] = []
        try scanner.array { (scanner: inout JSONScanner) throws(Malformed) in
            let measurement = try Self.members(of: try scanner.value(depth: 1))
            let value = measurement["absent"] ?? measurement["value"]
            values.append(
                [measurement["type"], value, measurement["unit"]].compactMap(\.self).joined(separator: " "))
        }
        let time = try members["time"].map(Self.members)?["value"]
        let device = try members["device"].map(Self.members)
        return [
            time, kind + ":", values.joined(separator: ", "),
            (device?["alias"] ?? device?["address"]).map { "(\($0))" },
        ].compactMap(\.self).joined(separator: " ")
    }

    /// An object's members; texts without their quotation marks, and with their escapes.
    static func members(of object: String) throws(Malformed) -> [String: String] {
        var scanner = JSONScanner(Array(object.utf8))
        var members: [String: String] = [:]
        try scanner.object { (name: String, scanner: inout JSONScanner) throws(Malformed) in
            let value = try scanner.value(depth: 1)
            members[String(name.dropFirst().dropLast())] =
                value.hasPrefix("\"") ? String(value.dropFirst().dropLast()) : value
        }
        return members
    }
}
