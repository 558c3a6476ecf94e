import TestSupport
import Testing

@testable import IngestDelivery
@testable import IngestQueue
@testable import IngestStorage

/// Delivery in a session, to Validic's side as its specification has it.
@Suite struct ValidicTests {
    private let fake = FakeValidic()
    private let bench = ValidicBench(api: .inform())

    private func withFake(_ body: (DeliveryPlace) async throws -> Void) async throws {
        try await withBackend(fake.answer, body)
    }

    @Test func recordsGoOneByOneAndInOrder() async throws {
        try await withFake { place in
            let running = try await bench.start(place, records: try ValidicBench.records(1...3))
            try await running.eventually(3, .submitted)
            #expect(fake.kept.map(\.id) == [1, 2, 3].map(ValidicBench.id) && fake.faults.isEmpty)
            #expect(fake.requests == 3)
            let events = try await running.names(.signedIn, .submitted).map(\.name)
            #expect(events == ["signed-in", "submitted", "submitted", "submitted"])
            try await running.stop()
        }
    }

    @Test func whatIsRefusedOrNobodysIsSetAsideAloneAtOnce() async throws {
        try await withFake { place in
            var all = try ValidicBench.records(1...4)
            all[1].subject = nil
            // What the specification does not have.
            all[2].id = RecordID(text: "no-uuid")
            let running = try await bench.start(place, records: all)
            try await running.eventually(2, .submitted)
            try await running.eventually(2, .failed)
            #expect(fake.kept.map(\.id) == [1, 4].map(ValidicBench.id) && fake.requests == 3)
            let failed = try await running.names(.failed)
            #expect(failed.map { $0[.error] } == ["unassigned", "HTTP 400"])
            #expect(failed.map { $0[.httpStatus] } == [nil, "400"])
            try await running.stop()
        }
    }

    @Test func whatAnotherPersonMeasuredIsSetAsideAndNotSent() async throws {
        try await withFake { place in
            var all = try ValidicBench.records(1...3)
            all[1].subject = "patient-18"
            let running = try await bench.start(place, records: all)
            try await running.eventually(2, .submitted)
            try await running.eventually(1, .failed)
            #expect(fake.kept.map(\.id) == [1, 3].map(ValidicBench.id) && fake.requests == 2)
            let failed = try await running.names(.failed)
            #expect(failed.map { $0[.error] } == ["is another person's"])
            #expect(failed.map { $0[.recordID] } == [ValidicBench.id(2)])
            try await running.stop()
        }
    }

    @Test func aTestWithControlSolutionIsNobodys() async throws {
        try await withFake { place in
            var all = try ValidicBench.records(1...2)
            all[0].flags = ["type-control-solution"]
            let running = try await bench.start(place, records: all)
            try await running.eventually(1, .submitted)
            try await running.eventually(1, .failed)
            #expect(fake.kept.map(\.id) == [ValidicBench.id(2)])
            try await running.stop()
        }
    }

    @Test func aRecordThatIsThereAlreadyIsSubmitted() async throws {
        try await withFake { place in
            fake.answer(409)
            let running = try await bench.start(place, records: try ValidicBench.records(1...1))
            try await running.eventually(1, .submitted)
            try await running.stop()
        }
    }

    @Test func aRejectedTokenEndsTheSessionAndKeepsEverything() async throws {
        try await withFake { place in
            fake.accept(token: "token-2")
            let running = try await bench.start(place, records: try ValidicBench.records(1...3))
            try await running.eventually(1, .sessionEnded)
            let ended = try await running.names(.sessionEnded)
            #expect(ended.map { $0[.count] } == ["3"] && ended[0][.httpStatus] == "401")
            #expect(try await running.store.batches.state(of: "validic") == .authRejected)
            // Neither time, nor new records, nor a reload with the same token.
            try await running.untilIdle()
            bench.clock.advance(by: .seconds(86_400))
            try await running.store.fill(try ValidicBench.records(4...4))
            try await running.untilIdle()
            await running.reload()
            try await running.untilIdle()
            #expect(fake.requests == 1 && fake.kept.isEmpty)
            #expect(try await running.names(.retrying, .authRejected, .failed).isEmpty)

            bench.token.replace(by: "token-2")
            await running.reload()
            try await running.eventually(4, .submitted)
            #expect(fake.kept.map(\.id) == (1...4).map(ValidicBench.id))
            #expect(try await running.names(.sessionEnded).count == 1)
            try await running.stop()
        }
    }

    @Test func aSignInTriesARejectedTokenAgain() async throws {
        try await withFake { place in
            fake.accept(token: "token-2")
            let running = try await bench.start(place, records: try ValidicBench.records(1...1))
            try await running.eventually(1, .sessionEnded)
            try await running.untilIdle()
            #expect(try await running.store.sessions.signIn("patient-17", at: "validic") == 0)
            try await running.eventually(2, .sessionEnded)
            fake.accept(token: "token-1")
            #expect(try await running.store.sessions.signIn("patient-17", at: "validic") == 0)
            try await running.eventually(1, .submitted)
            #expect(try await running.names(.signedIn).count == 3)
            try await running.stop()
        }
    }

    @Test func nothingGoesOutAfterASignOut() async throws {
        try await withFake { place in
            fake.answer(503)
            let running = try await bench.start(place, records: try ValidicBench.records(1...2))
            try await running.eventually(1, .retrying)
            #expect(try await running.store.sessions.signOut(of: "validic") == 2)
            fake.answer(nil)
            try await running.store.fill(try ValidicBench.records(3...3))
            try await running.untilIdle()
            bench.clock.advance(by: .seconds(3600))
            try await running.untilIdle()
            let before = fake.requests
            #expect(fake.kept.isEmpty)
            #expect(try await running.store.sessions.signIn("patient-17", at: "validic") == 0)
            try await running.eventually(1, .submitted)
            // What was given up is not sent, though it was about to be.
            #expect(fake.kept.map(\.id) == [ValidicBench.id(3)] && fake.requests == before + 1)
            try await running.stop()
        }
    }

    @Test func anotherPersonsRecordsAreNeverSent() async throws {
        try await withFake { place in
            fake.answer(503)
            let first = try await bench.start(place, records: try ValidicBench.records(1...2))
            try await first.eventually(1, .retrying)
            try await first.stop()

            fake.answer(nil)
            let second = try await bench.start(place, user: "patient-18")
            try await second.untilIdle()
            try await second.store.fill(try ValidicBench.records(3...3))
            try await second.untilIdle()
            #expect(fake.kept.isEmpty)
            #expect(try await second.store.sessions.signIn("patient-18", at: "validic") == 3)
            var own = try ValidicBench.records(4...4)
            own[0].subject = "patient-18"
            try await second.store.fill(own)
            try await second.eventually(1, .submitted)
            try await second.eventually(3, .failed)
            #expect(fake.kept.map(\.id) == [ValidicBench.id(4)])
            try await second.stop()
        }
    }
}
