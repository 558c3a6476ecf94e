import IngestCore
import TestSupport
import Testing

@testable import IngestEvents

/// Events on their way to an output that does not take them at once.
@Suite struct EntryWriterTests {
    private let clock = DrivenClock()

    private static func batch(_ numbers: ClosedRange<Int64>) -> [JournalEntry] {
        numbers.map { Event.destinationUp(destination: "clinic").entry(sequence: $0) }
    }

    @Test func nobodyWaitsForAnOutputThatStandsStill() async throws {
        let output = HeldOutput(.standsStill)
        let writer = EntryWriter(output, clock: clock)
        let room = EntryWriter.mostWaiting
        writer.write(Event.stopping.entry())
        try await eventually("the output stands still") { output.isBlocked }
        for _ in 1..<(room + 7) { writer.write(Event.queueNormal.entry()) }
        clock.advance(by: .seconds(600))
        #expect(clock.now.since(try #require(writer.standing.triedSince)) == .seconds(600))
        #expect(writer.standing.dropped == 7)

        output.set(.reads)
        #expect(await writer.deliver(Self.batch(1...2)) == 2)
        writer.write(Event.configReloaded.entry())
        #expect(await writer.deliver([]) == 0)
        #expect(
            output.names
                == ["stopping"] + Array(repeating: "queue-normal", count: room - 1)
                + ["events-dropped", "destination-up", "destination-up", "config-reloaded"])
        #expect(output.entries.first { $0.name == "events-dropped" }?[.count] == "7")
        #expect(writer.standing == TellingStanding(triedSince: nil, dropped: 0))
    }

    @Test func whatNobodyTakesIsTriedAgainInItsOrder() async throws {
        let output = HeldOutput()
        output.goAway(after: 2)
        let writer = EntryWriter(output, clock: clock)
        let delivery = Task { await writer.deliver(Self.batch(1...3)) }
        for _ in 0..<3 {
            try await eventually("it pauses") { clock.sleeperCount == 1 }
            #expect(output.sequences == [1, 2])
            clock.advance(by: EntryWriter.pause)
        }
        try await eventually("it pauses") { clock.sleeperCount == 1 }
        let next = Task { await writer.deliver(Self.batch(4...5)) }
        output.goAway(after: .max)
        clock.advance(by: EntryWriter.pause)
        #expect(await delivery.value == 3)
        #expect(await next.value == 2)
        #expect(output.sequences == [1, 2, 3, 4, 5])
    }

    @Test(arguments: [HeldOutput.Reader.standsStill, .isAway])
    func aStopWaitsForAnOutputForTwoSecondsAtMost(reader: HeldOutput.Reader) async throws {
        let output = HeldOutput()
        if reader == .isAway { output.goAway(after: 2) } else { output.set(.standsStill) }
        let writer = EntryWriter(output, clock: clock)
        let delivery = Task { await writer.deliver(Self.batch(1...3)) }
        let sleepers = reader == .isAway ? 1 : 0
        try await eventually("it waits") { output.isBlocked || clock.sleeperCount == 1 }
        delivery.cancel()
        try await eventually("its time runs") { clock.sleeperCount == sleepers + 1 }
        clock.advance(by: EntryWriter.patience)
        #expect(await delivery.value == (reader == .isAway ? 2 : 0))
        // What was cut short is not told any more, but for the entry that was being written.
        output.goAway(after: .max)
        output.set(.reads)
        clock.advance(by: EntryWriter.pause)
        #expect(await writer.deliver(Self.batch(3...3)) == 1)
        #expect(output.sequences == (reader == .isAway ? [1, 2, 3] : [1, 3]))
    }

    @Test func aBatchThatIsTakenInTimeIsWhole() async throws {
        let output = HeldOutput(.standsStill)
        let writer = EntryWriter(output, clock: clock)
        let delivery = Task { await writer.deliver(Self.batch(1...3)) }
        try await eventually("it waits") { output.isBlocked }
        delivery.cancel()
        try await eventually("its time runs") { clock.sleeperCount == 1 }
        output.set(.reads)
        #expect(await delivery.value == 3)
    }
}
