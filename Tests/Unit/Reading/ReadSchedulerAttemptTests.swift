import TestSupport
import Testing

@testable import IngestReading

/// Standing connection attempts; devices 1 to 3 advertise to their bonded central only, 9 is heard.
@Suite struct ReadSchedulerAttemptTests: ReadSchedulerBench {
    static func wokeUp(_ device: Int) -> Action {
        .discovered(Self.directed(.device(device)), .device(device))
    }

    static func attempt(_ device: Int, on adapter: AdapterID = .hci0, _ attempt: Int = 1) -> Action {
        .attempt(.device(device), Self.directed(.device(device)), adapter, attempt: attempt)
    }

    static func withdraw(_ device: Int, on adapter: AdapterID = .hci0) -> Action {
        .withdraw(.device(device), adapter)
    }

    /// 9 was read until second 3, and the attempt for 1 withdrawn for it at second 2.
    static let beside9: [(Double, Script.Step, [Action])] = [
        (1, .directed([1]), []), (1, .bind(1, to: 0), [attempt(1)]),
        (2, .heard(9), [discovered(9), withdraw(1)]), (2, .attemptEnded(1, .withdrawn), [read(9)]),
        (3, .finished(9), []),
    ]

    static let table: [Script] = [
        Script(
            "a bonded device is waited for, again and again",
            [
                (1, .directed([1]), []), (1, .bind(1, to: 0), [attempt(1)]),
                (26, .attemptEnded(1, .expired), [attempt(1)]),
                (51, .attemptEnded(1, .expired), [attempt(1)]),
            ]),
        Script(
            "also if the bond was known before the list",
            [(1, .bind(1, to: 0), []), (2, .directed([1]), [attempt(1)])]),
        Script("without a bond it is not", [(1, .directed([1]), []), (60, .wake, [])]),
        Script(
            "nor over another adapter than that with its keys",
            [
                (1, .directed([1]), []), (1, .bind(1, to: 1), []), (2, .wake, []),
                (3, .adapters([(.hci0, true), (.hci1, true)]), [attempt(1, on: .hci1)]),
            ]),
        Script(
            "connected to, it is read, and then left alone for quiet period and cooldown",
            [
                (1, .directed([1]), []), (1, .bind(1, to: 0), [attempt(1)]), (5, .connected(1), [wokeUp(1)]),
                (8, .finished(1), []), (22.9, .wake, []), (23, .wake, [attempt(1)]),
            ]),
        Script(
            "a read that fails is repeated after the back-off",
            [
                (1, .directed([1]), []), (1, .bind(1, to: 0), [attempt(1)]), (5, .connected(1), [wokeUp(1)]),
                (8, .finished(1, .failed), []), (9.9, .wake, []), (10, .wake, [attempt(1, 2)]),
                (11, .connected(1), []), (12, .finished(1, .failed), []), (15.9, .wake, []),
                (16, .wake, [attempt(1, 3)]),
            ]),
        Script(
            "several take turns",
            [
                (1, .directed([1, 2, 3]), []), (1, .bind(1, to: 0), [attempt(1)]), (2, .bind(2, to: 0), []),
                (3, .bind(3, to: 0), []), (26, .attemptEnded(1, .expired), [attempt(2)]),
                (51, .attemptEnded(2, .expired), [attempt(3)]),
                (76, .attemptEnded(3, .expired), [attempt(1)]),
            ]),
        Script(
            "while one is left alone the others have its turns",
            [
                (1, .directed([1, 2]), []), (1, .bind(1, to: 0), [attempt(1)]), (2, .bind(2, to: 0), []),
                (3, .connected(1), [wokeUp(1)]), (5, .finished(1), [attempt(2)]),
                (12, .attemptEnded(2, .expired), [attempt(2)]),
                (30, .attemptEnded(2, .expired), [attempt(1)]),
            ]),
        Script(
            "an attempt gives way to who wants to be read, and waits for its silence",
            beside9 + [(12.9, .wake, []), (13, .wake, []), (17.9, .wake, []), (18, .wake, [attempt(1)])]),
        Script(
            "an attempt that is being withdrawn is withdrawn once",
            Array(beside9.prefix(3)) + [(2.1, .heard(9), []), (2.2, .wake, [])]),
        Script(
            "a device that never falls silent holds it off for a minute, and then for a moment each time",
            beside9 + (4..<62).map { (Double($0), .heard(9), []) } + [
                (62, .wake, [attempt(1)]), (87, .attemptEnded(1, .expired), []),
            ] + (88..<102).map { (Double($0), .heard(9), []) } + [(102, .wake, [attempt(1)])]),
        Script(
            "devices that wake up one after another hold it off for a minute in all",
            beside9 + [
                (17, .heard(8), [discovered(8), read(8)]), (31, .finished(8), []),
                (32, .heard(7), [discovered(7), read(7)]), (61, .finished(7), []), (62, .wake, [attempt(1)]),
            ]),
        Script(
            "what backs off holds it off too",
            Array(beside9.dropLast()) + [
                (3, .finished(9, .failed), []), (4, .wake, []),
                (5, .heard(9), [.read(.device(9), Self.thermometer, .hci0, attempt: 2)]),
            ]),
        Script(
            "another adapter that hears the others does the listening", on: both,
            [
                (1, .directed([1]), []), (1, .heard(9, on: .hci0), [discovered(9)]),
                (1.1, .heard(9, on: .hci1), [read(9)]), (2, .finished(9), []),
                (3, .bind(1, to: 1), [attempt(1, on: .hci1)]),
            ]),
        Script(
            "a pause withdraws it, and its end brings it back",
            [
                (1, .directed([1]), []), (1, .bind(1, to: 0), [attempt(1)]), (2, .pause, [withdraw(1)]),
                (2.1, .attemptEnded(1, .withdrawn), []), (30, .wake, []), (60, .resume, [attempt(1)]),
            ]),
        Script(
            "an attempt that cannot be made is repeated ever more rarely",
            [
                (1, .directed([1]), []), (1, .bind(1, to: 0), [attempt(1)]),
                (2, .attemptEnded(1, .failed), []), (3.9, .wake, []), (4, .wake, [attempt(1)]),
                (5, .attemptEnded(1, .failed), []), (8.9, .wake, []), (9, .wake, [attempt(1)]),
                (34, .attemptEnded(1, .expired), [attempt(1)]), (35, .attemptEnded(1, .failed), []),
                (37, .wake, [attempt(1)]),
            ]),
        Script(
            "one that its adapter took along is made again when that is back",
            [
                (1, .directed([1]), []), (1, .bind(1, to: 0), [attempt(1)]), (2, .adapters([]), []),
                (3, .attemptEnded(1, .failed), []), (4, .adapters([(.hci0, true)]), [attempt(1)]),
            ]),
        Script(
            "a device that is heard while it is waited for is left to the attempt",
            [
                (1, .directed([1]), []), (1, .bind(1, to: 0), [attempt(1)]), (2, .heard(1), []),
                (3, .connected(1), [discovered(1)]),
            ]),
        Script(
            "without its bond it is waited for no more",
            [
                (1, .directed([1]), []), (1, .bind(1, to: 0), [attempt(1)]),
                (2, .bind(1, to: nil), [withdraw(1)]), (3, .connected(1), []),
                (3, .attemptEnded(1, .withdrawn), []), (30, .wake, []),
            ]),
        Script(
            "nor when it is no longer listed",
            [
                (1, .directed([1]), []), (1, .bind(1, to: 0), [attempt(1)]),
                (2, .directed([]), [withdraw(1)]),
                (3, .attemptEnded(1, .withdrawn), []), (30, .wake, []),
            ]),
    ]

    @Test(arguments: table) func attemptsStandForDevicesThatNoScanShows(script: Script) {
        script.play()
    }

    @Test func silenceIsNotCountedWhileAnAttemptWaits() {
        var scheduler = Self.scheduler()
        for line in Self.beside9 { _ = Script.perform(line.1, at: line.0, on: &scheduler) }
        for second in 4..<62 { _ = scheduler.heard(9, at: Double(second)) }
        #expect(scheduler.wake(at: .at(62)) == [Self.attempt(1)])
        // A second of its silence was listened to.
        #expect(scheduler.nextDeadline == nil)
        _ = scheduler.attemptEnded(.device(1), .expired, at: .at(87))
        #expect(scheduler.nextDeadline == .at(96))
    }

    @Test func theEndOfAHoldIsADeadline() {
        var scheduler = Self.scheduler()
        for line in Self.beside9 {
            _ = Script.perform(line.1, at: line.0, on: &scheduler)
        }
        for second in 4..<60 { _ = scheduler.heard(9, at: Double(second)) }
        _ = scheduler.heard(9, at: 60)
        #expect(scheduler.nextDeadline == .at(62))
    }

    @Test func aLinkThatNobodyWaitsForIsNotRead() {
        var scheduler = Self.scheduler()
        #expect(scheduler.connected(.device(1), at: .at(1)) == nil)
        #expect(scheduler.attemptEnded(.device(1), .expired, at: .at(1)) == [])
    }
}
