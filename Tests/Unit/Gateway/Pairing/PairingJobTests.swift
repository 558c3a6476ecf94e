import TestSupport
import Testing

@testable import IngestGateway

@Suite(.timeLimit(.minutes(15)))
struct PairingJobTests {
    @Test func anAnswerThatComesLateAnswersNoOtherQuestion() async throws {
        let job = PairingJob(id: "1", isAutomatic: false, clock: DrivenClock())
        async let first = job.passkey()
        let asked = try #require(await job.steps(after: 0, within: .seconds(10)).last?.number)
        try await job.answered(.passkey(111_111), to: asked)
        #expect(await first == 111_111)

        async let second = job.passkey()
        let askedAgain = try #require(await job.steps(after: asked, within: .seconds(10)).last?.number)
        await #expect(throws: PairingRefusal.notAsked) {
            try await job.answered(.passkey(111_111), to: asked)
        }
        await #expect(throws: PairingRefusal.notAsked) {
            try await job.answered(.sameNumber(true), to: askedAgain)
        }
        // Who gives no number answers what is open.
        try await job.answered(.passkey(222_222), to: nil)
        #expect(await second == 222_222)
    }

    @Test func aQuestionThatIsGivenUpIsNoAnswerToTheNext() async throws {
        let job = PairingJob(id: "1", isAutomatic: false, clock: DrivenClock())
        let first = Task { await job.passkey() }
        let asked = try #require(await job.steps(after: 0, within: .seconds(10)).last?.number)
        async let second = job.passkey()
        let askedAgain = try #require(await job.steps(after: asked, within: .seconds(10)).last?.number)
        first.cancel()
        #expect(await first.value == nil)
        try await job.answered(.passkey(222_222), to: askedAgain)
        #expect(await second == 222_222)
    }

    /// A device that has asked in one attempt and does not ask in the next is bonded without it.
    @Test func anAttemptDoesNotCountThePasskeyThatTheLastOneGave() async {
        let job = PairingJob(id: "1", isAutomatic: true, clock: DrivenClock())
        await job.beginAttempt(passkey: 1) { true }
        #expect(await job.passkey() == 1)
        #expect(await job.hasGivenPasskey)
        await job.beginAttempt(passkey: 1) { false }
        #expect(await !job.hasGivenPasskey)
        #expect(await job.passkey() == nil)
        #expect(await !job.hasGivenPasskey)
    }

    @Test func questionsWithoutEndAreNotAsked() async throws {
        let job = PairingJob(id: "1", isAutomatic: false, clock: DrivenClock())
        for _ in 0..<200 { await job.add(PairingStep(.waiting, "It went away; waiting for it again.")) }
        #expect(await job.passkey() == nil)
        #expect(await job.steps.count == 100)
        // The end is told all the same.
        await job.add(PairingStep(.failed, "Could not pair."))
        #expect(await job.isOver)
    }
}
