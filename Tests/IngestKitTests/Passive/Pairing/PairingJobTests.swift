import Testing

@testable import IngestKit

@Suite(.timeLimit(.minutes(1)))
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
}
