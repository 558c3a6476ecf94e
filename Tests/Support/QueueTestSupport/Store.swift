import FoundationEssentials
package import GRDB

@testable package import IngestQueue

/// Runs `body` with a queue of its own, which is closed and removed after it.
package func withQueue<Value>(
    _ clock: DrivenClock = DrivenClock(),
    destinations: [DestinationRouting] = [DestinationRouting(name: "clinic")],
    _ body: (SQLiteQueue) async throws -> Value
) async throws -> Value {
    try await withQueue(clock, destinations: destinations) { store, _ in try await body(store) }
}

/// The same, with the queue's directory.
package func withQueue<Value>(
    _ clock: DrivenClock = DrivenClock(),
    destinations: [DestinationRouting] = [DestinationRouting(name: "clinic")],
    _ body: (SQLiteQueue, String) async throws -> Value
) async throws -> Value {
    try await withTemporaryDirectory { directory in
        let store = try await SQLiteQueue.open(in: directory, clock: clock, destinations: destinations)
        let value = try await body(store, directory)
        try await store.close()
        return value
    }
}

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
    package func add(_ record: IngestQueue.Record, at instant: MonotonicInstant? = nil) async throws
        -> CommitOutcome
    {
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

    /// How many records of a device there are.
    package func recordCount(of device: BluetoothAddress) async throws -> Int {
        try await database.read {
            try Int.fetchOne(
                $0, sql: "SELECT count(*) FROM record WHERE address = ?", arguments: [device.description])
                ?? 0
        }
    }

    /// What a device without an address in the allow-list holds, in bytes; nil: all of them.
    package func strangerBytes(of device: BluetoothAddress?) async throws -> Int64 {
        try await database.read { try StrangerTable.bytes(of: device?.description ?? "", $0) }
    }

    /// What a destination gets next.
    package func next(
        _ settings: BatchSettings = BatchSettings(maxWait: .zero), for destination: String = "clinic",
        lane: DeliveryLane = .backlog
    ) async throws -> NextBatch {
        try await batches.nextBatch(for: destination, lane: lane, settings: settings, gateway: "box")
    }

    /// The destination takes a batch.
    /// - Returns: what it gets next.
    @discardableResult
    package func take(
        _ batch: StoredBatch, _ settings: BatchSettings = BatchSettings(maxWait: .zero)
    ) async throws -> NextBatch {
        try await batches.acknowledge(batch, httpStatus: 200, attempt: 1, settings: settings, gateway: "box")
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

extension Database {
    /// The ids that are kept of records which were dropped.
    package var retainedIDs: [String] {
        get throws { try Data.fetchAll(self, sql: "SELECT id FROM retained").map(RetainedTable.id).sorted() }
    }
}

extension NextBatch {
    /// Nil when it is none.
    package var batch: StoredBatch? { if case .batch(let batch) = self { batch } else { nil } }

    /// The ids of its records; nil when it is no batch.
    package var ids: [String]? { batch?.items.map(\.header.id.text) }
}
