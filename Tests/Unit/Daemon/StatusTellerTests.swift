import Synchronization
import TestSupport
import Testing

@testable import IngestCore
@testable import IngestDaemon
@testable import IngestDelivery
@testable import IngestSupervision

/// Status documents go out after a start, after a change and after an interval, and never too often.
struct StatusTellerTests {
    private struct Bench: Sendable {
        let clock = DrivenClock()
        let standing = StatusStanding()
        let outlet: StatusOutlet
        let teller: StatusTeller
        /// The state of the only destination, of which a problem is made.
        private let state: SharedBox<String>
        private let answer: SharedBox<DeliveryAnswer>
        private let sent: SharedBox<[String]>

        init() {
            let (state, answer, sent) = (
                SharedBox("up"), SharedBox(DeliveryAnswer.taken()), SharedBox([String]())
            )
            (self.state, self.answer, self.sent) = (state, answer, sent)
            outlet = StatusOutlet(interval: .seconds(900), redacted: []) { document in
                sent.change { $0.append(String(decoding: document, as: UTF8.self)) }
                return answer.value
            }
            teller = StatusTeller(
                to: "clinic", by: outlet, clock: JudgedClock(clock, isConfigured: true), standing: standing,
                random: { 0.5 }, now: { Self.status(state.value) })
        }

        static func status(_ state: String) -> GatewayStatus {
            GatewayStatus(
                version: "1.2.3", gateway: "box", uptime: 60, isClockRight: true, undated: 0,
                adapters: [], peripherals: [],
                destinations: [.init(name: "clinic", state: state, pending: 0, submitted: 0, failed: 0)],
                queue: .init(bytes: 1, maximumBytes: 2, level: "normal"))
        }

        var documents: [String] { sent.value }

        func answers(_ answer: DeliveryAnswer) { self.answer.change { $0 = answer } }

        /// The gateway's state changes, and the supervisor sees it.
        func becomes(_ state: String) {
            self.state.change { $0 = state }
            teller.note(Self.status(state))
        }

        func run(_ body: () async throws -> Void) async rethrows {
            let teller = teller
            let running = Task { await teller.run() }
            do { try await body() } catch {
                running.cancel()
                throw error
            }
            running.cancel()
            await running.value
        }

        /// Waits until the teller sleeps so long from now on.
        func sleeps(for duration: Duration) async throws {
            let deadline = clock.now + duration
            try await eventually("it sleeps for \(duration)") { clock.isSlept(until: deadline) }
        }

        func sends(after duration: Duration, number: Int) async throws {
            try await sleeps(for: duration)
            clock.advance(by: duration)
            try await eventually("document \(number) is sent") { documents.count == number }
        }
    }

    private final class SharedBox<Value: Sendable>: Sendable {
        private let box: Mutex<Value>
        init(_ value: Value) { box = Mutex(value) }
        var value: Value { box.withLock { $0 } }
        func change(_ body: @Sendable (inout Value) -> Void) { box.withLock { body(&$0) } }
    }

    @Test func oneIsSentAfterTheStartAndAfterEachInterval() async throws {
        let bench = Bench()
        try await bench.run {
            try await bench.sends(after: .seconds(5), number: 1)
            for number in 2...4 { try await bench.sends(after: .seconds(900), number: number) }
        }
        #expect(bench.documents[0].contains(#""status":"online""#))
    }

    @Test func aProblemIsToldSoonAndNotTooOften() async throws {
        let bench = Bench()
        try await bench.run {
            try await bench.sends(after: .seconds(5), number: 1)
            try await bench.sleeps(for: .seconds(900))
            bench.clock.advance(by: .seconds(100))
            bench.becomes("down")
            try await bench.sends(after: .seconds(5), number: 2)
            try await bench.sleeps(for: .seconds(900))
            // It ends at once, and begins again: one document a minute.
            for state in ["up", "down", "up"] { bench.becomes(state) }
            try await bench.sends(after: .seconds(60), number: 3)
            try await bench.sleeps(for: .seconds(900))
        }
        #expect(bench.documents[1].contains("clinic is down"))
        #expect(bench.documents[2].contains(#""problems":[]"#))
    }

    @Test func whatStaysAsItWasIsNotTold() async throws {
        let bench = Bench()
        try await bench.run {
            try await bench.sends(after: .seconds(5), number: 1)
            try await bench.sleeps(for: .seconds(900))
            bench.becomes("up")
            #expect(!bench.outlet.changes.isRaised)
        }
    }

    @Test func aFailureIsTriedAgainLaterAndLaterWhateverChanges() async throws {
        let bench = Bench()
        bench.answers(.unavailable(httpStatus: 503, error: "HTTP 503", retryAfter: nil))
        try await bench.run {
            try await bench.sends(after: .seconds(5), number: 1)
            try await bench.sends(after: .seconds(10), number: 2)
            #expect(bench.standing.problems.isEmpty)
            bench.becomes("down")
            try await bench.sends(after: .seconds(10), number: 3)
            try await eventually("it is told") {
                bench.standing.problems == [
                    "clinic does not take status documents (HTTP 503): they are tried again by themselves"
                ]
            }
            for (number, pause) in [20, 40, 80, 150, 150].enumerated() {
                try await bench.sends(after: .seconds(pause), number: 4 + number)
            }
            bench.answers(.taken(httpStatus: 200))
            try await bench.sends(after: .seconds(150), number: 9)
            try await eventually("it is well") { bench.standing.problems.isEmpty }
        }
    }

    @Test func aServerThatAsksForAPauseGetsIt() async throws {
        let bench = Bench()
        bench.answers(.busy(httpStatus: 429, error: "HTTP 429", retryAfter: .seconds(77)))
        try await bench.run {
            try await bench.sends(after: .seconds(5), number: 1)
            try await bench.sends(after: .seconds(77), number: 2)
        }
    }
}
