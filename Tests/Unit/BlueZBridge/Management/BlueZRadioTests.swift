import BlueZBridge
import PeripheralSimulator
import TestSupport
import Testing

/// The real radio against a simulated kernel.
@Suite(.timeLimit(.minutes(15)))
struct BlueZRadioTests {
    typealias Opcode = ManagementProtocol.Opcode
    typealias Status = ManagementProtocol.Status

    /// All that `run` ever asks of a kernel; no discovery, no connection.
    private static let harmless: Set<UInt16> = [
        Opcode.readIndexList, Opcode.readInformation, Opcode.readMonitorFeatures,
        Opcode.addPatternsMonitor, Opcode.removeMonitor, Opcode.getConnections,
    ]

    @Test func listensByAMonitorAloneAndTakesItBack() async throws {
        let bench = try RadioBench()
        let listening = bench.listen()
        await bench.listening()
        #expect(await bench.kernel.adapter(0)?.monitors.count == 1)
        listening.cancel()
        try await listening.value
        #expect(await bench.kernel.adapter(0)?.monitors.isEmpty == true)
        let asked = await bench.kernel.received.map(\.opcode)
        #expect(Set(asked) == Self.harmless)
    }

    @Test func linksThatAnEarlierProcessLeftToListedDevicesAreEndedAndNoOthers() async throws {
        let listed = DeviceAddress(RadioBench.pinned, .random)
        let stranger = DeviceAddress(BluetoothAddress(value: 0xC000_0000_0077), .random)
        let bench = try RadioBench(adapters: [
            SimulatedAdapter(index: 0, address: RadioBench.address, links: [stranger, listed])
        ])
        let listening = bench.listen(for: AdvertisementFilter(addresses: [RadioBench.pinned]))
        await bench.listening()
        #expect(await bench.kernel.adapter(0)?.links == [stranger])
        listening.cancel()
        try await listening.value
    }

    @Test func advertsOfStrangersNeverReachTheStream() async throws {
        let bench = try RadioBench()
        let listening = bench.listen()
        await bench.listening()
        let stranger = DeviceAddress(BluetoothAddress(value: 0xC000_0000_0077), .random)
        let known = DeviceAddress(RadioBench.pinned, .random)
        await bench.kernel.advertise(.cuffAdvert, from: stranger)
        await bench.kernel.advertise([0x02, 0x01, 0x06], from: known)
        await bench.kernel.advertise(.thermometerAdvert, from: known, rssi: -71)
        var adverts = bench.radio.advertisements.makeAsyncIterator()
        let advert = await adverts.next()
        #expect(advert?.device == known)
        #expect(advert?.rssi == -71)
        #expect(advert?.data == .thermometerAdvert)
        #expect(advert?.isConnectable == true)
        listening.cancel()
        try await listening.value
        #expect(await adverts.next() == nil)
    }

    @Test(arguments: [false, true])
    func allowListOfAddressesAloneIsListenedFor(matchesPatterns: Bool) async throws {
        let adapter = SimulatedAdapter(
            index: 0, address: RadioBench.address, matchesPatterns: matchesPatterns)
        let bench = try RadioBench(adapters: [adapter])
        let listening = bench.listen(for: AdvertisementFilter(addresses: [RadioBench.pinned]))
        await bench.states { $0.first?.isListening == true || $0.first?.reason?.contains("status") == true }
        await bench.kernel.advertise(.cuffAdvert, from: DeviceAddress(RadioBench.pinned, .random))
        listening.cancel()
        try await listening.value
        var adverts = bench.radio.advertisements.makeAsyncIterator()
        #expect(await adverts.next()?.device.address == RadioBench.pinned)
    }

    @Test(arguments: [false, true])
    func monitorThatSomebodyRemovedIsAddedAgain(byItself: Bool) async throws {
        let bench = try RadioBench()
        let listening = bench.listen()
        await bench.listening()
        _ = await bench.command(Opcode.addPatternsMonitor)
        let handle = try #require(await bench.kernel.adapter(0)?.monitors.keys.first)
        if byItself {
            await bench.kernel.removeMonitor(handle, 0)
        } else {
            await bench.kernel.removeMonitors(0)
        }
        _ = await bench.command(Opcode.addPatternsMonitor)
        #expect(await bench.kernel.adapter(0)?.monitors.count == 1)
        listening.cancel()
        try await listening.value
    }

    @Test func adapterOfBluetoothdIsLeftOffAndUsedWhenItIsBack() async throws {
        let bench = try RadioBench(isBluetoothdRunning: true)
        let listening = bench.listen()
        await bench.listening()
        await bench.kernel.setPowered(false, 0)
        let off = await bench.states { $0.first?.isListening == false }
        #expect(off.first?.reason == "powered off")
        await bench.kernel.setPowered(true, 0)
        await bench.listening()
        #expect(await bench.kernel.received.contains { $0.opcode == Opcode.setPowered } == false)
        listening.cancel()
        try await listening.value
    }

    @Test func adapterThatNobodyOwnsIsPoweredOn() async throws {
        let off = SimulatedAdapter(
            index: 0, address: RadioBench.address, isPowered: false, isLowEnergy: false)
        let bench = try RadioBench(adapters: [off], isBluetoothdRunning: false)
        let listening = bench.listen()
        await bench.listening()
        #expect(await bench.kernel.adapter(0)?.isPowered == true)
        let asked = await bench.kernel.received.map(\.opcode)
        #expect(asked.filter { [Opcode.setPowered, Opcode.setLowEnergy].contains($0) } == [0x000D, 0x0005])
        listening.cancel()
        try await listening.value
    }

    @Test func adapterIsFollowedToAnotherIndex() async throws {
        let bench = try RadioBench(selection: .address(RadioBench.address))
        let listening = bench.listen()
        await bench.listening()
        await bench.kernel.unplug(0)
        await bench.states { $0.isEmpty }
        await bench.kernel.plugIn(SimulatedAdapter(index: 3, address: RadioBench.address))
        let states = await bench.states { $0.first?.isListening == true }
        #expect(states.map(\.id.index) == [3])
        listening.cancel()
        try await listening.value
    }

    @Test func startsWithoutAnAdapterAndWaitsForOne() async throws {
        let bench = try RadioBench(adapters: [])
        let listening = bench.listen()
        await bench.states { $0.isEmpty }
        await bench.kernel.plugIn(SimulatedAdapter(index: 0, address: RadioBench.address))
        await bench.listening()
        listening.cancel()
        try await listening.value
    }

    @Test func controllerThatMatchesGetsPatternsAndPinnedDevices() async throws {
        let adapter = SimulatedAdapter(index: 0, address: RadioBench.address, matchesPatterns: true)
        let bench = try RadioBench(adapters: [adapter])
        let filter = AdvertisementFilter(
            addresses: [RadioBench.pinned], models: [[.service(0x1809)], [.service(0x1810)]])
        let listening = bench.listen(for: filter)
        await bench.listening()
        let after = try #require(await bench.kernel.adapter(0))
        #expect(after.monitors.values.first.map(Set.init) == Set(filter.kernelPatterns.prefix(16)))
        // The types of address that an identity can have.
        #expect(
            after.reported == [
                DeviceAddress(RadioBench.pinned, .public), DeviceAddress(RadioBench.pinned, .random),
            ])
        // What advertises nothing that a pattern knows is reported all the same.
        await bench.kernel.advertise([0x02, 0x01, 0x06], from: DeviceAddress(RadioBench.pinned, .random))
        var adverts = bench.radio.advertisements.makeAsyncIterator()
        #expect(await adverts.next()?.device.address == RadioBench.pinned)
        listening.cancel()
        try await listening.value
        #expect(await bench.kernel.adapter(0)?.reported.isEmpty == true)
    }

    @Test func monitorOfSomebodyElseIsUsedAndLeft() async throws {
        let bench = try RadioBench()
        await bench.kernel.addMonitor(RadioBench.thermometers.kernelPatterns, 0)
        let listening = bench.listen()
        await bench.listening()
        listening.cancel()
        try await listening.value
        #expect(await bench.kernel.adapter(0)?.monitors.count == 1)
        let asked = await bench.kernel.received.map(\.opcode)
        #expect(!asked.contains(Opcode.addPatternsMonitor) && !asked.contains(Opcode.removeMonitor))
    }

    @Test(arguments: [
        Opcode.readIndexList, Opcode.readInformation, Opcode.readMonitorFeatures, Opcode.addPatternsMonitor,
    ])
    func kernelThatDoesNotTrustTheSocketEndsTheRadio(opcode: UInt16) async throws {
        let bench = try RadioBench()
        await bench.kernel.answer(opcode, with: [.status(Status.permissionDenied)])
        let listening = bench.listen()
        await #expect(throws: ManagementError.noPermission) { try await listening.value }
    }

    @Test func endOfTheSocketEndsTheRadio() async throws {
        let bench = try RadioBench()
        let listening = bench.listen()
        await bench.listening()
        await bench.kernel.close()
        await #expect(throws: ManagementError.ended) { try await listening.value }
    }

    @Test func scanTimingIsSetOnlyWhereConfigured() async throws {
        let bench = try RadioBench(timing: ScanTiming(interval: 0x0060, window: 0x0030))
        let listening = bench.listen()
        await bench.listening()
        let parameters = try #require(await bench.kernel.adapter(0)?.defaultConfiguration)
        // Type, length and value of monitor, background and connection scan.
        #expect(parameters.count == 6 * 5)
        #expect(parameters.prefix(5) == [0x0D, 0x00, 0x02, 0x60, 0x00])
        listening.cancel()
        try await listening.value
    }

    @Test func anUnansweredCommandHasTheAdapterSwitchedOffAndOn() async throws {
        let bench = try RadioBench()
        await bench.kernel.answer(Opcode.readMonitorFeatures, with: [.none])
        let listening = bench.listen()
        _ = await bench.command(Opcode.readMonitorFeatures)
        await bench.clock.advance(by: .seconds(15), bench.loop)
        let states = await bench.states { $0.first?.isListening == true }
        #expect(states.first?.resets == 1)
        #expect(states.first?.resetReason == "no answer to command 0x51")
        let powers = await bench.kernel.received.filter { $0.opcode == Opcode.setPowered }
        #expect(powers.map(\.parameters) == [[0], [1]])
        listening.cancel()
        try await listening.value
    }

    @Test func silentAdapterHasItsScanRestartedOnce() async throws {
        let bench = try RadioBench()
        let listening = bench.listen()
        await bench.listening()
        _ = await bench.command(Opcode.addPatternsMonitor)
        // First nothing that is listed, then nothing at all.
        await bench.clock.advance(by: .seconds(60), bench.loop)
        await bench.clock.advance(by: .seconds(90), bench.loop)
        _ = await bench.command(Opcode.removeMonitor)
        _ = await bench.command(Opcode.addPatternsMonitor)
        listening.cancel()
        try await listening.value
    }

    @Test func randomPacketsAndAnswersNeverTrap() async throws {
        var random = SeededGenerator(seed: 7)
        let bench = try RadioBench()
        let listening = bench.listen()
        await bench.listening()
        let events: [UInt16] = [0x0001, 0x0002, 0x0004, 0x0006, 0x0012, 0x001B, 0x002C, 0x002F]
        for round in 0..<2_000 {
            var packet = (0..<Int.random(in: 0...60, using: &random)).map { _ in
                UInt8.random(in: 0...255, using: &random)
            }
            // Half of them have a header that fits, of an event that is looked into.
            if round % 2 == 0 {
                let event = events.randomElement(using: &random) ?? 0
                packet = ManagementProtocol.packet(event, index: 0, packet)
            }
            guard !packet.isEmpty else { continue }
            await bench.kernel.sendRaw(packet)
        }
        // Still there: an adapter that is plugged in now comes to listen.
        await bench.kernel.plugIn(
            SimulatedAdapter(index: 9, address: BluetoothAddress(value: 0x0000_5E00_5309)))
        await bench.states { $0.contains { $0.id.index == 9 && $0.isListening } }
        listening.cancel()
        try await listening.value
    }
}
