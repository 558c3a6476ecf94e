import Synchronization

/// What happened, in order, and a way to wait for it. One waiter at a time.
final class Notes<Element: Sendable>: Sendable {
    private let state = Mutex<[Element]>([])
    private let changes: AsyncStream<Void>
    private let continuation: AsyncStream<Void>.Continuation

    init() {
        (changes, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    var all: [Element] { state.withLock { $0 } }

    func add(_ element: Element) {
        state.withLock { $0.append(element) }
        continuation.yield()
    }

    /// Returns when the condition holds, or the task is cancelled.
    func wait(until isMet: ([Element]) -> Bool) async {
        if isMet(all) { return }
        for await _ in changes where isMet(all) { return }
    }
}
