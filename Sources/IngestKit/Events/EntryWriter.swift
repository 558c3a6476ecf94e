import Dispatch
import Synchronization

/// Hands entries to an output on a thread of its own, so that nothing else waits for an output that stands still.
///
/// An entry that the output does not take is tried again until the output takes it. Batches are told in their order.
/// The outbox does not hold single entries. At most 1,000 of them wait; further ones are dropped and counted, and the
/// event `events-dropped` reports the count.
final class EntryWriter: Sendable {
    /// Single entries that wait.
    static let mostWaiting = 1_000
    /// The time between two tries of an entry that the output did not take.
    static let pause = Duration.seconds(5)
    /// How long a batch may still take when its task was cancelled.
    static let patience = Duration.seconds(2)

    private struct Batch {
        let id: Int
        let entries: [JournalEntry]
        /// Raised when all of it is told, or when nobody waits for that any more.
        let isOver: WakeUp
        var taken = 0
        var isTold = false
    }

    /// Where an entry that is being written is from.
    private enum Source {
        case single
        /// Tells of so many dropped ones.
        case notice(Int)
        case batch(Int)
    }

    private struct State {
        var singles: [JournalEntry] = []
        var dropped = 0
        var batches: [Batch] = []
        var nextID = 0
        /// Whether the thread works, or will after a pause.
        var isBusy = false
        /// When the entry was first tried that is being written.
        var triedSince: MonotonicInstant?
    }

    private let output: any EntryOutput
    private let clock: any GatewayClock
    private let thread = DispatchQueue(label: "ingestd.events")
    private let state = Mutex(State())

    init(_ output: any EntryOutput, clock: any GatewayClock) {
        self.output = output
        self.clock = clock
    }

    /// How things stand with the output.
    var standing: TellingStanding {
        state.withLock { TellingStanding(triedSince: $0.triedSince, dropped: $0.dropped) }
    }

    /// Tells a single entry soon; returns at once.
    func write(_ entry: JournalEntry) {
        state.withLock { state in
            // What comes after a gap is not told before the gap.
            if state.dropped > 0 || state.singles.count >= Self.mostWaiting {
                state.dropped += 1
            } else {
                state.singles.append(entry)
            }
        }
        begin()
    }

    /// Tells a batch after all that came before it. If the task is cancelled, the batch has 2 s left.
    /// - Returns: how many of its entries were taken, from the first on.
    func deliver(_ entries: [JournalEntry]) async -> Int {
        let isOver = WakeUp()
        let id = state.withLock { state in
            state.nextID += 1
            state.batches.append(Batch(id: state.nextID, entries: entries, isOver: isOver))
            return state.nextID
        }
        begin()
        await withTaskCancellationHandler {
            await Task { await isOver.wait() }.value
        } onCancel: {
            Task { [clock] in
                try? await clock.sleep(for: Self.patience)
                isOver.raise()
            }
        }
        return state.withLock { state in
            state.batches.firstIndex { $0.id == id }.map { state.batches.remove(at: $0).taken } ?? 0
        }
    }

    private func begin() {
        let isFirst = state.withLock { state in
            defer { state.isBusy = true }
            return !state.isBusy
        }
        if isFirst { thread.async { self.work() } }
    }

    /// Writes on this thread until nothing waits, or the output does not take an entry.
    private func work() {
        while let (entry, source) = next() {
            guard output.write(entry) else {
                Task {
                    try? await clock.sleep(for: Self.pause)
                    thread.async { self.work() }
                }
                return
            }
            state.withLock { state in
                state.triedSince = nil
                switch source {
                case .single: state.singles.removeFirst()
                case .notice(let count): state.dropped -= count
                case .batch(let id):
                    if let index = state.batches.firstIndex(where: { $0.id == id }) {
                        state.batches[index].taken += 1
                    }
                }
            }
        }
    }

    private func next() -> (JournalEntry, Source)? {
        let now = clock.now
        return state.withLock { state in
            let next = Self.next(&state)
            if next == nil { state.isBusy = false } else { state.triedSince = state.triedSince ?? now }
            return next
        }
    }

    private static func next(_ state: inout State) -> (JournalEntry, Source)? {
        if let entry = state.singles.first { return (entry, .single) }
        if state.dropped > 0 {
            return (Event.eventsDropped(count: state.dropped).entry(), .notice(state.dropped))
        }
        for index in state.batches.indices where !state.batches[index].isTold {
            let batch = state.batches[index]
            if batch.taken < batch.entries.count { return (batch.entries[batch.taken], .batch(batch.id)) }
            state.batches[index].isTold = true
            batch.isOver.raise()
        }
        return nil
    }
}

/// How things stand with the output of events.
package struct TellingStanding: Sendable, Equatable {
    /// Since when the entry is tried that is being written; nil if nothing waits.
    package let triedSince: MonotonicInstant?
    /// Dropped events that no `events-dropped` has reported yet.
    package let dropped: Int
}
