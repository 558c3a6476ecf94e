import Testing

@testable import IngestDaemon

/// How fast an import goes, and how long it takes yet.
@Suite struct PaceTests {
    private let begin = ContinuousClock.now

    @Test func theRateIsAnAverageSinceTheBegin() {
        let pace = Pace(from: begin, done: 0.5)
        #expect(pace.rate(of: 4_000, at: begin + .seconds(10)) == 400)
    }

    @Test func theRestIsTakenToGoAsTheDoneDid() {
        let pace = Pace(from: begin, done: 0.5)
        #expect(pace.secondsLeft(at: 0.625, begin + .seconds(10)) == 30)
        #expect(pace.secondsLeft(at: 1, begin + .seconds(10)) == 0)
        #expect(pace.secondsLeft(at: 0.500_000_000_001, begin + .seconds(10)) == 31_536_000)
    }

    @Test func nothingIsSaidTooEarly() {
        let pace = Pace(from: begin, done: 0.5)
        #expect(pace.rate(of: 500, at: begin + .milliseconds(999)) == nil)
        #expect(pace.secondsLeft(at: 0.6, begin) == nil)
        #expect(pace.secondsLeft(at: 0.5, begin + .seconds(10)) == nil)
    }
}
