import BlueZBridge
import PeripheralSimulator
import QueueTestSupport
import Synchronization
import Testing

@testable import IngestCore
@testable import IngestEvents
@testable import IngestQueue

/// A journal that does not read, beside the whole way of a reading.
@Suite(.timeLimit(.minutes(15)))
struct StandingJournalTests {
    @Test func aJournalThatStandsStillForTenMinutesHoldsUpNoReadingAndLosesNoEvent() async throws {
        let output = HeldOutput(.standsStill)
        let count = 31
        let readings = Array(repeating: GatewayBench.Kind.undatedThermometer.reading, count: count)
        try await GatewayBench.run(readings: readings, output: output) { bench in
            let journal = try #require(bench.journal)
            let outbox = EventOutbox(store: bench.store.outbox, sink: journal, clock: bench.clock)
            let pump = Task { try await outbox.run() }
            let fed = Mutex(bench.clock.now)
            let watchdog = Watchdog(
                interval: .seconds(30), clock: bench.clock, pulse: Pulse(clock: bench.clock),
                turned: { [loop = bench.loop] in await loop.turned() },
                feed: { [clock = bench.clock] in fed.withLock { $0 = clock.now } })
            let watching = Task { await watchdog.run() }

            let begin = bench.clock.now
            try await bench.readOnce()
            for _ in 1..<count {
                try await bench.readAgain()
                try await eventually("the watchdog is fed") {
                    bench.clock.now.since(fed.withLock { $0 }) < .seconds(60)
                }
            }
            #expect(bench.clock.now.since(begin) >= .seconds(600))
            #expect(output.isBlocked && output.entries.isEmpty)
            #expect(await bench.radio.report().confirmed == count)

            output.set(.reads)
            try await eventually("all is told") { output.names.filter { $0 == "read" }.count == count }
            pump.cancel()
            try await pump.value
            #expect(await journal.deliver([]) == 0)
            #expect(output.sequences == Array(1...count))
            // Of those without a number, too, none is missing.
            for name in ["connected", "disconnected"] {
                #expect(output.names.filter { $0 == name }.count == count)
            }
            watching.cancel()
            await watching.value
        }
    }
}
