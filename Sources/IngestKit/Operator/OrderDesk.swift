/// The order that is under way, one at a time, and the one before it, whose end can still be asked for. It belongs to
/// the actor that carries out the orders.
struct OrderDesk {
    private(set) var current: OperatorJob?
    /// Whether nothing is taken up any more.
    private(set) var isClosed = false
    private var last: OperatorJob?
    private var work: Task<Void, Never>?
    /// Whether the current one is to be stopped, and who waits for its end.
    private var isStopped = false
    private var endings: [CheckedContinuation<Void, Never>] = []

    /// Nil when there is none of this name, or it is an older one.
    func job(_ id: String) -> OperatorJob? {
        [current, last].compactMap(\.self).first { $0.id == id }
    }

    mutating func take(_ job: OperatorJob) {
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
