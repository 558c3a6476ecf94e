import FoundationEssentials

/// Gets the parts of a JSON document while `JSONStream` reads it.
package protocol JSONStreamHandler: AnyObject {
    /// An object or an array begins: a member of an object, an element of an array, or the document itself.
    func begin(isObject: Bool)
    /// The object or array that began last ends.
    func end()
    /// The name of the member whose value comes next; nil for one that is longer than `JSONStream.longestText`.
    func name(_ name: String?)
    func value(_ value: JSONStream.Value)
}

/// Reads a JSON document (RFC 8259) as it comes, in bounded memory whatever the document is: it holds the text that is
/// under way and how deep it is nested, and no tree. Numbers are passed as they stand.
package final class JSONStream {
    /// A value that is no object and no array.
    package enum Value: Sendable, Equatable {
        case text(String)
        /// As it stands in the document.
        case number(String)
        /// `true`, `false`, `null`, or a text or number that is longer than any that is used.
        case other
    }

    /// Why a document is not read on; each with the place in bytes from the start, from 1 on.
    package enum Failure: Error, Sendable, Equatable {
        /// It is no JSON.
        case malformed(at: Int64)
        /// A text in it is no UTF-8.
        case notUTF8(at: Int64)
        /// It nests objects and arrays in each other more often than `mostDepth`.
        case tooDeep(at: Int64)
        /// It ends in the middle.
        case brokenOff(at: Int64)
    }

    package static let mostDepth = 32
    /// In bytes, as the document has it. A longer one is passed over: nothing of it is kept.
    package static let longestText = 4096
    /// The same of a number, `true`, `false` or `null`.
    private static let longestWord = 128

    private enum Next {
        case value
        /// After `[`.
        case valueOrEnd
        case name
        /// After `{`.
        case nameOrEnd
        case colon
        case commaOrEnd
        /// After the document's value.
        case nothing
    }

    private enum Token {
        case none
        case text
        /// Of which the last byte was a backslash.
        case escape
        case word
    }

    private static let mark: [UInt8] = [0xEF, 0xBB, 0xBF]

    private let handler: any JSONStreamHandler
    private var next = Next.value
    /// What is open; true for an object.
    private var open: [Bool] = []
    private var token = Token.none
    /// Of the token that is under way, without quotation marks.
    private var held: [UInt8] = []
    private var isTooLong = false
    private var hasEscape = false
    private var fed: Int64 = 0

    /// - Parameter handler: called from within `feed`.
    package init(_ handler: any JSONStreamHandler) {
        self.handler = handler
        held.reserveCapacity(Self.longestText)
    }

    /// Goes on with the next bytes; `isLast` with the end.
    package func feed(_ bytes: ArraySlice<UInt8>, isLast: Bool = false) throws(Failure) {
        // A byte order mark, which RFC 8259 allows to ignore.
        let bytes = fed == 0 && bytes.starts(with: Self.mark) ? bytes.dropFirst(3) : bytes
        var index = bytes.startIndex
        while index < bytes.endIndex {
            switch token {
            case .text: try text(bytes, &index)
            case .escape:
                keep(bytes[index])
                token = .text
                index += 1
            case .word:
                if Self.isOfWord(bytes[index]) {
                    keep(bytes[index])
                    index += 1
                } else {
                    try endWord(at: place(bytes, index))
                }
            case .none:
                try begin(bytes[index], at: place(bytes, index))
                index += 1
            }
        }
        fed += Int64(bytes.count)
        guard isLast else { return }
        if token == .word { try endWord(at: fed) }
        guard token == .none, next == .nothing else { throw .brokenOff(at: fed) }
    }

    private func place(_ bytes: ArraySlice<UInt8>, _ index: Int) -> Int64 {
        fed + Int64(index - bytes.startIndex) + 1
    }

    // MARK: Tokens

    private func begin(_ byte: UInt8, at place: Int64) throws(Failure) {
        switch byte {
        case 0x20, 0x09, 0x0A, 0x0D: return
        case UInt8(ascii: "\""):
            guard next != .colon, next != .commaOrEnd, next != .nothing else { throw .malformed(at: place) }
            token = .text
        case UInt8(ascii: "{"), UInt8(ascii: "["):
            guard next == .value || next == .valueOrEnd else { throw .malformed(at: place) }
            guard open.count < Self.mostDepth else { throw .tooDeep(at: place) }
            let isObject = byte == UInt8(ascii: "{")
            open.append(isObject)
            next = isObject ? .nameOrEnd : .valueOrEnd
            handler.begin(isObject: isObject)
        case UInt8(ascii: "}"), UInt8(ascii: "]"):
            let isObject = byte == UInt8(ascii: "}")
            guard open.last == isObject, next == .commaOrEnd || next == (isObject ? .nameOrEnd : .valueOrEnd)
            else { throw .malformed(at: place) }
            open.removeLast()
            next = open.isEmpty ? .nothing : .commaOrEnd
            handler.end()
        case UInt8(ascii: ":"):
            guard next == .colon else { throw .malformed(at: place) }
            next = .value
        case UInt8(ascii: ","):
            guard next == .commaOrEnd else { throw .malformed(at: place) }
            next = open.last == true ? .name : .value
        default:
            guard Self.isOfWord(byte), next == .value || next == .valueOrEnd else {
                throw .malformed(at: place)
            }
            token = .word
            keep(byte)
        }
    }

    /// Goes on in a text, to its end or that of the bytes.
    private func text(_ bytes: ArraySlice<UInt8>, _ index: inout Int) throws(Failure) {
        let start = index
        while index < bytes.endIndex {
            let byte = bytes[index]
            if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") || byte < 0x20 { break }
            index += 1
        }
        keep(bytes[start..<index])
        guard index < bytes.endIndex else { return }
        let place = place(bytes, index)
        switch bytes[index] {
        case UInt8(ascii: "\""): try endText(at: place)
        case UInt8(ascii: "\\"):
            keep(bytes[index])
            token = .escape
            hasEscape = true
        // A control character must be escaped.
        default: throw .malformed(at: place)
        }
        index += 1
    }

    private func endText(at place: Int64) throws(Failure) {
        defer { release() }
        let text: String?
        if isTooLong {
            text = nil
        } else if hasEscape {
            let whole = Data([UInt8(ascii: "\"")] + held + [UInt8(ascii: "\"")])
            guard String(validating: held, as: UTF8.self) != nil else { throw .notUTF8(at: place) }
            guard let decoded = try? JSONDecoder().decode(String.self, from: whole) else {
                throw .malformed(at: place)
            }
            text = decoded
        } else {
            guard let read = String(validating: held, as: UTF8.self) else { throw .notUTF8(at: place) }
            text = read
        }
        if next == .name || next == .nameOrEnd {
            next = .colon
            handler.name(text)
        } else {
            valueEnded()
            handler.value(text.map(Value.text) ?? .other)
        }
    }

    private func endWord(at place: Int64) throws(Failure) {
        defer { release() }
        let value: Value
        if isTooLong {
            value = .other
        } else {
            let text = String(decoding: held, as: UTF8.self)
            switch text {
            case "true", "false", "null": value = .other
            default:
                guard Self.isNumber(held) else { throw .malformed(at: place) }
                value = .number(text)
            }
        }
        valueEnded()
        handler.value(value)
    }

    private func valueEnded() {
        next = open.isEmpty ? .nothing : .commaOrEnd
    }

    private func keep(_ byte: UInt8) {
        if held.count < (token == .word ? Self.longestWord : Self.longestText) {
            held.append(byte)
        } else {
            isTooLong = true
        }
    }

    private func keep(_ bytes: ArraySlice<UInt8>) {
        if held.count + bytes.count > Self.longestText { isTooLong = true }
        if !isTooLong { held += bytes }
    }

    private func release() {
        token = .none
        held.removeAll(keepingCapacity: true)
        isTooLong = false
        hasEscape = false
    }

    private static func isOfWord(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "+"), UInt8(ascii: "-"),
            UInt8(ascii: "."):
            true
        default: false
        }
    }

    /// RFC 8259, section 6.
    private static func isNumber(_ word: [UInt8]) -> Bool {
        var rest = word[...]
        func digits() -> Int {
            let count = rest.prefix { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }.count
            rest = rest.dropFirst(count)
            return count
        }
        if rest.first == UInt8(ascii: "-") { rest = rest.dropFirst() }
        let isZero = rest.first == UInt8(ascii: "0")
        let whole = digits()
        guard whole > 0, !isZero || whole == 1 else { return false }
        if rest.first == UInt8(ascii: ".") {
            rest = rest.dropFirst()
            guard digits() > 0 else { return false }
        }
        if rest.first == UInt8(ascii: "e") || rest.first == UInt8(ascii: "E") {
            rest = rest.dropFirst()
            if rest.first == UInt8(ascii: "-") || rest.first == UInt8(ascii: "+") { rest = rest.dropFirst() }
            guard digits() > 0 else { return false }
        }
        return rest.isEmpty
    }
}
