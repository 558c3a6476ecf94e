import BlueZBridge
import FoundationEssentials
import TestSupport
import Testing

@testable import PeripheralSimulator

/// Peripherals of another process, here on a loop of their own.
@Suite(.timeLimit(.minutes(15)))
struct PeripheralHostTests {
    private static let device = DeviceAddress.simulated(9)

    private let clock = DrivenClock(wall: DrivenClock.morning)
    private let path = FileManager.default.temporaryDirectory.appending(path: "host-\(UUID()).sock").path
    private let loop: RadioLoop
    private let thermometer: SimulatedPeripheral
    private let host: PeripheralHost

    init() async throws {
        loop = try RadioLoop(clock: clock)
        thermometer = SimulatedPeripheral(
            device: Self.device, advert: .thermometerAdvert,
            services: SimulatedService.thermometer(serial: "T-1"), readings: [],
            rhythm: SimulatedPeripheral.Rhythm(idle: .milliseconds(300)), loop: loop,
            time: { GatewayBench.deviceTime })
        host = try PeripheralHost(
            path: path, loop: loop, adapters: [SimulatedAdapter(index: 0, address: RadioBench.address)],
            peripherals: [thermometer])
        await host.start()
    }

    /// A gateway that listens.
    private struct Gateway {
        let radio: BlueZRadio
        let listening: Task<Void, any Error>

        init(_ tests: PeripheralHostTests) async throws {
            let loop = try RadioLoop(clock: tests.clock)
            let peripherals = HostedPeripherals(path: tests.path, loop: loop)
            let radio = BlueZRadio(
                management: try peripherals.management(), connector: peripherals, loop: loop,
                clock: tests.clock,
                settings: BlueZRadio.Settings(
                    selection: .any, timing: nil, isBluetoothdRunning: { true }))
            self.radio = radio
            listening = Task { try await radio.listen(for: RadioBench.thermometers) }
            for await states in radio.adapters where states.first?.isListening == true { break }
        }

        func connect(to device: DeviceAddress) async throws -> any PeripheralLink {
            try await radio.connect(
                to: device, on: AdapterID(index: 0), remembered: nil, requiresEncryption: false)
        }
    }

    private func measure(_ mantissa: Int32) async {
        await thermometer.measure([.temperature(mantissa: mantissa, exponent: -2, isDated: false)])
        await thermometer.wakeUp()
    }

    @Test func peripheralsOutliveAGatewayAndGiveTheNextOneWhatIsNotConfirmed() async throws {
        defer { try? FileManager.default.removeItem(atPath: path) }
        let values = Notes<SimulatedValue>()
        await thermometer.observe { values.add($0) }
        let first = try await Gateway(self)
        await measure(3_660)
        var adverts = first.radio.advertisements.makeAsyncIterator()
        #expect(await adverts.next()?.device == Self.device)
        let link = try await first.connect(to: Self.device)
        try await link.subscribe(to: 0x2A1C, in: 0x1809)
        let unconfirmed = try #require(try await link.nextValue(within: .seconds(30)))
        await link.close()
        await values.wait { !$0.isEmpty }

        // The kernel answers the last one that asked.
        let second = try await Gateway(self)
        await #expect(throws: ManagementError.ended) { try await first.listening.value }
        for await occurrence in thermometer.occurrences where occurrence == .asleep { break }
        await thermometer.wakeUp()
        adverts = second.radio.advertisements.makeAsyncIterator()
        #expect(await adverts.next()?.device == Self.device)
        let next = try await second.connect(to: Self.device)
        try await next.subscribe(to: 0x2A1C, in: 0x1809)
        let value = try #require(try await next.nextValue(within: .seconds(30)))
        #expect(value.value == unconfirmed.value)
        try await next.confirm(value)
        await values.wait { $0.last?.fate == .confirmed }
        #expect(values.all.map(\.fate) == [.offered, .offered, .confirmed])
        #expect(values.all.allSatisfy { $0.device == Self.device.address && $0.payload == value.value })
        #expect(await thermometer.waiting == 0)
        await next.close()
        second.listening.cancel()
        try await second.listening.value
    }

    @Test func linkToWhoCannotBeReachedEndsBeforeItsFirstPDU() async throws {
        defer { try? FileManager.default.removeItem(atPath: path) }
        let gateway = try await Gateway(self)
        // Asleep, and never heard of.
        for device in [Self.device, .simulated(10)] {
            let link = try await gateway.connect(to: device)
            await #expect(throws: LinkError.self) { try await link.subscribe(to: 0x2A1C, in: 0x1809) }
            await link.close()
        }
        #expect(await thermometer.traces.isEmpty)
        gateway.listening.cancel()
        try await gateway.listening.value
    }

    @Test func nobodyListensThere() throws {
        #expect(throws: (any Error).self) {
            try HostedPeripherals(path: path + "-other", loop: loop).management()
        }
        try FileManager.default.removeItem(atPath: path)
    }

    @Test func idleLinkIsHungUpOn() async throws {
        defer { try? FileManager.default.removeItem(atPath: path) }
        let gateway = try await Gateway(self)
        await measure(3_660)
        let link = try await gateway.connect(to: Self.device)
        for pause in [200, 200, 200] {
            await clock.advance(by: .milliseconds(pause), loop)
            _ = try await link.read(0x2A19, in: 0x180F)
            // The answer may be here before its sender has noted that it went out.
            await loop.turned()
        }
        await clock.advance(by: .milliseconds(301), loop)
        await #expect(throws: LinkError.ended(.byPeripheral)) { try await link.read(0x2A19, in: 0x180F) }
        await link.close()
        gateway.listening.cancel()
        try await gateway.listening.value
    }
}

struct HostGreetingTests {
    @Test(arguments: [
        HostGreeting.management, .link(.simulated(3), from: RadioBench.address),
        .link(DeviceAddress(RadioBench.address, .public), from: RadioBench.address),
    ])
    func greetingIsReadAsItWasWritten(greeting: HostGreeting) {
        #expect(HostGreeting(greeting.packet) == greeting)
        #expect(HostGreeting(greeting.packet + Array(" more".utf8)) == nil)
        #expect(HostGreeting(Array(greeting.packet.dropLast())) == nil)
    }
}
