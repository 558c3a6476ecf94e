import Synchronization
import TestSupport
import Testing

@testable import IngestDaemon

/// A change of the network is reported once it has settled, and at most every 5 s.
struct NetworkWatchTests {
    @Test func changesAreToldOnceTheyHaveSettledAndNotTooOften() async throws {
        let clock = DrivenClock()
        let (changes, continuation) = AsyncStream.makeStream(
            of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let told = Mutex(0)
        let watching = Task {
            await NetworkWatch.run(changes, clock: clock) { told.withLock { $0 += 1 } }
        }
        for count in 1...2 {
            for _ in 0..<50 { continuation.yield() }
            try await eventually("it settles") { clock.sleeperCount == 1 }
            #expect(told.withLock { $0 } == count - 1)
            clock.advance(by: .seconds(1))
            try await eventually("it is told of") { told.withLock { $0 } == count }
            try await eventually("it pauses") { clock.sleeperCount == 1 }
            clock.advance(by: .seconds(4))
        }
        watching.cancel()
        await watching.value
    }

    /// The kernel tells this process, too, or the stream ends.
    @Test func theKernelCanBeAsked() async {
        let watching = Task { for await _ in NetworkWatch.changes() {} }
        watching.cancel()
        await watching.value
    }
}
