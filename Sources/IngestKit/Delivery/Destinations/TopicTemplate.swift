import IngestRecords

/// The topic that a record is published under: text with placeholders (docs/destinations/mqtt.md).
package struct TopicTemplate: Sendable, Hashable {
    package enum Placeholder: String, Sendable, CaseIterable {
        case gateway, kind, stage, subject, address
        case peripheralID = "peripheral_id"

        /// The field of a record that stands there, of those that a destination may be kept from getting.
        var redacted: RedactedField? {
            switch self {
            case .subject: .subject
            case .address: .address
            case .gateway, .kind, .stage, .peripheralID: nil
            }
        }
    }

    private enum Part: Sendable, Hashable {
        case text(String)
        case placeholder(Placeholder)
    }

    /// Why a text is no template.
    package struct Malformed: Error, Sendable, Equatable {
        /// In our words, as what follows "expected".
        package let expected: String
    }

    /// In bytes of UTF-8. With every placeholder at its longest the topic stays far below MQTT's 65,535.
    package static let limit = 1024

    package static let standard = TopicTemplate(parts: [
        .text("ingestd/"), .placeholder(.gateway), .text("/"), .placeholder(.kind),
    ])

    private let parts: [Part]

    /// Those that stand in it.
    var placeholders: [Placeholder] {
        parts.compactMap { if case .placeholder(let placeholder) = $0 { placeholder } else { nil } }
    }

    private init(parts: [Part]) {
        self.parts = parts
    }

    /// - Parameter allowed: the placeholders that may stand in it.
    package init(
        _ text: String, allowed: [Placeholder] = Placeholder.allCases
    ) throws(Malformed) {
        guard TextForm.isLine(text, limit: Self.limit), text.utf8.count <= Self.limit else {
            throw Malformed(expected: "a topic: printable text of at most \(Self.limit) bytes")
        }
        guard !text.contains("+"), !text.contains("#") else {
            throw Malformed(expected: "a topic without + and #")
        }
        // Section 4.7.2 of MQTT 5: those are the broker's own.
        guard !text.hasPrefix("$") else { throw Malformed(expected: "a topic that does not begin with $") }
        var parts: [Part] = []
        var rest = text[...]
        while let brace = rest.firstIndex(where: { "{}".contains($0) }) {
            if brace != rest.startIndex { parts.append(.text(String(rest[..<brace]))) }
            let inside = rest[rest.index(after: brace)...]
            guard rest[brace] == "{", let end = inside.firstIndex(of: "}"),
                let placeholder = Placeholder(rawValue: String(inside[..<end])),
                allowed.contains(placeholder)
            else {
                throw Malformed(
                    expected: "no braces but those of "
                        + TextForm.list(allowed.map { "{\($0.rawValue)}" }))
            }
            parts.append(.placeholder(placeholder))
            rest = inside[inside.index(after: end)...]
        }
        if !rest.isEmpty { parts.append(.text(String(rest))) }
        self.parts = parts
    }

    /// The topic with these values.
    package func topic(_ value: (Placeholder) -> String) -> String {
        parts.map { part in
            switch part {
            case .text(let text): text
            case .placeholder(let placeholder): Self.level(value(placeholder))
            }
        }.joined()
    }

    func topic(of record: RecordContent) -> String {
        topic { placeholder in
            switch placeholder {
            case .gateway: record.gateway
            case .kind: record.kind.rawValue
            case .stage: record.stage.rawValue
            case .subject: record.subject ?? Subject.unassigned
            // What was entered or imported was read from no device.
            case .address: record.address.isEmpty ? "none" : record.address
            case .peripheralID: record.peripheralID.map { String($0) } ?? "none"
            }
        }
    }

    /// A value as one level, or part of one: what is neither unreserved (RFC 3986, section 2.3) nor a colon is
    /// percent-encoded. So no value makes a level, a wildcard or a control character, and two never look the same.
    static func level(_ value: String) -> String {
        guard !value.utf8.allSatisfy(standsAsItIs) else { return value }
        let digits = Array("0123456789ABCDEF".utf8)
        let level = value.utf8.reduce(into: [UInt8]()) { level, byte in
            level +=
                standsAsItIs(byte)
                ? [byte] : [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
        }
        return String(decoding: level, as: UTF8.self)
    }

    private static func standsAsItIs(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F, 0x7E, 0x3A: true
        default: false
        }
    }
}
