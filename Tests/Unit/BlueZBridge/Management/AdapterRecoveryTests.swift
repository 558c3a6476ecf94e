import BlueZBridge
import TestSupport
import Testing

@Suite struct AdapterRecoveryTests {
    private static let minute = 60.0
    private static let hour = 3_600.0

    /// One that has heard something every ten minutes for so long, from second 0 on.
    private static func hearing(for seconds: Double) -> AdapterRecovery {
        var recovery = AdapterRecovery(at: .at(0))
        for second in stride(from: 0, through: seconds, by: 600) { recovery.heard(at: .at(second)) }
        return recovery
    }

    @Test func itIsSwitchedOffOnceItsLinksHaveEndedOrAfterAQuarterOfAnHour() {
        var recovery = AdapterRecovery(at: .at(0))
        #expect(recovery.due(hasLinks: false) == nil)
        recovery.want(.unanswered(opcode: 0x0053), at: .at(100))
        #expect(recovery.due(hasLinks: true) == .at(1_000))
        #expect(recovery.due(hasLinks: false) == .at(100))
    }

    @Test func threeTriesThatDoNotHelpAreToldAndTheTriesGoOn() {
        var recovery = AdapterRecovery(at: .at(0))
        var now = 100.0
        for (number, pause) in [60.0, 60, 900, 900, 900].enumerated() {
            recovery.want(.unanswered(opcode: 0x0053), at: .at(now))
            #expect(!recovery.isBeyondHelp || number >= 3)
            #expect(recovery.due(hasLinks: false) == .at(now))
            recovery.begin(at: .at(now))
            recovery.want(.unanswered(opcode: 0x0053), at: .at(now + 1))
            now += pause
            #expect(recovery.due(hasLinks: false) == .at(now))
        }
        #expect(recovery.isBeyondHelp)
        #expect(recovery.resets == 5)
        recovery.answered()
        #expect(!recovery.isBeyondHelp)
        #expect(recovery.resets == 5)
    }

    @Test func anAttemptThatDoesNotEndIsAReasonAndAnotherPrograms20SecondsAreNone() {
        var recovery = AdapterRecovery(at: .at(0))
        recovery.attempted(isBusy: true, at: .at(100))
        recovery.attempted(isBusy: true, at: .at(399))
        #expect(recovery.due(hasLinks: false) == nil)
        recovery.attempted(isBusy: false, at: .at(399.5))
        recovery.attempted(isBusy: true, at: .at(420))
        recovery.attempted(isBusy: true, at: .at(720))
        #expect(recovery.due(hasLinks: false) == .at(720))
        recovery.begin(at: .at(720))
        #expect(recovery.lastReason == .endlessAttempt)
    }

    @Test func whoHasAlwaysHeardSomethingAndHearsNothingIsSwitchedOffOncePerSixHours() {
        var recovery = Self.hearing(for: 24 * Self.hour)
        var now = 24 * Self.hour + 31 * Self.minute
        #expect(recovery.silenceDue == .at(now))
        recovery.want(.nothingHeard, at: .at(now))
        #expect(recovery.due(hasLinks: false) == .at(now))
        for _ in 0..<3 {
            recovery.begin(at: .at(now))
            recovery.answered()
            recovery.want(.nothingHeard, at: .at(now + 1))
            now += 6 * Self.hour
            #expect(recovery.due(hasLinks: false) == .at(now))
        }
        #expect(recovery.isBeyondHelp)
        recovery.heard(at: .at(now))
        #expect(!recovery.isBeyondHelp)
        #expect(recovery.due(hasLinks: false) == nil)
    }

    /// From the end of a day of which one half hour brought nothing, or that is not over yet.
    @Test func whoHeardNothingInOneHalfHourOfTheDayIsLeftAlone() {
        #expect(Self.hearing(for: 23 * Self.hour).silenceDue == nil)
        var recovery = Self.hearing(for: 12 * Self.hour)
        for second in stride(from: 13 * Self.hour, through: 30 * Self.hour, by: 600) {
            recovery.heard(at: .at(second))
        }
        #expect(recovery.silenceDue == nil)
        // Once the gap is a day ago it counts no more.
        for second in stride(from: 30 * Self.hour, through: 37 * Self.hour, by: 600) {
            recovery.heard(at: .at(second))
        }
        #expect(recovery.silenceDue == .at(37 * Self.hour + 31 * Self.minute))
        // Nor does what was heard long ago.
        recovery.heard(at: .at(90 * Self.hour))
        #expect(recovery.silenceDue == nil)
    }
}
