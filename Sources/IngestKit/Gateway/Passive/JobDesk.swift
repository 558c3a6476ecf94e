/// What an operator begins and polls: a pairing, a scan or a read.
protocol PolledJob: Actor {
    nonisolated var id: String { get }
    /// Whether its last step was told.
    var isOver: Bool { get }
    /// When its operator was last heard of.
    var lastPoll: MonotonicInstant { get }
}

extension PolledJob {
    /// Waits for the end of its work, which is cancelled with the caller, and when its operator has gone.
    /// - Parameter lease: how long an operator may stay away; nil where there is none.
    nonisolated func attend(_ work: Task<Void, Never>, lease: Duration?, by clock: any GatewayClock) async {
        await withTaskCancellationHandler {
            await withDiscardingTaskGroup { group in
                if let lease { group.addTask { await self.watch(lease, of: work, by: clock) } }
                await work.value
                group.cancelAll()
            }
        } onCancel: {
            work.cancel()
        }
    }

    nonisolated private func watch(
        _ lease: Duration, of work: Task<Void, Never>, by clock: any GatewayClock
    ) async {
        while await !isOver {
            let end = await lastPoll + lease
            guard clock.now < end else { return work.cancel() }
            guard (try? await clock.sleep(until: end)) != nil else { return }
        }
    }
}

/// The job that is under way, one at a time, and the one before it, whose end can still be asked for. It belongs to
/// the actor that does the jobs.
struct JobDesk<Job: PolledJob> {
    private(set) var current: Job?
    /// Whether nothing is taken up any more.
    private(set) var isClosed = false
    private var last: Job?
    private var work: Task<Void, Never>?
    /// Whether the current one is to be stopped, and who waits for its end.
    private var isStopped = false
    private var endings: [CheckedContinuation<Void, Never>] = []

    /// Nil when there is none of this name, or it is an older one.
    func job(_ id: String) -> Job? {
        [current, last].compactMap(\.self).first { $0.id == id }
    }

    mutating func take(_ job: Job) {
        current = job
    }

    /// The work on the current one has begun.
    mutating func began(_ work: Task<Void, Never>) {
        self.work = work
        // It may have been stopped before it was begun.
        if isStopped { work.cancel() }
    }

    /// Has the current one stopped.
    mutating func stop() {
        isStopped = true
        work?.cancel()
    }

    /// Resumes `ending` when the current one has ended.
    mutating func whenEnded(_ ending: CheckedContinuation<Void, Never>) {
        endings.append(ending)
    }

    /// The current one has ended, or never will be taken up.
    mutating func end() {
        // One that was never begun has nothing to tell.
        if work != nil { last = current }
        current = nil
        work = nil
        isStopped = false
        for ending in endings { ending.resume() }
        endings = []
    }

    mutating func close() {
        isClosed = true
    }
}
