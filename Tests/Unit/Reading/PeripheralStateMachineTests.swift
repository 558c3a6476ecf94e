import TestSupport
import Testing

@testable import IngestReading

@Suite struct PeripheralStateMachineTests {
    typealias State = PeripheralStateMachine.State
    typealias Input = PeripheralStateMachine.Input
    typealias Output = PeripheralStateMachine.Output

    /// A machine that listens and receives from second 0 on, after these inputs.
    static func machine(
        after inputs: [(Input, Double)], rearm: Duration? = nil
    ) -> MachineWithNeighbour {
        var machine = MachineWithNeighbour(PeripheralStateMachine(timing: PassiveTiming(), rearm: rearm))
        _ = machine.handle(.listening(true), at: .at(0))
        _ = machine.handle(.receiving(true), at: .at(0))
        for (input, seconds) in inputs { _ = machine.handle(input, at: .at(seconds)) }
        return machine
    }

    static let reading: [(Input, Double)] = [(.readStarted, 1)]
    static let quieting = reading + [(.readSucceeded, 2)]
    static let cooling = quieting + [(.tick, 12)]
    static let backingOff = reading + [(.readFailed(jitter: 1), 2)]

    struct Row: Sendable, CustomTestStringConvertible {
        let name: String
        let setup: [(Input, Double)]
        let input: Input
        let second: Double
        let state: State
        let output: Output

        init(
            _ name: String, _ setup: [(Input, Double)], _ input: Input, at second: Double, _ state: State,
            _ output: Output = .none
        ) {
            self.name = name
            self.setup = setup
            self.input = input
            self.second = second
            self.state = state
            self.output = output
        }

        var testDescription: String { "\(name), \(input)" }
    }

    static let seconds2: State = .quieting(heard: .seconds(2), rearm: nil)
    static let silent: State = .cooling(since: .seconds(12), rearm: nil, isProved: true)
    static let failedOnce: State = .backingOff(failures: 1, until: .at(4), heard: .seconds(2))

    static let table: [Row] = [
        Row("idle", [], .advert, at: 3, .idle, .read),
        Row("idle", [], .readStarted, at: 3, .reading(attempt: 1)),
        Row("idle", [], .readSucceeded, at: 3, .idle),
        Row("idle", [], .readFailed(jitter: 1), at: 3, .idle),
        Row("idle", [], .backOffEnded, at: 3, .idle),
        Row("idle", [], .listening(false), at: 3, .idle),
        Row("idle", [], .tick, at: 3000, .idle),

        Row("reading", reading, .advert, at: 3, .reading(attempt: 1)),
        Row("reading", reading, .readStarted, at: 3, .reading(attempt: 1)),
        Row("reading", reading, .readSucceeded, at: 3, .quieting(heard: .seconds(3), rearm: nil)),
        Row(
            "reading", reading, .readFailed(jitter: 1), at: 3,
            .backingOff(failures: 1, until: .at(5), heard: .seconds(3))),
        Row("reading", reading, .backOffEnded, at: 3, .reading(attempt: 1)),
        Row("reading", reading, .listening(false), at: 3, .reading(attempt: 1)),
        Row("reading", reading, .tick, at: 3000, .reading(attempt: 1)),

        Row("quieting", quieting, .advert, at: 9, .quieting(heard: .seconds(9), rearm: nil)),
        Row("quieting", quieting, .readStarted, at: 3, seconds2),
        Row("quieting", quieting, .readSucceeded, at: 3, seconds2),
        Row("quieting", quieting, .readFailed(jitter: 1), at: 3, seconds2),
        Row("quieting", quieting, .backOffEnded, at: 3, seconds2),
        Row("quieting", quieting, .listening(false), at: 3, seconds2),
        Row("quieting", quieting, .tick, at: 11.9, seconds2),
        Row("quieting, silent for the quiet period", quieting, .tick, at: 12, silent),
        Row("quieting, silent for both times", quieting, .tick, at: 17, .idle),
        Row("quieting, silent for both times", quieting, .advert, at: 17, .idle, .read),

        Row("cooling", cooling, .advert, at: 13, .quieting(heard: .seconds(13), rearm: nil)),
        Row("cooling", cooling, .readStarted, at: 13, silent),
        Row("cooling", cooling, .readSucceeded, at: 13, silent),
        Row("cooling", cooling, .readFailed(jitter: 1), at: 13, silent),
        Row("cooling", cooling, .backOffEnded, at: 13, silent),
        Row("cooling", cooling, .listening(false), at: 13, silent),
        Row("cooling", cooling, .tick, at: 16.9, silent),
        Row("cooling, cooldown over", cooling, .tick, at: 17, .idle),
        Row("cooling, cooldown over", cooling, .advert, at: 17, .idle, .read),

        Row(
            "backing off", backingOff, .advert, at: 3.5,
            .backingOff(failures: 1, until: .at(4), heard: .seconds(3.5))),
        Row(
            "backing off, delay over", backingOff, .advert, at: 4,
            .backingOff(failures: 1, until: .at(4), heard: .seconds(4)), .read),
        Row("backing off, delay over", backingOff, .readStarted, at: 4, .reading(attempt: 2)),
        Row("backing off", backingOff, .readSucceeded, at: 3, failedOnce),
        Row("backing off", backingOff, .readFailed(jitter: 1), at: 3, failedOnce),
        Row(
            "backing off", backingOff, .backOffEnded, at: 3,
            .backingOff(failures: 1, until: .at(3), heard: .seconds(2))),
        Row("backing off, delay over", backingOff, .backOffEnded, at: 5, failedOnce),
        Row("backing off", backingOff, .listening(false), at: 3, failedOnce),
        Row("backing off, delay over", backingOff, .tick, at: 5, failedOnce),
        Row("backing off, silent for the quiet period", backingOff, .tick, at: 12, .idle),
    ]

    @Test(arguments: table) func everyStateAnswersEveryInput(row: Row) {
        var machine = Self.machine(after: row.setup)
        let output = machine.handle(row.input, at: .at(row.second))
        #expect(machine.state == row.state)
        #expect(output == row.output)
    }

    @Test func silenceCountsOnlyWhileListening() {
        var machine = Self.machine(after: Self.quieting + [(.listening(false), 7)])
        #expect(machine.nextDeadline == nil)
        _ = machine.handle(.tick, at: .at(600))
        #expect(machine.state == Self.seconds2)

        _ = machine.handle(.listening(true), at: .at(600))
        // Five seconds were listened to before the pause.
        #expect(machine.nextDeadline == .at(605))
        _ = machine.handle(.tick, at: .at(604.9))
        #expect(machine.state == Self.seconds2)
        _ = machine.handle(.tick, at: .at(605))
        #expect(machine.state == Self.silent)

        _ = machine.handle(.listening(false), at: .at(606))
        _ = machine.handle(.tick, at: .at(700))
        #expect(machine.state == Self.silent)
        _ = machine.handle(.listening(true), at: .at(700))
        #expect(machine.nextDeadline == .at(704))
        #expect(machine.handle(.advert, at: .at(704)) == .read)
    }

    @Test func aBackOffOutlastsAPauseInListening() {
        var machine = Self.machine(after: Self.backingOff + [(.listening(false), 3)])
        _ = machine.handle(.tick, at: .at(600))
        #expect(machine.state == Self.failedOnce)
        #expect(machine.nextDeadline == nil)
    }

    @Test func anAdvertThatArrivesLateTakesNothingBack() {
        var machine = Self.machine(after: Self.quieting + [(.advert, 9)])
        _ = machine.handle(.advert, at: .at(4))
        #expect(machine.state == .quieting(heard: .seconds(9), rearm: nil))
    }

    @Test(arguments: [
        (1, 1.0, 2.0), (1, 0.0, 1.0), (2, 1.0, 4.0), (2, 0.5, 3.0), (3, 1.0, 8.0), (7, 1.0, 128.0),
        (8, 1.0, 256.0), (9, 1.0, 300.0), (9, 0.0, 150.0), (100_000, 1.0, 300.0),
    ])
    func theBackOffDoublesToItsLongestAndHalfOfItIsRandom(failures: Int, jitter: Double, seconds: Double) {
        #expect(PassiveTiming().backOff(failures: failures, jitter: jitter) == .seconds(seconds))
    }

    @Test func failuresInARowLengthenTheBackOffAndCountTheAttempts() {
        var machine = Self.machine(after: [])
        var second = 1.0
        for (attempt, delay) in [2.0, 4, 8, 16].enumerated() {
            _ = machine.handle(.readStarted, at: .at(second))
            #expect(machine.state == .reading(attempt: attempt + 1))
            _ = machine.handle(.readFailed(jitter: 1), at: .at(second))
            let end = second + delay
            // It goes on advertising: no silence.
            while second + 1 < end {
                second += 1
                #expect(machine.handle(.advert, at: .at(second)) == .none)
            }
            second = end
            #expect(machine.handle(.advert, at: .at(second)) == .read)
        }
    }

    @Test func silenceForgetsTheFailures() {
        var machine = Self.machine(after: Self.backingOff + [(.readStarted, 4), (.readFailed(jitter: 1), 5)])
        #expect(machine.state == .backingOff(failures: 2, until: .at(9), heard: .seconds(5)))
        #expect(machine.nextDeadline == .at(15))
        #expect(machine.handle(.advert, at: .at(15)) == .read)
        _ = machine.handle(.readStarted, at: .at(15))
        #expect(machine.state == .reading(attempt: 1))
    }

    @Test func successForgetsTheFailures() {
        let machine = Self.machine(
            after: Self.backingOff + [
                (.readStarted, 5), (.readSucceeded, 6), (.tick, 21), (.readStarted, 22),
            ])
        #expect(machine.state == .reading(attempt: 1))
    }

    @Test func aModelThatNeverFallsSilentIsReadAgainAfterItsTime() {
        var machine = Self.machine(after: Self.quieting, rearm: .seconds(900))
        for second in 3..<902 {
            #expect(machine.handle(.advert, at: .at(Double(second))) == .none)
        }
        #expect(machine.nextDeadline == .at(902))
        #expect(machine.handle(.advert, at: .at(902)) == .read)
    }

    @Test func theTimeOfSuchAModelRunsWhileNobodyListens() {
        var machine = Self.machine(after: Self.quieting + [(.listening(false), 3)], rearm: .seconds(900))
        #expect(machine.nextDeadline == .at(902))
        _ = machine.handle(.tick, at: .at(902))
        #expect(machine.state == .idle)
    }

    @Test func suchAModelThatFallsSilentIsIdleBeforeItsTime() {
        var machine = Self.machine(after: Self.quieting, rearm: .seconds(900))
        _ = machine.handle(.tick, at: .at(12))
        #expect(machine.state == .cooling(since: .seconds(12), rearm: .at(902), isProved: true))
        _ = machine.handle(.advert, at: .at(13))
        #expect(machine.state == .quieting(heard: .seconds(13), rearm: .at(902)))
        _ = machine.handle(.tick, at: .at(28))
        #expect(machine.state == .idle)
    }

    @Test func aLateTickGoesThroughAllThatWasDue() {
        var machine = Self.machine(after: Self.quieting, rearm: .seconds(12))
        // Silent at 12, idle at 17; re-arming at 14 concerns only what is not silent.
        _ = machine.handle(.tick, at: .at(14.5))
        #expect(machine.state == .cooling(since: .seconds(12), rearm: .at(14), isProved: true))
    }

    @Test(
        arguments: [
            ([], nil), (reading, nil), (quieting, 12.0), (cooling, 17.0), (backingOff, 12.0),
        ] as [([(Input, Double)], Double?)])
    func theDeadlineIsWhenTimeAloneChangesTheState(setup: [(Input, Double)], second: Double?) {
        #expect(Self.machine(after: setup).nextDeadline == second.map { .at($0) })
    }

    /// Seconds after which a machine whose silence cannot be observed is idle again, though nobody
    /// listens.
    @Test(
        arguments: [
            ("read", [(.readSucceeded, 2)], 17.0),
            ("and heard since", [(.readSucceeded, 2), (.advert, 9)], 24.0),
            ("failed", [(.readFailed(jitter: 1), 2)], 304.0),
        ] as [(String, [(Input, Double)], Double)])
    func timeTakesThePlaceOfSilenceThatCannotBeObserved(
        name: String, inputs: [(Input, Double)], second: Double
    ) {
        var machine = PeripheralStateMachine(timing: PassiveTiming())
        machine.isDirected = true
        for (input, second) in Self.reading + inputs { _ = machine.handle(input, at: .at(second)) }
        #expect(machine.nextDeadline == .at(second))
        _ = machine.handle(.tick, at: .at(second - 0.1))
        #expect(machine.state != .idle)
        _ = machine.handle(.tick, at: .at(second))
        #expect(machine.state == .idle)
    }
}
