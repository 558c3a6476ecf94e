import TestSupport
import Testing

@testable import IngestReading

/// What the tests of the scheduler have in common.
protocol ReadSchedulerBench {}

extension ReadSchedulerBench {
    typealias Action = ReadScheduler.Action
    typealias Script = ReadSchedulerScript

    static var thermometer: AllowedPeripheral { AllowedPeripheral(model: .sample()) }
    static var both: [AdapterID] { [.hci0, .hci1] }

    static func pinned(_ device: DeviceAddress, subject: String? = nil) -> AllowedPeripheral {
        AllowedPeripheral(model: .sample(), address: device.address, subject: subject)
    }

    static func directed(_ device: DeviceAddress) -> AllowedPeripheral {
        AllowedPeripheral(model: .sample(quirks: [.directedAdvertising]), address: device.address)
    }

    static func states(_ listening: [(AdapterID, Bool)]) -> [AdapterState] {
        listening.map { adapter, isListening in
            AdapterState(
                id: adapter, address: BluetoothAddress(value: UInt64(adapter.index)),
                isListening: isListening,
                reason: isListening ? nil : "powered off")
        }
    }

    /// A scheduler whose adapters listen from second 0 on, and whose back-off is the whole delay.
    static func scheduler(_ adapters: [AdapterID] = [.hci0]) -> SchedulerWithNeighbour {
        var scheduler = SchedulerWithNeighbour(ReadScheduler(jitter: { 1 }))
        #expect(scheduler.adapters(states(adapters.map { ($0, true) }), at: .at(0)) == [])
        return scheduler
    }

    static func discovered(_ device: Int) -> Action { .discovered(thermometer, .device(device)) }

    static func read(_ device: Int, on adapter: AdapterID = .hci0, attempt: Int = 1) -> Action {
        .read(.device(device), thermometer, adapter, attempt: attempt)
    }
}

@Suite struct ReadSchedulerTests: ReadSchedulerBench {
    /// Any number of strangers can claim to be of a model, hold the adapter and give nothing.
    @Test func whoIsNamedByAddressIsReadBeforeAllOthersThatWait() {
        var scheduler = Self.scheduler()
        _ = scheduler.heard(1, at: 1)
        _ = scheduler.linked(.device(1), at: .at(1))
        for stranger in 2...6 { #expect(scheduler.heard(stranger, at: 2) == [Self.discovered(stranger)]) }
        let named = Self.pinned(.device(9))
        #expect(
            scheduler.heard(.sample(of: .device(9), on: .hci0, rssi: -60, at: 3), as: named)
                == [.discovered(named, .device(9)), .giveWay(.device(1), .turn)])
        #expect(
            scheduler.finished(.device(1), outcome: .failed, at: .at(4))
                == [.read(.device(9), named, .hci0, attempt: 1)])
        #expect(scheduler.finished(.device(9), outcome: .succeeded, at: .at(5)) == [Self.read(2)])
    }

    @Test func aPeripheralIsReadAtItsFirstAdvertAndNotAgainWhileItAdvertises() {
        var scheduler = Self.scheduler()
        #expect(scheduler.heard(1, at: 1) == [Self.discovered(1), Self.read(1)])
        #expect(scheduler.heard(1, at: 1.1) == [])
        #expect(scheduler.finished(.device(1), outcome: .succeeded, at: .at(2)) == [])
        for second in 3..<60 { #expect(scheduler.heard(1, at: Double(second)) == []) }
    }

    @Test func aPeripheralThatWasSilentIsReadAgain() {
        var scheduler = Self.scheduler()
        _ = scheduler.heard(1, at: 1)
        _ = scheduler.finished(.device(1), outcome: .succeeded, at: .at(2))
        #expect(scheduler.nextDeadline == .at(12))
        #expect(scheduler.wake(at: .at(12)) == [])
        #expect(scheduler.nextDeadline == .at(17))
        #expect(scheduler.wake(at: .at(17)) == [])
        #expect(scheduler.nextDeadline == nil)
        #expect(scheduler.heard(1, at: 20) == [Self.discovered(1), Self.read(1)])
    }

    @Test func aFailedReadIsTriedAgainAfterItsBackOffWithoutBeingDiscoveredAgain() {
        var scheduler = Self.scheduler()
        _ = scheduler.heard(1, at: 1)
        #expect(scheduler.finished(.device(1), outcome: .failed, at: .at(2)) == [])
        #expect(scheduler.heard(1, at: 3.9) == [])
        #expect(scheduler.heard(1, at: 4) == [Self.read(1, attempt: 2)])
    }

    @Test func anAdapterReadsOnePeripheralAtATimeInTheOrderHeard() {
        var scheduler = Self.scheduler()
        #expect(scheduler.heard(1, at: 1) == [Self.discovered(1), Self.read(1)])
        #expect(scheduler.heard(2, at: 2) == [Self.discovered(2)])
        #expect(scheduler.heard(3, at: 3) == [Self.discovered(3)])
        // More adverts change no place in the queue.
        #expect(scheduler.heard(2, at: 4) == [])
        #expect(scheduler.finished(.device(1), outcome: .succeeded, at: .at(5)) == [Self.read(2)])
        #expect(scheduler.linked(.device(2), at: .at(5)) == [])
        #expect(scheduler.finished(.device(2), outcome: .failed, at: .at(6)) == [Self.read(3)])
        #expect(scheduler.finished(.device(3), outcome: .succeeded, at: .at(7)) == [])
    }

    @Test func aPeripheralThatHasGoneWhileItWaitedIsNotConnectedTo() {
        var scheduler = Self.scheduler()
        _ = scheduler.heard(1, at: 1)
        _ = scheduler.heard(2, at: 2)
        _ = scheduler.heard(3, at: 8)
        #expect(scheduler.nextDeadline == .at(12))
        #expect(scheduler.finished(.device(1), outcome: .succeeded, at: .at(13)) == [Self.read(3)])
        // Back again, it has woken up anew.
        #expect(scheduler.heard(2, at: 14) == [Self.discovered(2)])
    }

    @Test func anAdvertKeepsAPeripheralWaiting() {
        var scheduler = Self.scheduler()
        _ = scheduler.heard(1, at: 1)
        for second in stride(from: 2.0, to: 30, by: 9) { _ = scheduler.heard(2, at: second) }
        #expect(scheduler.finished(.device(1), outcome: .succeeded, at: .at(30)) == [Self.read(2)])
    }

    @Test func aConnectionAttemptIsNoSilence() {
        var scheduler = Self.scheduler()
        _ = scheduler.heard(1, at: 1)
        _ = scheduler.finished(.device(1), outcome: .succeeded, at: .at(2))
        _ = scheduler.heard(2, at: 3)
        _ = scheduler.heard(3, at: 4)
        scheduler.connecting(.hci0, true, at: .at(5))
        // It keeps 3 waiting for 5 s.
        #expect(scheduler.nextDeadline == .at(8))
        #expect(scheduler.wake(at: .at(25)) == [.giveWay(.device(2), .connection)])
        scheduler.connecting(.hci0, false, at: .at(25))
        // Of the ten seconds, 1 has three behind it, and 3, which waits, has one.
        #expect(scheduler.nextDeadline == .at(32))
        #expect(scheduler.finished(.device(2), outcome: .succeeded, at: .at(33)) == [Self.read(3)])
        #expect(scheduler.heard(1, at: 34) == [])
    }

    @Test func aReadThatEndedConnectsNoMore() {
        var scheduler = Self.scheduler()
        _ = scheduler.heard(1, at: 1)
        scheduler.connecting(.hci0, true, at: .at(1))
        _ = scheduler.finished(.device(1), outcome: .failed, at: .at(21))
        #expect(scheduler.nextDeadline == .at(31))
    }

    @Test func anAdapterThatDoesNotListenHearsNoSilence() {
        var scheduler = Self.scheduler()
        _ = scheduler.heard(1, at: 1)
        _ = scheduler.finished(.device(1), outcome: .succeeded, at: .at(2))
        _ = scheduler.adapters(Self.states([(.hci0, false)]), at: .at(5))
        #expect(scheduler.nextDeadline == nil)
        _ = scheduler.adapters(Self.states([(.hci0, true)]), at: .at(100))
        #expect(scheduler.nextDeadline == .at(107))
        #expect(scheduler.heard(1, at: 106) == [])
    }

    @Test func whenTheAdapterIsGoneAnotherOneListensForItsPeripherals() {
        var scheduler = Self.scheduler([.hci0])
        _ = scheduler.heard(1, at: 1)
        _ = scheduler.finished(.device(1), outcome: .succeeded, at: .at(2))
        _ = scheduler.adapters([], at: .at(5))
        #expect(scheduler.nextDeadline == nil)
        // The same stick under another index.
        _ = scheduler.adapters(Self.states([(.hci1, true)]), at: .at(10))
        #expect(scheduler.nextDeadline == .at(17))
        #expect(scheduler.heard(1, on: .hci1, at: 22) == [Self.discovered(1), Self.read(1, on: .hci1)])
    }

    @Test func whatWaitedForAnAdapterThatWentAwayWaitsForItsNextAdvert() {
        var scheduler = Self.scheduler()
        _ = scheduler.heard(1, at: 1)
        _ = scheduler.heard(2, at: 2)
        #expect(scheduler.adapters([], at: .at(3)) == [])
        #expect(scheduler.finished(.device(1), outcome: .failed, at: .at(3)) == [])
        #expect(scheduler.adapters(Self.states([(.hci0, true)]), at: .at(3_600)) == [])
        #expect(scheduler.heard(2, at: 3_601) == [Self.discovered(2), Self.read(2)])
    }

    @Test func anAdvertThatComesBeforeTheNewsOfItsAdapterWaitsForIt() {
        var scheduler = SchedulerWithNeighbour(ReadScheduler(jitter: { 1 }))
        #expect(scheduler.heard(1, at: 1) == [Self.discovered(1)])
        #expect(scheduler.adapters(Self.states([(.hci0, true)]), at: .at(2)) == [Self.read(1)])
    }

    @Test func anAdapterThatCameBackDuringAReadStartsNoSecondOne() {
        var scheduler = Self.scheduler()
        _ = scheduler.heard(1, at: 1)
        _ = scheduler.linked(.device(1), at: .at(1))
        _ = scheduler.adapters([], at: .at(2))
        _ = scheduler.adapters(Self.states([(.hci0, true)]), at: .at(3))
        #expect(scheduler.heard(2, at: 4) == [Self.discovered(2)])
        #expect(scheduler.finished(.device(1), outcome: .failed, at: .at(5)) == [Self.read(2)])
    }

    @Test func theEndOfAReadThatNobodyStartedChangesNothing() {
        var scheduler = Self.scheduler()
        _ = scheduler.heard(1, at: 1)
        #expect(scheduler.finished(.device(9), outcome: .succeeded, at: .at(2)) == [])
        #expect(scheduler.finished(.device(1), outcome: .succeeded, at: .at(3)) == [])
        #expect(scheduler.finished(.device(1), outcome: .failed, at: .at(4)) == [])
        #expect(scheduler.nextDeadline == .at(13))
    }

    @Test func theModelsTimeForReadingAgainIsUsed() {
        let entry = AllowedPeripheral(model: .sample(rearm: .seconds(60)))
        var scheduler = Self.scheduler()
        _ = scheduler.heard(.sample(of: .device(1), at: 1), as: entry)
        _ = scheduler.finished(.device(1), outcome: .succeeded, at: .at(2))
        for second in 3..<62 {
            #expect(scheduler.heard(.sample(of: .device(1), at: Double(second)), as: entry) == [])
        }
        #expect(
            scheduler.heard(.sample(of: .device(1), at: 62), as: entry)
                == [.discovered(entry, .device(1)), .read(.device(1), entry, .hci0, attempt: 1)])
    }

    @Test func aNewQuietPeriodHoldsAtOnce() {
        var scheduler = Self.scheduler()
        _ = scheduler.heard(1, at: 1)
        _ = scheduler.finished(.device(1), outcome: .succeeded, at: .at(2))
        scheduler.timing.quietPeriod = .seconds(30)
        #expect(scheduler.nextDeadline == .at(32))
    }
}

@Suite struct ReadSchedulerBoundTests {
    static let limit = ReadScheduler.maximumUnpinnedPeripherals

    /// As many peripherals as can be followed, silent again since second 30, 7 heard last.
    static func fullScheduler() -> SchedulerWithNeighbour {
        var scheduler = ReadSchedulerScript.scheduler()
        for number in 0..<limit { _ = scheduler.heard(number, at: 1 + Double(number) / 1_000) }
        for number in 0..<limit { _ = scheduler.finished(.device(number), outcome: .succeeded, at: .at(3)) }
        _ = scheduler.wake(at: .at(30))
        _ = scheduler.heard(7, at: 30)
        _ = scheduler.finished(.device(7), outcome: .succeeded, at: .at(31))
        _ = scheduler.wake(at: .at(60))
        return scheduler
    }

    @Test func theLongestIdleIsForgottenFirst() {
        var scheduler = Self.fullScheduler()
        for number in 0..<8 { _ = scheduler.heard(10_000 + number, at: 60) }
        #expect(scheduler.peripherals.count == Self.limit)
        let kept = (0...8).filter { scheduler.peripherals[.device($0)] != nil }
        #expect(kept == [7])
    }

    @Test func noneInUseIsForgotten() {
        var scheduler = ReadSchedulerScript.scheduler()
        for number in 0..<Self.limit { _ = scheduler.heard(number, at: 1) }
        #expect(scheduler.heard(10_000, at: 2) == [])
        #expect(scheduler.peripherals.count == Self.limit)
        #expect(scheduler.peripherals[.device(10_000)] == nil)
    }

    @Test func aPeripheralNamedByAddressAlwaysHasRoom() {
        var scheduler = ReadSchedulerScript.scheduler()
        for number in 0..<Self.limit { _ = scheduler.heard(number, at: 1) }
        let entry = ReadSchedulerScript.pinned(.device(10_000))
        #expect(
            scheduler.heard(.sample(of: .device(10_000), at: 2), as: entry)
                == [.discovered(entry, .device(10_000))])
    }
}

@Suite struct ReadSchedulerReloadTests {
    static let thermometer = ReadSchedulerScript.thermometer

    @Test func whatIsNoLongerAllowedIsForgottenAndTheOthersStay() {
        var scheduler = ReadSchedulerScript.scheduler()
        let pinned = ReadSchedulerScript.pinned(.device(2))
        _ = scheduler.heard(1, at: 1)
        _ = scheduler.finished(.device(1), outcome: .succeeded, at: .at(2))
        _ = scheduler.heard(.sample(of: .device(2), at: 2), as: pinned)
        _ = scheduler.finished(.device(2), outcome: .succeeded, at: .at(3))
        _ = scheduler.allow(AllowList([pinned]), at: .at(4))
        #expect(scheduler.peripherals.keys.map(\.self) == [.device(2)])
        #expect(scheduler.nextDeadline == .at(13))
    }

    @Test func aPeripheralThatWaitsTakesItsNewEntryAndKeepsItsPlace() {
        var scheduler = ReadSchedulerScript.scheduler()
        _ = scheduler.heard(1, at: 1)
        _ = scheduler.heard(2, at: 2)
        _ = scheduler.heard(3, at: 2)
        let entry = ReadSchedulerScript.pinned(.device(2), subject: "patient-17")
        _ = scheduler.allow(AllowList([entry, Self.thermometer]), at: .at(3))
        #expect(
            scheduler.finished(.device(1), outcome: .succeeded, at: .at(4))
                == [.read(.device(2), entry, .hci0, attempt: 1)])
    }

    @Test func aPeripheralThatWaitsAndIsNoLongerAllowedIsNotRead() {
        var scheduler = ReadSchedulerScript.scheduler()
        let pinned = ReadSchedulerScript.pinned(.device(1))
        _ = scheduler.heard(.sample(of: .device(1), at: 1), as: pinned)
        _ = scheduler.heard(2, at: 2)
        _ = scheduler.allow(AllowList([pinned]), at: .at(3))
        #expect(scheduler.finished(.device(1), outcome: .succeeded, at: .at(4)) == [])
    }

    @Test func aReadThatRunsIsNotDropped() {
        var scheduler = ReadSchedulerScript.scheduler()
        _ = scheduler.heard(1, at: 1)
        _ = scheduler.allow(AllowList([ReadSchedulerScript.pinned(.device(2))]), at: .at(2))
        let pinned = ReadSchedulerScript.pinned(.device(2))
        // The adapter is still in use.
        #expect(
            scheduler.heard(.sample(of: .device(2), at: 3), as: pinned) == [.discovered(pinned, .device(2))])
        #expect(
            scheduler.finished(.device(1), outcome: .succeeded, at: .at(4))
                == [.read(.device(2), pinned, .hci0, attempt: 1)])
        #expect(scheduler.peripherals[.device(1)] == nil)
    }

    @Test func aPeripheralAllowedAgainDuringItsReadIsNotReadTwice() {
        var scheduler = ReadSchedulerScript.scheduler()
        _ = scheduler.heard(1, at: 1)
        _ = scheduler.allow(AllowList(), at: .at(2))
        _ = scheduler.allow(AllowList([Self.thermometer]), at: .at(3))
        #expect(scheduler.heard(1, at: 4) == [])
        _ = scheduler.finished(.device(1), outcome: .succeeded, at: .at(5))
        #expect(scheduler.heard(1, at: 6) == [])
    }
}
