import BlueZBridge
import PeripheralSimulator
import Testing

/// How adapters are chosen, set up and told apart.
@Suite(.timeLimit(.minutes(15)))
struct AdapterTests {
    typealias Opcode = ManagementProtocol.Opcode

    private static let otherAddress = BluetoothAddress(value: 0x0000_5E00_5311)

    @Test func scanTimingIsSetOnceForEveryScan() async throws {
        let bench = try RadioBench(timing: ScanTiming(interval: 0x0160, window: 0x0230))
        let listening = bench.listen()
        await bench.listening()
        await bench.kernel.setPowered(false, 0)
        await bench.states { $0.first?.isListening == false }
        await bench.kernel.setPowered(true, 0)
        await bench.listening()
        listening.cancel()
        try await listening.value
        let settings = await bench.kernel.received.filter { $0.opcode == Opcode.setDefaultConfiguration }
        // Type, length and value: the interval of three scans, and their window.
        let parameters: [UInt8] = [
            0x0D, 0x00, 2, 0x60, 0x01, 0x13, 0x00, 2, 0x60, 0x01, 0x15, 0x00, 2, 0x60, 0x01,
            0x0E, 0x00, 2, 0x30, 0x02, 0x14, 0x00, 2, 0x30, 0x02, 0x16, 0x00, 2, 0x30, 0x02,
        ]
        #expect(settings.map(\.parameters) == [parameters])
        #expect(settings.map(\.index) == [0])
    }

    @Test func scanTimingIsLeftAloneWhereNoneIsConfigured() async throws {
        let bench = try RadioBench()
        let listening = bench.listen()
        await bench.listening()
        listening.cancel()
        try await listening.value
        #expect(await !bench.kernel.received.contains { $0.opcode == Opcode.setDefaultConfiguration })
    }

    @Test(arguments: [AdapterSelection.index(1), .address(otherAddress)])
    func onlyTheAdapterThatWasChosenIsUsed(selection: AdapterSelection) async throws {
        let bench = try RadioBench(
            adapters: [
                SimulatedAdapter(index: 0, address: RadioBench.address, isPowered: false),
                SimulatedAdapter(index: 1, address: Self.otherAddress, isPowered: false),
            ], selection: selection, isBluetoothdRunning: false)
        let listening = bench.listen()
        let states = await bench.states { $0.contains { $0.isListening } }
        #expect(states.map(\.address) == [Self.otherAddress])
        listening.cancel()
        try await listening.value
        #expect(await bench.kernel.adapter(0)?.isPowered == false)
        let asked = await bench.kernel.received.filter { $0.index == 0 }
        #expect(Set(asked.map(\.opcode)) == [Opcode.readInformation])
    }

    /// The first adapter's last command is still under way when another one is there under its
    /// index; its failure must not touch the other's.
    @Test func adapterPluggedInAgainDuringACommandIsSetUpByItself() async throws {
        let bench = try RadioBench()
        await bench.kernel.answer(Opcode.addPatternsMonitor, with: [.none])
        await bench.kernel.answer(Opcode.readMonitorFeatures, with: [.late(.zero), .late(.seconds(1))])
        let listening = bench.listen()
        _ = await bench.command(Opcode.addPatternsMonitor)
        await bench.kernel.unplug(0)
        await bench.kernel.plugIn(SimulatedAdapter(index: 0, address: RadioBench.address))
        _ = await bench.command(Opcode.readMonitorFeatures)
        // The kernel's answer for the first adapter, and an event of the second.
        let opcode = Opcode.addPatternsMonitor
        await bench.kernel.sendRaw(
            ManagementProtocol.packet(
                ManagementProtocol.Event.commandStatus, index: 0,
                [UInt8(truncatingIfNeeded: opcode), UInt8(opcode >> 8)]
                    + [ManagementProtocol.Status.invalidIndex]))
        await bench.kernel.setPowered(true, 0)
        for _ in 0..<8 { await bench.loop.turned() }
        let asked = await bench.kernel.received.map(\.opcode)
        // Once for each adapter: the second is still at its first pass.
        #expect(asked.count { $0 == Opcode.readInformation } == 2)
        await bench.clock.advance(by: .seconds(1), bench.loop)
        await bench.listening()
        for _ in 0..<8 { await bench.loop.turned() }
        #expect(await bench.kernel.adapter(0)?.monitors.count == 1)
        listening.cancel()
        try await listening.value
        #expect(await bench.kernel.adapter(0)?.monitors.isEmpty == true)
    }
}
