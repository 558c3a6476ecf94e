import TestSupport
import Testing

@testable import IngestOperator
@testable import IngestReading

@Suite(.timeLimit(.minutes(15)))
struct PairingAttemptTests {
    @Test func anAnswerThatComesLateAnswersNoOtherQuestion() async throws {
        let job = OperatorJob(id: "1", clock: DrivenClock())
        let attempt = PairingAttempt(.theOperator(job), passkey: nil)
        async let first = attempt.passkey()
        let asked = try #require(await job.steps(after: 0, within: .seconds(10)).last?.number)
        try await job.answered(.passkey(111_111), to: asked)
        #expect(await first == 111_111)

        async let second = attempt.passkey()
        let askedAgain = try #require(await job.steps(after: asked, within: .seconds(10)).last?.number)
        await #expect(throws: OrderRefusal.notAsked) {
            try await job.answered(.passkey(111_111), to: asked)
        }
        await #expect(throws: OrderRefusal.notAsked) {
            try await job.answered(.sameNumber(true), to: askedAgain)
        }
        // Who gives no number answers what is open.
        try await job.answered(.passkey(222_222), to: nil)
        #expect(await second == 222_222)
    }

    @Test func aQuestionThatIsGivenUpIsNoAnswerToTheNext() async throws {
        let job = OperatorJob(id: "1", clock: DrivenClock())
        let attempt = PairingAttempt(.theOperator(job), passkey: nil)
        let first = Task { await attempt.passkey() }
        let asked = try #require(await job.steps(after: 0, within: .seconds(10)).last?.number)
        async let second = attempt.passkey()
        let askedAgain = try #require(await job.steps(after: asked, within: .seconds(10)).last?.number)
        first.cancel()
        #expect(await first.value == nil)
        try await job.answered(.passkey(222_222), to: askedAgain)
        #expect(await second == 222_222)
    }

    @Test func passkeyThatMayNotBeGivenCountsAsNotGiven() async {
        let given = PairingAttempt(.nobody { true }, passkey: 1)
        #expect(await given.passkey() == 1)
        #expect(await given.hasGivenPasskey)
        let refused = PairingAttempt(.nobody { false }, passkey: 1)
        #expect(await refused.passkey() == nil)
        #expect(await !refused.hasGivenPasskey)
    }

    @Test func withoutAnOperatorNothingIsAsked() async {
        let attempt = PairingAttempt(.nobody { true }, passkey: nil)
        #expect(await attempt.passkey() == nil)
        #expect(await !attempt.confirms(1))
    }

    @Test func questionsWithoutEndAreNotAsked() async throws {
        let job = OperatorJob(id: "1", clock: DrivenClock())
        let attempt = PairingAttempt(.theOperator(job), passkey: nil)
        for code in UInt32(0)..<200 { await attempt.show(code) }
        #expect(await attempt.passkey() == nil)
        var last = 0
        while let next = await job.steps(after: last, within: .zero).last?.number { last = next }
        #expect(last == OperatorJob.mostPrompts)
        // The end is told all the same.
        await job.add(OperatorStep(.failed, "Could not pair."))
        #expect(await job.isOver)
    }
}
