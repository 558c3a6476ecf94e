import FoundationEssentials
import TestSupport
import Testing

@testable import IngestDelivery
@testable import IngestEvents
@testable import IngestQueue
@testable import IngestRecords

/// Delivery to Validic's first API: what becomes of records by its answers.
@Suite struct ValidicV1Tests {
    private let fake = FakeValidicV1()
    private let bench = ValidicBench(
        api: .v1(organization: FakeValidicV1.organization, userID: FakeValidicV1.userID))

    private func withFake(_ body: (DeliveryPlace) async throws -> Void) async throws {
        try await withBackend(fake.answer, body)
    }

    @Test func recordsGoOneByOneAndInOrder() async throws {
        try await withFake { place in
            let running = try await bench.start(place, records: try ValidicBench.records(1...3))
            try await running.eventually(3, .submitted)
            #expect(fake.kept.map(\.id) == (1...3).map(ValidicBench.id) && fake.faults.isEmpty)
            #expect(fake.kept.allSatisfy { $0.members["diastolic"] == "87.5" })
            #expect(try await running.names(.submitted).allSatisfy { $0[.httpStatus] == "201" })
            try await running.stop()
        }
    }

    @Test func anUpdateIsTakenToo() async throws {
        try await withFake { place in
            fake.answer(TestReceiver.Answer(status: 200, body: #"{"code":200,"message":"Ok"}"#))
            let running = try await bench.start(place, records: try ValidicBench.records(1...1))
            try await running.eventually(1, .submitted)
            try await running.stop()
        }
    }

    /// Nothing public says that a record is there after a 409: it must not count as delivered.
    @Test(arguments: [400, 406, 409, 422])
    func whatIsRefusedIsSetAsideAlone(status: Int) async throws {
        try await withFake { place in
            let running = try await bench.start(place, records: try ValidicBench.records(1...1))
            try await running.eventually(1, .submitted)
            fake.answer(TestReceiver.Answer(status: status, body: #"{"errors":"token-1 is what was sent"}"#))
            try await running.store.fill(try ValidicBench.records(2...2))
            try await running.eventually(1, .failed)
            fake.answer(nil)
            try await running.store.fill(try ValidicBench.records(3...3))
            try await running.eventually(2, .submitted)
            #expect(fake.kept.map(\.id) == [1, 3].map(ValidicBench.id))
            #expect(try await running.names(.failed).map { $0[.httpStatus] } == ["\(status)"])
            var letters: [DeadLetter] = []
            try QueueReader(path: place.directory + "/queue.sqlite").forEachDeadLetter(DeadLetterSelection())
            { letters.append($0) }
            #expect(letters.map(\.id.text) == [ValidicBench.id(2)])
            #expect(letters.map(\.reply) == [#"{"errors":"[credential] is what was sent"}"#])
            try await running.stop()
        }
    }

    @Test func anActivityThatIsThereAlreadyIsSetAside() async throws {
        try await withFake { place in
            let first = try await bench.start(place, records: try ValidicBench.records(1...1))
            try await first.eventually(1, .submitted)
            try await first.stop()
            // As if the answer had been lost.
            try await withTemporaryDirectory { directory in
                let elsewhere = DeliveryPlace(
                    directory: directory, url: place.url, transport: place.transport,
                    receiver: place.receiver)
                let second = try await bench.start(elsewhere, records: try ValidicBench.records(1...1))
                try await second.eventually(1, .failed)
                #expect(fake.kept.count == 1 && fake.requests.count == 2)
                #expect(try await second.names(.submitted).isEmpty)
                try await second.stop()
            }
        }
    }

    @Test func anotherPersonsAndATestsAreNotSent() async throws {
        try await withFake { place in
            var all = try ValidicBench.records(1...4)
            all[0].subject = nil
            all[1].subject = "patient-18"
            all[2].flags = ["type-control-solution"]
            let running = try await bench.start(place, records: all)
            try await running.eventually(1, .submitted)
            try await running.eventually(3, .failed)
            #expect(fake.requests.count == 1)
            #expect(
                try await running.names(.failed).map { $0[.error] } == [
                    "unassigned", "is another person's",
                    "is no measurement of a person (type-control-solution)",
                ])
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
            try await running.untilIdle()
            bench.clock.advance(by: .seconds(86_400))
            try await running.untilIdle()
            #expect(fake.requests.count == 1)
            bench.token.replace(by: "token-2")
            await running.reload()
            try await running.eventually(3, .submitted)
            #expect(fake.kept.map(\.id) == (1...3).map(ValidicBench.id))
            #expect(try await running.names(.failed).isEmpty)
            try await running.stop()
        }
    }

    @Test(arguments: [
        (403, EventName.authRejected, "Forbidden"), (404, .destinationMisconfigured, "Not Found"),
    ])
    func whatIsSaidOfTheAccountKeepsEverything(status: Int, event: EventName, message: String) async throws {
        try await withFake { place in
            fake.answer(
                TestReceiver.Answer(
                    status: status,
                    body: #"{"code":\#(status),"message":"\#(message)","errors":"Bad request"}"#))
            let running = try await bench.start(place, records: try ValidicBench.records(1...2))
            try await running.eventually(1, event)
            try await running.untilWaiting()
            bench.clock.advance(by: .seconds(900))
            try await eventually("it is tried again") { fake.requests.count >= 2 }
            try await running.untilWaiting()
            #expect(try await running.names(event).count == 1)
            #expect(try await running.names(.failed, .sessionEnded).isEmpty)
            fake.answer(nil)
            bench.clock.advance(by: .seconds(900))
            try await running.eventually(2, .submitted)
            try await running.stop()
        }
    }

    @Test func theTokenIsInTheRequestAlone() async throws {
        try await withFake { place in
            bench.token.replace(by: "a-token-that-nothing-else-has")
            fake.answer(
                TestReceiver.Answer(status: 503, body: #"{"errors":"a-token-that-nothing-else-has"}"#))
            let running = try await bench.start(place, records: try ValidicBench.records(1...2))
            try await running.eventually(1, .retrying)
            // What is repeated has the token of that moment.
            bench.token.replace(by: "another-token-of-its-own")
            await running.reload()
            try await eventually("it is repeated") { fake.requests.count >= 2 }
            #expect(fake.requests[0].contains("a-token-that-nothing-else-has"))
            #expect(fake.requests[1].contains("another-token-of-its-own"))
            try await running.untilWaiting()
            var isSeen = false
            for name in try FileManager.default.contentsOfDirectory(atPath: place.directory) {
                let bytes = FileManager.default.contents(atPath: place.directory + "/" + name) ?? Data()
                isSeen = isSeen || bytes.firstRange(of: Data(ValidicBench.id(1).utf8)) != nil
                for secret in ["a-token-that-nothing-else-has", "another-token-of-its-own"] {
                    #expect(bytes.firstRange(of: Data(secret.utf8)) == nil, "\(name)")
                }
            }
            #expect(isSeen, "what is in the files can be seen")
            try await running.stop()
        }
    }
}
