import Testing

@testable import IngestCore

@Suite struct TextFormTests {
    @Test(arguments: ["a", "é", "台所の血圧計", "a b", "\u{A0}", "\u{1F600}", "éééééééé"])
    func printableTextIsALine(text: String) {
        #expect(TextForm.isLine(text, limit: 8))
    }

    @Test(arguments: [
        "", "a\nb", "\t", "\u{0}", "\u{7F}", "\u{85}", "\u{9F}", "\u{2028}", "\u{2029}", "ééééééééé",
        "123456789",
    ])
    func whatIsNotPrintableOrTooLongIsNoLine(text: String) {
        #expect(!TextForm.isLine(text, limit: 8))
    }

    @Test func controlCodesAreThoseOfUnicode() {
        let scalars = (UInt32(0)...0x2FFF).compactMap(Unicode.Scalar.init)
        #expect(scalars.filter(\.isControl) == scalars.filter { $0.properties.generalCategory == .control })
    }

    @Test(
        arguments: [
            ("60ms", .milliseconds(60)), ("2.5ms", .microseconds(2_500)), ("10.24s", .milliseconds(10_240)),
            ("10s", .seconds(10)), ("15m", .seconds(900)), ("12h", .seconds(43_200)),
            ("7d", .seconds(604_800)),
            ("90d", .seconds(7_776_000)), ("0s", .zero),
        ] as [(String, Duration)])
    func aDurationIsANumberAndAUnit(text: String, duration: Duration) {
        #expect(DurationText.read(text) == duration)
        #expect(DurationText.read(DurationText.write(duration)) == duration)
    }

    @Test(arguments: [
        "", "10", "s", "-1s", "+1s", "1 s", "1.s", ".5s", "1.2345s", "1.2.3s", "1e3s", "1w", "٣s",
        "1000000000s",
    ])
    func whatIsNoDurationIsRefused(text: String) {
        #expect(DurationText.read(text) == nil)
    }

    @Test(
        arguments: [
            ("1GiB", 1_073_741_824), ("16MiB", 16_777_216), ("512KiB", 524_288), ("7B", 7),
            ("1TiB", 1_099_511_627_776),
        ] as [(String, UInt64)])
    func aSizeIsANumberAndAUnit(text: String, bytes: UInt64) {
        #expect(SizeText.read(text) == bytes)
        #expect(SizeText.write(bytes) == text)
    }

    @Test(arguments: ["", "1", "1GB", "1gib", "-1MiB", "1.5GiB", "999999999TiB"])
    func whatIsNoSizeIsRefused(text: String) {
        #expect(SizeText.read(text) == nil)
    }

    @Test(arguments: [
        ("2026-11-01", true), ("2024-02-29", true), ("2023-02-29", false), ("2026-13-01", false),
        ("2026-1-01", false), ("2026-11-00", false), ("2026-11-01T00:00", false),
    ])
    func aDateIsADayOfTheCalendar(text: String, isDate: Bool) {
        #expect(TextForm.isDate(text) == isDate)
    }

    @Test(arguments: [
        ("http://localhost:8099/x", true), ("http://127.0.0.1", true), ("http://127.8.9.1/", true),
        ("http://[::1]:1/", true), ("http://LOCALHOST", true), ("http://127.0.0.1.example", false),
        ("http://localhost.example", false), ("http://[::2]/", false), ("http://128.0.0.1", false),
        ("http://127.-0.0.1", false), ("http://127.0.0.08", false), ("http://127.0.0.01", false),
        ("http://127.000.0.1", false), ("http://127.0.0.10", true),
    ])
    func loopbackIsThisMachine(text: String, isLoopback: Bool) throws {
        #expect(try #require(URLText(text)).isLoopback == isLoopback)
    }

    @Test(arguments: [
        "", "localhost", "http://", "http:///x", "http://a b", "http://a:0", "http://a:65536", "http://a:",
        "http://a#f", "http://[::1", "http://[x]/", "http://a\\@b",
    ])
    func whatIsNoURLIsRefused(text: String) {
        #expect(URLText(text) == nil)
    }
}
