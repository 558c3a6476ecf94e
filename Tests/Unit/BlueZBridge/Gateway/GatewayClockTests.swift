import BlueZBridge
import PeripheralSimulator
import QueueTestSupport
import Synchronization
import Testing

@testable import IngestQueue
@testable import TestSupport

/// A gateway whose own clock cannot be relied on, from the radio to what is delivered.
@Suite(.timeLimit(.minutes(15)))
struct GatewayClockTests {
    /// 1970-01-01T00:20:00Z: the driven clock begins 1 000 s after the boot.
    private static let unset: Int64 = 1_200
    private static let morning = ClockBench.morning

    private static func received(_ body: String) -> String? {
        body.firstRange(of: #""received":""#).map { String(body[$0.upperBound...].prefix(20)) }
    }

    private static func text(_ seconds: Int64) -> String {
        ReadingTime.text(seconds, offset: nil)
    }

    @Test func readingsOfABoxWithoutTheTimeAreDeliveredWithTheirTimesWhenItHasIt() async throws {
        try await ClockBench.inNewDirectory(wall: Self.unset) { bench in
            var moments: [Int64] = []
            try await bench.run(ClockBench.thermometer(3_660)) { run in
                await run.judged(nil)
                moments.append(bench.clock.wallNanoseconds)
                try await run.read()
                #expect(await run.peripheral.traces.first?.pdus.contains { $0.bytes == [0x1E] } == true)
                #expect(try await run.store.outbox.outboxEntries(limit: 10).map(\.entry.name) == ["read"])
                #expect(try await run.deliversNothing())
            }
            // The process starts anew, an hour later, in the same boot.
            try await bench.run(ClockBench.thermometer(3_670)) { run in
                await run.pass(.seconds(3_600))
                #expect(try await run.deliversNothing())
                moments.append(bench.clock.wallNanoseconds)
                try await run.read()
                #expect(try await run.deliversNothing())
                let lead = Self.morning - bench.clock.wallNanoseconds / 1_000_000_000
                bench.clock.set(wall: Self.morning)
                bench.system.withLock { $0.isSynchronized = true }
                await run.pass(.seconds(30))
                await run.judged(.synchronized, times: 2)
                let bodies = try await run.delivered(2)
                for (body, moment) in zip(bodies, moments) {
                    let received = moment / 1_000_000_000 + lead
                    let expected = (received - 1...received + 1).map { Self.text($0) }
                    #expect(expected.contains(Self.received(body) ?? ""))
                    #expect(body.contains(#""source":"received""#) && body.contains("patient-17"))
                }
                #expect(bodies.first?.contains(#""value":36.60"#) == true)
                #expect(bodies.last?.contains(#""serial":"T-1""#) == true)
                #expect(try await run.store.overview.status(of: []).undated == 0)
            }
        }
    }

    @Test func aDevicesClockIsComparedWhenTheTimeIsKnownThoughTheProcessStartedAnew() async throws {
        // Two hours and a minute ahead.
        let shown = DeviceTime(year: 2026, month: 11, day: 20, hours: 11, minutes: 16, seconds: 0)
        try await ClockBench.inNewDirectory(wall: Self.unset) { bench in
            var moments: [MonotonicInstant] = []
            // The first link finds the clock after the reading, the second compares before it.
            try await bench.run(ClockBench.thermometer(3_650, 3_660, shows: shown)) { run in
                await run.peripheral.show(SimulatedClock(0x2A2B, in: 0x1805, lead: 0))
                for _ in 0..<2 {
                    moments.append(bench.clock.now)
                    try await run.read()
                    await run.pass(GatewayBench.longPause)
                }
                #expect(run.count(of: "clock-skew") == 0)
            }
            try await bench.run(ClockBench.thermometer()) { run in
                await run.pass(.seconds(3_600))
                bench.clock.set(wall: Self.morning)
                let boot = BootTime(
                    bootID: "boot-1", wallNanoseconds: bench.clock.wallNanoseconds, at: bench.clock.now)
                bench.system.withLock { $0.isSynchronized = true }
                await run.pass(.seconds(30))
                let bodies = try await run.delivered(2)
                for (body, moment) in zip(bodies, moments) {
                    let came = boot.latest(.boot(id: "boot-1", instant: moment))
                    // Some seconds pass on each link.
                    let matches = (came...came + 3).contains { second in
                        let value = ReadingTime.text(second, offset: 0)
                        let offset = shown.wallSeconds - second
                        return body.contains(#""value":"\#(value)","source":"device","#)
                            && body.contains(#""device":"\#(shown)","clock_offset_s":\#(offset),"#)
                    }
                    #expect(matches, "\(body)")
                }
                #expect(bodies.count == 2)
            }
        }
    }

    @Test func aDevicesWrongClockIsToldOfOnceTheTimeIsKnown() async throws {
        // Two hours and a minute ahead.
        let shown = DeviceTime(year: 2026, month: 11, day: 20, hours: 11, minutes: 16, seconds: 0)
        try await ClockBench.inNewDirectory(wall: Self.unset) { bench in
            try await bench.run(ClockBench.thermometer(3_650, 3_660, shows: shown)) { run in
                await run.judged(nil)
                await run.peripheral.show(SimulatedClock(0x2A2B, in: 0x1805, lead: 0))
                try await run.read()
                await run.pass(.seconds(60))
                #expect(run.count(of: "clock-skew") == 0)
                bench.clock.set(wall: Self.morning)
                bench.system.withLock { $0.isSynchronized = true }
                while run.count(of: "clock-skew") == 0 {
                    try Task.checkCancellation()
                    await run.pass(.seconds(1))
                    _ = try await run.store.counts()
                }
                let told = ["it is 2 h ahead; set it as its manual says, or with \"clock: set\""]
                #expect(run.errors(of: "clock-skew") == told)
                // Once a day, whoever compares.
                try await run.read()
                #expect(run.count(of: "read-failed") == 0)
                await run.pass(.seconds(60))
                #expect(run.errors(of: "clock-skew") == told)
                #expect(try await run.delivered(2).count == 2)
            }
        }
    }

    @Test func ofAnEarlierBootOnlyWhatTheDeviceDatesHasATimeOfItsOwn() async throws {
        let shown = DeviceTime(year: 2026, month: 11, day: 20, hours: 8, minutes: 0, seconds: 0)
        try await ClockBench.inNewDirectory(wall: Self.unset) { bench in
            try await bench.run(ClockBench.thermometer(3_650, shows: shown)) { run in
                try await run.read()
            }
            try await bench.run(ClockBench.thermometer(3_660)) { run in try await run.read() }
            bench.clock.boot(wall: Self.unset)
            bench.system.withLock { $0.bootID = "boot-2" }
            try await bench.run(ClockBench.thermometer(3_670)) { run in
                await run.judged(nil)
                try await run.read()
                #expect(try await run.deliversNothing())
                bench.clock.set(wall: Self.morning)
                let start = Self.morning - Int64(bench.clock.now.nanoseconds / 1_000_000_000) - 1
                bench.system.withLock { $0.isSynchronized = true }
                await run.pass(.seconds(30))
                let bodies = try await run.delivered(3)
                let bound = (start...start + 1).map { Self.text($0) }
                #expect(bound.contains(Self.received(bodies[0]) ?? ""))
                #expect(bodies[0].contains(#""value":"2026-11-20T08:00:00+00:00","source":"device""#))
                // The device may have been another's then: nobody knows since when it is this person's.
                #expect(!bodies[0].contains("patient-17"))
                #expect(bound.contains(Self.received(bodies[1]) ?? ""))
                #expect(bodies[1].contains(#""source":"unknown""#) && bodies[1].contains("patient-17"))
                #expect(bodies[2].contains(#""source":"received""#) && bodies[2].contains("patient-17"))
            }
        }
    }

    @Test func aClockThatIsSetBackIsDoubtedUntilItIsRightAgain() async throws {
        try await ClockBench.inNewDirectory(wall: Self.morning) { bench in
            bench.system.withLock { $0.isSynchronized = true }
            try await bench.run(ClockBench.thermometer(3_660, 3_670, 3_680)) { run in
                await run.judged(.synchronized)
                try await run.read()
                #expect(try await run.delivered(1).count == 1)
                // Somebody sets it, and the network is gone.
                bench.system.withLock { $0.isSynchronized = nil }
                let before = bench.clock.wallNanoseconds / 1_000_000_000
                let at = bench.clock.now
                bench.clock.set(wall: before - 86_400)
                await run.pass(GatewayBench.longPause)
                try await run.read()
                await run.judged(nil, times: 2)
                #expect(try await run.deliversNothing())
                let passed = Int64(bench.clock.now.since(at) / .seconds(1))
                bench.clock.set(wall: before + passed)
                await run.pass(.seconds(30))
                await run.judged(.unchanged, times: 3)
                let body = try #require(try await run.delivered(1).first)
                let received = (before...before + passed).map { Self.text($0) }
                #expect(received.contains(Self.received(body) ?? ""))
            }
        }
    }

    @Test func aRestartWithoutTheNetworkKeepsTheTimeOfTheBoot() async throws {
        try await ClockBench.inNewDirectory(wall: Self.morning) { bench in
            bench.system.withLock { $0.isSynchronized = true }
            try await bench.run(ClockBench.thermometer()) { run in await run.judged(.synchronized) }
            bench.system.withLock { $0.isSynchronized = false }
            try await bench.run(ClockBench.thermometer(3_660)) { run in
                await run.judged(.unchanged)
                try await run.read()
                #expect(try await run.delivered(1).count == 1)
            }
            bench.system.withLock { $0.bootID = "boot-2" }
            try await bench.run(ClockBench.thermometer(3_670)) { run in
                await run.judged(nil)
                try await run.read()
                #expect(try await run.deliversNothing())
                // One that keeps the time is put in.
                bench.system.withLock {
                    $0.realTimeClocks = [bench.clock.wallNanoseconds / 1_000_000_000 + 30]
                }
                await run.pass(.seconds(30))
                await run.judged(.realTimeClock, times: 2)
                #expect(try await run.delivered(1).count == 1)
            }
        }
    }

    @Test func aClockThatIsTrustedByConfigurationIsRightWhateverItShows() async throws {
        try await ClockBench.inNewDirectory(wall: Self.unset) { bench in
            bench.system.withLock { $0.isConfigured = true }
            try await bench.run(ClockBench.thermometer(3_660)) { run in
                await run.judged(.configured)
                try await run.read()
                let body = try #require(try await run.delivered(1).first)
                #expect(Self.received(body)?.hasPrefix("1970-01-01T00:") == true)
                // It is asked for the sake of moments that a clock ahead has noted, and not for the judgement.
                #expect(bench.system.withLock { $0.questions } == 1)
            }
        }
    }

    @Test func aClockThatIsRightIsNotLookedAtAgain() async throws {
        try await ClockBench.inNewDirectory(wall: Self.morning) { bench in
            bench.system.withLock { $0.isSynchronized = true }
            try await bench.run(ClockBench.thermometer(3_660)) { run in
                await run.judged(.synchronized)
                await run.pass(.seconds(3_600))
                try await run.read()
                #expect(try await run.delivered(1).count == 1)
                #expect(bench.system.withLock { $0.questions } == 1)
            }
        }
    }

    @Test func whatADeviceStoredIsOfWhoHadItThoughTheTimeCameLater() async throws {
        var meter = GlucoseMeter()
        // Long before, and some minutes before it was read.
        for (day, minute) in [(19, 0), (20, 10)] {
            meter.measure(
                at: DeviceTime(year: 2026, month: 11, day: day, hours: 9, minutes: minute, seconds: 0))
        }
        let stored = meter
        try await ClockBench.inNewDirectory(wall: Self.unset) { bench in
            // The person has had the meter for an hour when it is read, at 09:15.
            try await bench.run(ClockBench.thermometer(), profile: "glucose") { run in
                await run.pass(.seconds(3_600))
            }
            let make = { (loop: RadioLoop) in
                SimulatedPeripheral(
                    device: DeviceAddress(RadioBench.pinned, .random), sensor: stored, loop: loop,
                    time: { DeviceTime(year: 2026, month: 11, day: 20, hours: 9, minutes: 15, seconds: 0) })
            }
            try await bench.run(make, profile: "glucose") { run in
                try await run.read()
                #expect(try await run.deliversNothing())
                bench.clock.set(wall: Self.morning)
                bench.system.withLock { $0.isSynchronized = true }
                await run.pass(.seconds(30))
                let bodies = try await run.delivered(2)
                #expect(bodies.map { $0.contains(#""stage":"historical""#) } == [true, false])
                #expect(bodies.map { $0.contains("patient-17") } == [false, true])
                #expect(bodies.allSatisfy { $0.contains(#""source":"device""#) })
            }
        }
    }
}
