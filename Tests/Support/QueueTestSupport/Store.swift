import FoundationEssentials

@testable package import IngestQueue

extension SQLiteQueue {
    package static func open(
        in directory: String, clock: DrivenClock, bootID: String = "boot-1",
        destinations: [DestinationRouting] = [DestinationRouting(name: "clinic")]
    ) async throws -> SQLiteQueue {
        try await open(
            path: directory + "/queue.sqlite", bootID: bootID, clock: clock, destinations: destinations)
    }

    /// Commits a record whose payload names the moment.
    @discardableResult
    package func add(_ record: Record, at instant: MonotonicInstant? = nil) async throws -> CommitOutcome {
        try await records.commit(
            RecordSubmission(
                record: record, repetition: .identified, received: instant ?? database.clock.now,
                decodeError: nil))
    }

    /// Commits and freezes records with these ids.
    package func fill(_ ids: some Sequence<String>) async throws {
        for id in ids {
            let record = try TestSupport.record(id)
            try await add(record)
            try await records.freeze([record])
        }
    }

    /// As `fill`, in two commits.
    package func fillAtOnce(_ ids: some Sequence<String>) async throws {
        let filled = try ids.map { try TestSupport.record($0) }
        let now = database.clock.now
        _ = try await records.commit(
            QueueTransaction(
                submissions: filled.map {
                    RecordSubmission(record: $0, repetition: .identified, received: now, decodeError: nil)
                }))
        try await records.freeze(filled)
    }

    /// Drops all that may be, step by step.
    package func retireAll(lookingAt limit: Int = 500) async throws {
        var step = Retention.Retirement(position: 0)
        while !step.isDone {
            step = try await retention.retire(keeping: nil, after: step.position, lookingAt: limit)
        }
    }

    package var events: [JournalEntry] {
        get async throws { try await outbox.outboxEntries(limit: 100_000).map(\.entry) }
    }
}

extension NextBatch {
    /// The ids of its records; nil when it is no batch.
    package var ids: [String]? {
        guard case .batch(let batch) = self else { return nil }
        return batch.items.map(\.header.id.text)
    }
}
