import TestSupport
import Testing

@testable import IngestOperator
@testable import IngestReading

/// What one poll of an order brings.
struct OperatorJobTests {
    private static func record(_ octets: Int) -> OperatorStep {
        var step = OperatorStep(.record)
        step.record = String(repeating: "x", count: octets)
        return step
    }

    /// - Returns: how many steps each poll brought, until the last step.
    private static func polls(_ steps: [OperatorStep]) async -> [Int] {
        let job = OperatorJob(id: "1", clock: DrivenClock())
        for step in steps { await job.add(step) }
        await job.add(OperatorStep(.done))
        var last = 0
        var counts: [Int] = []
        while last <= steps.count {
            let next = await job.steps(after: last, within: .zero)
            guard let end = next.last?.number else { break }
            last = end
            counts.append(next.count)
        }
        return counts
    }

    @Test func anAnswerIsBounded() async {
        #expect(await Self.polls(Array(repeating: Self.record(10), count: 250)) == [100, 100, 51])
        #expect(await Self.polls(Array(repeating: Self.record(100_000), count: 5)) == [2, 2, 2])
        // One alone always goes.
        #expect(await Self.polls(Array(repeating: Self.record(300_000), count: 2)) == [1, 1, 1])
    }
}
