import QueueTestSupport
import Testing

@testable import IngestQueue

/// Which records `ingestd records` shows by its filters, and in which order.
@Suite struct RecordFilterTests {
    private static let cuff = "aa11aa11-0000-5000-8000-000000000000"
    private static let scale = "bb22bb22-0000-5000-8000-000000000000"
    private static let nobody = "cc33cc33-0000-5000-8000-000000000000"

    private let routings = [DestinationRouting(name: "clinic"), DestinationRouting(name: "ward")]
    private let settings = BatchSettings(maxRecords: 1, maxWait: .zero)

    /// Three records, of which `clinic` has taken the first and refused the second.
    private func withRecords(_ body: ((RecordFilter, Int?) throws -> [String]) throws -> Void) async throws {
        try await withQueue(destinations: routings) { store, directory in
            var ofCuff = try record(
                Self.cuff, kind: .bloodPressure, peripheralID: 1001, alias: "kitchen cuff",
                address: "C0:00:00:00:00:01")
            ofCuff.subject = "patient-17"
            var ofScale = try record(
                Self.scale, kind: .weight, peripheralID: 1008, address: "C0:00:00:00:00:02")
            ofScale.subject = "patient-18"
            for record in [ofCuff, ofScale, try record(Self.nobody)] {
                try await store.add(record)
                try await store.records.freeze([record])
            }
            try await store.take(try #require(try await store.next(settings).batch), settings)
            _ = try await store.batches.setAside(
                try #require(try await store.next(settings).batch), httpStatus: 422, attempt: 1,
                reason: "HTTP 422", reply: nil, settings: settings, gateway: "box")
            let reader = try QueueReader(path: directory + "/queue.sqlite")
            try body { filter, limit in
                var ids: [String] = []
                try reader.forEachRecord(filter, limit: limit, routings: routings) { record, _ in
                    ids.append(record.id)
                }
                return ids
            }
        }
    }

    @Test func recordsAreNarrowedByKindPersonAndDevice() async throws {
        try await withRecords { ids throws in
            #expect(try ids(RecordFilter(), nil) == [Self.cuff, Self.scale, Self.nobody])
            #expect(try ids(RecordFilter(kind: .weight), nil) == [Self.scale])
            #expect(try ids(RecordFilter(subject: "patient-17"), nil) == [Self.cuff])
            #expect(try ids(RecordFilter(subject: "unassigned"), nil) == [Self.nobody])
            #expect(try ids(RecordFilter(subject: "patient-1"), nil) == [])
            for device in ["kitchen cuff", "c0:00:00:00:00:01", "1001"] {
                #expect(try ids(RecordFilter(device: device), nil) == [Self.cuff], "\(device)")
            }
            #expect(try ids(RecordFilter(device: "kitchen"), nil) == [])
            #expect(try ids(RecordFilter(kind: .weight, subject: "patient-17"), nil) == [])
        }
    }

    @Test func recordsAreNarrowedByTheirStateAtAnyDestination() async throws {
        try await withRecords { ids throws in
            #expect(try ids(RecordFilter(state: .done), nil) == [Self.cuff])
            #expect(try ids(RecordFilter(state: .setAside), nil) == [Self.scale])
            #expect(try ids(RecordFilter(state: .waiting), nil) == [Self.cuff, Self.scale, Self.nobody])
            #expect(try ids(RecordFilter(state: .notConfigured), nil) == [])
        }
    }

    @Test func theNewestAreCountedAmongThoseThatTheFilterTakes() async throws {
        try await withRecords { ids throws in
            #expect(try ids(RecordFilter(), 2) == [Self.scale, Self.nobody])
            #expect(try ids(RecordFilter(subject: "patient-17"), 1) == [Self.cuff])
            #expect(try ids(RecordFilter(state: .done), 1) == [Self.cuff])
        }
    }

    @Test func eachRecordIsToldWithWhereItStands() async throws {
        try await withQueue(destinations: routings) { store, directory in
            try await store.fill([Self.cuff])
            let reader = try QueueReader(path: directory + "/queue.sqlite")
            var standings: [[RecordStanding]] = []
            try reader.forEachRecord(RecordFilter(), routings: routings) { standings.append($1) }
            try reader.forEachRecord(RecordFilter(), routings: nil) { standings.append($1) }
            let waiting = ["clinic", "ward"].map { RecordStanding(destination: $0, state: .waiting) }
            #expect(standings == [waiting, []])
        }
    }
}
