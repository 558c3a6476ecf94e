import GRDB
import QueueTestSupport
import Testing

@testable import IngestQueue

/// Sending a range of records again.
@Suite struct ResendTests {
    private let settings = BatchSettings(maxRecords: 2, maxWait: .zero)
    private let clock = DrivenClock()
    /// 2026-11-20T09:15:00Z, when the records of the tests are measured.
    private let moment: Int64 = 1_795_166_100

    private func resend(_ store: SQLiteQueue, _ range: Range<Int64>) async throws -> Int {
        var count = 0
        var after: Int64? = 0
        while let start = after {
            let part = try await store.resender.resend(
                to: "clinic", measured: range, batching: settings, gateway: "box", after: start)
            count += part.resent
            after = part.next
        }
        return count
    }

    /// The ids of each request that the destination takes.
    private func delivered(
        _ store: SQLiteQueue, limit: Int = .max, lane: DeliveryLane = .backlog
    ) async throws -> [[String]] {
        var requests: [[String]] = []
        var next = try await store.next(settings, lane: lane)
        while requests.count < limit, case .batch(let batch) = next {
            requests.append(batch.items.map(\.header.id.text))
            next = try await store.take(batch, settings)
        }
        return requests
    }

    @Test func whatWasDeliveredGoesAgainInItsOrderAndOnceHoweverOftenItIsAskedFor() async throws {
        try await withQueue(clock) { store in
            try await store.fill(["a", "b", "c"])
            #expect(try await delivered(store) == [["a", "b"], ["c"]])
            #expect(try await resend(store, moment..<moment + 1) == 3)
            #expect(try await resend(store, moment..<moment + 1) == 0)
            try await store.fill(["new"])
            #expect(try await delivered(store) == [["a", "b"], ["c"], ["new"]])
            #expect(try await resend(store, moment + 1..<moment + 2) == 0)
            #expect(try await resend(store, moment - 1..<moment) == 0)
        }
    }

    @Test func whatStillGoesThereGoesOnceAndWhatIsSetAsideStays() async throws {
        try await withQueue(clock) { store in
            try await store.fill(["a", "b", "c", "d", "e"])
            #expect(try await delivered(store, limit: 1) == [["a", "b"]])
            // c and d are in a request, e waits.
            let batch = try #require(try await store.next(settings).batch)
            #expect(batch.items.count == 2)
            #expect(try await resend(store, 0..<Int64.max) == 2)
            #expect(try await delivered(store) == [["a", "b"], ["c", "d"], ["e"]])
            try await store.fill(["bad"])
            let bad = try #require(try await store.next(settings).batch)
            _ = try await store.batches.setAside(
                bad, httpStatus: 422, attempt: 1, reason: "HTTP 422", reply: nil, settings: settings,
                gateway: "box")
            #expect(try await resend(store, 0..<Int64.max) == 5)
        }
    }

    @Test func whatTheFreshLaneTookGoesAgainToo() async throws {
        let routing = DestinationRouting(name: "clinic", order: .fresh)
        try await withQueue(clock, destinations: [routing]) { store in
            try await store.fill(["old"])
            clock.advance(by: .seconds(120))
            try await store.fill(["new"])
            #expect(try await delivered(store, lane: .fresh) == [["new"]])
            #expect(try await resend(store, 0..<Int64.max) == 1)
            #expect(try await delivered(store) == [["new"], ["old"]])
        }
    }

    @Test func anotherPersonsAndOtherKindsOfRecordsDoNotGo() async throws {
        try await withQueue(clock) { store in
            _ = try await store.sessions.signIn("first", at: "clinic")
            try await store.fill(["a"])
            _ = try await delivered(store)
            _ = try await store.sessions.signIn("second", at: "clinic")
            let cuff = try record("cuff", kind: .bloodPressure)
            try await store.add(cuff)
            try await store.records.freeze([cuff])
            try await store.fill(["b"])
            _ = try await delivered(store)
            store.route([DestinationRouting(name: "clinic", kinds: [.bodyTemperature])])
            #expect(try await resend(store, 0..<Int64.max) == 1)
            #expect(try await delivered(store) == [["b"]])
        }
    }

    @Test func aLongRangeGoesPartByPart() async throws {
        try await withQueue(clock) { store in
            try await store.fillAtOnce((0..<4500).map { "r\($0)" })
            try await store.database.write { try $0.execute(sql: "UPDATE destination SET position = 4500") }
            let part = try await store.resender.resend(
                to: "clinic", measured: 0..<Int64.max, batching: settings, gateway: "box")
            #expect(part.resent == 2000 && part.next == 2000)
            // What was sent before the break is not sent twice.
            #expect(try await resend(store, 0..<Int64.max) == 2500)
            #expect(try await store.counts().destinations[0].pending == 4500)
        }
    }
}
