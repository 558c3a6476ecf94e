import BlueZBridge
import PeripheralSimulator
import Testing

@testable import IngestQueue
@testable import IngestRecords
@testable import IngestStorage
@testable import TestSupport

/// When a record is released for delivery, and what is read of the device around it.
@Suite(.timeLimit(.minutes(15)))
struct ReleaseTests {
    private static let battery: [UInt8] = [87]

    @Test func recordIsReleasedAtTheEndOfTheLinkWithDeviceInformation() async throws {
        try await GatewayBench.run { bench in
            let start = bench.clock.now
            try await bench.readOnce()
            let releases = bench.noted.releases.all
            let release = try #require(releases.first)
            #expect(releases.count == 1)
            #expect(release.instant.since(start) < .seconds(30))
            #expect(release.records.map(\.device.serial) == [GatewayBench.serial])
            #expect(release.records.map(\.device.model) == ["Simulated Thermometer"])
            #expect(release.records.map(\.device.battery) == [87])
        }
    }

    @Test func recordWhoseLinkGoesOnIsReleasedThirtySecondsAfterItsCommit() async throws {
        try await GatewayBench.run { bench in
            let requests = Notes<[UInt8]>()
            var behaviour = LinkBehaviour.responding { request, answer in
                requests.add(request)
                return [answer]
            }
            behaviour.answerDelay = .seconds(20)
            await bench.peripheral.script([behaviour])
            await bench.peripheral.wakeUp()
            // The first request after the commit looks for the Current Time Service.
            var count = 0
            var isCommitted = false
            while !isCommitted, !Task.isCancelled {
                count += 1
                await requests.wait { $0.count >= count }
                await bench.loop.turned()
                isCommitted = requests.all.last?.suffix(2) == [0x05, 0x18]
                if !isCommitted { await bench.clock.advance(by: behaviour.answerDelay, bench.loop) }
            }
            let committed = bench.clock.now
            await bench.clock.advance(by: .seconds(29), bench.loop)
            await bench.clock.advance(by: .seconds(1), bench.loop)
            await bench.noted.releases.wait { !$0.isEmpty }
            let release = try #require(bench.noted.releases.all.first)
            #expect(release.instant.since(committed) == .seconds(30))
            #expect(release.records.map(\.device.serial) == [nil])
            #expect(bench.count(of: "disconnected") == 0)
            #expect(await bench.radio.report().confirmed == 1)
        }
    }

    @Test func whatHoldsForEachMeasurementIsReadOnceAndStandsInAll() async throws {
        let reading = GatewayBench.Kind.undatedThermometer.reading
        try await GatewayBench.run(readings: [reading, reading]) { bench in
            var services = SimulatedService.thermometer(serial: GatewayBench.serial)
            // Temperature Type: the ear.
            services[0].characteristics.append(.init(0x2A1D, .read, value: [3]))
            await bench.peripheral.relayOut(firstHandle: 1, services: services)
            try await bench.readOnce()
            await bench.pause()
            try await bench.readOnce()
            let records = bench.noted.releases.all.flatMap(\.records)
            #expect(records.map(\.flags) == [["site-ear"], ["site-ear"]])
            // Value and confirmation alone: nothing is read again.
            #expect(await bench.peripheral.traces.last?.pdus.count == 4)
        }
    }

    @Test func aRecordSaysAllThatTheDeviceSaysOfItself() async throws {
        try await GatewayBench.run { bench in
            var services = SimulatedService.thermometer(serial: GatewayBench.serial)
            services[1].characteristics += [
                .init(0x2A27, .read, value: Array("rev C".utf8)),
                .init(0x2A28, .read, value: Array("3.4".utf8)),
                .init(0x2A23, .read, value: [0xDE, 0xBC, 0x9A, 0xFE, 0xFF, 0x56, 0x34, 0x12]),
                .init(
                    0x2BFF, .read, value: [0x0D] + Array("(01)10614141777778\u{0}1.3.160\u{0}1.2.3\0".utf8)),
            ]
            await bench.peripheral.relayOut(firstHandle: 1, services: services)
            try await bench.readOnce()
            let device = try #require(bench.noted.releases.all.first?.records.first?.device)
            #expect(device.hardware == "rev C" && device.software == "3.4" && device.firmware == "1.0")
            #expect(device.systemID == "123456FFFE9ABCDE")
            #expect(
                device.udi
                    == UniqueDeviceIdentifier(
                        label: "(01)10614141777778", issuer: "1.3.160", authority: "1.2.3"))
        }
    }

    /// A box in use has memories that an earlier version of the program wrote, which asked for less.
    @Test func whatAnEarlierVersionDidNotAskForIsAskedOnce() async throws {
        let reading = GatewayBench.Kind.undatedThermometer.reading
        try await GatewayBench.run(readings: [reading, reading, reading]) { bench in
            var services = SimulatedService.thermometer(serial: GatewayBench.serial)
            services[1].characteristics.append(.init(0x2A27, .read, value: Array("rev C".utf8)))
            await bench.peripheral.relayOut(firstHandle: 1, services: services)
            var memory = DeviceMemory(serial: GatewayBench.serial, hasDeviceInformation: true)
            memory.information = nil
            try await bench.store.devices.remember(memory, of: DeviceAddress(RadioBench.pinned, .random))
            for _ in 0..<3 {
                try await bench.readOnce()
                await bench.pause()
            }
            let traces = await bench.peripheral.traces
            #expect(traces.map { $0.sent(Array("rev C".utf8)) } == [true, false, false])
            #expect(
                bench.noted.releases.all.map { $0.records.first?.device.hardware } == [
                    "rev C", "rev C", "rev C",
                ])
        }
    }

    @Test func deviceInformationIsReadOnceAndBatteryOnceADay() async throws {
        let reading = GatewayBench.Kind.undatedThermometer.reading
        try await GatewayBench.run(readings: [reading, reading, reading]) { bench in
            try await bench.readOnce()
            await bench.pause()
            try await bench.readOnce()
            await bench.longPause(.seconds(86_400))
            try await bench.readOnce()
            let traces = await bench.peripheral.traces
            #expect(traces.map { $0.sent(Array(GatewayBench.serial.utf8)) } == [true, false, false])
            #expect(traces.map { $0.sent(Self.battery) } == [true, false, true])
            // Subscription, its answer, measurement, confirmation.
            #expect(traces.dropFirst().first?.pdus.count == 4)
            #expect(
                bench.noted.releases.all.map { $0.records.first?.device.serial }
                    == [GatewayBench.serial, GatewayBench.serial, GatewayBench.serial])
            #expect(bench.count(of: "read-failed") == 0)
        }
    }
}
