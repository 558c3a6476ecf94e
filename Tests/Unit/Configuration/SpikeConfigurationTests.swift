import Testing

@testable import IngestConfiguration

/// Spike's rule for callback URLs, and sets that are empty.
@Suite struct SpikeConfigurationTests {
    private static func errors(_ destination: String) throws -> [String] {
        try Samples.findings("destinations: [{name: s, type: spike, \(destination)}]").compactMap {
            $0.contains("warning:") ? nil : $0.split(separator: ": ", maxSplits: 2).last.map { String($0) }
        }
    }

    @Test(arguments: [
        ("https://x.example/cb", "https://x.example/cb"),
        ("https://x.example/cb/ward-3", "https://x.example/cb"),
        ("https://x.example/cb/ward-3", "https://X.example:443/cb/"),
        ("https://x.example/", "https://x.example"),
        ("https://x.example/cb?ward=3", "https://x.example/cb"),
        ("http://127.0.0.1:8080/cb", "http://127.0.0.1:8080/"),
    ])
    func aCallbackIsTheMainOneOrOneUnderIt(url: String, main: String) throws {
        #expect(try Self.errors("credential: c, url: \"\(url)\", main_callback_url: \"\(main)\"") == [])
    }

    @Test(arguments: [
        ("https://x.example/cbs", "https://x.example/cb"), ("https://y.example/cb", "https://x.example/cb"),
        ("https://x.example:8443/cb", "https://x.example/cb"), ("https://x.example/", "https://x.example/cb"),
        ("https://x.example/cb/../other", "https://x.example/cb"),
        ("https://x.example/cb/%2E%2e/other", "https://x.example/cb"),
        ("http://localhost/cb", "https://x.example/cb"),
    ])
    func anyOtherIsAnError(url: String, main: String) throws {
        #expect(
            try Self.errors("credential: c, url: \"\(url)\", main_callback_url: \"\(main)\"")
                == ["expected main_callback_url, or a URL under it"])
    }

    @Test func whatItNeedsIsSaid() throws {
        #expect(
            try Self.errors("kinds: [glucose]").sorted() == [
                "expected a URL, but the key is missing",
                "expected the application's main callback URL, but the key is missing",
                "expected the application's secret token, but the key is missing",
            ])
        #expect(
            try Self.errors(
                "credential: c, url: \"http://x.example/cb\", main_callback_url: \"https://x.example/cb\""
            ) == ["expected https://: http:// is for this machine only (localhost, 127.0.0.1, ::1)"])
    }

    @Test func anEmptySetIsTakenAndWarnedOf() throws {
        let checked = try Samples.parse(
            "destinations: [{name: a, type: webhook, url: \"https://x.example\", kinds: [], peripherals: []}]"
        )
        #expect(checked.configuration.destinations[0].kinds == [])
        #expect(checked.configuration.destinations[0].peripherals == [])
        #expect(
            checked.warnings.map(\.message).filter { $0.hasPrefix("is empty") }
                == ["is empty: nothing goes to a", "is empty: nothing goes to a"])
        // A key without value is a slip of the pen.
        #expect(throws: ConfigurationError.self) {
            _ = try Samples.parse(
                "destinations: [{name: a, type: webhook, url: \"https://x.example\", kinds: }]")
        }
    }
}
