import FlyingSocks
import Synchronization

/// Waits for sockets as another pool does, and bounds what clients that do nothing may hold: a connection that neither
/// brings nor takes anything for too long is ended, and of too many that wait the one that has waited longest.
struct BoundedSocketPool<Base: AsyncSocketPool>: AsyncSocketPool {
    private let base: Base
    private let longestWait: Duration
    private let waits: Waits

    /// - Parameter mostWaiting: connections that may wait at a time.
    init(_ base: Base, longestWait: Duration, mostWaiting: Int) {
        self.base = base
        self.longestWait = longestWait
        waits = Waits(limit: mostWaiting)
    }

    func prepare() async throws { try await base.prepare() }

    func run() async throws { try await base.run() }

    func suspendSocket(_ socket: Socket, untilReadyFor events: Socket.Events) async throws {
        // The one that listens has no peer.
        guard (try? socket.remotePeer()) != nil else {
            return try await base.suspendSocket(socket, untilReadyFor: events)
        }
        let wait = Task { try await base.suspendSocket(socket, untilReadyFor: events) }
        let number = waits.add(wait)
        let limit = Task {
            try await Task.sleep(for: longestWait)
            wait.cancel()
        }
        defer {
            limit.cancel()
            waits.remove(number)
        }
        try await withTaskCancellationHandler {
            try await wait.value
        } onCancel: {
            wait.cancel()
        }
    }
}

/// The waits of connections, the longest first.
private final class Waits: Sendable {
    private struct State {
        var lastNumber = 0
        var tasks: [(number: Int, task: Task<Void, any Error>)] = []
    }

    private let limit: Int
    private let state = Mutex(State())

    init(limit: Int) {
        self.limit = limit
    }

    func add(_ task: Task<Void, any Error>) -> Int {
        state.withLock { state in
            state.lastNumber += 1
            state.tasks.append((state.lastNumber, task))
            if state.tasks.count > limit { state.tasks.removeFirst().task.cancel() }
            return state.lastNumber
        }
    }

    func remove(_ number: Int) {
        state.withLock { $0.tasks.removeAll { $0.number == number } }
    }
}
