import Testing

@testable import IngestCore

@Suite struct CivilTimeTests {
    @Test(
        arguments: [
            (0, "1970-01-01T00:00:00"), (-1, "1969-12-31T23:59:59"), (951_782_400, "2000-02-29T00:00:00"),
            (1_795_166_104, "2026-11-20T09:15:04"), (4_107_542_399, "2100-02-28T23:59:59"),
            (4_107_542_400, "2100-03-01T00:00:00"),  // 2100 is no leap year
            (253_402_300_799, "9999-12-31T23:59:59"), (-12_244_089_600, "1582-01-01T00:00:00"),
        ] as [(Int64, String)])
    func secondsAndDatesAreTheSame(seconds: Int64, text: String) throws {
        let time = try #require(DeviceTime(wallSeconds: seconds))
        #expect(time.description == text)
        #expect(time.wallSeconds == seconds)
        #expect(time.isPossible)
    }

    @Test(arguments: [253_402_300_800, -12_244_089_601, Int64.max, Int64.min])
    func secondsOutsideOfTheCalendarAreNoDate(seconds: Int64) {
        #expect(DeviceTime(wallSeconds: seconds) == nil)
    }

    @Test func everyDayFollowsTheOneBefore() throws {
        var last = try #require(DeviceTime(wallSeconds: -12_244_089_600))
        for day in Int64(-141_713)...Int64(60_000) {
            let time = try #require(DeviceTime(wallSeconds: day * 86_400))
            let isNextDay = time.year == last.year && time.month == last.month && time.day == last.day + 1
            let isNextMonth = time.day == 1 && last.day >= 28 && time.month == last.month % 12 + 1
            if !(isNextDay || isNextMonth) || !time.isPossible || time.wallSeconds != day * 86_400 {
                Issue.record("\(time) after \(last)")
            }
            last = time
        }
    }
}
