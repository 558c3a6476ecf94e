import FoundationEssentials
package import IngestCore
package import IngestEvents
package import IngestRecords
package import IngestStorage
package import TestSupport

@testable package import IngestQueue

extension SQLiteRecordStore {
    package static func open(
        in directory: String, clock: DrivenClock, bootID: String = "boot-1",
        destinations: [DestinationRouting] = [DestinationRouting(name: "clinic")]
    ) async throws -> SQLiteRecordStore {
        try await open(
            path: directory + "/queue.sqlite", bootID: bootID, clock: clock, destinations: destinations)
    }

    /// Commits a record whose payload names the moment.
    @discardableResult
    package func add(_ record: Record, at instant: MonotonicInstant? = nil) async throws -> CommitOutcome {
        try await commit(
            RecordSubmission(
                record: record, repetition: .identified, received: instant ?? clock.now, decodeError: nil))
    }

    /// Commits and freezes records with these ids.
    package func fill(_ ids: some Sequence<String>) async throws {
        for id in ids {
            let record = try TestSupport.record(id)
            try await add(record)
            try await freeze([record])
        }
    }

    /// As `fill`, in two commits.
    package func fillAtOnce(_ ids: some Sequence<String>) async throws {
        let records = try ids.map { try TestSupport.record($0) }
        let now = clock.now
        _ = try await commit(
            QueueTransaction(
                submissions: records.map {
                    RecordSubmission(record: $0, repetition: .identified, received: now, decodeError: nil)
                }))
        try await freeze(records)
    }

    /// Drops all that may be, step by step.
    package func retireAll(lookingAt limit: Int = 500) async throws {
        var step = Retirement(position: 0)
        while !step.isDone { step = try await retire(keeping: nil, after: step.position, lookingAt: limit) }
    }

    package var events: [JournalEntry] {
        get async throws { try await outboxEntries(limit: 100_000).map(\.entry) }
    }
}

extension NextBatch {
    /// The ids of its records; nil when it is no batch.
    package var ids: [String]? {
        guard case .batch(let batch) = self else { return nil }
        return batch.items.map(\.header.id.text)
    }
}
