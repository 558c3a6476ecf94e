import Synchronization
import Testing

@testable import IngestKit

/// Delivery in a session, to Validic's side as its specification has it.
@Suite struct ValidicTests {
    /// A worker between a real store and the fake.
    private struct Running {
        let store: SQLiteRecordStore
        let validic: Validic
        let worker: DeliveryWorker<Validic>
        let task: Task<Void, any Error>
        let clock: DrivenClock

        func stop() async throws {
            task.cancel()
            try await task.value
            try await store.close()
        }

        /// As a reload of the configuration does.
        func reload() async {
            if await validic.renew() { worker.retryNow() }
        }

        func names(_ names: EventName...) async throws -> [JournalEntry] {
            try await store.events.filter { names.map(\.rawValue).contains($0.name) }
        }

        func eventually(_ count: Int, _ name: EventName, sourceLocation: SourceLocation = #_sourceLocation)
            async throws
        {
            try await IngestKitTests.eventually("\(count) \(name.rawValue)", sourceLocation: sourceLocation) {
                try await names(name).count >= count
            }
        }

        /// Waits until the worker has looked at everything and does nothing.
        func untilIdle(sourceLocation: SourceLocation = #_sourceLocation) async throws {
            try await IngestKitTests.eventually("the worker waits", sourceLocation: sourceLocation) {
                if case .sending = worker.activity { return false }
                return clock.sleeperCount == 1 && !store.wakeUp(for: "validic").isRaised
            }
        }
    }

    private let fake = FakeValidic()
    private let token = SharedToken()
    private let clock = DrivenClock()

    private final class SharedToken: Sendable {
        private let text = Mutex("token-1")
        var value: String { text.withLock { $0 } }
        func replace(by other: String) { text.withLock { $0 = other } }
    }

    private func withHarness(_ body: (_ directory: String, _ url: String, HTTPTransport) async throws -> Void)
        async throws
    {
        let fake = fake
        let receiver = TestReceiver { fake.answer($0) }
        let transport = HTTPTransport()
        let result: Result<Void, any Error>
        do {
            try await withTemporaryDirectory { directory in
                try await receiver.run { url in
                    try await body(directory, url.replacing("/readings", with: "/"), transport)
                }
            }
            result = .success(())
        } catch {
            result = .failure(error)
        }
        try await transport.shutdown()
        try result.get()
    }

    private func start(
        _ place: (directory: String, url: String, transport: HTTPTransport), user: String = "patient-17",
        records: [Record] = []
    ) async throws -> Running {
        let store = try await SQLiteRecordStore.open(
            in: place.directory, clock: clock, destinations: [DestinationRouting(name: "validic")])
        try await fill(store, records)
        _ = try await store.adopt(user, at: "validic")
        let token = token
        let validic = Validic(
            settings: ValidicSettings(user: user, url: place.url), transport: place.transport, clock: clock,
            token: { token.value })
        let worker = DeliveryWorker(
            name: "validic", gateway: "box", store: store, destination: validic, account: user,
            batching: BatchSettings(maxRecords: 1, maxWait: .zero), clock: clock, random: { 1 },
            events: EventLog(sink: RecordingSink()))
        return Running(
            store: store, validic: validic, worker: worker, task: Task { try await worker.run() },
            clock: clock)
    }

    private func fill(_ store: SQLiteRecordStore, _ records: [Record]) async throws {
        for record in records {
            try await store.add(record)
            try await store.freeze([record])
        }
    }

    /// Records with these numbers in their ids.
    private func records(_ numbers: ClosedRange<Int>) throws -> [Record] {
        try numbers.map {
            try ValidicFormTests.record(.heartRate, [("heart-rate", 61, 0, "/min")], id: Self.id($0))
        }
    }

    private static func id(_ number: Int) -> String {
        "00000000-0000-5000-8000-" + padded(number, 12)
    }

    @Test func recordsGoOneByOneAndInOrder() async throws {
        try await withHarness { directory, url, transport in
            let running = try await start((directory, url, transport), records: try records(1...3))
            try await running.eventually(3, .submitted)
            #expect(fake.kept.map(\.id) == [1, 2, 3].map(Self.id) && fake.faults.isEmpty)
            #expect(fake.requests == 3)
            let events = try await running.names(.signedIn, .submitted).map(\.name)
            #expect(events == ["signed-in", "submitted", "submitted", "submitted"])
            try await running.stop()
        }
    }

    @Test func whatIsRefusedOrNobodysIsSetAsideAloneAtOnce() async throws {
        try await withHarness { directory, url, transport in
            var all = try records(1...4)
            all[1].subject = nil
            // What the specification does not have.
            all[2].id = RecordID(text: "no-uuid")
            let running = try await start((directory, url, transport), records: all)
            try await running.eventually(2, .submitted)
            try await running.eventually(2, .failed)
            #expect(fake.kept.map(\.id) == [1, 4].map(Self.id) && fake.requests == 3)
            let failed = try await running.names(.failed)
            #expect(failed.map { $0[.error] } == ["unassigned", "HTTP 400"])
            #expect(failed.map { $0[.httpStatus] } == [nil, "400"])
            try await running.stop()
        }
    }

    @Test func whatAnotherPersonMeasuredIsSetAsideAndNotSent() async throws {
        try await withHarness { directory, url, transport in
            var all = try records(1...3)
            all[1].subject = "patient-18"
            let running = try await start((directory, url, transport), records: all)
            try await running.eventually(2, .submitted)
            try await running.eventually(1, .failed)
            #expect(fake.kept.map(\.id) == [1, 3].map(Self.id) && fake.requests == 2)
            let failed = try await running.names(.failed)
            #expect(failed.map { $0[.error] } == ["is another person's"])
            #expect(failed.map { $0[.recordID] } == [Self.id(2)])
            try await running.stop()
        }
    }

    @Test func aRecordThatIsThereAlreadyIsSubmitted() async throws {
        try await withHarness { directory, url, transport in
            fake.answer(409)
            let running = try await start((directory, url, transport), records: try records(1...1))
            try await running.eventually(1, .submitted)
            try await running.stop()
        }
    }

    @Test func aRejectedTokenEndsTheSessionAndKeepsEverything() async throws {
        try await withHarness { directory, url, transport in
            fake.accept(token: "token-2")
            let running = try await start((directory, url, transport), records: try records(1...3))
            try await running.eventually(1, .sessionEnded)
            let ended = try await running.names(.sessionEnded)
            #expect(ended.map { $0[.count] } == ["3"] && ended[0][.httpStatus] == "401")
            #expect(try await running.store.state(of: "validic") == .authRejected)
            // Neither time, nor new records, nor a reload with the same token.
            try await running.untilIdle()
            clock.advance(by: .seconds(86_400))
            try await fill(running.store, try records(4...4))
            try await running.untilIdle()
            await running.reload()
            try await running.untilIdle()
            #expect(fake.requests == 1 && fake.kept.isEmpty)
            #expect(try await running.names(.retrying, .authRejected, .failed).isEmpty)

            token.replace(by: "token-2")
            await running.reload()
            try await running.eventually(4, .submitted)
            #expect(fake.kept.map(\.id) == (1...4).map(Self.id))
            #expect(try await running.names(.sessionEnded).count == 1)
            try await running.stop()
        }
    }

    @Test func aSignInTriesARejectedTokenAgain() async throws {
        try await withHarness { directory, url, transport in
            fake.accept(token: "token-2")
            let running = try await start((directory, url, transport), records: try records(1...1))
            try await running.eventually(1, .sessionEnded)
            try await running.untilIdle()
            #expect(try await running.store.signIn("patient-17", at: "validic") == 0)
            try await running.eventually(2, .sessionEnded)
            fake.accept(token: "token-1")
            #expect(try await running.store.signIn("patient-17", at: "validic") == 0)
            try await running.eventually(1, .submitted)
            #expect(try await running.names(.signedIn).count == 3)
            try await running.stop()
        }
    }

    @Test func nothingGoesOutAfterASignOut() async throws {
        try await withHarness { directory, url, transport in
            fake.answer(503)
            let running = try await start((directory, url, transport), records: try records(1...2))
            try await running.eventually(1, .retrying)
            #expect(try await running.store.signOut(of: "validic") == 2)
            fake.answer(nil)
            try await fill(running.store, try records(3...3))
            try await running.untilIdle()
            clock.advance(by: .seconds(3600))
            try await running.untilIdle()
            let before = fake.requests
            #expect(fake.kept.isEmpty)
            #expect(try await running.store.signIn("patient-17", at: "validic") == 0)
            try await running.eventually(1, .submitted)
            // What was given up is not sent, though it was about to be.
            #expect(fake.kept.map(\.id) == [Self.id(3)] && fake.requests == before + 1)
            try await running.stop()
        }
    }

    @Test func anotherPersonsRecordsAreNeverSent() async throws {
        try await withHarness { directory, url, transport in
            fake.answer(503)
            let first = try await start((directory, url, transport), records: try records(1...2))
            try await first.eventually(1, .retrying)
            try await first.stop()

            fake.answer(nil)
            let second = try await start((directory, url, transport), user: "patient-18")
            try await second.untilIdle()
            try await fill(second.store, try records(3...3))
            try await second.untilIdle()
            #expect(fake.kept.isEmpty)
            #expect(try await second.store.signIn("patient-18", at: "validic") == 3)
            var own = try records(4...4)
            own[0].subject = "patient-18"
            try await fill(second.store, own)
            try await second.eventually(1, .submitted)
            try await second.eventually(3, .failed)
            #expect(fake.kept.map(\.id) == [Self.id(4)])
            try await second.stop()
        }
    }
}
