import Dispatch
import GRDB
import PeripheralSimulator
import QueueTestSupport
import Testing

@testable import IngestCore
@testable import IngestOperator
@testable import IngestQueue
@testable import IngestReading

/// A disk that hangs in the commit of a reading.
@Suite(.timeLimit(.minutes(15)))
struct HangingDiskTests {
    /// A reading that nothing dates is known again for 10 min after its commit, however late that came.
    @Test(arguments: [GatewayBench.Kind.datedThermometer, .undatedThermometer])
    func aHangingCommitHoldsNoLinkAndReadingGoesOnByItself(device: GatewayBench.Kind) async throws {
        try await GatewayBench.run(device) { bench in
            let watch = DiskWatch(
                bench.store, events: EventLog(sink: RecordingSink()),
                setAnswers: { await bench.gateway.setDiskAnswers($0) })
            let watching = Task { await watch.run() }
            // The first value is sent when the disk hangs already: its commit would join one that is under way.
            let (gate, holds, hangs) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0), WakeUp())
            let connection = bench.store.database.connection
            await bench.peripheral.observe { _ in
                guard !hangs.isRaised else { return }
                hangs.raise()
                connection.asyncWriteWithoutTransaction { _ in
                    holds.signal()
                    gate.wait()
                }
                holds.wait()
            }
            await bench.peripheral.wakeUp()
            await bench.told("connected")
            for _ in 0..<1_000 where !hangs.isRaised || bench.store.database.waits.oldest == nil {
                await bench.clock.advance(by: .milliseconds(20), bench.loop)
                _ = await bench.gateway.listeningAdapters
            }
            try await eventually("the commit waits") { bench.store.database.waits.oldest != nil }
            #expect(await bench.gateway.diskAnswers)
            await bench.clock.advance(by: .seconds(60), bench.loop)
            try await eventually("the link is ended") { await bench.peripheral.traces.last?.hasEnded == true }
            #expect(await bench.radio.report().confirmed == 0)
            #expect(await !bench.gateway.diskAnswers)

            await bench.clock.advance(by: .seconds(15 * 60), bench.loop)
            gate.signal()
            await bench.told("disconnected")
            try await eventually("the disk answers") { await bench.gateway.diskAnswers }
            await bench.peripheral.wakeUp()
            try await bench.advance(until: "disconnected", times: 2)
            #expect(await bench.radio.report().confirmed == 1)
            // The commit that hung was carried out in the end: the reading is there once.
            #expect(bench.kinds() == [.bodyTemperature: 1])
            #expect(try await bench.outbox() == ["read", "duplicate-ignored"])
            watching.cancel()
            await watching.value
        }
    }
}
