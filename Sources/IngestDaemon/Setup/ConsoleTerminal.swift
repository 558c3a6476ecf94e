import Dispatch
import Synchronization

/// The terminal of the process. A line is read by a thread of its own, so that a question can be withdrawn; what is
/// typed to one that was is the next one's answer.
final class ConsoleTerminal: Terminal {
    private struct State {
        /// Typed before it was asked for; nil is the end.
        var lines: [String?] = []
        var waiting: CheckedContinuation<String?, any Error>?
        var isReading = false
    }

    private let state = Mutex(State())
    private let queue = DispatchQueue(label: "ingestd.setup.input")

    func write(_ line: String) throws { try StandardOutput.draw(PlainText.plain(line) + "\n") }

    func prompt(_ text: String) throws { try StandardOutput.draw(PlainText.plain(text) + " ") }

    func secret(_ question: String) async throws -> String? {
        // First: what is pasted comes as soon as it is asked for.
        let isHidden = TerminalEcho.set(false)
        defer {
            if isHidden {
                TerminalEcho.set(true)
                // The one that ended the secret was not shown either.
                try? StandardOutput.draw("\n")
            }
        }
        try prompt(question)
        return try await line()
    }

    func line() async throws -> String? {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { wait($0) }
        } onCancel: {
            state.withLock { $0.waiting.take() }?.resume(throwing: CancellationError())
        }
    }

    private func wait(_ continuation: CheckedContinuation<String?, any Error>) {
        let line: Result<String?, CancellationError>? = state.withLock { state in
            if Task.isCancelled { return .failure(CancellationError()) }
            if !state.lines.isEmpty { return .success(state.lines.removeFirst()) }
            state.waiting = continuation
            guard !state.isReading else { return nil }
            state.isReading = true
            queue.async { [self] in read() }
            return nil
        }
        switch line {
        case nil: break
        case .success(let line): continuation.resume(returning: line)
        case .failure(let error): continuation.resume(throwing: error)
        }
    }

    private func read() {
        let line = readLine()
        let waiting = state.withLock { state in
            state.isReading = false
            let waiting = state.waiting.take()
            if waiting == nil { state.lines.append(line) }
            return waiting
        }
        waiting?.resume(returning: line)
    }
}
