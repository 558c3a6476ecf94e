import TestSupport
import Testing

@testable import IngestCore

/// When the system's clock is taken as right.
@Suite struct ClockTrustTests {
    /// 2026-11-20T09:15:00Z.
    private static let wall: Int64 = 1_795_166_100
    private static let day: Int64 = 86_400

    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        var wall = ClockTrustTests.wall
        var isConfigured = false
        var isSynchronized: Bool?
        var isUnchanged = false
        var realTimeClocks: [Int64] = []
        var released = ClockTrustTests.wall - 20 * ClockTrustTests.day
        var newestRecord: Int64?
        let trust: ClockTrust?
    }

    @Test(arguments: [
        Case(testDescription: "nothing speaks for it", trust: nil),
        Case(testDescription: "the network's time", isSynchronized: true, trust: .synchronized),
        Case(testDescription: "asked, and not synchronised", isSynchronized: false, trust: nil),
        Case(
            testDescription: "synchronised, though records are newer", isSynchronized: true,
            newestRecord: wall + day, trust: .synchronized),
        Case(testDescription: "1970 by configuration", wall: 60, isConfigured: true, trust: .configured),
        Case(
            testDescription: "found right in this boot, the network is gone", isSynchronized: false,
            isUnchanged: true, trust: .unchanged),
        Case(testDescription: "a real-time clock", realTimeClocks: [wall + 2], trust: .realTimeClock),
        Case(
            testDescription: "of two, one without a battery", realTimeClocks: [946_684_800, wall],
            trust: .realTimeClock),
        Case(
            testDescription: "one that keeps the time of Kiribati", realTimeClocks: [wall + 14 * 3_600],
            trust: .realTimeClock),
        Case(
            testDescription: "the clock does not follow it", realTimeClocks: [wall - 15 * 3_600 - 1],
            trust: nil),
        Case(testDescription: "it shows what cannot be counted", realTimeClocks: [.min, .max], trust: nil),
        Case(testDescription: "both begin in 1970", wall: 60, realTimeClocks: [60], trust: nil),
        Case(
            testDescription: "at the moment of the release", realTimeClocks: [wall], released: wall,
            trust: nil),
        Case(
            testDescription: "a second after the release", realTimeClocks: [wall], released: wall - 1,
            trust: .realTimeClock),
        Case(
            testDescription: "not later than the newest record", realTimeClocks: [wall],
            newestRecord: wall, trust: nil),
        Case(
            testDescription: "later than the newest record", realTimeClocks: [wall],
            newestRecord: wall - 1, trust: .realTimeClock),
    ])
    func theStrongestReasonHolds(_ example: Case) {
        let evidence = ClockEvidence(
            wall: example.wall, isConfigured: example.isConfigured, isSynchronized: example.isSynchronized,
            isUnchanged: example.isUnchanged, realTimeClocks: example.realTimeClocks,
            released: example.released, newestRecord: example.newestRecord)
        #expect(evidence.trust == example.trust)
    }

    @Test(
        arguments: [
            // trust, steps of the wall clock in seconds, whether it is right after each
            (nil, [0], [false]),
            (.synchronized, [0, 2, -2], [true, true, true]),
            (.realTimeClock, [3, -3], [false, false]),
            (.synchronized, [-86_400, 86_400], [false, false]),
            (.unchanged, [86_400 * 365], [false]),
            // Whoever says that it is right whatever it shows has said so.
            (.configured, [-86_400, 400_000], [true, true]),
        ] as [(ClockTrust?, [Int64], [Bool])])
    func aClockThatWasSetIsInDoubt(trust: ClockTrust?, steps: [Int64], isRight: [Bool]) {
        let base = DrivenClock()
        let clock = JudgedClock(base)
        #expect(clock.trustedWallNanoseconds == nil)
        clock.judge(trust, lead: clock.reading.lead)
        // Time that passes is no step.
        base.advance(by: .seconds(1_000_000))
        let found = steps.map { step in
            base.step(by: .seconds(step))
            return clock.trustedWallNanoseconds == clock.wallNanoseconds
        }
        #expect(found == isRight)
        #expect(clock.doubts.consume() == (trust != nil && isRight.contains(false)))
    }

    /// Nothing that comes in the first moments is refused.
    @Test func aClockThatTheConfigurationTrustsIsRightFromTheStart() {
        let base = DrivenClock()
        let clock = JudgedClock(base, isConfigured: true)
        #expect(clock.trustedWallNanoseconds == clock.wallNanoseconds)
        base.step(by: .seconds(86_400))
        #expect(clock.trustedWallNanoseconds == clock.wallNanoseconds)
    }

    /// The monotonic clock at each look, in seconds, and what the wall clock shows when the thread goes on.
    @Test(
        arguments: [
            ([100, 100], 100),
            // Stopped for 11 s between two looks, then not.
            ([100, 111, 111, 111], 111),
            // Stopped at each look: the shortest stop counts.
            ([0, 9, 20, 28, 30, 31, 40, 49, 60, 69, 70, 79, 80, 89, 90, 99, 100, 109, 110, 119], 30),
        ] as [([UInt64], UInt64)])
    func bothClocksAreReadAtOneMoment(looks: [UInt64], instant: UInt64) {
        var left = looks[...]
        var shown: UInt64 = 0
        let reading = ClockReading(
            monotonic: {
                shown = left.removeFirst() * 1_000_000_000
                return MonotonicInstant(nanoseconds: shown)
            },
            // It is looked at just before the monotonic clock is looked at again.
            wall: { Int64(left[left.startIndex]) * 1_000_000_000 })
        #expect(left.isEmpty)
        #expect(reading.instant == MonotonicInstant(nanoseconds: instant * 1_000_000_000))
        #expect(reading.lead <= 1_000_000_000)
    }
}
