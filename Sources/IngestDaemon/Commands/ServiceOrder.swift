import ServiceLifecycle
import Synchronization
import UnixSignals

/// An order that the running service carries out, from the command that asks for it.
enum ServiceOrder {
    /// Gives the service the operator's answer to a step that asks. One that comes too late is nobody's.
    typealias Answer = @Sendable (ControlMessage.Answer) async -> Void

    /// Begins it and shows its steps, until the last one; Ctrl-C stops it at the service.
    /// - Throws: `CommandFailure`, also for an order that failed.
    static func follow(
        at path: String, begin: @Sendable (ControlClient) async throws(ControlClient.Failure) -> String,
        _ show: @escaping @Sendable (OperatorStep, @escaping Answer) throws -> Void
    ) async throws {
        let client = ControlClient(path: path)
        let result: Result<Void, any Error>
        var hasBegun = false
        // From here on: an order that has begun must be stopped, and not only left.
        let signals = await UnixSignalsSequence(trapping: .sigint, .sigterm)
        do {
            let id = try await begin(client)
            hasBegun = true
            result = .success(try await follow(id, by: client, until: signals, show))
        } catch ControlClient.Failure.noService where hasBegun {
            result = .failure(CommandFailure(.broken, path: path))
        } catch let failure as ControlClient.Failure {
            result = .failure(CommandFailure(failure, path: path))
        } catch {
            result = .failure(error)
        }
        await client.close()
        Progress.end()
        try result.get()
    }

    /// The same without signals: the order stops at the service if the task is cancelled.
    /// - Throws: `CommandFailure`, also for an order that failed; `CancellationError`.
    static func attend(
        at path: String,
        begin: @escaping @Sendable (ControlClient) async throws(ControlClient.Failure) -> String,
        _ show: @escaping @Sendable (OperatorStep, @escaping Answer) throws -> Void
    ) async throws {
        let client = ControlClient(path: path)
        var begun: String?
        let result: Result<Void, any Error>
        do {
            // To its end, by a task of its own: an order whose name is not known could not be stopped.
            let id = try await Task { try await begin(client) }.value
            begun = id
            result = .success(try await steps(of: id, by: client, show))
        } catch let failure as ControlClient.Failure {
            result = .failure(CommandFailure(failure, path: path))
        } catch {
            result = .failure(error)
        }
        if let id = begun, Task.isCancelled {
            // By a task of its own, because this one's requests are cancelled.
            await Task { try? await client.cancelOrder(id) }.value
        }
        await client.close()
        try Task.checkCancellation()
        try result.get()
    }

    private static func steps(
        of id: String, by client: ControlClient,
        _ show: @Sendable (OperatorStep, @escaping Answer) throws -> Void
    ) async throws {
        var last = 0
        while true {
            for step in try await client.orderSteps(of: id, after: last) {
                last = step.number
                try show(step) { try? await client.answer($0, to: id) }
                if step.step == .failed {
                    throw CommandFailure(ExitStatus(step.reason ?? .other), step.text ?? "")
                }
                if step.isLast { return }
            }
        }
    }

    private static func follow(
        _ id: String, by client: ControlClient, until signals: UnixSignalsSequence,
        _ show: @escaping @Sendable (OperatorStep, @escaping Answer) throws -> Void
    ) async throws {
        let isInterrupted = Flag()
        try await withThrowingTaskGroup { group in
            group.addTask {
                for await _ in signals {
                    isInterrupted.value.withLock { $0 = true }
                    try? await client.cancelOrder(id)
                    throw CommandFailure(.interrupted, "stopped")
                }
            }
            group.addTask { try await steps(of: id, by: client, show) }
            defer { group.cancelAll() }
            do {
                try await group.next()
            } catch {
                // The service may tell of the end before it has answered. One that is not stopped because
                // its output is closed would go on until it is missed.
                guard !isInterrupted.value.withLock({ $0 }) else {
                    throw CommandFailure(.interrupted, "stopped")
                }
                if !(error is CommandFailure) { try? await client.cancelOrder(id) }
                throw error
            }
        }
    }

    private final class Flag: Sendable {
        let value = Mutex(false)
    }
}
