import FoundationEssentials

/// The queue of a gateway that does not run, held for one command.
final class OwnQueue: Sendable {
    let desk: EntryDesk
    private let keeper: QueueKeeper
    private let lock: StateLock

    /// - Throws: `CommandFailure` where another holds it, or may not be written.
    init(_ configuration: Configuration) async throws {
        let directory = configuration.gateway.stateDirectory
        guard FileManager.default.fileExists(atPath: directory) else {
            throw CommandFailure(
                .unavailable,
                "no service listens, and there is no state directory \(directory): start ingestd.service, or "
                    + "name the service's configuration with --config")
        }
        try QueueAccess.becomeOwner(of: directory)
        lock = try StateLock.take(directory)
        let clock = JudgedClock(SystemClock())
        let queue = try await SQLiteQueue.open(configuration, clock: clock)
        // What is told meanwhile is told by the service, of what it finds itself.
        let events = EventLog(sink: NoSink())
        keeper = QueueKeeper(
            queue, disk: DirectorySpace(directory: directory),
            settings: configuration.queue,
            clock: clock, events: events, setTakesRecords: { _ in })
        let timekeeper = Timekeeper(
            clock: clock, store: queue.undated, zone: LocalZone(try configuration.zone()), sources: .ofSystem,
            isConfigured: configuration.gateway.trustsClock, released: Version.released, events: events,
            told: { _ in })
        _ = await timekeeper.judge()
        desk = EntryDesk(queue: queue, clock: clock, gateway: configuration.gateway.id, keeper: keeper)
    }

    func enter(_ message: ControlMessage.Entries) async throws -> ControlMessage.Entered {
        // No part of a gateway looks after the room.
        try await keeper.look()
        return try await desk.take(message)
    }

    func close() async {
        try? await desk.queue.close()
    }

    private struct NoSink: EventSink {
        package func write(_: JournalEntry) {}
    }
}
