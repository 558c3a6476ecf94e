/// Notices a disk that hangs: that neither carries out an access to the queue nor reports an error. Has reading stop then,
/// and go on when the disk answers again.
package struct DiskWatch: Sendable {
    /// A disk that has not carried out an access for so long does not answer.
    static let bound = Duration.seconds(60)
    /// After this time the process is to start anew.
    private static let longestHang = Duration.seconds(30 * 60)

    private let database: QueueDatabase
    private let events: EventLog
    private let setAnswers: @Sendable (Bool) async -> Void

    /// - Parameter setAnswers: told when the disk does not answer any more, and when it answers again.
    package init(
        _ queue: SQLiteQueue, events: EventLog, setAnswers: @escaping @Sendable (Bool) async -> Void
    ) {
        database = queue.database
        self.events = events
        self.setAnswers = setAnswers
    }

    /// Runs until the task is cancelled. Sets a timer only while the queue is used.
    package func run() async {
        let (clock, waits) = (database.clock, database.waits)
        while !Task.isCancelled {
            // Lowered before the accesses are looked at: one that begins then raises it again.
            _ = waits.begun.consume()
            guard let oldest = waits.oldest else {
                await waits.begun.wait()
                continue
            }
            if clock.now < oldest + Self.bound {
                try? await clock.sleep(until: oldest + Self.bound)
            } else {
                await outlastHang()
            }
        }
    }

    private func outlastHang() async {
        // Writers also wait while `StoreWatch` writes a deleted file anew. It reports that itself.
        let isHang = database.commits.failure == nil
        if isHang {
            events.emit(
                .storeError(
                    error:
                        "\(database.path): the disk does not answer; nothing is read until it does, and after 30 min "
                        + "the service starts again"))
            await setAnswers(false)
        }
        while !Task.isCancelled {
            _ = database.waits.ended.consume()
            guard database.waits.oldest.map({ database.clock.now >= $0 + Self.bound }) == true else { break }
            await database.waits.ended.wait()
        }
        if isHang { await setAnswers(true) }
    }

    /// Whether the disk has not hung for so long that only a new start is left.
    package static func isAlive(_ queue: SQLiteQueue) -> Bool {
        // `StoreWatch` feeds the watchdog itself while the process has the only copy of the queue.
        guard queue.database.commits.failure == nil, let oldest = queue.database.waits.oldest else {
            return true
        }
        return queue.database.clock.now < oldest + longestHang
    }
}
