import Synchronization
import TestSupport
import Testing

@testable import IngestCore

@Suite struct SleepQueueTests {
    /// Who is awake, by the length of the sleep.
    private final class Woken: Sendable {
        private let lengths = Mutex<[Int]>([])

        var all: [Int] { lengths.withLock { $0.sorted() } }
        func append(_ length: Int) { lengths.withLock { $0.append(length) } }
    }

    private let clock: DrivenClock
    private let queue: SleepQueue

    init() {
        let clock = DrivenClock()
        self.clock = clock
        queue = SleepQueue(now: { clock.now }, wait: { try? await clock.sleep(until: $0) })
    }

    private func sleep(_ seconds: Int) -> Task<Void, any Error> {
        let (queue, deadline) = (queue, clock.now + .seconds(seconds))
        return Task { try await queue.sleep(until: deadline) }
    }

    private func untilSleeping(_ count: Int) async throws {
        try await eventually("\(count) sleep") { queue.counts.sleepers == count }
    }

    /// Each commit of a reading cancels waits that would end in an hour.
    @Test func cancelledSleepsLeaveNothingBehind() async throws {
        let first = sleep(3_600)
        try await untilSleeping(1)
        first.cancel()
        for _ in 0..<2_000 {
            let task = sleep(3_600)
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
        }
        for _ in 0..<10 {
            let tasks = (0..<200).map { sleep(3_600 + $0) }
            try await untilSleeping(200)
            for task in tasks { task.cancel() }
            for task in tasks { await #expect(throws: CancellationError.self) { try await task.value } }
            clock.advance(by: .seconds(1))
        }
        #expect(queue.counts.sleepers == 0)
        // For the first of them: it comes early enough for all others.
        #expect(queue.counts.wakeUps == 1)
    }

    @Test func sleepersWakeAtTheirTimesWhateverTheirOrder() async throws {
        let woken = Woken()
        let start = clock.now
        let tasks = [50, 10, 30, 10, 40, 20].map { seconds in
            let task = sleep(seconds)
            return Task {
                try await task.value
                woken.append(seconds)
            }
        }
        try await untilSleeping(6)
        try await eventually("a wake-up for the first") { clock.isSlept(until: start + .seconds(10)) }
        for (end, expected) in [
            (9, []), (10, [10, 10]), (35, [10, 10, 20, 30]), (50, [10, 10, 20, 30, 40, 50]),
        ] {
            clock.advance(by: (start + .seconds(end)).since(clock.now))
            try await eventually("\(expected) are awake after \(end) s") {
                woken.all == expected
            }
            // The wake-up for the next one is under way, or there is none.
            let next = [50, 10, 30, 40, 20].filter { $0 > end }.min()
            try await eventually("a wake-up for the next") {
                next.map { clock.isSlept(until: start + .seconds($0)) } ?? true
            }
        }
        for task in tasks { try await task.value }
        #expect(queue.counts.sleepers == 0)
    }
}
