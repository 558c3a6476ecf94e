import Testing

@testable import BlueZBridge

@Suite struct ControllerQuestionsTests {
    @Test(
        arguments: [
            ([4, 4], true), ([1_100, 1_100], true), ([2_000, 2_000], false),
            // Late once.
            ([2_000, 4, 4], true), ([4, 2_000, 1_100, 1_100], true),
            // The timer of what was not answered ends the next: Linux 6.12.
            ([2_054, 34, 1_980], false), ([150, 2_020, 30, 1_980], false),
        ] as [([Int], Bool)])
    func theTimesOfItsAnswersTell(milliseconds: [Int], answers: Bool) {
        var questions = ControllerQuestions()
        for time in milliseconds {
            #expect(questions.answers == nil)
            questions.ended(after: .milliseconds(time))
        }
        #expect(questions.answers == answers)
    }
}
