import FoundationEssentials
import GRDB
import QueueTestSupport
import Synchronization
import Testing

@testable import IngestDelivery
@testable import IngestQueue

@Suite struct WorkerTests {
    typealias Answer = TestReceiver.Answer

    @Test func everyRecordIsSubmittedOnceInOrder() async throws {
        try await withHarness(Answer(status: 201)) { harness, receiver in
            let running = try await harness.start(ids: (0..<10).map { "r\($0)" })
            try await running.eventually(10, .submitted)
            try await running.untilWaiting()
            try await running.store.fill(["r10"])
            try await running.eventually(11, .submitted)
            #expect(try receiver.received.map { try $0.ids }.flatMap(\.self) == (0..<11).map { "r\($0)" })
            #expect(
                receiver.received.map(\.headers["content-type"])
                    == Array(repeating: "application/json", count: 4))
            let submitted = try await running.store.events.filter { $0.name == "submitted" }
            #expect(submitted.map { $0[.recordID] } == (0..<11).map { "r\($0)" })
            #expect(submitted.allSatisfy { $0[.httpStatus] == "201" && $0[.attempt] == "1" })
            #expect(receiver.received[0].text.contains("36.60"))
            try await running.stop()
        }
    }

    @Test func gzippedBodiesHaveTheKeyOfTheirContent() async throws {
        try await withHarness(Answer(status: 200)) { harness, receiver in
            let running = try await harness.start(
                settings: WebhookSettings(url: harness.url, usesGzip: true), ids: ["a", "b"])
            try await running.eventually(2, .submitted)
            let request = receiver.received[0]
            #expect(request.headers["content-encoding"] == "gzip")
            let body = try Gzip.decompress(request.body, limit: 1 << 20)
            #expect(try idsOfRecords(in: body) == ["a", "b"])
            #expect(request.key == IdempotencyKey.of(body))
            try await running.stop()
        }
    }

    @Test(arguments: [400, 422, 412])
    func aBadRecordIsSetAsideAndTheRestIsDelivered(_ status: Int) async throws {
        let answer: @Sendable (TestReceiver.Received) -> Answer = {
            $0.text.contains("\"bad\"") ? Answer(status: status, body: "your words") : Answer(status: 200)
        }
        try await withHarness(answer) { harness, receiver in
            let running = try await harness.start(ids: ["a", "b", "bad", "c", "d"])
            try await running.eventually(1, .failed)
            try await running.eventually(4, .submitted)
            let events = try await running.store.events
            let failed = events.filter { $0.name == "failed" }
            #expect(failed.map { $0[.recordID] } == ["bad"])
            #expect(failed[0][.httpStatus] == "\(status)")
            #expect(events.filter { $0.name == "submitted" }.map { $0[.recordID] } == ["a", "b", "c", "d"])
            #expect(
                try receiver.received.map { try $0.ids } == [
                    ["a", "b", "bad", "c"], ["a", "b"], ["bad", "c"], ["bad"], ["c"], ["d"],
                ])
            // The server's words are not for the journal.
            #expect(!events.contains { $0.stored.contains("your words") })
            let counts = try await running.store.counts().destinations[0]
            #expect(counts.dead == 1 && counts.delivered == 4 && counts.pending == 0)
            try await running.stop()
        }
    }

    @Test func whatIsTooLargeIsHalved() async throws {
        let answer: @Sendable (TestReceiver.Received) -> Answer = {
            Answer(status: ((try? $0.ids.count) ?? 0) > 1 ? 413 : 200)
        }
        try await withHarness(answer) { harness, _ in
            let running = try await harness.start(ids: ["a", "b", "c"])
            try await running.eventually(3, .submitted)
            #expect(try await running.count(.failed) == 0)
            try await running.stop()
        }
    }

    @Test func anUnavailableDestinationIsTriedAgainWithTheSameBytes() async throws {
        try await withHarness(Answer(status: 503)) { harness, receiver in
            let running = try await harness.start(ids: ["a", "b"])
            for attempt in 1...8 {
                try await eventually("attempt \(attempt)") { receiver.received.count == attempt }
                if attempt <= 5 { try await running.eventually(attempt, .retrying) }
                try await running.untilWaiting()
                // One moment before, nothing is sent.
                let delay = Duration.seconds(1 << (attempt - 1))
                harness.clock.advance(by: delay - .milliseconds(1))
                try await running.untilWaiting()
                #expect(receiver.received.count == attempt)
                if attempt == 8 { receiver.change { _ in Answer(status: 200) } }
                harness.clock.advance(by: .milliseconds(1))
            }
            try await running.eventually(2, .submitted)
            let events = try await running.store.events
            // The later failures within an hour are not told.
            #expect(
                events.filter { $0.name == "retrying" }.map { $0[.attempt] } == ["1", "2", "3", "4", "5"])
            #expect(events.filter { $0.name == "destination-down" }.count == 1)
            #expect(events.filter { $0.name == "destination-up" }.count == 1)
            #expect(events.filter { $0.name == "submitted" }.map { $0[.attempt] } == ["9", "9"])
            #expect(Set(receiver.received.map(\.body)).count == 1)
            #expect(Set(receiver.received.map(\.key)).count == 1)
            try await running.stop()
        }
    }

    @Test func aRequestStillBeingWorkedOnIsSentAgainUnderItsKey() async throws {
        try await withHarness(Answer(status: 409)) { harness, receiver in
            let running = try await harness.start(ids: ["a"])
            try await running.eventually(1, .retrying)
            try await running.untilWaiting()
            receiver.change { _ in Answer(status: 200) }
            harness.clock.advance(by: .seconds(1))
            try await running.eventually(1, .submitted)
            #expect(receiver.received.count == 2)
            #expect(Set(receiver.received.map(\.key)).count == 1)
            try await running.stop()
        }
    }

    @Test func aRefusedConnectionIsADestinationThatIsDown() async throws {
        try await withHarness(Answer(status: 200)) { harness, receiver in
            // Nothing listens on port 1.
            let running = try await harness.start(
                settings: WebhookSettings(url: "http://127.0.0.1:1/"), ids: ["a"])
            try await running.eventually(1, .retrying)
            let down = try #require(try await running.store.events.first { $0.name == "destination-down" })
            #expect(down[.error] == "the connection was refused")
            #expect(down[.httpStatus] == nil)
            #expect(try await running.store.counts().destinations[0].pending == 1)
            try await running.stop()
        }
    }

    @Test func aRequestWithoutAnAnswerEndsAfterAMinute() async throws {
        try await withHarness(Answer(status: 200, hangs: true)) { harness, receiver in
            let running = try await harness.start(ids: ["a"])
            // The bound of the request and the heartbeat of the worker.
            try await eventually("the request is there, and its time runs") {
                receiver.received.count == 1 && harness.clock.sleeperCount == 2
            }
            harness.clock.advance(by: .seconds(60))
            try await running.eventually(1, .retrying)
            let down = try #require(try await running.store.events.first { $0.name == "destination-down" })
            #expect(down[.error] == "no answer within 60 s")
            try await running.untilWaiting()
            receiver.change { _ in Answer(status: 200) }
            harness.clock.advance(by: .seconds(1))
            try await running.eventually(1, .submitted)
            try await running.stop()
        }
    }

    @Test(arguments: [
        (401, EventName.authRejected), (403, .authRejected), (404, .destinationMisconfigured),
        (410, .destinationMisconfigured), (302, .destinationMisconfigured),
    ])
    func aRejectionBacksOffLikeAFailureFiveTimesThenEveryFiveMinutes(
        _ status: Int, _ name: EventName
    ) async throws {
        let headers = ["Location": "http://127.0.0.1:1/elsewhere"]
        try await withHarness(Answer(status: status, headers: headers)) { harness, receiver in
            let running = try await harness.start(ids: ["a", "b"])
            for (count, seconds) in [1, 2, 4, 8, 16, 300, 300].enumerated() {
                try await eventually("\(count + 1) requests") { receiver.received.count == count + 1 }
                try await running.eventually(1, name)
                try await running.untilWaiting()
                #expect(running.worker.report.lastError?.contains("(HTTP \(status))") == true)
                harness.clock.advance(by: .seconds(seconds) - .milliseconds(1))
                try await running.untilWaiting()
                #expect(receiver.received.count == count + 1)
                if count == 6 { receiver.change { _ in Answer(status: 200) } }
                harness.clock.advance(by: .milliseconds(1))
            }
            try await running.eventually(2, .submitted)
            #expect(try await running.count(name) == 1)
            #expect(try await running.count(.destinationUp) == 1)
            #expect(try await running.count(.failed) == 0)
            try await running.stop()
        }
    }

    /// The file of the token is replaced while the worker waits for minutes.
    @Test(arguments: [401, 403, 404])
    func aReplacedCredentialFileEndsTheWaitAfterARejection(_ status: Int) async throws {
        let answer: @Sendable (TestReceiver.Received) -> Answer = {
            Answer(status: $0.headers["authorization"] == "Bearer new" ? 200 : status)
        }
        try await withHarness(answer) { harness, receiver in
            let token = harness.directory + "/token"
            try Data("old\n".utf8).write(to: URL(fileURLWithPath: token))
            let running = try await harness.start(ids: ["a"], tokenFile: token)
            for (count, seconds) in [1, 2, 4, 8, 16].enumerated() {
                try await eventually("\(count + 1) requests") { receiver.received.count == count + 1 }
                try await running.untilWaiting()
                harness.clock.advance(by: .seconds(seconds))
            }
            try await eventually("6 requests") { receiver.received.count == 6 }
            try await running.untilWaiting()
            harness.clock.advance(by: .seconds(30))
            try await running.untilWaiting()
            #expect(receiver.received.count == 6)
            try Data("new\n".utf8).write(to: URL(fileURLWithPath: token), options: .atomic)
            harness.clock.advance(by: .seconds(30))
            try await running.eventually(1, .submitted)
            try await running.stop()
        }
    }

    /// 2262-04-11T23:47:16Z is the last moment that the gateway can count.
    @Test func deliveryGoesOnAtTheEndOfTheWallClock() async throws {
        try await withHarness(Answer(status: 200)) { harness, _ in
            harness.clock.set(wall: 9_223_372_006)
            let running = try await harness.start(ids: ["a"])
            try await running.eventually(1, .submitted)
            for (count, seconds) in [(2, 30), (3, 60), (4, 86_400)] {
                try await running.untilIdle()
                harness.clock.advance(by: .seconds(seconds))
                try await running.store.fill(["r\(count)"])
                try await running.eventually(count, .submitted)
            }
            #expect(harness.clock.wallNanoseconds == .max)
            try await running.stop()
        }
    }

    @Test func aReplacedTokenIsTriedAtOnce() async throws {
        let token = Mutex("old")
        let answer: @Sendable (TestReceiver.Received) -> Answer = {
            Answer(status: $0.headers["authorization"] == "Bearer new" ? 200 : 401)
        }
        try await withHarness(answer) { harness, receiver in
            let running = try await harness.start(ids: ["a"]) {
                token.withLock { token in
                    defer { token = "new" }
                    return WebhookSecrets(token: token)
                }
            }
            try await running.eventually(1, .submitted)
            #expect(receiver.received.map(\.headers["authorization"]) == ["Bearer old", "Bearer new"])
            #expect(try await running.count(.authRejected) == 0)
            try await running.stop()
        }
    }

    @Test func aServersWordsAreKeptWithoutTheToken() async throws {
        let answer: @Sendable (TestReceiver.Received) -> Answer = {
            Answer(status: 422, body: "not by \($0.headers["authorization"] ?? "nobody"), said the clerk")
        }
        try await withHarness(answer) { harness, _ in
            let running = try await harness.start(ids: ["a"], secrets: { WebhookSecrets(token: "s3cret") })
            try await running.eventually(1, .failed)
            let replies = try await running.store.database.read {
                try String.fetchAll($0, sql: "SELECT reply FROM dead_letter")
            }
            #expect(replies == ["not by Bearer [credential], said the clerk"])
            try await running.stop()
        }
    }

    @Test func theHeartbeatGoesOnThroughEveryWait() async throws {
        try await withHarness(Answer(status: 429, headers: ["Retry-After": "3600"])) { harness, _ in
            let running = try await harness.start()
            for phase in ["idle", "retry"] {
                if phase == "retry" {
                    try await running.store.fill(["a"])
                    try await running.eventually(1, .retrying)
                }
                for _ in 0..<5 {
                    try await running.untilWaiting()
                    let before = harness.heartbeats.value
                    harness.clock.advance(by: .seconds(60))
                    try await eventually("a heartbeat in \(phase)") { harness.heartbeats.value > before }
                }
            }
            try await running.stop()
        }
    }

    @Test func anIdleWorkerWakesUpOnceAMinute() async throws {
        try await withHarness(Answer(status: 200)) { harness, _ in
            let running = try await harness.start()
            try await running.untilIdle()
            #expect(harness.clock.nextDeadline == harness.clock.now + .seconds(60))
            try await running.stop()
        }
    }

    @Test func aNewReadingGoesOutBetweenTheBatchesOfABacklog() async throws {
        try await withHarness(Answer(status: 503)) { harness, receiver in
            let earlier = try await harness.start(order: .fresh)
            try await earlier.untilWaiting()
            try await earlier.store.fill((0..<12).map { "old\($0)" })
            try await earlier.eventually(1, .destinationDown)
            try await earlier.stop()
            harness.clock.advance(by: .seconds(3600))

            let before = receiver.received.count
            receiver.change { _ in Answer(status: 200) }
            let running = try await harness.start(order: .fresh, ids: ["new"])
            try await running.eventually(13, .submitted)
            let requests = try receiver.received.dropFirst(before).map { try $0.ids }
            #expect(requests.flatMap(\.self).sorted() == ((0..<12).map { "old\($0)" } + ["new"]).sorted())
            let place = try #require(requests.firstIndex(of: ["new"]))
            #expect(place <= 2)
            try await running.stop()
        }
    }

    @Test func aBatchThatTheBackendCannotTakeHoldsUpNoNewReading() async throws {
        let answer: @Sendable (TestReceiver.Received) -> Answer = {
            Answer(status: $0.text.contains("poison") ? 500 : 200)
        }
        try await withHarness(answer) { harness, _ in
            let running = try await harness.start(order: .fresh)
            try await running.untilWaiting()
            try await running.store.fill(["poison"])
            try await running.eventually(1, .retrying)
            try await running.untilWaiting()
            harness.clock.advance(by: .seconds(2))
            try await running.eventually(2, .retrying)
            for number in 0..<3 {
                try await running.store.fill(["new\(number)"])
                try await running.eventually(number + 1, .submitted)
                try await running.untilWaiting()
            }
            let counts = try await running.store.counts().destinations[0]
            #expect(counts.pending == 1 && counts.delivered == 3)
            try await running.stop()
        }
    }
}
