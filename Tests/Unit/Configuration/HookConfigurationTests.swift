import Testing

@testable import IngestConfiguration

@Suite struct HookConfigurationTests {
    @Test(arguments: [
        ("/etc/ingestd/chime", nil),
        ("/etc/ingestd/gone", "there is no /etc/ingestd/gone, so nothing is run"),
        ("/etc/ingestd", "/etc/ingestd is no file, so nothing is run"),
        ("/etc/ingestd/flat", "/etc/ingestd/flat is not executable, so nothing is run; chmod +x it"),
        (
            "/etc/ingestd/open",
            "/etc/ingestd/open can be changed by everybody, and the service runs it; chmod o-w it"
        ),
    ])
    func aProgramThatCannotOrShouldNotBeRunIsAWarning(path: String, expected: String?) throws {
        let checked = try Samples.parse(Samples.complete + "hooks: {read: \(path)}\n")
        #expect(checked.configuration.hooks == .init(readyToRead: nil, read: path))
        #expect(
            checked.warnings.map(\.description)
                == (expected.map { ["c.yaml:5:15: hooks.read: warning: \($0)"] } ?? []))
    }

    @Test func allThatIsWrongWithAProgramIsTold() throws {
        let text =
            Samples.complete + "hooks: {ready-to-read: /etc/ingestd/open-flat, raed: /etc/ingestd/chime}\n"
        #expect(
            try Samples.findings(text) == [
                "c.yaml:5:24: hooks.ready-to-read: warning: /etc/ingestd/open-flat is not executable, so nothing "
                    + "is run; chmod +x it",
                "c.yaml:5:24: hooks.ready-to-read: warning: /etc/ingestd/open-flat can be changed by everybody, and "
                    + "the service runs it; chmod o-w it",
                "c.yaml:5:48: hooks.raed: unknown key; did you mean read?",
            ])
    }
}
