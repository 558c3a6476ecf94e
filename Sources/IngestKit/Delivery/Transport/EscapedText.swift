/// Undoes the escapes that servers write text with, all together and again until none is left, and leaves white space
/// and control characters out: backslash escapes (JSON, C), percent-encoding, character references of HTML, and
/// quoted-printable. What comes of it is for comparing, and for nobody to read.
struct EscapedText {
    /// Escapes in one another that are undone; a text that goes on is not understood.
    private static let rounds = 6
    /// Of a name, in bytes, with its `;`: `&CounterClockwiseContourIntegral;` is the longest.
    private static let longestName = 32

    /// Whether `=` is the sign of quoted-printable (RFC 2045).
    let includesQuoted: Bool
    /// Bytes that were looked at so far.
    private(set) var work = 0

    init(includesQuoted: Bool) {
        self.includesQuoted = includesQuoted
    }

    /// - Parameter isCutOff: whether an escape that is not whole at the end is left out.
    /// - Returns: nil where escapes are left after all rounds.
    mutating func plain(_ text: [UInt8], isCutOff: Bool) -> [UInt8]? {
        var text = text
        for _ in 0..<Self.rounds {
            work += text.count
            let next = undone(text[...], isCutOff: isCutOff)
            // Each round makes it shorter, or leaves it as it is.
            if next.count == text.count { return next }
            text = next
        }
        return nil
    }

    private enum Escape {
        case none
        /// So many bytes stand for these.
        case whole(length: Int, bytes: [UInt8])
        /// The text ends within it.
        case cutOff
    }

    private func undone(_ text: ArraySlice<UInt8>, isCutOff: Bool) -> [UInt8] {
        var plain: [UInt8] = []
        plain.reserveCapacity(text.count)
        var rest = text
        while let byte = rest.first {
            let escape: Escape =
                switch byte {
                case UInt8(ascii: "\\"): Self.backslash(rest)
                case UInt8(ascii: "%"): Self.pair(rest)
                case UInt8(ascii: "="): includesQuoted ? Self.quoted(rest) : .none
                case UInt8(ascii: "&"): Self.reference(rest)
                default: .none
                }
            switch escape {
            case .whole(let length, let bytes):
                plain += bytes.filter(Self.isShown)
                rest = rest.dropFirst(length)
            case .cutOff where isCutOff: return plain
            case .cutOff, .none:
                if Self.isShown(byte) { plain.append(byte) }
                rest = rest.dropFirst()
            }
        }
        return plain
    }

    private static func isShown(_ byte: UInt8) -> Bool { byte > 0x20 && byte != 0x7F }

    // MARK: - Kinds of escapes

    private static func backslash(_ text: ArraySlice<UInt8>) -> Escape {
        let rest = text.dropFirst()
        guard let kind = rest.first else { return .cutOff }
        switch kind {
        case UInt8(ascii: "u"), UInt8(ascii: "U"), UInt8(ascii: "x"), UInt8(ascii: "X"):
            return number(rest, kind)
        // Line breaks and the like, and the backslash before a line break.
        case UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"), UInt8(ascii: "f"), UInt8(ascii: "b"),
            UInt8(ascii: "v"), UInt8(ascii: "a"), UInt8(ascii: "e"), 0x0A, 0x0D:
            return .whole(length: 2, bytes: [])
        case 0x30...0x37: return octal(rest)
        default: return .whole(length: 2, bytes: [kind])
        }
    }

    /// \uXXXX, \u{X}, \UXXXXXXXX, \xXX.
    private static func number(_ text: ArraySlice<UInt8>, _ kind: UInt8) -> Escape {
        var digits = text.dropFirst()
        if digits.first == UInt8(ascii: "{") {
            digits = digits.dropFirst()
            // With any number of zeros in front.
            let end = digits.prefix { Hex.digit($0) != nil }.endIndex
            guard end < text.endIndex else { return .cutOff }
            guard text[end] == UInt8(ascii: "}"), let value = value(of: digits[..<end], base: 16) else {
                return .whole(length: 2, bytes: [kind])
            }
            return .whole(length: end - text.startIndex + 2, bytes: utf8(value))
        }
        let isByte = kind == UInt8(ascii: "x") || kind == UInt8(ascii: "X")
        let isLong = kind == UInt8(ascii: "U") && value(of: digits.prefix(8), base: 16, count: 8) != nil
        let count = isLong ? 8 : isByte ? 2 : 4
        guard let value = value(of: digits.prefix(count), base: 16, count: count) else {
            // Of what is no escape the backslash is left out, as of any other character.
            return digits.count < count && digits.allSatisfy({ Hex.digit($0) != nil })
                ? .cutOff : .whole(length: 2, bytes: [kind])
        }
        if isByte { return .whole(length: 4, bytes: [UInt8(truncatingIfNeeded: value)]) }
        // The first of two that stand for one character (RFC 8259, section 7).
        let second = digits.dropFirst(count)
        if (0xD800..<0xDC00).contains(value), second.starts(with: [UInt8(ascii: "\\"), UInt8(ascii: "u")]),
            let low = Self.value(of: second.dropFirst(2).prefix(4), base: 16, count: 4),
            (0xDC00..<0xE000).contains(low)
        {
            return .whole(length: count + 8, bytes: utf8(0x10000 + (value - 0xD800) << 10 + (low - 0xDC00)))
        }
        return .whole(length: count + 2, bytes: utf8(value))
    }

    /// \134, and \53 where it stands for a character that is shown; else a backslash before a digit.
    private static func octal(_ text: ArraySlice<UInt8>) -> Escape {
        // Of a byte: three digits begin with at most 3.
        let most = text.first.map { $0 <= 0x33 } == true ? 3 : 2
        let digits = text.prefix(most).prefix { (0x30...0x37).contains($0) }
        guard digits.count > 1, let value = value(of: digits, base: 8), digits.count == 3 || value > 0x20
        else {
            return .whole(length: 2, bytes: text.first == 0x30 ? [] : Array(text.prefix(1)))
        }
        return .whole(length: 1 + digits.count, bytes: [UInt8(truncatingIfNeeded: value)])
    }

    /// %XX, and %uXXXX as ECMAScript's escape() writes it.
    private static func pair(_ text: ArraySlice<UInt8>) -> Escape {
        if text.dropFirst().first == UInt8(ascii: "u") {
            let digits = text.dropFirst(2).prefix(4)
            if let value = value(of: digits, base: 16, count: 4) {
                return .whole(length: 6, bytes: utf8(value))
            }
            return digits.count < 4 && digits.allSatisfy { Hex.digit($0) != nil } ? .cutOff : .none
        }
        let digits = text.dropFirst().prefix(2)
        if let value = value(of: digits, base: 16, count: 2) {
            return .whole(length: 3, bytes: [UInt8(truncatingIfNeeded: value)])
        }
        return digits.count < 2 && digits.allSatisfy { Hex.digit($0) != nil } ? .cutOff : .none
    }

    /// =XX, and = at the end of a line, which continues it.
    private static func quoted(_ text: ArraySlice<UInt8>) -> Escape {
        let next = text.dropFirst()
        if next.first == 0x0A { return .whole(length: 2, bytes: []) }
        if next.starts(with: [0x0D, 0x0A]) { return .whole(length: 3, bytes: []) }
        return pair(text)
    }

    /// &#60; &#x3C; &lt;
    private static func reference(_ text: ArraySlice<UInt8>) -> Escape {
        let name = text.dropFirst()
        guard name.first == UInt8(ascii: "#") else { return named(name.prefix(longestName), text) }
        var digits = name.dropFirst()
        let isHexadecimal = digits.first == UInt8(ascii: "x") || digits.first == UInt8(ascii: "X")
        if isHexadecimal { digits = digits.dropFirst() }
        let base: UInt32 = isHexadecimal ? 16 : 10
        // Browsers take them without the semicolon.
        let number = digits.prefix { Self.value(of: [$0], base: base) != nil }
        guard number.endIndex < text.endIndex else { return .cutOff }
        guard let value = value(of: number, base: base) else { return .none }
        let length = number.endIndex - text.startIndex
        return .whole(
            length: text[number.endIndex] == UInt8(ascii: ";") ? length + 1 : length, bytes: utf8(value))
    }

    private static func named(_ name: ArraySlice<UInt8>, _ text: ArraySlice<UInt8>) -> Escape {
        guard let end = name.firstIndex(of: UInt8(ascii: ";")) else {
            let isName = name.allSatisfy { (0x41...0x5A).contains($0) || (0x61...0x7A).contains($0) }
            return name.endIndex == text.endIndex && isName ? .cutOff : .none
        }
        let letters = name[..<end]
        guard !letters.isEmpty,
            letters.allSatisfy({
                (0x41...0x5A).contains($0) || (0x61...0x7A).contains($0) || (0x30...0x39).contains($0)
            })
        else { return .none }
        // No other name stands for a character of ASCII; what it stands for parts nothing.
        let bytes = names[String(decoding: letters, as: UTF8.self).lowercased()] ?? ""
        return .whole(length: end - text.startIndex + 1, bytes: Array(bytes.utf8))
    }

    /// The names of ASCII characters (html.spec.whatwg.org, named character references), in lower case.
    private static let names: [String: String] = [
        "amp": "&", "lt": "<", "gt": ">", "quot": "\"", "apos": "'", "excl": "!", "num": "#", "dollar": "$",
        "percnt": "%", "lpar": "(", "rpar": ")", "ast": "*", "midast": "*", "plus": "+", "comma": ",",
        "period": ".", "sol": "/", "colon": ":", "semi": ";", "equals": "=", "quest": "?", "commat": "@",
        "lsqb": "[", "lbrack": "[", "bsol": "\\", "rsqb": "]", "rbrack": "]", "hat": "^", "lowbar": "_",
        "underbar": "_", "grave": "`", "lcub": "{", "lbrace": "{", "verbar": "|", "vert": "|",
        "verticalline": "|", "rcub": "}", "rbrace": "}", "hyphen": "-", "dash": "-", "tilde": "~",
        "nbsp": "", "newline": "", "tab": "",
    ]

    // MARK: - Numbers

    /// Nil for what are not digits, or not so many, or is too large for a character.
    private static func value(
        of digits: some Collection<UInt8>, base: UInt32, count: Int? = nil
    ) -> UInt32? {
        guard !digits.isEmpty, count == nil || digits.count == count else { return nil }
        var value: UInt32 = 0
        for digit in digits {
            guard let digit = Hex.digit(digit), digit < base else { return nil }
            value = min(value * base + UInt32(digit), 0x11_0000)
        }
        return value < 0x11_0000 ? value : nil
    }

    private static func utf8(_ value: UInt32) -> [UInt8] {
        Unicode.Scalar(value).map { Array(String(Character($0)).utf8) } ?? []
    }
}
