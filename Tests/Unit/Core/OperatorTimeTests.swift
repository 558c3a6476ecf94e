import Testing

@testable import IngestCore

@Suite struct OperatorTimeTests {
    /// 2026-11-20T09:15:00Z.
    private let now: Int64 = 1_795_166_100

    @Test(
        arguments: [
            ("2026-11-20", 1_795_132_800), ("2026-11-20T09:15", 1_795_166_100),
            ("2026-11-20 09:15:30", 1_795_166_130), ("2026-11-20T09:15Z", 1_795_166_100),
            ("2026-11-20T10:15:00+01:00", 1_795_166_100), ("2026-11-20T04:15-05:00", 1_795_166_100),
            ("15m", 1_795_165_200), ("1d", 1_795_079_700),
        ] as [(String, Int64)])
    func aMomentIsRead(text: String, expected: Int64) {
        #expect(OperatorTime.read(text, now: now, zone: .utc) == expected)
    }

    @Test(arguments: [
        "", "yesterday", "2026-02-30", "2026-11-20T", "2026-11-20T24:00", "2026-11-20T9:15", "20/11/2026",
        "2026-11-20T09:15+15:00", "2026-11-20T09:15:00:00", "1795166100",
    ])
    func anythingElseIsNone(text: String) {
        #expect(OperatorTime.read(text, now: now, zone: .utc) == nil)
    }

    @Test func aDayBeginsWithTheMidnightOfTheZone() throws {
        let zone = try TimeZoneRules.load("Europe/Berlin")
        let start = try #require(OperatorTime.read("2026-11-20", now: now, zone: zone))
        #expect(start == 1_795_132_800 - 3600)
        #expect(OperatorTime.text(start, offset: 3600) == "2026-11-20 00:00:00")
    }
}
