import TestSupport
import Testing

@testable import IngestReading

@Suite struct ReadSchedulerPauseTests: ReadSchedulerBench {
    static let table: [Script] = [
        Script(
            "a stranger without room is not read, others are, and it is when there is room",
            [
                (1, .full(FullStrangers(devices: [DeviceAddress.device(1).address])), []),
                (2, .heard(1), [discovered(1)]), (3, .heard(2), [discovered(2), read(2)]),
                (4, .finished(2), []), (5, .heard(1), []), (6, .full(FullStrangers()), [read(1)]),
            ]),
        Script(
            "without room for strangers none is read, and who has gone is forgotten",
            [
                (1, .full(FullStrangers(isAll: true)), []), (2, .heard(1), [discovered(1)]),
                (3, .heard(2), [discovered(2)]), (9, .heard(2), []), (13, .wake, []),
                (14, .full(FullStrangers()), [read(2)]), (15, .heard(1), [discovered(1)]),
            ]),
        Script(
            "a read under way goes on when there is no more room",
            [
                (1, .heard(1), [discovered(1), read(1)]), (2, .full(FullStrangers(isAll: true)), []),
                (3, .finished(1), []),
            ]),
        Script(
            "what is heard during a pause is read after it",
            [
                (1, .pause, []), (2, .heard(1), [discovered(1)]), (3, .heard(1), []),
                (4, .resume, [read(1)]),
            ]),
        Script(
            "a read under way goes on, and the next one waits for the end of the pause",
            [
                (1, .heard(1), [discovered(1), read(1)]), (2, .heard(2), [discovered(2)]), (3, .pause, []),
                (4, .finished(1), []), (5, .wake, []), (6, .resume, [read(2)]),
            ]),
        Script(
            "who waits keeps its place over a long pause, and is read when it is heard again",
            [
                (1, .heard(1), [discovered(1), read(1)]), (2, .heard(2), [discovered(2)]),
                (3, .heard(3), [discovered(3)]), (4, .pause, []), (5, .finished(1), []), (100, .wake, []),
                (100, .heard(3), []), (101, .resume, [read(3)]), (102, .finished(3), []),
                (103, .heard(2), [read(2)]),
            ]),
        Script(
            "who has gone during the pause is forgotten some time after it",
            [
                (1, .pause, []), (2, .heard(1), [discovered(1)]), (100, .resume, []), (109, .wake, []),
                (110, .wake, []), (111, .heard(1), [discovered(1), read(1)]),
            ]),
        Script(
            "who had gone before the pause is not kept by it",
            [
                (1, .heard(1), [discovered(1), read(1)]), (2, .heard(2), [discovered(2)]), (12, .pause, []),
                (13, .heard(2), [discovered(2)]),
            ]),
        Script(
            "the debounce goes on during a pause",
            [
                (1, .heard(1), [discovered(1), read(1)]), (2, .finished(1), []), (3, .pause, []),
                (17, .heard(1), [discovered(1)]), (18, .resume, [read(1)]),
            ]),
        Script(
            "the back-off goes on during a pause",
            [
                (1, .heard(1), [discovered(1), read(1)]), (2, .finished(1, .failed), []), (3, .pause, []),
                (4, .heard(1), []), (5, .resume, [read(1, attempt: 2)]),
            ]),
        Script(
            "each pause needs its end",
            [
                (1, .pause, []), (2, .pause, []), (3, .heard(1), [discovered(1)]), (4, .resume, []),
                (5, .resume, [read(1)]),
            ]),
        Script(
            "who was paired in the pause is read when it is heard again, the others at once",
            [
                (1, .pause, []), (2, .heard(1), [discovered(1)]), (3, .heard(2), [discovered(2)]),
                (4, .resumeAfter(1), [read(2)]), (5, .finished(2), []), (6, .heard(1), [read(1)]),
            ]),
        Script(
            "who was read over its pairing's link is left alone until it was silent",
            [
                (1, .pause, []), (2, .heard(1), [discovered(1)]), (3, .readAfterPairing(1), [read(1)]),
                (4, .finished(1), []), (5, .resumeAfter(1), []), (14, .heard(1), []),
                (28, .heard(1), []), (50, .heard(1), [discovered(1), read(1)]),
            ]),
        Script(
            "silence after that is what was listened to",
            [
                (3, .readAfterPairing(1), [read(1)]), (4, .finished(1), []),
                (5, .adapters([(.hci0, false)]), []), (90, .adapters([(.hci0, true)]), []),
                (91, .heard(1), []), (107, .heard(1), [discovered(1), read(1)]),
            ]),
        Script(
            "a failed read over the pairing's link is tried again after the back-off",
            [
                (1, .pause, []), (3, .readAfterPairing(1), [read(1)]), (4, .finished(1, .failed), []),
                (5, .resumeAfter(1), []), (5.5, .heard(1), []), (6, .heard(1), [read(1, attempt: 2)]),
            ]),
        Script(
            "who is paired anew starts anew",
            [
                (1, .heard(1), [discovered(1), read(1)]), (2, .finished(1), []), (3, .pause, []),
                (4, .readAfterPairing(1), [read(1)]), (5, .finished(1, .failed), []),
                (6, .resumeAfter(1), []), (7, .heard(1), [read(1, attempt: 2)]),
            ]),
        Script(
            "an end without a pause does nothing, also for the next pause",
            [(1, .resume, []), (2, .pause, []), (3, .heard(1), [discovered(1)]), (4, .wake, [])]),
    ]

    @Test(arguments: table) func aPauseHoldsReadsBack(script: Script) {
        script.play()
    }

    @Test func nobodyWaitsTooLongDuringAPause() {
        var scheduler = Self.scheduler()
        #expect(scheduler.pause(at: .at(1)) == [])
        _ = scheduler.heard(1, at: 2)
        #expect(scheduler.nextDeadline == nil)
        _ = scheduler.resume(at: .at(60))
        #expect(scheduler.nextDeadline == .at(70))
    }
}
