import Testing

@testable import IngestReading

/// From where on a wrong clock is told of, and in which words.
struct ClockSkewTests {
    @Test(
        arguments: [
            (300, nil), (-300, nil), (301, "it is 5 min ahead"), (-301, "it is 5 min behind"),
            (7_199, "it is 2 h ahead"), (-172_800, "it is 2 days behind"),
        ] as [(Int, String?)])
    func moreThanFiveMinutesAreToldOf(offset: Int, words: String?) {
        let observed = ClockObservation(offsetSeconds: offset, zoneOffsetSeconds: 0)
        #expect(ClockSkew(observed, .wasSet)?.message == words.map { "\($0); it was set" })
    }
}
