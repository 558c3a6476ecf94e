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
}
