import Testing

@testable import IngestConfiguration
@testable import IngestCore
@testable import IngestOperator
@testable import IngestReading
@testable import IngestSupervision

@Suite struct TerminalTextTests {
    @Test(arguments: [
        ("plain text, ümlaut, 血圧, 🩺, ♥\u{FE0F}, e\u{301}", "plain text, ümlaut, 血圧, 🩺, ♥\u{FE0F}, e\u{301}"),
        ("C0 \u{1B}[2J\u{7}\r\u{0}", "C0 \\u001b[2J\\u0007\\u000d\\u0000"), ("DEL \u{7F}", "DEL \\u007f"),
        ("C1 \u{9B}31m\u{85}\u{90}", "C1 \\u009b31m\\u0085\\u0090"),
        ("bidi \u{202A}\u{202E}\u{2066}\u{2069}", "bidi \\u202a\\u202e\\u2066\\u2069"),
        ("marks \u{200E}\u{200F}\u{61C}", "marks \\u200e\\u200f\\u061c"),
        (
            "no width \u{200B}\u{200D}\u{2060}\u{FEFF}\u{AD}\u{3164}",
            "no width \\u200b\\u200d\\u2060\\ufeff\\u00ad\\u3164"
        ),
        ("separators \u{2028}\u{2029}", "separators \\u2028\\u2029"),
        ("tags \u{E0041}\u{E007F}", "tags \\udb40\\udc41\\udb40\\udc7f"),
        ("none \u{378}\u{FFFF}", "none \\u0378\\uffff"),
    ])
    func whatATerminalObeysIsShown(text: String, expected: String) {
        #expect(TerminalText.line(text) == expected)
        #expect(TerminalText.shown(text) == expected)
    }

    @Test func linesEndOnlyWhereOursDo() {
        #expect(TerminalText.shown("a\n\tb") == "a\n\tb")
        #expect(TerminalText.line("a\n\tb") == "a\\u000a\\u0009b")
    }

    /// Each character that Unicode has, by its category; whatever is not shown comes back out of JSON.
    @Test func noCharacterOfTheseCategoriesPasses() throws {
        let hidden: Set<Unicode.GeneralCategory> = [
            .control, .format, .lineSeparator, .paragraphSeparator, .unassigned,
        ]
        for value in UInt32(0)...0x10FFFF {
            guard let scalar = Unicode.Scalar(value) else { continue }
            let line = TerminalText.line(String(scalar))
            if hidden.contains(scalar.properties.generalCategory), line.unicodeScalars.contains(scalar) {
                Issue.record("U+\(String(value, radix: 16)) passes")
            }
        }
    }

    @Test func foreignTextMovesNothingInTheStatusAndInDiagnostics() {
        let evil = "a\u{9B}2J\u{202E}\nb"
        let destination = GatewayStatus.Destination(
            name: "clinic", state: "down", pending: 0, submitted: 0, failed: 0, lastError: evil)
        let status = GatewayStatus(
            version: "1.2.3", gateway: evil, uptime: 1, isClockRight: true, undated: 0,
            adapters: [.init(name: evil, isListening: true)],
            peripherals: [
                .init(id: 1001, alias: evil, address: "F1:F1:F1:F1:F1:F1", isPinned: true, state: .quieting)
            ], destinations: [destination],
            queue: .init(bytes: 1, maximumBytes: 1 << 30, level: "normal", diskFreeBytes: 1 << 30))
        let lines = StatusTable(status, usesColours: false).lines
        #expect(lines.count { $0.contains("a\\u009b2J\\u202e\\u000ab") } >= 3)
        #expect(lines.allSatisfy { TerminalText.line($0) == $0 })
        let diagnostic = Diagnostic(.error, path: "c.yaml", key: evil, message: "expected \(evil)")
        #expect(TerminalText.line(diagnostic.description) == diagnostic.description)
    }
}
