import Dispatch
import GRDB
import QueueTestSupport
import Testing

@testable import IngestDelivery
@testable import IngestQueue

@Suite struct WatchdogTests {
    private static let interval = Duration.seconds(30)
    private let clock = DrivenClock()
    private let fed = WorkerHarness.Counter()

    /// A destination that is asked for nothing.
    private struct Nowhere: Destination {
        func deliver(_ batch: OutgoingBatch) async -> DeliveryAnswer { .taken(httpStatus: 200) }
    }

    /// Runs the watchdog beside `body`, which moves the clock by its interval and sees whether it was fed.
    private func watch(
        _ pulse: Pulse, turned: @escaping @Sendable () async -> Void = {},
        _ body: (_ isFed: () async throws -> Bool) async throws -> Void
    ) async throws {
        let looks = WorkerHarness.Counter()
        let watchdog = Watchdog(
            interval: Self.interval, clock: clock, pulse: pulse,
            turned: {
                await turned()
                looks.increase()
            }, feed: { fed.increase() })
        let task = Task { await watchdog.run() }
        try await body {
            try await eventually("the watchdog waits") { clock.sleeperCount == 1 }
            let (before, looked) = (fed.value, looks.value)
            clock.advance(by: Self.interval)
            try await eventually("it has looked") { looks.value > looked && clock.sleeperCount == 1 }
            return fed.value > before
        }
        task.cancel()
        await task.value
    }

    @Test func itIsFedWhileTheQueueIsAtWorkOnSomethingLong() async throws {
        try await withQueue(clock) { store in
            let pulse = Pulse(clock: clock)
            let gate = DispatchSemaphore(value: 0)
            store.database.connection.asyncWriteWithoutTransaction { _ in gate.wait() }
            let asked = WorkerHarness.Counter()
            let heartbeat = pulse.register("clinic")
            let worker = DeliveryWorker(
                name: "clinic", gateway: "box", store: store.batches, destination: Nowhere(),
                batching: BatchSettings(), clock: clock, events: EventLog(sink: RecordingSink()),
                heartbeat: {
                    heartbeat($0)
                    if $0 == .asking { asked.increase() }
                })
            let delivery = Task { try await worker.run() }
            try await eventually("delivery asks the queue") { asked.value == 1 }
            try await watch(pulse) { isFed async throws in
                // Ten minutes.
                for _ in 0..<20 { #expect(try await isFed() == true) }
            }
            gate.signal()
            delivery.cancel()
            try await delivery.value
        }
    }

    @Test(arguments: [Pulse.Beat.turning, .asking])
    func itIsNotFedWhenADeliveryLoopHangs(beat: Pulse.Beat) async throws {
        let pulse = Pulse(clock: clock)
        pulse.register("clinic")(beat)
        try await watch(pulse) { isFed async throws in
            let start = clock.now
            while clock.now.since(start) + Self.interval < beat.bound {
                #expect(try await isFed() == true)
            }
            #expect(try await isFed() == false)
        }
    }

    @Test func itIsNotFedWhenTheDiskHasHungForHalfAnHour() async throws {
        try await withQueue(clock) { store in
            let (gate, hangs) = (DispatchSemaphore(value: 0), WakeUp())
            store.database.connection.asyncWriteWithoutTransaction { _ in
                hangs.raise()
                gate.wait()
            }
            await hangs.wait()
            let write = Task { try await store.fill(["a"]) }
            try await eventually("the write waits") { store.database.waits.oldest != nil }
            let pulse = Pulse(clock: clock, isDiskAlive: { DiskWatch.isAlive(store) })
            try await watch(pulse) { isFed async throws in
                for _ in 0..<59 { #expect(try await isFed() == true) }
                #expect(try await isFed() == false)
                gate.signal()
                try await write.value
                #expect(try await isFed() == true)
            }
        }
    }

    @Test func itIsNotFedWhenTheRadioHangs() async throws {
        let pulse = Pulse(clock: clock)
        let (turns, loop) = AsyncStream.makeStream(of: Void.self)
        let looks = WorkerHarness.Counter()
        let watchdog = Watchdog(
            interval: Self.interval, clock: clock, pulse: pulse,
            turned: {
                looks.increase()
                for await _ in turns { return }
            }, feed: { fed.increase() })
        let task = Task { await watchdog.run() }
        try await eventually("the watchdog waits") { clock.sleeperCount == 1 }
        clock.advance(by: Self.interval)
        try await eventually("it has looked") { looks.value == 1 }
        #expect(fed.value == 0)
        loop.yield()
        try await eventually("it is fed again") { fed.value == 1 }
        task.cancel()
        await task.value
    }
}
