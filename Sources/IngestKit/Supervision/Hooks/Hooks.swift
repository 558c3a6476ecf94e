import Synchronization

/// Runs the operator's programs at events (docs/configuration.md, "hooks"), one at a time for each hook.
///
/// Nothing waits for a program, and nothing depends on how it ends: an event that finds too many
/// others waiting is dropped.
package final class Hooks: Sendable {
    /// What a program can be run at, by the name of the event and of the key.
    enum Hook: String, Sendable, CaseIterable {
        case readyToRead = "ready-to-read"
        case read
    }

    /// What is said of a hook, each once in `reminder`.
    private struct Notice: Hashable {
        enum Trouble: Hashable {
            case dropped
            case notStarted
            case tooLong
            case failed
        }

        let hook: Hook
        let trouble: Trouble
    }

    private struct State {
        var programs: HookSettings
        var told: [Notice: MonotonicInstant] = [:]

        mutating func forget(_ hook: Hook) {
            told = told.filter { $0.key.hook != hook }
        }
    }

    /// How long a program may run before it is told to end.
    static let limit = Duration.seconds(5)
    /// How long it may take over that.
    static let grace = Duration.seconds(1)
    /// Events that wait for a hook's program to end. A device may give hundreds of readings at once, and
    /// nobody wants to hear of each.
    static let mostWaiting = 8
    /// What is wrong with a hook is said again after this time.
    static let reminder = Duration.seconds(3_600)

    private let state: Mutex<State>
    private let programs: any HookPrograms
    private let clock: any GatewayClock
    private let told: @Sendable (String) -> Void
    /// The IDs of the peripherals of the events that wait.
    private let waiting: [Hook: (stream: AsyncStream<String>, continuation: AsyncStream<String>.Continuation)]

    /// - Parameter told: takes a line on what is wrong with a hook.
    package init(
        _ configured: HookSettings, programs: any HookPrograms, clock: any GatewayClock,
        told: @escaping @Sendable (String) -> Void
    ) {
        state = Mutex(State(programs: configured))
        self.programs = programs
        self.clock = clock
        self.told = told
        waiting = Dictionary(
            uniqueKeysWithValues: Hook.allCases.map { hook in
                (hook, AsyncStream.makeStream(bufferingPolicy: .bufferingOldest(Self.mostWaiting)))
            })
    }

    /// Takes other programs from now on; those that run are not disturbed.
    package func apply(_ configured: HookSettings) {
        state.withLock { state in
            // What was told of one program says nothing of another.
            if state.programs.readyToRead != configured.readyToRead { state.forget(.readyToRead) }
            if state.programs.read != configured.read { state.forget(.read) }
            state.programs = configured
        }
    }

    /// Has the program of an event run, if it has one. Returns at once.
    func happened(_ entry: JournalEntry) {
        // What no peripheral gave has no ID.
        guard let hook = Hook(rawValue: entry.name), program(of: hook) != nil,
            let id = entry.fields.first(where: { $0.0 == .peripheralID })?.1
        else { return }
        if case .dropped = waiting[hook]?.continuation.yield(id) {
            tell(
                .dropped, of: hook,
                "events come faster than its program ends; those beyond \(Self.mostWaiting) that wait are "
                    + "left out")
        }
    }

    /// Runs until the task is cancelled; programs that run are ended then.
    package func run() async {
        await withDiscardingTaskGroup { group in
            for (hook, line) in waiting {
                group.addTask {
                    for await id in line.stream { await self.run(hook, for: id) }
                }
            }
        }
    }

    // MARK: One program

    private func run(_ hook: Hook, for id: String) async {
        // A reload may have taken it away meanwhile.
        guard let path = program(of: hook) else { return }
        let process: any HookProcess
        do {
            process = try await programs.start(path, argument: id)
        } catch {
            tell(.notStarted, of: hook, "\(path): \(error); reading goes on without")
            return
        }
        let wasLate = await isLate(process)
        let end = await process.release()
        guard !Task.isCancelled else { return }
        switch end {
        case _ where wasLate:
            let seconds = Self.limit.components.seconds
            tell(.tooLong, of: hook, "\(path) ran for more than \(seconds) s and was ended")
        case .exited(status: 0): break
        case .exited(let status): tell(.failed, of: hook, "\(path) ended with status \(status)")
        case .signalled(let signal): tell(.failed, of: hook, "\(path) was ended by signal \(signal)")
        }
    }

    /// Waits for a program's end, and brings it about when its time is over or the gateway stops.
    private func isLate(_ process: any HookProcess) async -> Bool {
        await withTaskGroup { group in
            group.addTask { [clock] in
                var isLate = false
                do {
                    try await clock.sleep(for: Self.limit)
                    isLate = true
                    process.signal(.terminate)
                    try await clock.sleep(for: Self.grace)
                } catch {
                    // It has ended, or has to now.
                }
                process.signal(.kill)
                return isLate
            }
            await process.ended()
            group.cancelAll()
            return await group.next() ?? false
        }
    }

    private func program(of hook: Hook) -> String? {
        state.withLock { state in
            switch hook {
            case .readyToRead: state.programs.readyToRead
            case .read: state.programs.read
            }
        }
    }

    private func tell(_ trouble: Notice.Trouble, of hook: Hook, _ words: String) {
        let now = clock.now
        let isNews = state.withLock { state in
            let notice = Notice(hook: hook, trouble: trouble)
            if let last = state.told[notice], now.since(last) < Self.reminder { return false }
            state.told[notice] = now
            return true
        }
        if isNews { told("hooks.\(hook.rawValue): \(words)") }
    }
}

/// Writes events where they go, and has the hooks run at them.
package struct HookedSink: EventSink {
    private let sink: any EventSink
    private let hooks: Hooks

    package init(_ sink: any EventSink, hooks: Hooks) {
        self.sink = sink
        self.hooks = hooks
    }

    package func write(_ entry: JournalEntry) {
        sink.write(entry)
        hooks.happened(entry)
    }

    package func deliver(_ entries: [JournalEntry]) async -> Int {
        let taken = await sink.deliver(entries)
        for entry in entries.prefix(taken) { hooks.happened(entry) }
        return taken
    }
}
