import TestSupport
import Testing

@testable import IngestReading

@Suite struct ReadSchedulerBondTests: ReadSchedulerBench {
    /// The adapter of index n has the address n.
    static let table: [Script] = [
        Script(
            "a bonded device is read over the adapter that has its keys", on: both,
            [
                (1, .bind(1, to: 1), []), (2, .heard(1, on: .hci0), [discovered(1)]),
                (3, .heard(1, on: .hci1), [read(1, on: .hci1)]),
            ]),
        Script(
            "another adapter that hears it later takes nothing away", on: both,
            [
                (1, .bind(1, to: 1), []), (1, .bind(2, to: 1), []),
                (2, .heard(2, on: .hci1), [discovered(2), read(2, on: .hci1)]),
                (3, .heard(1, on: .hci1), [discovered(1)]), (4, .heard(1, on: .hci0), []),
                (5, .finished(2), [read(1, on: .hci1)]),
            ]),
        Script(
            "without the adapter it is not read",
            [
                (1, .bind(1, to: 1), []), (2, .heard(1), [discovered(1)]), (3, .wake, []),
                (4, .adapters([(.hci0, true), (.hci1, true)]), []),
                (5, .heard(1, on: .hci1), [read(1, on: .hci1)]),
            ]),
        Script(
            "a bond made while it waits holds", on: both,
            [
                (1, .heard(1), [discovered(1)]), (1.1, .bind(1, to: 1), []), (2, .wake, []),
                (3, .heard(1, on: .hci1), [read(1, on: .hci1)]),
            ]),
        Script(
            "when the bond is gone any adapter reads it", on: both,
            [
                (1, .bind(1, to: 1), []), (2, .heard(1, on: .hci0), [discovered(1)]),
                (3, .bind(1, to: nil), [read(1)]),
            ]),
        Script(
            "a read under way over another adapter goes on", on: both,
            [
                (1, .heard(1), [discovered(1)]), (1.2, .wake, [read(1)]), (2, .bind(1, to: 1), []),
                (3, .finished(1), []), (4, .heard(1, on: .hci1), []),
            ]),
    ]

    @Test func silenceIsWhatTheAdapterWithTheKeysHears() {
        var scheduler = Self.scheduler(Self.both)
        _ = scheduler.bind(.device(1), to: BluetoothAddress(value: 1), at: .at(0))
        _ = scheduler.heard(1, on: .hci1, at: 1)
        _ = scheduler.finished(.device(1), outcome: .succeeded, at: .at(2))
        _ = scheduler.adapters(Self.states([(.hci0, true), (.hci1, false)]), at: .at(5))
        // Private addresses mean nothing to the other one.
        #expect(scheduler.nextDeadline == nil)
    }

    @Test(arguments: table) func aBondHoldsADeviceToItsAdapter(script: Script) {
        script.play()
    }
}
