import PeripheralSimulator
import QueueTestSupport
import Testing

@testable import IngestCore
@testable import IngestReading
@testable import IngestStorage

/// Many devices that want the adapter at once, and strangers who would keep it.
@Suite(.timeLimit(.minutes(15)))
struct HouseholdTests {
    @Test(arguments: [1, 3])
    func sixCuffsThatWakeBesideAStreamAndASilentDeviceAreAllReadInTheirWindow(links: Int) async throws {
        let cuffs = 2..<8
        try await HouseBench.run(
            [.strap, .silentThermometer] + cuffs.map { _ in .cuff }, links: links
        ) { bench in
            await bench.peripheral(0).wakeUp()
            await bench.peripheral(1).wakeUp()
            // The strap streams, and has given something.
            let streams = try await bench.advance(.seconds(120)) {
                try await bench.store.counts().records >= 1
            }
            #expect(streams != nil)
            for place in cuffs { await bench.measure(place) }
            _ = try await bench.advance(.seconds(25)) { await bench.confirmed(cuffs) == cuffs.count }
            #expect(await bench.confirmed(cuffs) == cuffs.count)
            #expect(try await bench.store.counts().records >= 7)
        }
    }

    /// Each holds its link for as long as it is let.
    @Test(arguments: [1, 3])
    func strangersThatNeverLetGoKeepNoCuffFromItsLink(links: Int) async throws {
        try await HouseBench.run(
            [.cuff] + (0..<4).map { _ in .clingingStranger }, links: links, awake: .seconds(30)
        ) { bench in
            for place in 1...4 { await bench.peripheral(place).wakeUp() }
            for round in 0..<3 {
                // Two minutes from one wake-up to the next.
                _ = try await bench.advance(.seconds(round == 0 ? 5 : 90)) { false }
                await bench.measure(0, systolic: UInt16(120 + round))
                let took = try await bench.advance(.seconds(30)) { await bench.peripheral(0).waiting == 0 }
                #expect(took != nil)
            }
            #expect(try await bench.store.counts().records == 3)
        }
    }

    @Test func strangersThatCannotBeConnectedToKeepNoCuffFromItsLink() async throws {
        try await HouseBench.run(
            [.cuff] + (0..<4).map { _ in .deafStranger }, links: 3, awake: .seconds(30)
        ) { bench in
            for place in 1...4 { await bench.peripheral(place).wakeUp() }
            for round in 0..<3 {
                _ = try await bench.advance(.seconds(round == 0 ? 5 : 60)) { false }
                await bench.measure(0, systolic: UInt16(120 + round))
                let took = try await bench.advance(.seconds(30)) { await bench.peripheral(0).waiting == 0 }
                #expect(took != nil)
            }
        }
    }

    /// Each of its links makes it miss the adverts of those that advertise all the time.
    @Test func aControllerThatIsDeafAfterEachLinkHasNobodyReadTwice() async throws {
        let wakeful = 1..<4
        try await HouseBench.run(
            [.cuff] + wakeful.map { _ in .wakefulCuff }, links: 3, awake: .seconds(40), deafness: .seconds(20)
        ) { bench in
            for place in wakeful { await bench.measure(place) }
            for round in 0..<3 {
                _ = try await bench.advance(.seconds(round == 0 ? 5 : 60)) { false }
                await bench.measure(0, systolic: UInt16(120 + round))
                let took = try await bench.advance(.seconds(40)) { await bench.peripheral(0).waiting == 0 }
                #expect(took != nil)
            }
            #expect(try await bench.store.counts().records == 6)
            for place in wakeful { #expect(await bench.peripheral(place).traces.count == 1, "cuff \(place)") }
        }
    }

    @Test func inAHomeWithNoOtherDeviceACuffIsReadEachTimeThatItWakes() async throws {
        try await HouseBench.run([.cuff], links: 3, hasNeighbour: false) { bench in
            for round in 0..<3 {
                _ = try await bench.advance(.seconds(round == 0 ? 5 : 60)) { false }
                await bench.measure(0, systolic: UInt16(120 + round))
                let took = try await bench.advance(.seconds(25)) { await bench.peripheral(0).waiting == 0 }
                #expect(took != nil)
            }
            #expect(try await bench.store.counts().records == 3)
        }
    }

    @Test func aControllerThatRefusesTheThirdLinkIsAskedForTwo() async throws {
        try await HouseBench.run([.strap, .strap, .cuff], links: 3, controller: 2) { bench in
            await bench.peripheral(0).wakeUp()
            await bench.peripheral(1).wakeUp()
            _ = try await bench.advance(.seconds(120)) { try await bench.store.counts().records >= 2 }
            await bench.measure(2)
            let took = try await bench.advance(.seconds(25)) { await bench.peripheral(2).waiting == 0 }
            #expect(took != nil)
            #expect(bench.count(of: "read-failed") == 0)
            let status = await bench.gateway.adapterStatus
            #expect(status.map(\.links) == [2])
            #expect(status.map(\.configuredLinks) == [3])
            // Both streams go on, in turn with whatever waits.
            let after = try await bench.store.counts().records
            let more = try await bench.advance(.seconds(200)) {
                try await bench.store.counts().records >= after + 3
            }
            #expect(more != nil)
        }
    }
}
