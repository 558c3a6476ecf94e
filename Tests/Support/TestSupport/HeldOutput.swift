import Dispatch
package import IngestEvents
import Synchronization

/// An output of events whose reader stands still or goes away when the test says so.
package final class HeldOutput: EntryOutput {
    package enum Reader: Sendable {
        case reads
        /// Writing blocks.
        case standsStill
        case isAway
    }

    private struct State {
        var reader: Reader
        var isBlocked = false
        var entries: [JournalEntry] = []
        /// From so many entries on the reader is away.
        var most = Int.max
    }

    private let state: Mutex<State>
    private let gate = DispatchSemaphore(value: 0)

    package init(_ reader: Reader = .reads) {
        state = Mutex(State(reader: reader))
    }

    /// What was taken.
    package var entries: [JournalEntry] { state.withLock(\.entries) }
    package var names: [String] { entries.map(\.name) }
    package var sequences: [Int] { entries.compactMap { $0[.sequence].flatMap { Int($0) } } }
    /// Whether a thread is blocked in `write`.
    package var isBlocked: Bool { state.withLock(\.isBlocked) }

    package func set(_ reader: Reader) {
        let wasBlocked = state.withLock { state in
            state.reader = reader
            defer { state.isBlocked = false }
            return state.isBlocked
        }
        if wasBlocked { gate.signal() }
    }

    /// Has the reader go away once it has taken so many entries.
    package func goAway(after count: Int) {
        state.withLock { $0.most = count }
    }

    package func write(_ entry: JournalEntry) -> Bool {
        let waits = state.withLock { state in
            state.isBlocked = state.reader == .standsStill
            return state.isBlocked
        }
        if waits { gate.wait() }
        return state.withLock { state in
            guard state.reader == .reads, state.entries.count < state.most else { return false }
            state.entries.append(entry)
            return true
        }
    }
}
