import TestSupport
import Testing

@testable import IngestReading

@Suite struct AdapterChoiceTests {
    typealias Choice = AdapterChoice

    struct Row: Sendable, CustomTestStringConvertible {
        let name: String
        let candidates: [Choice.Candidate]
        var othersMayHear = false
        /// Since it wants to be read.
        let waited: Double
        let answer: Choice.Answer

        init(
            _ name: String, _ candidates: [(Int?, Choice.Use)], othersMayHear: Bool = false,
            after waited: Double, _ answer: Choice.Answer
        ) {
            self.name = name
            self.candidates = candidates.enumerated().map { index, candidate in
                Choice.Candidate(
                    adapter: AdapterID(index: UInt16(index)), rssi: candidate.0, use: candidate.1)
            }
            self.othersMayHear = othersMayHear
            self.waited = waited
            self.answer = answer
        }

        var testDescription: String { name }
    }

    static let table: [Row] = [
        Row("the only adapter reads at once", [(-95, .free)], after: 0, .read(.hci0)),
        Row("the only adapter is busy", [(-60, .full)], after: 0, .wait(until: nil)),
        Row("nobody hears it", [], after: 1, .wait(until: nil)),
        Row(
            "the others get their moment", [(-40, .free)], othersMayHear: true, after: 0.1,
            .wait(until: .at(0.2))),
        Row("the moment is over", [(-95, .free)], othersMayHear: true, after: 0.2, .read(.hci0)),
        Row("the stronger signal reads", [(-70, .free), (-50, .free)], after: 0, .read(.hci1)),
        Row("of two equal signals the first", [(-50, .free), (-50, .free)], after: 0, .read(.hci0)),
        Row("an unknown signal is the weakest", [(nil, .free), (-99, .free)], after: 0, .read(.hci1)),
        Row("of two unknown signals the first", [(nil, .free), (nil, .free)], after: 0, .read(.hci0)),
        Row(
            "a free one that hears it well does instead of a busy one", [(-50, .full), (-80, .free)],
            after: 0, .read(.hci1)),
        Row(
            "a faint one waits for a stronger one", [(-50, .full), (-81, .free)], after: 0,
            .wait(until: .at(5))),
        Row(
            "an unknown signal waits for a stronger one", [(-50, .full), (nil, .free)], after: 4.9,
            .wait(until: .at(5))),
        Row("but not for long", [(-50, .full), (-95, .free)], after: 5, .read(.hci1)),
        Row(
            "a free one that hears it well does instead of one where an attempt waits",
            [(-50, .waiting), (-80, .free)], after: 0, .read(.hci1)),
        Row(
            "the attempt on the strongest is withdrawn rather than taking a faint one",
            [(-50, .waiting), (-81, .free)], after: 0, .withdraw(.hci0)),
        Row(
            "an attempt on one that hears it well is withdrawn when the strongest is busy",
            [(-50, .full), (-70, .waiting)], after: 0, .withdraw(.hci1)),
        Row(
            "on a faint one it is not, for a while", [(-50, .full), (-81, .waiting)], after: 0,
            .wait(until: .at(5))),
        Row("all are busy", [(-50, .full), (-60, .full)], after: 9, .wait(until: nil)),
        Row(
            "the strongest of those that are free", [(-50, .full), (-75, .free), (-65, .free)],
            after: 0, .read(AdapterID(index: 2))),
    ]

    @Test(arguments: table) func theAdapterIsChosenBySignalAndUse(row: Row) {
        let choice = Choice(
            candidates: row.candidates, othersMayHear: row.othersMayHear, waitingSince: .at(0))
        #expect(choice.answer(at: .at(row.waited)) == row.answer)
    }
}
