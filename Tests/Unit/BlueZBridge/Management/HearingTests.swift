import BlueZBridge
import PeripheralSimulator
import Testing

/// What the radio has the kernel drop, and that nothing is missed by it.
@Suite(.timeLimit(.minutes(15)))
struct HearingTests {
    typealias Opcode = ManagementProtocol.Opcode

    private static let known = DeviceAddress(RadioBench.pinned, .random)
    private static let stranger = DeviceAddress(BluetoothAddress(value: 0xC000_0000_0077), .random)
    private static let tooMany = AdvertisementFilter(
        addresses: Set((1...5_000).map { BluetoothAddress(value: $0) } + [RadioBench.pinned]))

    /// Whether the kernel drops what is not listed.
    private func isFiltered(_ bench: RadioBench) async -> Bool {
        await bench.loop.perform { [kernel = bench.kernel] in kernel.gatewayChannel.filter != nil }
    }

    /// Moves the clock by steps of 10 s, with an advert of the stranger after so many of them.
    private func hearStranger(_ bench: RadioBench, times: Int, steps: Int = 1) async {
        for _ in 0..<times {
            for _ in 0..<steps { await bench.clock.advance(by: .seconds(10), bench.loop) }
            await bench.kernel.advertise(.cuffAdvert, from: Self.stranger)
            await bench.loop.turned()
        }
    }

    @Test func whoIsListedByAReloadIsHeardAndWhoIsNotAnyMoreIsNot() async throws {
        let bench = try RadioBench()
        let listening = bench.listen(for: AdvertisementFilter(addresses: [Self.known.address]))
        await bench.listening()
        #expect(await isFiltered(bench))
        await bench.kernel.advertise([0x02, 0x01, 0x01], from: Self.stranger)
        await bench.kernel.advertise([0x02, 0x01, 0x02], from: Self.known)
        await bench.radio.update(AdvertisementFilter(addresses: [Self.stranger.address]))
        await bench.kernel.advertise([0x02, 0x01, 0x03], from: Self.known)
        await bench.kernel.advertise([0x02, 0x01, 0x04], from: Self.stranger)
        var adverts = bench.radio.advertisements.makeAsyncIterator()
        #expect(await adverts.next()?.data.last == 0x02)
        #expect(await adverts.next()?.data.last == 0x04)
        #expect(await isFiltered(bench))
        listening.cancel()
        try await listening.value
    }

    @Test func whileAnOperatorScansEverythingComes() async throws {
        let bench = try RadioBench()
        let listening = bench.listen()
        await bench.listening()
        let scan = Task { try await bench.radio.scanActively(for: .seconds(5)) { _ in } }
        _ = await bench.command(Opcode.startDiscovery)
        #expect(await !isFiltered(bench))
        // A reload during the scan changes nothing of that.
        await bench.radio.update(AdvertisementFilter(addresses: [Self.known.address]))
        #expect(await !isFiltered(bench))
        scan.cancel()
        try await scan.value
        #expect(await isFiltered(bench))
        listening.cancel()
        try await listening.value
    }

    /// What the kernel drops is no silence.
    @Test(arguments: [1, 12])
    func aScanThatHearsStrangersAloneIsNotRestarted(tensOfSecondsBetween steps: Int) async throws {
        let bench = try RadioBench()
        let listening = bench.listen()
        await bench.listening()
        await hearStranger(bench, times: 60, steps: steps)
        #expect(await isFiltered(bench))
        listening.cancel()
        try await listening.value
        let asked = await bench.kernel.received.map(\.opcode)
        #expect(asked.count { $0 == Opcode.addPatternsMonitor } == 1)
    }

    @Test func everythingIsListenedToBeforeSilenceIsTakenForOne() async throws {
        let bench = try RadioBench()
        let listening = bench.listen()
        await bench.listening()
        await hearStranger(bench, times: 5)
        await bench.clock.advance(by: .seconds(10), bench.loop)
        #expect(await !isFiltered(bench))
        await bench.kernel.advertise(.cuffAdvert, from: Self.stranger)
        await bench.loop.turned()
        #expect(await isFiltered(bench))
        listening.cancel()
        try await listening.value
    }

    @Test func anAdapterThatIsGoneIsNotWaitedFor() async throws {
        let bench = try RadioBench()
        let listening = bench.listen()
        await bench.listening()
        await bench.clock.advance(by: .seconds(60), bench.loop)
        #expect(await !isFiltered(bench))
        await bench.kernel.unplug(0)
        await bench.states { $0.isEmpty }
        #expect(await isFiltered(bench))
        listening.cancel()
        try await listening.value
    }

    @Test func withAListThatIsTooLongAllAdvertsComeAndItIsSaidOnce() async throws {
        let lines = Notes<String>()
        let log = SubsystemLog(.init(level: .debug, subsystems: [:])) { level, subsystem, words in
            lines.add("\(level.rawValue) \(subsystem.rawValue): \(words)")
        }
        let bench = try RadioBench(log: log)
        let listening = bench.listen(for: Self.tooMany)
        await bench.listening()
        #expect(await !isFiltered(bench))
        await bench.radio.update(AdvertisementFilter(addresses: [Self.stranger.address]))
        #expect(await isFiltered(bench))
        await bench.radio.update(Self.tooMany)
        #expect(await !isFiltered(bench))
        await bench.kernel.advertise(.cuffAdvert, from: Self.known)
        var adverts = bench.radio.advertisements.makeAsyncIterator()
        #expect(await adverts.next()?.device == Self.known)
        #expect(
            lines.all == [
                "debug bluetooth: the kernel does not sort out adverts, all come here: the list is too long"
            ])
        listening.cancel()
        try await listening.value
    }
}
