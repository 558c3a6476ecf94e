import BlueZBridge
import PeripheralSimulator
import Testing

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
