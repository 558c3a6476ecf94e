/// Tells of what is wrong with the queue, once for all who meet it, and ends when it is not to be trusted any more.
package struct StoreWatch: Sendable {
    private let database: QueueDatabase
    private let events: EventLog
    private let keepAlive: @Sendable () -> Void

    /// How long a disk that does not take the queue anew is left alone.
    private static let pauseAfterRescue = Duration.seconds(30)

    /// A third of what the unit gives the watchdog (WatchdogSec=).
    private static let keepAliveInterval = Duration.seconds(20)

    /// - Parameter keepAlive: called every 20 s while the process has the only copy of the queue: nobody may end it for
    ///   being slow, or for not turning.
    package init(
        _ queue: SQLiteQueue, events: EventLog, keepAlive: @escaping @Sendable () -> Void = {}
    ) {
        database = queue.database
        self.events = events
        self.keepAlive = keepAlive
    }

    /// Runs until the task is cancelled.
    /// - Throws: the `StoreError` after which the process has to start anew.
    package func run() async throws {
        database.commits.setRescued(true)
        // Nobody is kept waiting for somebody who has gone.
        defer { database.commits.setRescued(false) }
        while true {
            await database.commits.troubled.wait()
            _ = database.commits.troubled.consume()
            // Also when the error has ended another part first, and this task with it.
            if let failure = database.commits.failure {
                events.emit(.storeError(error: failure.description))
                if failure.kind == .replaced { await rescue() }
                throw failure
            }
            if let trouble = database.commits.takeTrouble() {
                events.emit(.storeError(error: trouble.description))
            }
            if Task.isCancelled { return }
        }
    }

    /// What is open is all there is of the queue: as long as it is nowhere else the process goes on, and the others with
    /// it, who wait for their writes. Only who stops the gateway ends this.
    private func rescue() async {
        let beats = Task { [clock = database.clock, keepAlive] in
            repeat { keepAlive() } while (try? await clock.sleep(for: Self.keepAliveInterval)) != nil
        }
        defer { beats.cancel() }
        var wasTold = false
        while true {
            do {
                // Not cancelled half-way, when the gateway is stopping.
                return try await Task { [database] in try await database.rescue() }.value
            } catch {
                if !wasTold {
                    events.emit(.storeError(error: "the queue could not be written anew: \(error)"))
                }
                wasTold = true
            }
            guard (try? await database.clock.sleep(for: Self.pauseAfterRescue)) != nil else { return }
        }
    }
}
