import FoundationEssentials
import QueueTestSupport
import Synchronization
import Testing

@testable import IngestDelivery

@Suite struct BackOffTests {
    typealias Answer = TestReceiver.Answer

    private static func bound(afterFailures failures: Int) -> Duration {
        min(.seconds(1 << min(failures - 1, 9)), .seconds(300))
    }

    @Test(arguments: [1, 2, 5, 8, 9, 10, 40])
    func theJitterIsSpreadOverTheWholeBound(_ failures: Int) {
        var generator = SeededGenerator(seed: 1)
        let count = 10_000
        let bound = Self.bound(afterFailures: failures)
        var tenths = Array(repeating: 0, count: 10)
        var outside = 0
        for _ in 0..<count {
            let delay = RetryPolicy.standard.delay(
                afterFailures: failures, retryAfter: nil, random: .random(in: 0..<1, using: &generator))
            if delay < .zero || delay >= bound {
                outside += 1
            } else {
                tenths[Int(delay / bound * 10)] += 1
            }
        }
        #expect(outside == 0)
        // A tenth each, and five standard deviations of 30.
        #expect(tenths.allSatisfy { 850...1150 ~= $0 }, "\(tenths)")
    }

    /// The clock stands: no wait ends by itself.
    @Test func aChangeOfTheNetworkEndsAWaitForAnAnswerThatDidNotCome() async throws {
        try await withHarness(Answer(status: 200)) { harness, _ in
            // Nobody listens there.
            let running = try await harness.start(
                settings: WebhookSettings(url: "http://127.0.0.1:1/"), ids: ["a"])
            for count in 1...3 {
                try await running.eventually(count, .retrying)
                try await running.untilWaiting()
                running.worker.networkChanged()
            }
            try await running.eventually(4, .retrying)
            try await running.stop()
        }
    }

    @Test func aChangeOfTheNetworkDoesNotHurryAServerThatAnswered() async throws {
        try await withHarness(Answer(status: 503)) { harness, receiver in
            let running = try await harness.start(ids: ["a"])
            try await running.eventually(1, .retrying)
            try await running.untilWaiting()
            running.worker.networkChanged()
            // Its turn comes after that.
            running.worker.retryNow()
            try await running.eventually(2, .retrying)
            try await running.untilWaiting()
            #expect(receiver.received.count == 2)
            try await running.stop()
        }
    }

    @Test func anHourOf503LosesNothingAndIsToldOnce() async throws {
        try await withHarness(Answer(status: 503)) { harness, receiver in
            let generator = Mutex(SeededGenerator(seed: 1))
            let running = try await harness.start(
                ids: ["a", "b"], random: { generator.withLock { .random(in: 0..<1, using: &$0) } })
            let start = harness.clock.now
            var attempts = 0
            while harness.clock.now.since(start) < .seconds(3600) {
                attempts += 1
                try await eventually("attempt \(attempts)") { receiver.received.count == attempts }
                try await running.untilWaiting()
                guard case .waiting(let until) = running.worker.activity else { throw TimedOut() }
                let wait = until.since(harness.clock.now)
                let bound = Self.bound(afterFailures: attempts)
                #expect(wait > .zero && wait < bound)
                harness.clock.advance(by: wait)
            }
            #expect(try await running.store.batches.state(of: "clinic") == .down)
            #expect(try await running.store.counts().destinations[0].pending == 2)

            receiver.change { _ in Answer(status: 200) }
            try await eventually("the attempt after the hour") { receiver.received.count > attempts }
            try await running.untilWaiting()
            if case .waiting(let until) = running.worker.activity {
                harness.clock.advance(by: until.since(harness.clock.now))
            }
            try await running.eventually(2, .submitted)
            #expect(try await running.store.batches.state(of: "clinic") == .up)
            #expect(try await running.count(.destinationDown) == 1)
            #expect(try await running.count(.destinationUp) == 1)
            let told = try await running.count(.retrying)
            #expect(5...6 ~= told)
            #expect(try await running.count(.failed) == 0)
            let submitted = try await running.store.events.filter { $0.name == "submitted" }
            #expect(submitted.map { $0[.recordID] } == ["a", "b"])
            // Eight waits of up to 256 s, then 150 s on average: no storm, and no sleep of an hour.
            #expect(20...60 ~= receiver.received.count)
            #expect(Set(receiver.received.map(\.body)).count == 1)
            #expect(Set(receiver.received.map(\.key)).count == 1)
            try await running.stop()
        }
    }

    /// The server was not asked in vain: after a rejection it says how long to wait.
    @Test func aReplacedCredentialFileEndsNoWaitThatTheServerAskedFor() async throws {
        try await withHarness(Answer(status: 401)) { harness, receiver in
            let token = URL(fileURLWithPath: harness.directory + "/token")
            try Data("old".utf8).write(to: token)
            let running = try await harness.start(ids: ["a"], tokenFile: token.path)
            try await running.eventually(1, .authRejected)
            try await running.untilWaiting()
            receiver.change { _ in Answer(status: 429, headers: ["Retry-After": "90"]) }
            harness.clock.advance(by: .seconds(1))
            try await running.eventually(1, .retrying)
            try Data("new".utf8).write(to: token, options: .atomic)
            receiver.change { _ in Answer(status: 200) }
            for seconds in [30, 30, 29] {
                try await running.untilWaiting()
                harness.clock.advance(by: .seconds(seconds))
            }
            try await running.untilWaiting()
            #expect(receiver.received.count == 2)
            harness.clock.advance(by: .seconds(1))
            try await running.eventually(1, .submitted)
            try await running.stop()
        }
    }

    struct Wish: Sendable, CustomTestStringConvertible {
        let retryAfter: String?
        var date: String?
        let seconds: Int
        var testDescription: String { retryAfter ?? "none" }
    }

    /// What a server says that can be used, and what cannot: then it is the jitter's 1 s.
    @Test(
        arguments: [429, 503],
        [
            Wish(retryAfter: "90", seconds: 90),
            Wish(
                retryAfter: "Sun, 06 Nov 1994 08:51:37 GMT", date: "Sun, 06 Nov 1994 08:49:37 GMT",
                seconds: 120),
            Wish(retryAfter: "86400", seconds: 3600),
            Wish(retryAfter: "1" + String(repeating: "0", count: 30), seconds: 3600),
            Wish(retryAfter: "Fri, 31 Dec 9999 23:59:59 GMT", seconds: 3600),
            Wish(retryAfter: "Sun, 06 Nov 1994 08:49:37 GMT", seconds: 1),
            Wish(retryAfter: "-5", seconds: 1),
            Wish(retryAfter: "Sun, 99 Nox 2026 25:61:61 GMT", seconds: 1),
            Wish(retryAfter: "soon", seconds: 1),
            Wish(retryAfter: nil, seconds: 1),
        ])
    func aServerSaysHowLongToWaitUpToAnHour(_ status: Int, _ wish: Wish) async throws {
        var headers = ["Retry-After": wish.retryAfter].compactMapValues(\.self)
        headers["Date"] = wish.date
        try await withHarness(Answer(status: status, headers: headers)) { harness, receiver in
            let running = try await harness.start(ids: ["a"])
            try await running.eventually(1, .retrying)
            try await running.untilWaiting()
            harness.clock.advance(by: .seconds(wish.seconds) - .milliseconds(1))
            try await running.untilWaiting()
            #expect(receiver.received.count == 1)
            receiver.change { _ in Answer(status: 200) }
            harness.clock.advance(by: .milliseconds(1))
            try await running.eventually(1, .submitted)
            #expect(Set(receiver.received.map(\.key)).count == 1)
            // One that is busy was there all the time.
            #expect(try await running.count(.destinationDown) == (status == 503 ? 1 : 0))
            #expect(try await running.count(.destinationUp) == (status == 503 ? 1 : 0))
            try await running.stop()
        }
    }
}
