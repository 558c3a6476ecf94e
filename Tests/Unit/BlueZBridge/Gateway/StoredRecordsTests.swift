import PeripheralSimulator
import QueueTestSupport
import Testing

@testable import IngestCore
@testable import IngestQueue
@testable import IngestRecords

/// A meter's memory, read through the whole gateway: every record once, whatever happens on the way.
@Suite(.timeLimit(.minutes(15)))
struct StoredRecordsTests {
    static let all: [UInt8] = [0x01, 0x01]

    static func from(_ number: UInt16) -> [UInt8] {
        [0x01, 0x03, 0x01, UInt8(truncatingIfNeeded: number), UInt8(number >> 8)]
    }

    /// A minute of the day before the gateway knew the device, and of those after it.
    static func time(_ minute: Int, day: Int = 19) -> DeviceTime {
        DeviceTime(
            year: 2026, month: 11, day: day + minute / 1_440, hours: minute / 60 % 24, minutes: minute % 60,
            seconds: 0)
    }

    /// A meter with `count` records, one a minute.
    static func meter(
        _ count: Int = 50, firstSequence: UInt16 = 0, context: GlucoseMeter.Context? = nil,
        _ change: (inout GlucoseMeter) -> Void = { _ in }
    ) -> GlucoseMeter {
        var meter = GlucoseMeter(firstSequence: firstSequence)
        for minute in 0..<count {
            meter.measure(.milligramsPerDecilitre(100), at: time(minute), context: context)
        }
        change(&meter)
        return meter
    }

    /// Runs the gateway on this meter. Whatever the case: nothing is asked to be deleted.
    static func run(
        _ meter: GlucoseMeter, entry: GatewayBench.Entry = .init(), failingCommits: Int = 0,
        _ body: (GatewayBench) async throws -> Void
    ) async throws {
        try await GatewayBench.run(
            sensor: meter, as: "glucose", entry: entry, failingCommits: failingCommits
        ) { bench in
            try await body(bench)
            #expect(await bench.meter.deletions == 0)
        }
    }

    // MARK: What is new

    @Test func firstReadTakesAllAndTheNextOnlyWhatIsNew() async throws {
        try await Self.run(Self.meter()) { bench in
            try await bench.readOnce()
            #expect(bench.kinds() == [.glucose: 50])
            #expect(await bench.meter.requests == [Self.all])
            await bench.measure(3)
            try await bench.readAgain()
            #expect(bench.kinds() == [.glucose: 53])
            #expect(await bench.meter.requests == [Self.all, Self.from(49)])
            // The record at the mark came again, to be known by.
            #expect(await bench.meter.recordsSent == 54)
            #expect(try await bench.outbox() == [String](repeating: "read", count: 53))
            #expect(bench.count(of: "read-failed") == 0)
        }
    }

    @Test func readWithoutAnythingNewAddsNothingAndIsNoFailure() async throws {
        try await Self.run(Self.meter(5)) { bench in
            for _ in 0..<2 { try await bench.readAgain() }
            #expect(bench.kinds() == [.glucose: 5])
            #expect(try await bench.outbox().count == 5)
            #expect(bench.count(of: "read-failed") == 0)
        }
    }

    @Test func meterWithAnEmptyMemoryIsNoFailure() async throws {
        try await Self.run(Self.meter(0)) { bench in
            try await bench.readOnce()
            #expect(bench.count(of: "read-failed") == 0)
            await bench.measure(1)
            try await bench.readAgain()
            #expect(bench.kinds() == [.glucose: 1])
            #expect(await bench.meter.requests == [Self.all, Self.all])
        }
    }

    @Test func recordsAreCommittedInGroupsAsTheyStreamIn() async throws {
        try await Self.run(Self.meter(400)) { bench in
            try await bench.readOnce()
            #expect(bench.kinds() == [.glucose: 400])
            #expect(bench.noted.groups.all.count < 100)
            #expect(bench.noted.groups.all.allSatisfy { $0 <= 100 })
        }
    }

    @Test func recordsThatComeSlowlyAreAllTaken() async throws {
        try await Self.run(Self.meter(20) { $0.script.pause = .seconds(5) }) { bench in
            try await bench.readOnce()
            #expect(bench.kinds() == [.glucose: 20])
            #expect(bench.count(of: "read-failed") == 0)
        }
    }

    // MARK: Links that break

    @Test(arguments: [false, true])
    func linkBrokenInTheMiddleKeepsWhatCameAndTheNextReadTakesTheRest(isNewestFirst: Bool) async throws {
        let meter = Self.meter { meter in
            meter.script.isNewestFirst = isNewestFirst
            meter.script.breaksAfter = 20
        }
        try await Self.run(meter) { bench in
            await bench.readUntilDropped()
            await bench.told("read-failed")
            #expect(bench.kinds() == [.glucose: 20])
            try await bench.readAgain()
            #expect(bench.kinds() == [.glucose: 50])
            // What comes in the order of its numbers goes on where it was.
            #expect(await bench.meter.requests == [Self.all, isNewestFirst ? Self.all : Self.from(19)])
            #expect(try await bench.outbox() == [String](repeating: "read", count: 50))
            #expect(bench.count(of: "read-failed") == 1)
            try await bench.readAgain()
            #expect(await bench.meter.requests.last == Self.from(49))
        }
    }

    @Test(arguments: [false, true])
    func markStaysWhereItWasWhenALaterTransferBreaks(isNewestFirst: Bool) async throws {
        try await Self.run(Self.meter { $0.script.isNewestFirst = isNewestFirst }) { bench in
            try await bench.readOnce()
            await bench.measure(10) { $0.script.breaksAfter = 4 }
            await bench.pause()
            await bench.readUntilDropped()
            await bench.told("read-failed")
            try await bench.readAgain()
            #expect(
                await bench.meter.requests
                    == [Self.all, Self.from(49), Self.from(isNewestFirst ? 49 : 52)])
            #expect(bench.kinds() == [.glucose: 60])
            #expect(try await bench.outbox() == [String](repeating: "read", count: 60))
            try await bench.readAgain()
            #expect(await bench.meter.requests.last == Self.from(59))
        }
    }

    @Test func procedureThatIsNotCompletedIsAFailureAndKeepsWhatCame() async throws {
        try await Self.run(Self.meter { $0.script.givesUpAfter = 7 }) { bench in
            try await bench.readOnce()
            #expect(bench.count(of: "read-failed") == 1)
            #expect(bench.kinds() == [.glucose: 7])
            try await bench.readAgain()
            #expect(bench.kinds() == [.glucose: 50])
            #expect(await bench.meter.requests == [Self.all, Self.all])
        }
    }

    @Test func recordsThatCannotBeCommittedComeAgain() async throws {
        try await Self.run(Self.meter(), failingCommits: 1) { bench in
            await bench.readUntilDropped()
            await bench.told("read-failed")
            try await bench.readAgain()
            #expect(bench.kinds() == [.glucose: 50])
            // The report that cannot be kept is aborted.
            #expect(await bench.meter.requests == [Self.all, [0x03, 0x00], Self.all])
        }
    }

    // MARK: Memories that change

    @Test func newestFirstIsReadAsAnyOther() async throws {
        try await Self.run(Self.meter { $0.script.isNewestFirst = true }) { bench in
            try await bench.readOnce()
            await bench.measure(2)
            try await bench.readAgain()
            #expect(await bench.meter.requests == [Self.all, Self.from(49)])
            #expect(bench.kinds() == [.glucose: 52])
            #expect(try await bench.outbox() == [String](repeating: "read", count: 52))
        }
    }

    /// After a reset the meter has fewer records than the mark says, or as many and others.
    @Test(arguments: [3, 50, 60])
    func meterThatWasResetIsReadWholeAgain(count: Int) async throws {
        try await Self.run(Self.meter()) { bench in
            try await bench.readOnce()
            await bench.measure(count) { $0.reset() }
            try await bench.readAgain()
            #expect(await bench.meter.requests == [Self.all, Self.from(49), Self.all])
            #expect(bench.kinds() == [.glucose: 50 + count])
            #expect(try await bench.outbox() == [String](repeating: "read", count: 50 + count))
            try await bench.readAgain()
            #expect(await bench.meter.requests.last == Self.from(UInt16(count - 1)))
            #expect(bench.count(of: "read-failed") == 0)
        }
    }

    @Test(arguments: [0, 1, 5])
    func memoryThatWasClearedIsReadFromItsNewBeginning(count: Int) async throws {
        try await Self.run(Self.meter()) { bench in
            try await bench.readOnce()
            await bench.measure(count) { $0.clear() }
            try await bench.readAgain()
            #expect(await bench.meter.requests == [Self.all, Self.from(49), Self.all])
            #expect(bench.kinds() == [.glucose: 50 + count])
            #expect(bench.count(of: "read-failed") == 0)
        }
    }

    @Test(arguments: [0xFFF0, 0xFFCF, 0xFFCE, 0xEFC0] as [UInt16])
    func sequenceNumbersThatWrapLoseNothing(first: UInt16) async throws {
        try await Self.run(Self.meter(50, firstSequence: first)) { bench in
            try await bench.readOnce()
            #expect(bench.kinds() == [.glucose: 50])
            for total in [55, 60] {
                await bench.measure(5)
                try await bench.readAgain()
                #expect(bench.kinds() == [.glucose: total])
            }
            #expect(try await bench.outbox() == [String](repeating: "read", count: 60))
            #expect(bench.count(of: "read-failed") == 0)
        }
    }

    @Test(arguments: [0x02, 0x03, 0x04, 0x05, 0x09] as [UInt8])
    func meterThatRefusesFiltersIsReadWholeAndNotAskedAgain(code: UInt8) async throws {
        try await Self.run(Self.meter { $0.script.filterRefusal = code }) { bench in
            try await bench.readOnce()
            for total in [52, 54] {
                await bench.measure(2)
                try await bench.readAgain()
                #expect(bench.kinds() == [.glucose: total])
            }
            #expect(await bench.meter.requests == [Self.all, Self.from(49), Self.all, Self.all])
            #expect(try await bench.outbox() == [String](repeating: "read", count: 54))
            #expect(bench.count(of: "read-failed") == 0)
        }
    }

    @Test func recordsThatNothingDatesAreReadOnceAndBelongToNobody() async throws {
        let unknown = DeviceTime(year: 0, month: 0, day: 0, hours: 0, minutes: 0, seconds: 0)
        var meter = GlucoseMeter()
        meter.script.filterRefusal = 0x04
        for _ in 0..<5 { meter.measure(at: unknown) }
        try await Self.run(meter, entry: .init(subject: "patient-17")) { bench in
            try await bench.readOnce()
            try await bench.readAgain()
            #expect(bench.kinds() == [.glucose: 5])
            let records = bench.noted.committed.all
            #expect(records.allSatisfy { $0.subject == nil && $0.stage == .historical })
            #expect(records.allSatisfy { $0.time.source == .unknown })
        }
    }

    // MARK: The end of the gateway

    @Test func reportIsAbortedWhenTheGatewayStops() async throws {
        let meter = Self.meter { $0.script.pause = .seconds(5) }
        try await Self.run(meter) { bench in
            await bench.peripheral.wakeUp()
            await bench.told("connected")
            while bench.noted.committed.all.count < 3 {
                try Task.checkCancellation()
                // Neither the report nor the time of the link must end while a busy machine is slow to commit.
                if await bench.meter.recordsSent < 30 {
                    await bench.clock.advance(by: .seconds(1), bench.loop)
                }
                _ = try await bench.store.counts()
            }
            try await bench.stop()
            let requests = await bench.meter.requests
            #expect(requests == [Self.all, [0x03, 0x00]])
            #expect(await bench.meter.recordsSent < 50)
        }
    }
}

extension GatewayBench {
    var meter: GlucoseMeter {
        get async { await peripheral.sensor(GlucoseMeter.self) }
    }

    /// Has the meter store so many records more, one a minute from the minute after the gateway's
    /// start, or from the last of them on.
    func measure(
        _ count: Int, context: GlucoseMeter.Context? = nil,
        after change: @escaping @Sendable (inout GlucoseMeter) -> Void = { _ in }
    ) async {
        let known = noted.committed.all.count
        await peripheral.change(GlucoseMeter.self) { meter in
            change(&meter)
            for number in 0..<count {
                let seconds = (known + number) % 240
                meter.measure(
                    at: DeviceTime(
                        year: 2026, month: 11, day: 20, hours: 9, minutes: 15 + seconds / 60,
                        seconds: seconds % 60), context: context)
            }
        }
    }
}
