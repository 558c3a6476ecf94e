import Synchronization

/// Events that were committed a moment ago, so that they need not be read back from the outbox to be written to the
/// journal: that was a quarter of what a delivered record costs (docs/performance.md).
///
/// The outbox stays what counts. What is here is in it, and is taken only where its numbers go on from what was marked
/// there; whatever is missing here is read there.
final class RecentEvents: Sendable {
    private struct State {
        /// Of the transaction under way, what each of its writes tells.
        var uncommitted: [[OutboxItem]] = []
        /// Consecutive numbers.
        var items: [OutboxItem] = []
        /// The last number that is marked as written; nil before the first.
        var marked: Int64?
    }

    /// More are left to the outbox, so that a journal that takes its time costs no memory.
    private static let limit = 500

    private let state = Mutex(State())

    /// A transaction begins, whatever became of the one before: SQLite may have rolled that back by itself.
    func begin() {
        state.withLock { $0.uncommitted.removeAll() }
    }

    /// The transaction under way has put these into the outbox.
    func add(_ items: [OutboxItem]) {
        state.withLock { $0.uncommitted.append(items) }
    }

    /// The transaction is on the disk. Keeps what it tells as long as there is room and the numbers go on from what is
    /// kept.
    func commit() {
        state.withLock { state in
            for items in state.uncommitted {
                guard let first = items.first, state.items.count + items.count <= Self.limit,
                    state.items.last.map({ $0.sequence + 1 == first.sequence }) ?? true
                else { continue }
                state.items += items
            }
            state.uncommitted.removeAll()
        }
    }

    /// The first of what comes right after what is marked; empty where that is not here.
    func next(_ limit: Int) -> [OutboxItem] {
        state.withLock { state in
            guard let marked = state.marked, state.items.first?.sequence == marked + 1 else { return [] }
            return Array(state.items.prefix(limit))
        }
    }

    /// Forgets what is written.
    func mark(through sequence: Int64) {
        state.withLock { state in
            state.marked = sequence
            state.items.removeAll { $0.sequence <= sequence }
        }
    }
}
