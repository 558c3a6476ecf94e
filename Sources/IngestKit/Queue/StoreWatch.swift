/// Tells of what is wrong with the queue, once for all who meet it, and ends when it is not to be trusted any more.
public struct StoreWatch: Sendable {
    private let store: SQLiteRecordStore
    private let events: EventLog

    /// How long a disk that does not take the queue anew is left alone.
    private static let pauseAfterRescue = Duration.seconds(30)

    public init(store: SQLiteRecordStore, events: EventLog) {
        self.store = store
        self.events = events
    }

    /// Runs until the task is cancelled.
    /// - Throws: the `StoreError` after which the process has to start anew.
    public func run() async throws {
        while true {
            await store.commits.troubled.wait()
            _ = store.commits.troubled.consume()
            // Also when the error has ended another part first, and this task with it.
            if let failure = store.commits.failure {
                events.emit(.storeError(error: failure.description))
                if failure.kind == .replaced { await rescue() }
                throw failure
            }
            if let trouble = store.commits.takeTrouble() {
                events.emit(.storeError(error: trouble.description))
            }
            if Task.isCancelled { return }
        }
    }

    /// What is open is all there is of the queue: as long as it is nowhere else the process goes on.
    private func rescue() async {
        var wasTold = false
        while true {
            do {
                // Not cancelled half-way, when the gateway is stopping.
                return try await Task { [store] in try await store.rescue() }.value
            } catch {
                if !wasTold {
                    events.emit(.storeError(error: "the queue could not be written anew: \(error)"))
                }
                wasTold = true
            }
            guard (try? await store.clock.sleep(for: Self.pauseAfterRescue)) != nil else { return }
        }
    }
}
