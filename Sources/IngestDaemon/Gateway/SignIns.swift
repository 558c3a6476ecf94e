import Synchronization

/// Sign-ins under way, by destination. One goes on when whoever asked for it has gone: its token is good for one
/// exchange, and the destination's answer is not to be lost. Who asks again with the same token gets what it comes to.
final class SignIns: Sendable {
    typealias Answer = ControlMessage.SignedIn

    private struct Running {
        let token: String?
        let task: Task<Answer, any Error>
        var isOver = false
    }

    /// How long one request waits: less than its client waits for the answer (`ControlClient`).
    private static let bound = Duration.seconds(10)

    private let running = Mutex<[String: Running]>([:])

    /// - Throws: what `body` throws, or a refusal: it is still under way, or another one is.
    func run(
        at destination: String, token: String?, by clock: any GatewayClock,
        _ body: @escaping @Sendable () async throws -> Answer
    ) async throws -> Answer {
        let task = try begin(at: destination, token: token, body)
        guard let result = await task.result(within: Self.bound, by: clock) else {
            throw ControlMessage.Refusal(
                error: "\(destination) has not answered yet: ask again, with the same token",
                reason: .underWay)
        }
        running.withLock { running in
            if running[destination]?.task == task { running[destination] = nil }
        }
        return try result.get()
    }

    private func begin(
        at destination: String, token: String?, _ body: @escaping @Sendable () async throws -> Answer
    ) throws -> Task<Answer, any Error> {
        try running.withLock { running in
            if let known = running[destination] {
                if known.token == token { return known.task }
                guard known.isOver else {
                    throw ControlMessage.Refusal(
                        error: "another sign-in at \(destination) is under way", reason: .busy)
                }
            }
            let task = Task {
                defer { self.end(at: destination) }
                return try await body()
            }
            running[destination] = Running(token: token, task: task)
            return task
        }
    }

    private func end(at destination: String) {
        running.withLock { running in
            guard var known = running[destination] else { return }
            known.isOver = true
            running[destination] = known
        }
    }
}
