import Testing

@testable import IngestCore

@Suite struct MonotonicInstantTests {
    @Test(
        arguments: [
            (1_000, .nanoseconds(1), 1_001), (1_000, .nanoseconds(-1), 999),
            (1_000, .seconds(2), 2_000_001_000),
            (1_000, .seconds(-1), 0), (0, .zero, 0), (5, .seconds(Int64.max), UInt64(Int64.max)),
            (5, .seconds(Int64.min), 0), (UInt64(Int64.max), .nanoseconds(1), UInt64(Int64.max)),
            (1_000, .milliseconds(-1), 0), (2_000_000_000, .milliseconds(-1_500), 500_000_000),
        ] as [(UInt64, Duration, UInt64)])
    func aSumIsHeldWithinTheRange(start: UInt64, duration: Duration, sum: UInt64) {
        #expect(MonotonicInstant(nanoseconds: start) + duration == MonotonicInstant(nanoseconds: sum))
    }

    @Test(
        arguments: [
            (3, 1, .nanoseconds(2)), (1, 3, .nanoseconds(-2)), (UInt64.max, 0, .nanoseconds(Int64.max)),
        ] as [(UInt64, UInt64, Duration)])
    func aDifferenceIsNegativeBackwards(left: UInt64, right: UInt64, duration: Duration) {
        let left = MonotonicInstant(nanoseconds: left)
        #expect(left.since(MonotonicInstant(nanoseconds: right)) == duration)
    }
    @Test(
        arguments: [
            (0, 0), (1_795_166_100.5, 1_795_166_100_500_000_000), (-1.5, -1_500_000_000),
            // 2262-04-11T23:47:16Z, and a second later.
            (9_223_372_036, 9_223_372_036_000_000_000), (9_223_372_037, .max), (253_402_300_799, .max),
            (-9_223_372_037, .min),
        ] as [(Double, Int64)])
    func nanosecondsOfTheWallClockAreHeldWithinTheRange(seconds: Double, nanoseconds: Int64) {
        #expect(Int64(nanosecondsOfSeconds: seconds) == nanoseconds)
        if seconds == seconds.rounded() {
            #expect(Int64(nanosecondsOfSeconds: Int64(seconds)) == nanoseconds)
        }
    }

    /// The last moment that nanoseconds in 64 bits can count is 2262-04-11T23:47:16Z.
    @Test func theWallClockStandsAtTheEndOfItsRange() {
        struct Last: GatewayClock {
            let now = MonotonicInstant(nanoseconds: 1_000)
            let wallNanoseconds = Int64.max
            func sleep(until deadline: MonotonicInstant) async throws {}
        }
        #expect(
            Last().trustedWallNanoseconds(at: MonotonicInstant(nanoseconds: 400)) == Int64.max - 600)
        #expect(Last().trustedWallNanoseconds(at: MonotonicInstant(nanoseconds: 2_000)) == Int64.max)
    }
}
