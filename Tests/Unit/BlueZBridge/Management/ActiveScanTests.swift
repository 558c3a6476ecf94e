import BlueZBridge
import PeripheralSimulator
import Testing

@testable import TestSupport

/// The real radio's active scan against a simulated kernel.
@Suite(.timeLimit(.minutes(15)))
struct ActiveScanTests {
    typealias Opcode = ManagementProtocol.Opcode
    typealias Status = ManagementProtocol.Status

    private static let stranger = DeviceAddress(BluetoothAddress(value: 0xC000_0000_0077), .random)
    private static let name: [UInt8] = [0x03, 0x09, 0x41, 0x42]

    /// Scans while the radio listens; `body` has the scan's notes and its end.
    private func scan(
        _ bench: RadioBench, for duration: Duration, filter: AdvertisementFilter = RadioBench.thermometers,
        _ body: (Notes<Advertisement>, Task<ActiveScanError?, Never>) async throws -> Void
    ) async throws {
        let listening = bench.listen(for: filter)
        await bench.states { $0.first.map { $0.isListening || $0.reason != "starting" } ?? false }
        let notes = Notes<Advertisement>()
        let scan = Task { () -> ActiveScanError? in
            do throws(ActiveScanError) {
                try await bench.radio.scanActively(for: duration) { notes.add($0) }
                return nil
            } catch {
                return error
            }
        }
        try await body(notes, scan)
        listening.cancel()
        try await listening.value
    }

    private func discovers(_ bench: RadioBench) async -> Bool {
        await bench.kernel.adapter(0)?.isDiscovering == true
    }

    @Test func everyDeviceIsHeardWithItsAnswerAndTheListedOnesAlone() async throws {
        let bench = try RadioBench()
        try await scan(bench, for: .seconds(5)) { notes, scan in
            _ = await bench.command(Opcode.startDiscovery)
            await bench.kernel.advertise([0x02, 0x01, 0x06], from: Self.stranger, scanResponse: Self.name)
            await bench.kernel.advertise(
                .thermometerAdvert, from: DeviceAddress(RadioBench.pinned, .random), scanResponse: Self.name)
            await notes.wait { $0.count == 2 }
            #expect(
                notes.all.map(\.data) == [[0x02, 0x01, 0x06] + Self.name, .thermometerAdvert + Self.name])
            var passive = bench.radio.advertisements.makeAsyncIterator()
            #expect(await passive.next()?.device.address == RadioBench.pinned)
            await bench.clock.advance(by: .seconds(5), bench.loop)
            #expect(await scan.value == nil)
            #expect(await !discovers(bench))
            // The monitor, which listens passively, is as it was.
            #expect(await bench.kernel.adapter(0)?.monitors.count == 1)
            await bench.kernel.advertise(.cuffAdvert, from: Self.stranger)
            await bench.loop.turned()
            #expect(notes.all.count == 2)
        }
    }

    @Test func aLongScanIsRenewedBeforeTheKernelEndsIt() async throws {
        let bench = try RadioBench()
        try await scan(bench, for: .seconds(25)) { _, scan in
            func asked(_ opcode: UInt16) async -> Int {
                await bench.kernel.received.count { $0.opcode == opcode }
            }
            let start = bench.clock.now
            for (number, end) in [10, 20, 25].enumerated() {
                let deadline = start + .seconds(end)
                while !bench.clock.isSlept(until: deadline) {
                    try Task.checkCancellation()
                    await bench.loop.turned()
                }
                #expect(await asked(Opcode.stopDiscovery) == number)
                await bench.clock.advance(by: deadline.since(bench.clock.now), bench.loop)
                while await asked(Opcode.stopDiscovery) == number {
                    try Task.checkCancellation()
                    await bench.loop.turned()
                }
            }
            #expect(await scan.value == nil)
            #expect(await asked(Opcode.startDiscovery) == 3)
            #expect(await asked(Opcode.stopDiscovery) == 3)
            #expect(await !discovers(bench))
        }
    }

    @Test func aScanThatIsStoppedEndsTheDiscovery() async throws {
        let bench = try RadioBench()
        try await scan(bench, for: .seconds(60)) { _, scan in
            _ = await bench.command(Opcode.startDiscovery)
            #expect(await discovers(bench))
            scan.cancel()
            #expect(await scan.value == nil)
            #expect(await !discovers(bench))
        }
    }

    @Test func withAnEmptyAllowListThereIsAScanAndNothingIsListenedToAfterwards() async throws {
        let bench = try RadioBench()
        try await scan(bench, for: .seconds(5), filter: AdvertisementFilter()) { notes, scan in
            _ = await bench.command(Opcode.startDiscovery)
            await bench.kernel.advertise(.cuffAdvert, from: Self.stranger)
            await notes.wait { $0.count == 1 }
            await bench.clock.advance(by: .seconds(5), bench.loop)
            #expect(await scan.value == nil)
            #expect(await bench.kernel.adapter(0)?.monitors.isEmpty == true)
        }
    }

    @Test func anothersDiscoveryIsUsedAndLeft() async throws {
        let bench = try RadioBench()
        await bench.kernel.answer(Opcode.startDiscovery, with: [.status(Status.busy)])
        try await scan(bench, for: .seconds(5)) { _, scan in
            _ = await bench.command(Opcode.startDiscovery)
            await bench.clock.advance(by: .seconds(5), bench.loop)
            #expect(await scan.value == nil)
            #expect(await bench.kernel.received.contains { $0.opcode == Opcode.stopDiscovery } == false)
        }
    }

    @Test func anAdapterThatDoesNotScanIsNamed() async throws {
        let bench = try RadioBench(
            adapters: [SimulatedAdapter(index: 0, address: RadioBench.address, isPowered: false)])
        try await scan(bench, for: .seconds(5)) { _, scan in
            #expect(await scan.value == .refused("hci0 is powered off: bluetoothctl power on"))
        }
    }

    /// Without an adapter it waits for one, as after a start of the service.
    @Test(arguments: [false, true])
    func anAdapterThatComesAMomentLaterScans(comes: Bool) async throws {
        let bench = try RadioBench(adapters: [])
        let listening = bench.listen()
        let ended = Notes<ActiveScanError?>()
        let scan = Task {
            do throws(ActiveScanError) {
                try await bench.radio.scanActively(for: .seconds(5)) { _ in }
                ended.add(nil)
            } catch {
                ended.add(error)
            }
        }
        for _ in 0..<4 { await bench.clock.advance(by: .milliseconds(250), bench.loop) }
        if comes {
            await bench.kernel.plugIn(SimulatedAdapter(index: 0, address: RadioBench.address))
            // However long that takes on a busy machine: the scan waits for five seconds of this clock.
            await bench.states { !$0.isEmpty }
        }
        while ended.all.isEmpty { await bench.clock.advance(by: .milliseconds(250), bench.loop) }
        await scan.value
        #expect(ended.all == [comes ? nil : .noAdapter])
        listening.cancel()
        try await listening.value
    }

    @Test func twoScansAtOnceAreOneTooMany() async throws {
        let bench = try RadioBench()
        try await scan(bench, for: .seconds(5)) { _, scan in
            _ = await bench.command(Opcode.startDiscovery)
            await #expect(throws: ActiveScanError.busy) {
                try await bench.radio.scanActively(for: .seconds(5)) { _ in }
            }
            scan.cancel()
            #expect(await scan.value == nil)
        }
    }
}
