import Testing

@testable import IngestCore

@Suite struct JSONTextTests {
    @Test func commasStandBetweenValuesOnly() {
        var text = JSONText()
        text.beginObject()
        text.key("empty")
        text.beginObject()
        text.endObject()
        text.key("list")
        text.beginArray()
        text.value(1)
        text.beginArray()
        text.endArray()
        text.null()
        text.value(ExactDecimal(coefficient: 200, exponent: -2))
        text.endArray()
        text.member("texts", ["a", "b"])
        text.member("yes", true)
        text.member("no", false)
        text.key("inserted")
        text.value(json: Array(#"{"x":1}"#.utf8))
        text.member("last", Int.min)
        text.endObject()
        #expect(
            text.string
                == #"{"empty":{},"list":[1,[],null,2.00],"texts":["a","b"],"yes":true,"no":false,"#
                + #""inserted":{"x":1},"last":-9223372036854775808}"#)
    }

    @Test(
        arguments: [
            ("plain", #""plain""#), ("", #""""#), (#"say "hi""#, #""say \"hi\"""#), (#"a\b"#, #""a\\b""#),
            ("a/b", #""a/b""#), ("\u{08}\u{09}\u{0A}\u{0C}\u{0D}", #""\b\t\n\f\r""#),
            ("\u{00}\u{01}\u{1F}", #""\u0000\u0001\u001f""#), ("\u{7F}", "\"\u{7F}\""),
            ("Küche ✓ 😀", #""Küche ✓ 😀""#),
        ] as [(String, String)])
    func stringsAreEscaped(plain: String, json: String) {
        var text = JSONText()
        text.value(plain)
        #expect(text.string == json)
    }

    @Test func aForeignNameIsEscaped() {
        var text = JSONText()
        text.beginObject()
        text.key(foreign: "a\"b\\c\n")
        text.value(1)
        text.endObject()
        #expect(text.string == #"{"a\"b\\c\n":1}"#)
    }
}
