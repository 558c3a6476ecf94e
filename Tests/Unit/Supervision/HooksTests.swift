import Synchronization
import TestSupport
import Testing

@testable import IngestSupervision

/// Programs that are run at events, with made-up programs; Tests/System/Commands/hooks has real ones.
@Suite struct HooksTests {
    private let clock = DrivenClock()
    private let programs = MadeUpPrograms()
    private let lines = Lines()

    /// Runs hooks beside `body`.
    private func withHooks(
        _ configured: HookSettings = .init(readyToRead: "/beep", read: "/chime"),
        _ body: (Hooks) async throws -> Void
    ) async throws {
        let hooks = Hooks(configured, programs: programs, clock: clock, told: { [lines] in lines.add($0) })
        let task = Task { await hooks.run() }
        try await body(hooks)
        task.cancel()
        await task.value
    }

    /// The time-out of the program that runs is waited for.
    private func clockIsAwaited() async throws {
        try await eventually("its time is watched") { clock.sleeperCount == 1 }
    }

    @Test func aProgramIsRunWithThePeripheralsID() async throws {
        try await withHooks { hooks in
            let sink = HookedSink(RecordingSink(), hooks: hooks)
            let log = EventLog(sink: sink)
            let cuff = PeripheralReference(peripheralID: 1001, alias: "kitchen cuff")
            log.emit(.discovered(cuff))
            log.emit(.readyToRead(cuff))
            try await programs.started(1).finish()
            log.emit(.read(recordID: RecordID(text: "a"), kind: .bloodPressure, cuff))
            try await programs.started(2).finish()
            #expect(programs.calls == ["/beep 1001", "/chime 1001"])
        }
        #expect(lines.all.isEmpty)
    }

    @Test func whatNoPeripheralGaveRunsNothing() async throws {
        try await withHooks { hooks in
            hooks.happened(Event.read(recordID: RecordID(text: "a"), kind: .weight, .entry).entry())
            hooks.happened(.reading(1001))
            try await programs.started(1).finish()
            #expect(programs.calls == ["/chime 1001"])
        }
    }

    @Test func oneRunsAtATimeAndABoundedNumberWaits() async throws {
        try await withHooks { hooks in
            hooks.happened(.reading(0 + 1))
            let first = try await programs.started(1)
            for id in 2...40 { hooks.happened(.reading(id)) }
            #expect(programs.calls == ["/chime 1"])
            first.finish()
            for number in 2...(1 + Hooks.mostWaiting) { try await programs.started(number).finish() }
            hooks.happened(.reading(41))
            try await programs.started(2 + Hooks.mostWaiting).finish()
            #expect(programs.calls.last == "/chime 41")
            #expect(programs.calls.count == 2 + Hooks.mostWaiting)
        }
        #expect(
            lines.all == [
                "hooks.read: events come faster than its program ends; those beyond 8 that wait are left out"
            ])
    }

    @Test func oneHookDoesNotWaitForTheOther() async throws {
        try await withHooks { hooks in
            hooks.happened(.ready(1001))
            let beep = try await programs.started(1)
            hooks.happened(.reading(1001))
            let chime = try await programs.started(2)
            #expect(Set(programs.calls) == ["/beep 1001", "/chime 1001"])
            beep.finish()
            chime.finish()
        }
    }

    @Test func aHangingProgramIsEndedAndTheNextRuns() async throws {
        try await withHooks { hooks in
            hooks.happened(.reading(1001))
            let program = try await programs.started(1)
            hooks.happened(.reading(1002))
            try await clockIsAwaited()
            clock.advance(by: .milliseconds(4_999))
            #expect(program.signals.isEmpty)
            clock.advance(by: .milliseconds(1))
            try await eventually("it is asked to end") { program.signals == [.terminate] }
            // It does not care.
            try await clockIsAwaited()
            clock.advance(by: Hooks.grace)
            try await eventually("it is ended") { program.signals == [.terminate, .kill] }
            try await programs.started(2).finish()
            #expect(program.isReleased)
        }
        #expect(lines.all == ["hooks.read: /chime ran for more than 5 s and was ended"])
    }

    @Test func aProgramThatRunsIsEndedWithTheGateway() async throws {
        try await withHooks { hooks in
            hooks.happened(.reading(1001))
            _ = try await programs.started(1)
            try await clockIsAwaited()
        }
        let program = try await programs.started(1)
        #expect(program.signals == [.kill])
        #expect(program.isReleased)
        #expect(lines.all.isEmpty)
    }

    @Test func whatIsWrongIsSaidOnceInAWhile() async throws {
        try await withHooks { hooks in
            for number in 1...3 {
                hooks.happened(.reading(1001))
                try await programs.started(number).finish(.exited(status: 3))
            }
            hooks.happened(.reading(1001))
            try await programs.started(4).finish(.signalled(11))
            // Begins when all is done about the one before.
            hooks.happened(.reading(1001))
            try await programs.started(5).finish()
            hooks.apply(.init(readyToRead: nil, read: MadeUpPrograms.missing))
            hooks.happened(.reading(1001))
            try await eventually("it is said") { lines.all.count == 2 }
            #expect(
                lines.all == [
                    "hooks.read: /chime ended with status 3",
                    "hooks.read: /missing: there is no such file, or not the interpreter that its first line "
                        + "names; reading goes on without",
                ])
            clock.advance(by: Hooks.reminder)
            hooks.apply(.init(readyToRead: nil, read: "/chime"))
            hooks.happened(.reading(1001))
            try await programs.started(6).finish(.signalled(11))
            try await eventually("it is said again") {
                lines.all.last == "hooks.read: /chime was ended by signal 11"
            }
        }
    }

    @Test func whatWasSaidOfOneProgramSaysNothingOfTheNext() async throws {
        try await withHooks { hooks in
            hooks.happened(.reading(1001))
            try await programs.started(1).finish(.exited(status: 3))
            try await eventually("it is said") { lines.all.count == 1 }
            hooks.apply(.init(readyToRead: "/beep", read: "/ding"))
            hooks.happened(.reading(1001))
            try await programs.started(2).finish(.exited(status: 4))
            try await eventually("it is said of the other") { lines.all.count == 2 }
            #expect(lines.all.last == "hooks.read: /ding ended with status 4")
        }
    }

    @Test func withoutAHookNothingIsRun() async throws {
        try await withHooks(.init(readyToRead: nil, read: nil)) { hooks in
            hooks.happened(.reading(1001))
            hooks.apply(.init(readyToRead: nil, read: "/chime"))
            hooks.happened(.reading(1002))
            try await programs.started(1).finish()
            #expect(programs.calls == ["/chime 1002"])
        }
    }
}

extension JournalEntry {
    fileprivate static func reading(_ id: Int) -> JournalEntry {
        Event.read(
            recordID: RecordID(text: "a"), kind: .weight, PeripheralReference(peripheralID: id, alias: nil)
        ).entry()
    }

    fileprivate static func ready(_ id: Int) -> JournalEntry {
        Event.readyToRead(PeripheralReference(peripheralID: id, alias: nil)).entry()
    }
}

/// Keeps lines.
private final class Lines: Sendable {
    private let kept = Mutex<[String]>([])

    var all: [String] { kept.withLock { $0 } }

    func add(_ line: String) {
        kept.withLock { $0.append(line) }
    }
}

/// Programs that run until the test ends them, or until they are killed.
private final class MadeUpPrograms: HookPrograms {
    static let missing = "/missing"

    private let running = Mutex<[(call: String, program: MadeUpProgram)]>([])

    var calls: [String] { running.withLock { $0.map(\.call) } }

    /// The program that was started as the `number`th, from 1.
    @discardableResult
    func started(_ number: Int) async throws -> MadeUpProgram {
        try await eventually("program \(number) is started") { running.withLock { $0.count } >= number }
        return running.withLock { $0[number - 1].program }
    }

    func start(_ path: String, argument: String) async throws(HookFailure) -> any HookProcess {
        guard path != Self.missing else { throw .missing }
        let program = MadeUpProgram()
        running.withLock { $0.append(("\(path) \(argument)", program)) }
        return program
    }
}

private final class MadeUpProgram: HookProcess {
    private struct State {
        var end: HookEnd?
        var waiting: CheckedContinuation<Void, Never>?
        var signals: [HookSignal] = []
        var isReleased = false
    }

    private let state = Mutex(State())

    var signals: [HookSignal] { state.withLock(\.signals) }
    var isReleased: Bool { state.withLock(\.isReleased) }

    func finish(_ end: HookEnd = .exited(status: 0)) {
        let waiting = state.withLock { state in
            state.end = state.end ?? end
            return state.waiting.take()
        }
        waiting?.resume()
    }

    /// Waits on when its task is cancelled, upon which the program is killed.
    func ended() async {
        await withCheckedContinuation { continuation in
            let isOver = state.withLock { state in
                if state.end == nil { state.waiting = continuation }
                return state.end != nil
            }
            if isOver { continuation.resume() }
        }
    }

    func signal(_ signal: HookSignal) {
        let isRunning = state.withLock { state in
            guard state.end == nil else { return false }
            state.signals.append(signal)
            return true
        }
        if isRunning, signal == .kill { finish(.signalled(9)) }
    }

    func release() async -> HookEnd {
        state.withLock { state in
            state.isReleased = true
            return state.end ?? .exited(status: 0)
        }
    }
}
