import PeripheralSimulator
import TestSupport
import Testing

@testable import IngestBluetooth
@testable import IngestCore
@testable import IngestQueue
@testable import IngestReading
@testable import IngestStorage

/// What several devices cannot do together either, each over a link of its own at the same time.
@Suite(.timeLimit(.minutes(15)))
struct BoundsAtOnceTests {
    private static let links = 8
    private static let meters = 1..<9

    /// How many of these devices have a link now.
    private static func linked(_ places: Range<Int>, _ bench: HouseBench) async -> Int {
        var count = 0
        for place in places where await bench.peripheral(place).isLinked { count += 1 }
        return count
    }

    @Test func strangersThatFillTheirShareTogetherStayWithinItAndTheCuffIsRead() async throws {
        let size: UInt64 = 4 << 20
        let share = StrangerShare(maximumSize: size)
        try await HouseBench.run(
            [.cuff] + Self.meters.map { _ in .slowMeter(isNamed: false) }, links: Self.links,
            maximumSize: size
        ) { bench in
            for place in Self.meters { await bench.peripheral(place).wakeUp() }
            var (mostLinked, mostHeld) = (0, Int64(0))
            _ = try await bench.advance(.seconds(180)) {
                mostLinked = max(mostLinked, await Self.linked(Self.meters, bench))
                mostHeld = max(mostHeld, try await bench.strangerBytes())
                return bench.keeper?.fullStrangers.isEmpty == false
            }
            #expect(mostLinked > 3)
            for _ in 0..<3 {
                _ = try await bench.advance(.seconds(20)) { false }
                mostHeld = max(mostHeld, try await bench.strangerBytes())
                for place in Self.meters { #expect(try await bench.strangerBytes(place) <= share.device) }
            }
            #expect(mostHeld <= share.all)
            #expect(mostHeld > share.all / 2)
            #expect(bench.keeper?.fullStrangers.isEmpty == false)
            await bench.measure(0)
            let took = try await bench.advance(.seconds(25)) { await bench.peripheral(0).waiting == 0 }
            #expect(took != nil)
            #expect(try await bench.records(of: 0) == 1)
        }
    }

    @Test func metersThatSpendTheirDaysTogetherEachStopAtTheirOwn() async throws {
        try await HouseBench.run(
            [.cuff] + Self.meters.map { _ in .slowMeter(isNamed: true) }, links: Self.links
        ) { bench in
            for place in Self.meters {
                var memory = DeviceMemory()
                memory.allowance = DailyAllowance.full(but: 120 + place, at: bench.clock.now)
                try await bench.store.devices.remember(memory, of: HouseBench.address(place))
                await bench.peripheral(place).wakeUp()
            }
            var mostLinked = 0
            let ended = try await bench.advance(.seconds(180)) {
                mostLinked = max(mostLinked, await Self.linked(Self.meters, bench))
                return bench.count(of: "read-failed") == Self.meters.count
            }
            #expect(ended != nil)
            #expect(mostLinked > 3)
            for place in Self.meters {
                let records = try await bench.records(of: place)
                #expect(records > 0 && records <= 120 + place)
            }
            await bench.measure(0)
            let took = try await bench.advance(.seconds(25)) { await bench.peripheral(0).waiting == 0 }
            #expect(took != nil)
            // None of them is connected to again.
            #expect(await Self.linked(Self.meters, bench) == 0)
            #expect(bench.count(of: "read-failed") == Self.meters.count)
        }
    }

    /// Each is looked at as far as one alone would be.
    @Test func strangersWithThousandsOfCharacteristicsAreLookedAtNoFurtherTogether() async throws {
        try await HouseBench.run(
            [.cuff] + Self.meters.map { _ in .vastStranger }, links: Self.links
        ) { bench in
            for place in Self.meters { await bench.peripheral(place).wakeUp() }
            let failed = try await bench.advance(.seconds(120)) {
                bench.count(of: "read-failed") >= Self.meters.count
            }
            #expect(failed != nil)
            for place in Self.meters {
                // Two characteristics and more in an answer.
                for trace in await bench.peripheral(place).traces {
                    #expect(trace.gatewayOpcodes.count < AttributeLayout.mostCharacteristics)
                }
                #expect(try await bench.store.devices.recall(HouseBench.address(place)) == nil)
            }
            await bench.measure(0)
            let took = try await bench.advance(.seconds(25)) { await bench.peripheral(0).waiting == 0 }
            #expect(took != nil)
        }
    }

    @Test func ofStrangersThatHoldEightLinksAndGiveNothingNothingIsWritten() async throws {
        try await HouseBench.run(
            [.cuff] + Self.meters.map { _ in .clingingStranger }, links: Self.links
        ) { bench in
            for place in Self.meters { await bench.peripheral(place).wakeUp() }
            var mostLinked = 0
            _ = try await bench.advance(.seconds(60)) {
                mostLinked = max(mostLinked, await Self.linked(Self.meters, bench))
                return mostLinked == Self.links
            }
            #expect(mostLinked == Self.links)
            await bench.measure(0)
            let took = try await bench.advance(.seconds(25)) { await bench.peripheral(0).waiting == 0 }
            #expect(took != nil)
            let rows = try await bench.store.devices.rememberedStrangers()
            #expect(rows.isEmpty)
        }
    }
}
