import FoundationEssentials
import TestSupport
import Testing

@testable import IngestDelivery

/// A server says back what it was sent, in whatever form it writes text.
@Suite struct SecretSearchTests {
    private static let token = "tok/EN+with=Chars&\"and\\more-4711"

    private func left(_ words: String, _ secret: String = token) -> String {
        ShownSecrets(secret).redacted(words)
    }

    // MARK: - Forms

    /// Each escapes a byte.
    private static let escapes: [(name: String, escape: @Sendable (UInt8) -> String)] = [
        ("JSON", { "\\u00" + hex($0) }), ("JSON in upper case", { "\\u00" + hex($0).uppercased() }),
        ("C", { "\\x" + hex($0) }), ("Swift", { "\\u{\(hex($0))}" }),
        ("octal", { "\\" + octal($0) }),
        ("percent", { "%" + hex($0).uppercased() }), ("percent, lower case", { "%" + hex($0) }),
        ("percent twice", { "%25" + hex($0) }),
        ("HTML, decimal", { "&#\($0);" }), ("HTML, hexadecimal", { "&#x\(hex($0));" }),
        ("HTML with zeros", { "&#x00\(hex($0).uppercased());" }),
        ("quoted-printable", { "=" + hex($0).uppercased() }),
        ("JSON in JSON", { "\\\\u00" + hex($0) }), ("percent in HTML", { "&#37;" + hex($0) }),
        ("HTML in JSON", { "\\u0026#\($0);" }),
    ]

    private static func hex(_ byte: UInt8) -> String { Hex.text([byte]) }

    private static func octal(_ byte: UInt8) -> String {
        let digits = String(byte, radix: 8)
        return String(repeating: "0", count: 3 - digits.count) + digits
    }

    private static let plainBytes = Set(
        Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789".utf8))

    /// The same as servers write it: what is no letter and no digit is escaped at least.
    private static func escaped(
        _ secret: String, _ escape: (UInt8) -> String, also isChosen: (UInt8) -> Bool = { _ in false }
    ) -> String {
        secret.utf8.map { byte in
            !plainBytes.contains(byte) || isChosen(byte)
                ? escape(byte) : String(Character(Unicode.Scalar(byte)))
        }.joined()
    }

    @Test func theSecretAsItIsIsReplacedAndTheRestIsKept() {
        #expect(left("not by \(Self.token), said the clerk") == "not by [credential], said the clerk")
        #expect(left("nobody knows 4711 here, and more") == "nobody knows 4711 here, and more")
        #expect(ShownSecrets(nil).redacted("anything") == "anything")
        #expect(ShownSecrets("", nil).redacted("anything") == "anything")
        // The mark is not taken for a secret that reads like it.
        #expect(left("credential-1 is bad", "credential-1") == "[credential] is bad")
    }

    @Test(arguments: escapes.indices)
    func anEscapedSecretIsNotKept(index: Int) {
        let escape = Self.escapes[index].escape
        for words in [
            Self.escaped(Self.token, escape), Self.escaped(Self.token, escape, also: { _ in true }),
        ] {
            for reply in ["{\"error\":\"\(words)\"}", "token=\(words)&x=1", "<p>\(words)</p>", words] {
                #expect(left(reply) == ShownSecrets.withheld, "\(Self.escapes[index].name)")
            }
        }
    }

    @Test(
        arguments: [
            // JSON and HTML by name
            #"tok\/EN+with=Chars&\"and\\more-4711"#,
            "tok&sol;EN&plus;with&equals;Chars&amp;&quot;and&bsol;more-4711",
            "tok&#47EN&#43with&#61Chars&#38&#34and&#92more-4711",
            // a form: a blank for the plus
            "tok%2FEN+with%3DChars%26%22and%5Cmore-4711",
            // in lines, as mail programs and pretty printers break them
            "tok/EN+with=Ch\r\n  ars&\"and\\more-4711", "tok/EN+with=3DCha=\r\nrs&\"and\\more-4711",
            "t o k / E N + w i t h = C h a r s & \" a n d \\ m o r e - 4 7 1 1",
            "tok/EN+with=Chars&\"and\\\n\\more-4711",
            "TOK/en+WITH=cHARS&\"AND\\MORE-4711",
            // a part
            "…with=Chars&…", "more-4711",
        ])
    func otherFormsAreNotKept(words: String) {
        #expect(left("refused: \(words).") == ShownSecrets.withheld)
    }

    /// Each byte in a form that is longer or shorter than usual, or parted from the next.
    private static let spellings: [(name: String, spell: @Sendable (UInt8) -> String)] = [
        ("octal without zeros", { "\\" + String($0, radix: 8) }),
        ("HTML, decimal, with zeros", { "&#" + String(repeating: "0", count: 40) + "\($0);" }),
        ("HTML, hexadecimal, with zeros", { "&#x" + String(repeating: "0", count: 40) + hex($0) + ";" }),
        ("Swift with zeros", { "\\u{" + String(repeating: "0", count: 40) + hex($0) + "}" }),
        ("escape()", { "%u00" + hex($0) }),
        ("bytes of C", { "0x\(hex($0)), " }), ("colons", { hex($0) + ":" }), ("hyphens", { hex($0) + "-" }),
        ("unbroken blanks", { String(Character(Unicode.Scalar($0))) + "\u{A0}" }),
        ("wide blanks", { String(Character(Unicode.Scalar($0))) + "\u{2003}" }),
        ("signs", { String(Character(Unicode.Scalar($0))) + " | " }),
    ]

    @Test(arguments: spellings.indices)
    func unusualSpellingsAreNotKept(index: Int) {
        let (name, spell) = Self.spellings[index]
        for secret in [Self.token, "zK93hXw02LmQ", "0123456789abcdef"] {
            let words = secret.utf8.map(spell).joined()
            #expect(left("'\(words)' is not known", secret) == ShownSecrets.withheld, "\(name): \(secret)")
        }
    }

    @Test(arguments: ["p.@.s.s.!.w.0", "P|@|S|S|!|W|0", "p @ s s ! w 0"])
    func aShortPasswordWithSignsInBetweenIsNotKept(words: String) {
        #expect(left("'\(words)' is not known", "p@ss!w0") == ShownSecrets.withheld)
        #expect(left("nothing of the sort", "p@ss!w0") == "nothing of the sort")
    }

    /// Somebody has written base64 in lower case, or put something between its digits.
    @Test(arguments: 0..<40)
    func base64ThatCannotBeReadIsNotKept(seed: UInt64) {
        var dice = SeededGenerator(seed: seed)
        for before in ["", "u:", "Bearer ", "user:"] {
            let secret = Self.secret(length: .random(in: 14...60, using: &dice), &dice)
            let base64 = Data((before + secret + "@host").utf8).base64EncodedString()
            for words in [
                base64.lowercased(), base64.uppercased(), base64.map { "\($0)\u{A0}" }.joined(),
                base64.map { "\($0)\u{AD}" }.joined(),
            ] {
                #expect(left("Basic \(words) is not known", secret) == ShownSecrets.withheld, "\(secret)")
            }
        }
    }

    @Test(arguments: ["", "user:", "Bearer ", "\0\u{1}"])
    func nothingOfItIsKeptInDigitsThatStandForBytes(before: String) {
        let bytes = Array((before + Self.token).utf8)
        let base64 = Data(bytes).base64EncodedString()
        let url = base64.replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
        let hex = Hex.text(bytes)
        let inLines = base64.enumerated().map { ($0.offset % 20 == 19 ? "\r\n" : "") + String($0.element) }
            .joined()
        for words in [
            base64, url, hex, hex.uppercased(), inLines, base64.replacing("=", with: "%3D"),
            base64.replacing("/", with: "\\/"), hex.map { "\($0) " }.joined(),
            Data(base64.utf8).base64EncodedString(), Data(hex.utf8).base64EncodedString(),
            Hex.text(Array(base64.utf8)),
        ] {
            #expect(left("Basic \(words) is not known") == ShownSecrets.withheld, "\(words)")
            #expect(left("{\"seen\":\"x\(words)\"}") == ShownSecrets.withheld, "\(words)")
        }
    }

    /// Of letters that are not in ASCII.
    @Test(arguments: [
        "PÄSSWÖRTERGRÜN", "P&auml;ssw&ouml;rtergr&uuml;n", "P%E4ssw%F6rtergr%FCn", "P=E4ssw=F6rtergr=FCn",
        #"P\xe4ssw\xf6rtergr\xfcn"#, #"P\u00c4SSW\u00d6RTERGR\u00dcN"#, "50e47373 77f67274 65726772 fc6e",
    ])
    func aSecretWithOtherLettersIsNotKept(words: String) {
        #expect(left("refused: \(words) is not known", "Pässwörtergrün") == ShownSecrets.withheld)
    }

    @Test func lettersOfOtherAlphabetsHaveTwoCasesToo() {
        let secret = "Ключ-от-дверей-Клиники"
        #expect(left("не известен: \(secret.uppercased())", secret) == ShownSecrets.withheld)
        #expect(left("не известен никому", secret) == "не известен никому")
    }

    /// Names of characters that are not in ASCII, and escapes of characters that nobody sees.
    @Test(arguments: [
        "&shy;", "&ZeroWidthSpace;", "&thinsp;", "&hellip;", "&middot;", "&zwnj;", "&amp;shy;", #"\v"#,
        #"\a"#, #"\e"#,
    ])
    func whatStandsBetweenThePartsOfASecretPartsNothing(sign: String) {
        let parts = stride(from: 0, to: Self.token.count, by: 5).map {
            String(Self.token.dropFirst($0).prefix(5))
        }
        #expect(left("refused: " + parts.joined(separator: sign)) == ShownSecrets.withheld)
    }

    @Test func whatIsCutOffAtTheEndIsNotKept() {
        for length in SecretSearch.shortest...Self.token.utf8.count {
            let part = String(Self.token.prefix(length))
            #expect(!left("refused: \(part)").contains(part.prefix(4)), "\(length)")
            #expect(left("refused: " + Self.escaped(part, Self.escapes[0].escape)) == ShownSecrets.withheld)
        }
        // Within an escape, and within base64.
        let escaped = Self.escaped("secretive", { "\\u00" + Self.hex($0) }, also: { _ in true })
        for length in 24...escaped.count {
            #expect(
                left("refused: \(escaped.prefix(length))", "secretive") == ShownSecrets.withheld, "\(length)")
        }
        let script = Self.escaped("secretive", { "%u00" + Self.hex($0) }, also: { _ in true })
        for length in 24...script.count {
            #expect(
                left("refused: \(script.prefix(length))", "secretive") == ShownSecrets.withheld, "\(length)")
        }
        let base64 = Data("box:secretive".utf8).base64EncodedString()
        for length in 11...base64.count {
            #expect(left("Basic \(base64.prefix(length))", "secretive") == ShownSecrets.withheld, "\(length)")
        }
    }

    @Test func aKeyThatIsNoTextIsFoundToo() {
        let key = (0..<32).map { UInt8(truncatingIfNeeded: $0 &* 37 &+ 5) }
        let secrets = ShownSecrets(nil, keys: [key])
        for words in [Data(key).base64EncodedString(), Hex.text(key), Hex.text(key).uppercased()] {
            #expect(secrets.redacted("whsec_\(words) is not known here") == ShownSecrets.withheld)
        }
        #expect(secrets.redacted("no such thing") == "no such thing")
    }

    /// What servers say stays readable: of 400 answers that hold no secret all are kept.
    @Test func whatHoldsNoSecretIsKept() {
        var dice = SeededGenerator(seed: 12)
        let outcome = #"""
            {"resourceType":"OperationOutcome","issue":[{"severity":"error","code":"invalid","details":{"text":"Die Einheit \u00fcberschreitet &lt;mm[Hg]&gt; 100%25"},"diagnostics":"HAPI-0450: Failed to parse request body as JSON resource. Error was: HAPI-1861: Failed to parse JSON encoded FHIR content: Unexpected character ('x' (code 120)): was expecting double-quote to start field name at [line: 1, column: 3] 7f3a9c0e-22b1-4f0e-9a58-1c1f6be7d0aa aGVsbG8gd29ybGQgaGVsbG8="}]}
            """#
        for _ in 0..<400 {
            let secret = Self.secret(length: .random(in: 12...60, using: &dice), &dice)
            #expect(left(outcome, secret) == outcome, "\(secret)")
        }
    }

    // MARK: - Any secret in any form

    private static func secret(length: Int, _ dice: inout SeededGenerator) -> String {
        String(decoding: (0..<length).map { _ in UInt8.random(in: 0x21...0x7E, using: &dice) }, as: UTF8.self)
    }

    /// Escapes each byte in a form of its own, or not at all.
    private static func scattered(_ secret: String, _ dice: inout SeededGenerator) -> String {
        secret.utf8.map { byte in
            let escape = escapes[Int.random(in: 0..<escapes.count, using: &dice)].escape
            return plainBytes.contains(byte) && Bool.random(using: &dice)
                ? String(Character(Unicode.Scalar(byte))) : escape(byte)
        }.joined()
    }

    private static func inLines(_ words: String, _ dice: inout SeededGenerator) -> String {
        words.map { Int.random(in: 0..<12, using: &dice) == 0 ? "\($0)\r\n " : "\($0)" }.joined()
    }

    @Test(arguments: 0..<40)
    func anySecretInAnyFormIsFound(seed: UInt64) {
        var dice = SeededGenerator(seed: seed)
        for _ in 0..<25 {
            let secret = Self.secret(length: .random(in: 9...80, using: &dice), &dice)
            let base64 = Data(("u:" + secret).utf8).base64EncodedString()
            let forms = [
                Self.scattered(secret, &dice),
                Self.escaped(
                    secret, Self.escapes[Int.random(in: 0..<Self.escapes.count, using: &dice)].escape),
                base64, Self.inLines(base64, &dice), Self.escaped(base64, { "%" + Self.hex($0) }),
                Hex.text(Array(secret.utf8)), Self.inLines(Hex.text(Array(secret.utf8)), &dice),
            ]
            for form in forms {
                let reply = "{\"status\":401,\"message\":\"'\(form)' is not known\",\"path\":\"/v1\"}"
                let kept = left(reply, secret)
                #expect(
                    kept == ShownSecrets.withheld || !kept.contains(form),
                    "seed \(seed): \(secret) as \(form)")
            }
        }
    }

    // MARK: - Time

    /// Of a reply as long as any that is kept, whatever is in it, and the longest credential there is: the work is a
    /// multiple of their length.
    @Test func theWorkIsAMultipleOfTheLength() {
        var dice = SeededGenerator(seed: 3)
        let size = 64 * 1024
        let secret = Array(Self.secret(length: 64 * 1024, &dice).utf8)
        func repeated(_ text: String) -> [UInt8] {
            Array(String(repeating: text, count: size / text.utf8.count).utf8)
        }
        for reply in [
            repeated("a"), repeated("%25"), repeated("\\"), repeated("&#x"), repeated("=\r\n"),
            repeated("\\u00"),
            repeated("YWFh"), repeated("61"), Array(secret.dropFirst().prefix(7)) + repeated("x"),
            repeated(String(repeating: " ", count: 64)),
        ] {
            var search = SecretSearch([secret])
            _ = search.finds(in: reply)
            #expect(search.work < 400 * size, "\(String(decoding: reply.prefix(8), as: UTF8.self))")
            var half = SecretSearch([secret])
            _ = half.finds(in: Array(reply.prefix(size / 2)))
            #expect(search.work <= 3 * max(half.work, size), "not more than in proportion")
        }
    }

    /// Nobody writes so: it is not understood, and not kept.
    @Test func escapesWithoutEndAreNotKept() {
        #expect(left("%" + String(repeating: "25", count: 40) + "41") == ShownSecrets.withheld)
    }
}
