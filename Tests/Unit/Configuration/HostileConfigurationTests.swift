import Testing

@testable import IngestConfiguration

/// Files that a few hundred bytes make large: read in a time that an operator waits, or refused.
@Suite(.timeLimit(.minutes(1)))
struct HostileConfigurationTests {
    /// Lists of lists, each twice the one before it.
    private func doubling(_ count: Int) -> String {
        "a0: &a0 [x, x]\n" + (1..<count).map { "a\($0): &a\($0) [*a\($0 - 1), *a\($0 - 1)]\n" }.joined()
    }

    @Test(arguments: ["? *a99\n: 1\n", "*a99 : 1\n", "? [*a99]\n: 1\n", "{? {*a99 : 1} : 2}\n"])
    func aKeyOfManyAliasesIsRefusedAtOnce(_ key: String) throws {
        let found = try Samples.findings(
            doubling(100) + "key:\n" + key.split(separator: "\n").map { "  \($0)\n" }.joined())
        #expect(found.count == 1)
        #expect(found.first?.contains("expected a plain key") == true, "\(found)")
    }

    /// The parser needs a minute for fifty thousand.
    @Test(arguments: ["\n", "\r", "\r\n", "\u{85}", "\u{2028}", "\u{2029}"])
    func manyDirectivesAreRefusedAtOnce(_ end: String) throws {
        let lines = (0..<50_000).map { "%TAG !a\($0)! x\(end)" }.joined()
        let found = try Samples.findings(lines + "---\(end)a: 1\(end)")
        #expect(found.count == 1)
        #expect(found.first?.contains("expected no line that begins with %") == true, "\(found)")
    }

    /// Its prefix is copied into each node.
    @Test func aLongTagIsNotCopiedIntoEachNode() throws {
        let found = try Samples.findings(
            "%TAG !e! tag:" + String(repeating: "a", count: 30_000) + "\n---\nperipherals:\n"
                + String(repeating: "- !e!x 1\n", count: 30_000))
        #expect(found == ["c.yaml:1:1: expected no line that begins with %"])
    }

    @Test func theVersionOfYAMLMayBeNamed() throws {
        let found = try Samples.findings("%YAML 1.2\n---\nperipherals: []\n")
        #expect(!found.contains { $0.contains("%") }, "\(found)")
    }

    /// The parser's time grows with the product of levels and nodes.
    @Test(arguments: ["", "- ", "? - "])
    func keysWithinKeysAreRefusedAtOnce(_ before: String) throws {
        let found = try Samples.findings(
            before + String(repeating: "? ", count: 400) + "[" + String(repeating: "a,", count: 100_000)
                + "]\n")
        #expect(found.count == 1)
        #expect(found.first?.contains("1:1: expected plain keys") == true, "\(found)")
    }

    @Test(arguments: ["]:", "] :", "}: "])
    func collectionsAsKeysAreRefusedAtOnce(_ end: String) throws {
        let open = end.hasPrefix("]") ? "[" : "{a: "
        let found = try Samples.findings(
            "{" + String(repeating: open, count: 300) + "a" + String(repeating: "\(end) b", count: 300)
                + "}\n")
        #expect(found.count == 1)
        #expect(found.first?.contains("expected plain keys") == true, "\(found)")
    }

    /// A question mark within a text is none that begins a key.
    @Test func questionsAreText() throws {
        let text = (0..<20).map { "- {id: 1001, alias: \"Prêt ? [\($0)]: oui\"}\n" }.prefix(8).joined()
        let found = try Samples.findings("peripherals:\n" + text + "# ? no key\n")
        #expect(!found.contains { $0.contains("expected plain keys") }, "\(found)")
    }

    @Test func aValueOfManyAliasesIsRead() throws {
        let found = try Samples.findings(doubling(100) + "gateway: {id: *a99}\n")
        #expect(
            found.contains { $0.contains("gateway.id: expected") && $0.hasSuffix("found a list") }, "\(found)"
        )
    }

    /// A sign of an alias that is none.
    @Test func anAsteriskInATextIsNoAlias() throws {
        let text = "peripherals: &p\n  - {id: 1002, alias: \"* *x &y\"}\ndestinations: []\n\"*k\": 1\n"
        let found = try Samples.findings(text)
        #expect(found.contains { $0.hasPrefix("c.yaml:4:1: *k: unknown key") }, "\(found)")
        #expect(!found.contains { $0.contains("alias") })
    }

    @Test func aliasesThatRepeatListsAreCountedEachTime() throws {
        let names = (0..<900).map {
            "  - {name: \(String(repeating: "n", count: 900))\($0), type: webhook}\n"
        }.joined()
        let wrong = (0..<900).map { "wrong\($0)" }.joined(separator: ", ")
        let others = String(repeating: "  - {id: 1001, destinations: *d}\n", count: 900)
        let found = try Samples.findings(
            "destinations:\n\(names)peripherals:\n  - {id: 1001, destinations: &d [\(wrong)]}\n\(others)")
        // So many that they are not shown.
        #expect(found.count == 201)
    }

    @Test func tooManyEntriesAreAnError() throws {
        func destination(_ number: Int, _ kinds: String) -> String {
            "  - {name: d\(number), type: webhook, url: \"https://a.example/\", kinds: \(kinds)}\n"
        }
        let list =
            "&k [" + [String](repeating: "body-temperature", count: 1_000).joined(separator: ", ") + "]"
        let text = "peripherals: [{id: 1002}]\ndestinations:\n" + destination(0, list)
        #expect(try Samples.findings(text + (1..<49).map { destination($0, "*k") }.joined()).isEmpty)
        let found = try Samples.findings(text + (1..<60).map { destination($0, "*k") }.joined())
        #expect(found.count == 1)
        #expect(
            found.first?.contains("destinations[49].kinds: expected at most 50000 entries in the whole file")
                == true,
            "\(found)")
    }

    /// What a suggestion repeats comes from the file, and goes to a terminal.
    @Test func aSuggestionHasNoControlCharacters() throws {
        let found = try Samples.findings(
            "destinations: [{name: \"clini\\u001Bk\", type: webhook, url: \"https://a.example\"}]\n"
                + "peripherals: [{id: 1002, destinations: [clinik]}]\n")
        #expect(found.contains { $0.contains("there is no destination") })
        #expect(!found.contains { $0.unicodeScalars.contains(where: \.isControl) }, "\(found)")
    }
}
