import TestSupport
import Testing

@testable import IngestReading

/// Silence is what an adapter does not hear while it is known to receive.
@Suite struct ReadSchedulerReceivingTests {
    private typealias Bench = ReadSchedulerScript

    /// A scheduler that has read the thermometer 1 over hci0, from second 1 to second 2.
    private static func afterRead(
        on adapters: [AdapterID] = [.hci0], outcome: ReadOutcome = .succeeded
    ) -> ReadScheduler {
        var scheduler = ReadScheduler(jitter: { 1 })
        _ = scheduler.adapters(Bench.states(adapters.map { ($0, true) }), at: .at(0))
        // With several adapters, the others get a moment.
        let actions = heard(&scheduler, at: 0.5) + scheduler.wake(at: .at(1))
        #expect(actions == [Bench.discovered(1), Bench.read(1)])
        scheduler.connecting(.hci0, true, at: .at(1))
        scheduler.connecting(.hci0, false, at: .at(1))
        _ = scheduler.linked(.device(1), at: .at(1))
        #expect(scheduler.finished(.device(1), outcome: outcome, at: .at(2)) == [])
        return scheduler
    }

    @discardableResult
    private static func heard(
        _ scheduler: inout ReadScheduler, _ device: Int = 1, at second: Double
    ) -> [ReadScheduler.Action] {
        scheduler.heard(.sample(of: .device(device), on: .hci0, rssi: -60, at: second), as: Bench.thermometer)
    }

    private static func outlook(
        _ deadline: Double?, signs: Set<AdapterID> = []
    ) -> ReadScheduler.Outlook {
        ReadScheduler.Outlook(deadline: deadline.map { .at($0) }, signs: signs)
    }

    @Test func thePeriodBeginsAtTheFirstSignAfterTheLinkAndEndsWithOne() {
        var scheduler = Self.afterRead()
        #expect(scheduler.outlook(at: .at(2)) == Self.outlook(32, signs: [.hci0]))
        #expect(scheduler.received(on: .hci0, at: .at(20)) == [])
        #expect(scheduler.outlook(at: .at(20)) == Self.outlook(28))
        #expect(scheduler.wake(at: .at(28)) == [])
        #expect(scheduler.outlook(at: .at(28)) == Self.outlook(32, signs: [.hci0]))
        #expect(scheduler.received(on: .hci0, at: .at(28.5)) == [])
        #expect(scheduler.outlook(at: .at(28.5)) == Self.outlook(30))
        #expect(scheduler.wake(at: .at(30)) == [])
        #expect(scheduler.outlook(at: .at(30)) == Self.outlook(35))
        #expect(scheduler.wake(at: .at(35)) == [])
        #expect(scheduler.outlook(at: .at(35)) == Self.outlook(nil))
        #expect(Self.heard(&scheduler, at: 36) == [Bench.discovered(1), Bench.read(1)])
    }

    @Test func aSilenceWhoseLastSignComesLateEndsWithThatSign() {
        var scheduler = Self.afterRead()
        _ = scheduler.received(on: .hci0, at: .at(3))
        _ = scheduler.received(on: .hci0, at: .at(20))
        // The cooldown begins with the sign.
        #expect(scheduler.outlook(at: .at(20)) == Self.outlook(25))
    }

    @Test func aDeviceThatADeafAdapterDoesNotHearIsNotSilent() {
        var scheduler = Self.afterRead()
        // It has advertised all the time, and is heard again after 20 s.
        for second in 22...80 { #expect(Self.heard(&scheduler, at: Double(second)) == []) }
        // Deaf once more, after a link to another device.
        #expect(Self.heard(&scheduler, 2, at: 81) == [Bench.discovered(2), Bench.read(2)])
        _ = scheduler.linked(.device(2), at: .at(81))
        #expect(scheduler.finished(.device(2), outcome: .succeeded, at: .at(83)) == [])
        for second in 103...140 { #expect(Self.heard(&scheduler, at: Double(second)) == []) }
    }

    @Test func withoutAnyOtherDeviceSilenceTakesThreeTimesThePeriod() {
        var scheduler = Self.afterRead()
        #expect(scheduler.wake(at: .at(31.9)) == [])
        #expect(scheduler.outlook(at: .at(31.9)) == Self.outlook(32, signs: [.hci0]))
        #expect(scheduler.wake(at: .at(32)) == [])
        #expect(scheduler.outlook(at: .at(32)) == Self.outlook(37))
        #expect(scheduler.wake(at: .at(37)) == [])
        #expect(Self.heard(&scheduler, at: 38) == [Bench.discovered(1), Bench.read(1)])
    }

    @Test func theDevicesOwnAdvertIsASign() {
        var scheduler = Self.afterRead()
        #expect(Self.heard(&scheduler, at: 5) == [])
        #expect(scheduler.outlook(at: .at(5)) == Self.outlook(13))
        #expect(scheduler.outlook(at: .at(13)) == Self.outlook(35, signs: [.hci0]))
    }

    @Test func aLinkToAnotherDeviceHoldsTheSilenceUpUntilTheNextSign() {
        var scheduler = Self.afterRead()
        _ = scheduler.received(on: .hci0, at: .at(2))
        #expect(Self.heard(&scheduler, 2, at: 7) == [Bench.discovered(2), Bench.read(2)])
        _ = scheduler.linked(.device(2), at: .at(7))
        #expect(scheduler.finished(.device(2), outcome: .succeeded, at: .at(8)) == [])
        #expect(scheduler.outlook(at: .at(8)).signs == [.hci0])
        // Six of the ten seconds are over; the last two begin two seconds later.
        _ = scheduler.received(on: .hci0, at: .at(20))
        #expect(scheduler.outlook(at: .at(20)) == Self.outlook(22))
        _ = scheduler.received(on: .hci0, at: .at(23))
        #expect(scheduler.outlook(at: .at(23)).deadline == .at(24))
    }

    @Test func afterAFailedReadSilenceIsProvedToo() {
        var scheduler = Self.afterRead(outcome: .failed)
        #expect(scheduler.outlook(at: .at(2)) == Self.outlook(32, signs: [.hci0]))
        _ = scheduler.received(on: .hci0, at: .at(3))
        _ = scheduler.received(on: .hci0, at: .at(12))
        #expect(scheduler.outlook(at: .at(12)) == Self.outlook(13))
    }

    @Test func anotherAdaptersSignsSayNothingOfTheOneThatHearsTheDevice() {
        var scheduler = Self.afterRead(on: [.hci0, .hci1])
        #expect(scheduler.outlook(at: .at(2)).signs == [.hci0])
        _ = scheduler.received(on: .hci1, at: .at(3))
        #expect(scheduler.outlook(at: .at(3)) == Self.outlook(32, signs: [.hci0]))
    }

    @Test func nothingIsWatchedForWhenNobodysSilenceMatters() {
        var scheduler = ReadScheduler()
        _ = scheduler.adapters(Bench.states([(.hci0, true)]), at: .at(0))
        #expect(scheduler.outlook(at: .at(0)) == Self.outlook(nil))
        _ = Self.heard(&scheduler, at: 1)
        #expect(scheduler.outlook(at: .at(1)).signs == [])
    }
}
