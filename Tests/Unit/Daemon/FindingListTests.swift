import Testing

@testable import IngestDaemon

@Suite struct FindingListTests {
    private let list = FindingList(findings: [
        .ok(.tcp, "TCP: the server takes connections", at: "clinic"),
        .error(
            .unit,
            "unit: ingestd.service has failed (exit-code, status 78) and this goes on past the last column",
            remedy: "journalctl -u ingestd"),
        .warning(.clock, "clock: not synchronised\u{1B}[2J", remedy: "timedatectl"),
    ])

    @Test func findingsAreGroupedAndWrapped() {
        #expect(
            list.lines == [
                "Box",
                "  error   unit: ingestd.service has failed (exit-code, status 78) and this goes",
                "          on past the last column",
                "          do: journalctl -u ingestd",
                "  warning clock: not synchronised\\u001b[2J",
                "          do: timedatectl",
                "Destinations",
                "  ok      clinic: TCP: the server takes connections",
                "not good: 1 error, 1 warning, 1 ok",
            ])
    }

    @Test func theObjectHasTheSums() {
        #expect(list.json.hasPrefix(#"{"errors":1,"findings":["#))
        #expect(list.json.contains(#""ok":false"#))
        #expect(
            list.json.contains(
                #"{"check":"tcp","destination":"clinic","group":"destinations","level":"ok","message":"TCP: the server takes connections"}"#
            ))
        #expect(FindingList(findings: []).json.contains(#""ok":true"#))
    }

    @Test func namesOfChecksAreUnique() {
        #expect(Set(Finding.Check.allCases.map(\.rawValue)).count == Finding.Check.allCases.count)
    }
}
