import FoundationEssentials

/// Finds where JSON values begin and end (RFC 8259); numbers and strings are passed as they stand.
package struct JSONScanner {
    /// Why a text is no JSON.
    package struct Malformed: Error, Sendable, Equatable {
        /// Where, in bytes from the start.
        package let offset: Int

        package init(offset: Int) { self.offset = offset }
    }

    /// Deeper nesting is refused: records have three levels.
    private static let depthLimit = 32

    private let bytes: [UInt8]
    private var index = 0

    package init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    private var current: UInt8? { index < bytes.count ? bytes[index] : nil }

    package mutating func end() throws(Malformed) {
        skipBlanks()
        if current != nil { throw Malformed(offset: index) }
    }

    /// Calls `member` at each value with its name.
    package mutating func members(
        _ member: (String, inout JSONScanner) throws(Malformed) -> Void
    ) throws(Malformed) {
        try list("{", "}") { (scanner: inout JSONScanner) throws(Malformed) in
            let name = try scanner.string()
            try scanner.expect(":")
            try member(name, &scanner)
        }
    }

    /// Calls `member` at each value with its name, in quotation marks.
    package mutating func object(
        _ member: (String, inout JSONScanner) throws(Malformed) -> Void
    ) throws(Malformed) {
        try list("{", "}") { (scanner: inout JSONScanner) throws(Malformed) in
            let name = try scanner.text { (scanner: inout JSONScanner) throws(Malformed) in
                try scanner.skipString()
            }
            try scanner.expect(":")
            try member(name, &scanner)
        }
    }

    package mutating func array(_ element: (inout JSONScanner) throws(Malformed) -> Void) throws(Malformed) {
        try list("[", "]", element)
    }

    /// Passes one value; its text.
    package mutating func value(depth: Int) throws(Malformed) -> String {
        try text { (scanner: inout JSONScanner) throws(Malformed) in
            try scanner.skip(depth: depth)
        }
    }

    private mutating func text(
        _ pass: (inout JSONScanner) throws(Malformed) -> Void
    ) throws(Malformed) -> String {
        skipBlanks()
        let start = index
        try pass(&self)
        let passed = bytes[start..<index]
        guard passed.contains(where: { $0 == 0x0A || $0 == 0x0D }) else {
            return String(decoding: passed, as: UTF8.self)
        }
        return String(decoding: passed.map { $0 == 0x0A || $0 == 0x0D ? 0x20 : $0 }, as: UTF8.self)
    }

    /// Passes one value, without its text.
    package mutating func skip(depth: Int) throws(Malformed) {
        guard depth < Self.depthLimit else { throw Malformed(offset: index) }
        skipBlanks()
        switch current {
        case UInt8(ascii: "{"):
            try list("{", "}") { (scanner: inout JSONScanner) throws(Malformed) in
                try scanner.skipString()
                try scanner.expect(":")
                try scanner.skip(depth: depth + 1)
            }
        case UInt8(ascii: "["):
            try array { (scanner: inout JSONScanner) throws(Malformed) in
                try scanner.skip(depth: depth + 1)
            }
        case UInt8(ascii: "\""):
            try skipString()
        default:
            try word()
        }
    }

    /// A number, true, false or null: what they are made of, without more of their grammar.
    private mutating func word() throws(Malformed) {
        let start = index
        while let byte = current, Self.isOfWord(byte) { index += 1 }
        if index == start { throw Malformed(offset: index) }
    }

    private static func isOfWord(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "E"), UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."):
            true
        default: false
        }
    }

    /// Whether the next value is a string.
    package mutating func isAtString() -> Bool {
        skipBlanks()
        return current == UInt8(ascii: "\"")
    }

    /// Passes a string; its text.
    package mutating func string() throws(Malformed) -> String {
        skipBlanks()
        let start = index
        try skipString()
        let text = bytes[start + 1..<index - 1]
        guard text.contains(UInt8(ascii: "\\")) else { return String(decoding: text, as: UTF8.self) }
        guard let text = try? JSONDecoder().decode(String.self, from: Data(bytes[start..<index])) else {
            throw Malformed(offset: start)
        }
        return text
    }

    private mutating func skipString() throws(Malformed) {
        try expect("\"")
        // Most of a text is in strings. A local variable is not written back to memory at each byte.
        var end = index
        while end < bytes.count {
            let byte = bytes[end]
            if byte == UInt8(ascii: "\"") {
                index = end + 1
                return
            }
            // A control character must be escaped, so a line break in a string is no JSON.
            if byte < 0x20 { throw Malformed(offset: end) }
            end += byte == UInt8(ascii: "\\") ? 2 : 1
        }
        throw Malformed(offset: bytes.count)
    }

    private mutating func list(
        _ opening: Unicode.Scalar, _ closing: Unicode.Scalar,
        _ element: (inout JSONScanner) throws(Malformed) -> Void
    ) throws(Malformed) {
        try expect(opening)
        skipBlanks()
        if current == UInt8(ascii: closing) {
            index += 1
            return
        }
        while true {
            try element(&self)
            skipBlanks()
            if current == UInt8(ascii: closing) {
                index += 1
                return
            }
            try expect(",")
        }
    }

    private mutating func expect(_ character: Unicode.Scalar) throws(Malformed) {
        skipBlanks()
        guard current == UInt8(ascii: character) else { throw Malformed(offset: index) }
        index += 1
    }

    private mutating func skipBlanks() {
        while let byte = current, byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D { index += 1 }
    }
}
