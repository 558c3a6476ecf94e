import FoundationEssentials

/// Looks for secrets in a server's words, in the forms that servers give back what they were sent: as it is, in the
/// escapes of `EscapedText`, in base64, in hexadecimal digits, in two of these in one another, and cut off at the end.
/// Case, and what is neither a letter nor a digit of ASCII, make no difference where enough else is left.
///
/// Pieces of a secret count as the secret. The work is proportional to the length of the words and of the secrets.
struct SecretSearch {
    /// Of a secret, so many bytes in a row are enough to give it away. Shorter ones are looked for whole.
    private static let piece = 8
    /// At the end of the words, where they may be cut off, so many are enough. Secrets that are shorter than this are
    /// looked for as they are, and not in other forms: their bytes stand in any text.
    static let shortest = 4
    /// Shorter runs of digits, in characters, are not decoded.
    private static let shortestRun = 6
    /// Encodings in one another that are undone.
    private static let depth = 2

    /// The secrets as they are compared.
    private var secrets: [[UInt8]] = []
    /// The hashes of all their pieces, by the length of the piece.
    private var pieces: [Int: Set<UInt64>] = [:]
    /// Bytes that were looked at so far, for tests: how long the search takes is decided by it.
    private(set) var work = 0

    init(_ secrets: [[UInt8]]) {
        for secret in secrets {
            for includesQuoted in [true, false] {
                var text = EscapedText(includesQuoted: includesQuoted)
                // One that looks like escapes in one another is taken as it is.
                let plain = text.plain(secret, isCutOff: false) ?? secret
                let compared = Self.compared(plain)
                add(compared)
                let signless = Self.signless(compared)
                if signless.count >= Self.shortest { add(signless) }
            }
            for encoded in Self.base64InAnyCase(of: secret) { add(encoded) }
        }
    }

    private mutating func add(_ secret: [UInt8]) {
        guard secret.count >= Self.shortest, !secrets.contains(secret) else { return }
        secrets.append(secret)
        let length = min(Self.piece, secret.count)
        Self.forEachPiece(of: secret, length: length) { pieces[length, default: []].insert($0) }
    }

    /// Whether a secret, or a piece of one, is in the words.
    mutating func finds(in words: [UInt8]) -> Bool {
        guard !secrets.isEmpty else { return false }
        return finds(in: words, depth: Self.depth)
    }

    private mutating func finds(in words: [UInt8], depth: Int) -> Bool {
        var last: [UInt8]?
        // With and without quoted-printable, whose sign also stands before a secret: token=…
        for includesQuoted in depth == Self.depth ? [true, false] : [false] {
            var text = EscapedText(includesQuoted: includesQuoted)
            let plain = text.plain(words, isCutOff: true)
            work += text.work
            // More escapes in one another than anybody writes: who knows what is in there.
            guard let plain else { return true }
            guard plain != last else { continue }
            last = plain
            let compared = Self.compared(plain)
            let signless = Self.signless(compared)
            if isKnown(compared) || isKnown(signless) { return true }
            guard depth > 0 else { continue }
            // What is no character of ASCII parts no digits: a blank that is not broken, a soft hyphen.
            let digits = plain.filter { $0 < 0x80 }
            for shift in 0..<4 {
                if finds(inRuns: Self.base64(digits, shift: shift), depth: depth) { return true }
            }
            for shift in 0..<2 {
                if finds(inRuns: Self.hexadecimal(digits, shift: shift), depth: depth) { return true }
                // Parted by signs, and each byte with its prefix: 6d:79, 0x6d, 0x79.
                let parted = Self.hexadecimal(Self.withoutPrefixes(signless), shift: shift)
                if finds(inRuns: parted, depth: depth) { return true }
            }
        }
        return false
    }

    private mutating func finds(inRuns decoded: [UInt8], depth: Int) -> Bool {
        !decoded.isEmpty && finds(in: decoded, depth: depth - 1)
    }

    private mutating func isKnown(_ text: [UInt8]) -> Bool {
        for (length, hashes) in pieces {
            work += text.count
            var isFound = false
            Self.forEachPiece(of: text, length: length) { isFound = isFound || hashes.contains($0) }
            if isFound { return true }
        }
        for secret in secrets {
            for length in stride(from: min(Self.piece, secret.count), through: Self.shortest, by: -1)
            where text.count >= length && text.suffix(length).elementsEqual(secret.prefix(length)) {
                return true
            }
        }
        return false
    }

    /// Calls `body` with the hash of each piece: a polynomial modulo 2^64, from one piece to the next by one
    /// multiplication.
    private static func forEachPiece(of text: [UInt8], length: Int, _ body: (UInt64) -> Void) {
        guard text.count >= length else { return }
        let base: UInt64 = 0x9E37_79B9_7F4A_7C15
        var leaving: UInt64 = 1
        for _ in 1..<length { leaving &*= base }
        var hash: UInt64 = 0
        for index in text.indices {
            if index >= length { hash &-= UInt64(text[index - length]) &* leaving }
            hash = hash &* base &+ UInt64(text[index])
            if index >= length - 1 { body(hash) }
        }
    }

    /// In lower case, and without the sign that is a blank in forms.
    private static func compared(_ plain: [UInt8]) -> [UInt8] {
        var folded = plain
        // Letters of other alphabets, where it is text.
        if plain.contains(where: { $0 >= 0x80 }), let text = String(validating: plain, as: UTF8.self) {
            folded = Array(text.lowercased().utf8)
        }
        return folded.compactMap { byte in
            switch byte {
            case UInt8(ascii: "+"): nil
            case 0x41...0x5A: byte + 0x20
            default: byte
            }
        }
    }

    /// The letters and the digits of what is compared.
    private static func signless(_ compared: [UInt8]) -> [UInt8] {
        compared.filter { (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) }
    }

    /// Without each 0x, of which the x is no digit.
    private static func withoutPrefixes(_ text: [UInt8]) -> [UInt8] {
        var plain: [UInt8] = []
        for byte in text {
            if byte == UInt8(ascii: "x"), plain.last == UInt8(ascii: "0") {
                plain.removeLast()
            } else {
                plain.append(byte)
            }
        }
        return plain
    }

    /// A secret in base64 that somebody has written in lower case, which cannot be decoded any more: what of it is the
    /// same whatever stands before it, for each place where it may begin.
    private static func base64InAnyCase(of secret: [UInt8]) -> [[UInt8]] {
        (0..<3).compactMap { before in
            let encoded = Data([UInt8](repeating: 0, count: before) + secret).base64EncodedString()
            // The first digits depend on what stands before, the last on what comes after.
            let kept = encoded.utf8.dropFirst(before == 0 ? 0 : before + 1).prefix { $0 != UInt8(ascii: "=") }
            let core = signless(compared(Array(kept.dropLast())))
            return core.count >= shortestRun ? core : nil
        }
    }

    // MARK: - Digits that stand for bytes

    /// What runs of base64 stand for (RFC 4648, of both alphabets), one after the other, from a digit of each on: where
    /// in a run the encoding of a secret begins is not known.
    private static func base64(_ text: [UInt8], shift: Int) -> [UInt8] {
        decoded(text, shift: shift, bits: 6) { byte in
            switch byte {
            case 0x41...0x5A: byte - 0x41
            case 0x61...0x7A: byte - 0x61 + 26
            case 0x30...0x39: byte - 0x30 + 52
            case UInt8(ascii: "+"), UInt8(ascii: "-"): 62
            case UInt8(ascii: "/"), UInt8(ascii: "_"): 63
            default: nil
            }
        }
    }

    private static func hexadecimal(_ text: [UInt8], shift: Int) -> [UInt8] {
        decoded(text, shift: shift, bits: 4, Hex.digit)
    }

    private static func decoded(
        _ text: [UInt8], shift: Int, bits: UInt32, _ digit: (UInt8) -> UInt8?
    ) -> [UInt8] {
        var bytes: [UInt8] = []
        var start = text.startIndex
        while start < text.endIndex {
            var end = start
            while end < text.endIndex, digit(text[end]) != nil { end += 1 }
            if end - start >= shortestRun + shift {
                var (held, count): (UInt32, UInt32) = (0, 0)
                for byte in text[(start + shift)..<end] {
                    held = (held << bits | UInt32(digit(byte) ?? 0)) & 0xFFFF
                    count += bits
                    guard count >= 8 else { continue }
                    count -= 8
                    bytes.append(UInt8(truncatingIfNeeded: held >> count))
                }
                // Separates the runs. None comes after the last one, whose end may be a secret that is cut off.
                if end < text.endIndex { bytes.append(0xFF) }
            }
            start = end + 1
        }
        return bytes
    }
}
