import Dispatch
import GRDB
import QueueTestSupport
import Synchronization
import Testing

@testable import IngestQueue

/// A disk that neither carries out an access to the queue nor reports an error.
@Suite struct DiskWatchTests {
    private let clock = DrivenClock()

    /// Has the disk hang until the semaphore is signalled.
    private func hang(_ store: SQLiteQueue) async -> DispatchSemaphore {
        let (gate, hangs) = (DispatchSemaphore(value: 0), WakeUp())
        store.database.connection.asyncWriteWithoutTransaction { _ in
            hangs.raise()
            gate.wait()
        }
        await hangs.wait()
        return gate
    }

    private final class Answers: Sendable {
        private let told = Mutex<[Bool]>([])
        var all: [Bool] { told.withLock { $0 } }
        func add(_ answers: Bool) { told.withLock { $0.append(answers) } }
    }

    @Test(arguments: [true, false])
    func aDiskThatHangsIsToldOnceAndReadingGoesOnWhenItAnswers(isWrite: Bool) async throws {
        try await withQueue(clock) { store in
            let (sink, answers) = (RecordingSink(), Answers())
            let watch = DiskWatch(store, events: EventLog(sink: sink), setAnswers: { answers.add($0) })
            let watching = Task { await watch.run() }
            for episode in 1...2 {
                let gate = await hang(store)
                let access = Task {
                    if isWrite {
                        try await store.fill(["\(episode)"])
                    } else {
                        _ = try await store.counts()
                    }
                }
                try await eventually("the access waits") {
                    store.database.waits.oldest != nil && clock.sleeperCount == 1
                }
                clock.advance(by: .seconds(59))
                #expect(answers.all.count == 2 * (episode - 1))
                clock.advance(by: .seconds(1))
                try await eventually("reading stops") { answers.all.count == 2 * episode - 1 }
                #expect(sink.names == Array(repeating: "store-error", count: episode))
                #expect(sink.entries.last?[.error]?.contains("the disk does not answer") == true)
                // More that waits for the same disk is no news.
                let another = Task { try await store.fill(["another"]) }
                clock.advance(by: .seconds(600))
                #expect(DiskWatch.isAlive(store))
                clock.advance(by: .seconds(1140))
                #expect(!DiskWatch.isAlive(store))
                gate.signal()
                try await access.value
                try await another.value
                try await eventually("reading goes on") { answers.all.count == 2 * episode }
                #expect(DiskWatch.isAlive(store))
                #expect(sink.names.count == episode)
            }
            #expect(answers.all == [false, true, false, true])
            watching.cancel()
            await watching.value
        }
    }

    @Test func aQueueThatIsUsedAllTheTimeIsNoDiskThatHangs() async throws {
        try await withQueue(clock) { store in
            let answers = Answers()
            let sink = RecordingSink()
            let watch = DiskWatch(store, events: EventLog(sink: sink), setAnswers: { answers.add($0) })
            let watching = Task { await watch.run() }
            for number in 0..<100 {
                try await store.fill(["\(number)"])
                clock.advance(by: .seconds(10))
            }
            watching.cancel()
            await watching.value
            #expect(answers.all.isEmpty && sink.names.isEmpty)
        }
    }

    @Test func theStatusDoesNotWaitForADiskThatHangs() async throws {
        try await withQueue(clock) { store in
            let bound = Duration.seconds(2)
            #expect(try await store.overview.status(of: [], within: bound) != nil)
            let gate = await hang(store)
            let first = Task { try await store.overview.status(of: [], within: bound) }
            try await eventually("it waits") { clock.isSlept(until: clock.now + bound) }
            clock.advance(by: bound)
            #expect(try await first.value == nil)
            // The next one finds the first still waiting, and does not wait behind it.
            #expect(try await store.overview.status(of: [], within: bound) == nil)
            #expect(store.overview.waitingTime == bound)
            gate.signal()
            try await eventually("it is asked again") {
                try await store.overview.status(of: [], within: bound) != nil
            }
        }
    }
}
