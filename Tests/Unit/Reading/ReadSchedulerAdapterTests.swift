import TestSupport
import Testing

@testable import IngestReading

/// Several adapters that hear the same peripherals.
@Suite struct ReadSchedulerAdapterTests: ReadSchedulerBench {
    static let one = [(AdapterID.hci1, true)]

    static let table: [Script] = [
        Script(
            "the stronger signal reads, whoever is first", on: both,
            [
                (1, .heard(1, on: .hci0, rssi: -80), [discovered(1)]),
                (1.01, .heard(1, on: .hci1, rssi: -50), [read(1, on: .hci1)]),
            ]),
        Script(
            "who is heard by one adapter alone is read by it after a moment", on: both,
            [
                (1, .heard(1, on: .hci1, rssi: -90), [discovered(1)]), (1.19, .wake, []),
                (1.2, .wake, [read(1, on: .hci1)]),
            ]),
        Script(
            "an adapter that does not listen is not waited for", on: both,
            [
                (0, .adapters([(.hci0, true), (.hci1, false)]), []),
                (1, .heard(1), [discovered(1), read(1)]),
            ]),
        Script(
            "two adapters read two peripherals at once", on: both,
            [
                (1, .heard(1, on: .hci0, rssi: -50), [discovered(1)]),
                (1, .heard(1, on: .hci1, rssi: -60), [read(1)]),
                (2, .heard(2, on: .hci0, rssi: -50), [discovered(2)]),
                (2, .heard(2, on: .hci1, rssi: -60), [read(2, on: .hci1)]),
                (3, .heard(3, on: .hci1), [discovered(3)]), (3.2, .wake, []),
                (4, .finished(2), [read(3, on: .hci1)]),
            ]),
        Script(
            "a peripheral that two hear is one", on: both,
            [
                (1, .heard(1, on: .hci0), [discovered(1)]), (1, .heard(1, on: .hci1), [read(1)]),
                (2, .finished(1), []), (3, .heard(1, on: .hci1), []), (3, .heard(1, on: .hci0), []),
            ]),
        Script(
            "one that waits for a busy adapter is read by another that comes to hear it", on: both,
            [
                (1, .heard(1, on: .hci0), [discovered(1)]), (1.2, .wake, [read(1)]),
                (2, .heard(2, on: .hci0), [discovered(2)]), (2.2, .wake, []),
                (3, .heard(2, on: .hci1), [read(2, on: .hci1)]),
            ]),
        Script(
            "a faint adapter reads when the strong one stays busy", on: both,
            [
                (1, .heard(1, on: .hci0), [discovered(1)]), (1.2, .wake, [read(1)]),
                (1.3, .linked(1), []), (2, .heard(2, on: .hci0, rssi: -50), [discovered(2)]),
                (2.1, .heard(2, on: .hci1, rssi: -90), []), (6.9, .wake, []),
                (7, .wake, [read(2, on: .hci1)]),
            ]),
        Script(
            "an adapter that heard it long ago does not read it", on: both,
            [
                (1, .heard(1, on: .hci0, rssi: -40), [discovered(1)]), (1.2, .wake, [read(1)]),
                (2, .finished(1), []), (30, .wake, []),
                (31, .heard(1, on: .hci1, rssi: -80), [discovered(1)]),
                (31.2, .wake, [read(1, on: .hci1)]),
            ]),
        Script(
            "who waits for an adapter that goes away is read by the others at once", on: both,
            [
                (1, .heard(1, on: .hci0), [discovered(1)]), (1.2, .wake, [read(1)]),
                (2, .heard(2, on: .hci0, rssi: -50), [discovered(2)]),
                (2.1, .heard(2, on: .hci1, rssi: -90), []),
                (3, .adapters(one), [read(2, on: .hci1)]),
            ]),
        Script(
            "a read whose adapter went away is repeated on the other without delay", on: both,
            [
                (1, .heard(1, on: .hci0), [discovered(1)]), (1.2, .wake, [read(1)]),
                (2, .adapters(one), []), (3, .finished(1, .failed), []),
                (3.1, .heard(1, on: .hci1), [read(1, on: .hci1, attempt: 2)]),
            ]),
        Script(
            "so is one whose failure is told before the loss", on: both,
            [
                (1, .heard(1, on: .hci0), [discovered(1)]), (1.2, .wake, [read(1)]),
                (2, .finished(1, .failed), []), (2.1, .adapters(one), []),
                (2.2, .heard(1, on: .hci1), [read(1, on: .hci1, attempt: 2)]),
            ]),
        Script(
            "so is one whose adapter is back before it failed", on: both,
            [
                (1, .heard(1, on: .hci0), [discovered(1)]), (1.2, .wake, [read(1)]),
                (2, .adapters(one), []), (2.1, .adapters(both.map { ($0, true) }), []),
                (3, .finished(1, .failed), []), (3.1, .heard(1, on: .hci1), []),
                (3.3, .wake, [read(1, on: .hci1, attempt: 2)]),
            ]),
        Script(
            "a failure before the loss keeps its delay", on: both,
            [
                (1, .heard(1, on: .hci0), [discovered(1)]), (1.2, .wake, [read(1)]),
                (2, .finished(1, .failed), []), (4, .adapters(one), []), (3.9, .heard(1, on: .hci1), []),
                (4, .heard(1, on: .hci1), [read(1, on: .hci1, attempt: 2)]),
            ]),
        Script(
            "where no other adapter listens the delay stays",
            [
                (1, .heard(1), [discovered(1), read(1)]), (2, .adapters([]), []),
                (3, .finished(1, .failed), []), (3.1, .adapters([(.hci0, true)]), []),
                (4.9, .heard(1), []), (5, .heard(1), [read(1, attempt: 2)]),
            ]),
    ]

    @Test(arguments: table) func theAdaptersShareThePeripherals(script: Script) {
        script.play()
    }

    @Test func theMomentForTheOthersIsADeadline() {
        var scheduler = Self.scheduler(Self.both)
        _ = scheduler.heard(1, at: 1)
        #expect(scheduler.nextDeadline == .at(1.2))
    }

    /// Read over hci0 and heard again at second 3 by `hearing`, with a connection attempt on `busy`
    /// from second 5 on; when it is silent for long enough.
    @Test(
        arguments: [
            ([.hci0], [.hci1], 13.0), ([.hci0], [.hci0], nil), ([.hci0, .hci1], [.hci0], 13.0),
            ([.hci0, .hci1], [.hci0, .hci1], nil),
        ] as [([AdapterID], [AdapterID], Double?)])
    func silenceIsWhatAnyAdapterThatHearsItListensTo(
        hearing: [AdapterID], busy: [AdapterID], second: Double?
    ) {
        var scheduler = Self.scheduler(Self.both)
        _ = scheduler.heard(1, on: .hci0, at: 1)
        #expect(scheduler.wake(at: .at(1.2)) == [Self.read(1)])
        _ = scheduler.finished(.device(1), outcome: .succeeded, at: .at(2))
        for adapter in hearing { _ = scheduler.heard(1, on: adapter, at: 3) }
        for adapter in busy { scheduler.connecting(adapter, true, at: .at(5)) }
        #expect(scheduler.nextDeadline == second.map { .at($0) })
    }
}
