import BlueZBridge
import PeripheralSimulator
import Testing

@testable import IngestCore
@testable import IngestProfiles
@testable import IngestQueue
@testable import IngestRecords
@testable import IngestStorage

/// What a device says it can do: read once, remembered, and no part of records.
@Suite(.timeLimit(.minutes(15)))
struct FeatureTests {
    private typealias Expected = [String: [String]]

    /// By the characteristic, its flags and quantities as words.
    private static func known(_ bench: GatewayBench) async throws -> Expected {
        let memory = try await bench.store.devices.recall(DeviceAddress(RadioBench.pinned, .random))
        let features = try #require(memory?.features)
        return Dictionary(
            uniqueKeysWithValues: features.map { feature in
                (
                    feature.characteristic,
                    feature.flags + feature.quantities.map { "\($0.type) \($0.value) \($0.unit)" }
                )
            })
    }

    private static let scale = [
        "time-stamp", "multiple-users", "bmi", "weight-resolution 0.005 kg", "height-resolution 0.001 m",
    ]
    private static let composition = [
        "time-stamp", "multiple-users", "basal-metabolism", "muscle-percentage", "muscle-mass",
        "fat-free-mass", "soft-lean-mass", "body-water-mass", "impedance", "weight", "height",
        "weight-resolution 0.005 kg", "height-resolution 0.001 m",
    ]

    private static func expect(
        _ sensor: some SimulatedSensor, as profile: String, _ expected: Expected
    ) async throws {
        try await GatewayBench.run(sensor: sensor, as: profile) { bench in
            try await bench.readOnce()
            #expect(try await known(bench) == expected, "\(profile)")
            let count = bench.noted.committed.all.count
            #expect(count > 0)
            #expect(bench.kinds()[.feature] == nil)
            #expect(bench.count(of: "read-failed") == 0)
        }
    }

    @Test func eachProfilesFeaturesAreRemembered() async throws {
        let time = GatewayBench.deviceTime
        try await Self.expect(
            Scale([.init(.init(15_000, at: time))], hasComposition: false), as: "weight-scale",
            ["2A9E": Self.scale])
        try await Self.expect(
            Scale([.init(.init(15_000, at: time), .init(fat: 215, at: time))]), as: "body-composition",
            ["2A9E": Self.scale, "2A9B": Self.composition])
        try await Self.expect(StoredRecordsTests.meter(2), as: "glucose", ["2A51": []])
        try await Self.expect(
            PulseOximeter(stored: [.init(.init(97, 61), at: time)]), as: "pulse-oximeter",
            ["2A60": ["measurement-storage", "time-stamp"]])
        try await Self.expect(
            ContinuousGlucoseSensor(sessionStart: time, [.init(5, 101)]), as: "continuous-glucose",
            ["2AA8": ["trend", "quality", "type-interstitial-fluid", "location-subcutaneous-tissue"]])
    }

    // MARK: Once

    /// A cuff with these features, and a Database Hash of this byte.
    private static func services(features: [UInt8], hash: UInt8) -> [SimulatedService] {
        var services = SimulatedService.cuff(serial: GatewayBench.serial)
        services[0].characteristics[1].value = features
        let attributes = SimulatedService(
            0x1801, [.init(0x2B2A, .read, value: [UInt8](repeating: hash, count: 16))])
        return services + [attributes]
    }

    @Test func featuresAreReadOnceAndAgainWithAnotherDatabaseHash() async throws {
        let reading = GatewayBench.Kind.cuff.reading
        try await GatewayBench.run(.cuff, readings: [reading, reading, reading]) { bench in
            await bench.peripheral.relayOut(
                firstHandle: 1, services: Self.services(features: [0x03, 0x00], hash: 0xA5))
            try await bench.readOnce()
            let first = ["body-movement-detection", "cuff-fit-detection"]
            #expect(try await Self.known(bench) == ["2A49": first])
            // The cuff's firmware was updated; nobody looks before a day has passed.
            await bench.peripheral.relayOut(
                firstHandle: 1, services: Self.services(features: [0x04, 0x00], hash: 0x5A))
            try await bench.readAgain()
            #expect(await bench.peripheral.traces.last?.pdus.count == 4)
            #expect(try await Self.known(bench) == ["2A49": first])
            await bench.longPause(.seconds(86_400))
            try await bench.readOnce()
            #expect(try await Self.known(bench) == ["2A49": ["irregular-pulse-detection"]])
            #expect(bench.count(of: "read-failed") == 0)
        }
    }

    @Test func deviceThatHangsUpBeforeItsFeaturesAreReadIsAskedTheNextTime() async throws {
        let reading = GatewayBench.Kind.cuff.reading
        try await GatewayBench.run(.cuff, readings: [reading, reading]) { bench in
            // Right after the confirmation.
            await bench.peripheral.script([.dropping(after: 10)])
            await bench.readUntilDropped()
            let memory = try await bench.store.devices.recall(DeviceAddress(RadioBench.pinned, .random))
            #expect(memory != nil)
            #expect(memory?.features == nil)
            try await bench.readAgain()
            #expect(try await Self.known(bench) == ["2A49": []])
            #expect(bench.count(of: "read-failed") == 0)
        }
    }

    @Test func deviceWithoutFeaturesIsAskedOnce() async throws {
        let reading = GatewayBench.Kind.cuff.reading
        try await GatewayBench.run(.cuff, readings: [reading, reading, reading]) { bench in
            var services = SimulatedService.cuff(serial: GatewayBench.serial)
            services[0].characteristics.remove(at: 1)
            await bench.peripheral.relayOut(firstHandle: 1, services: services)
            try await bench.readOnce()
            try await bench.readAgain()
            #expect(try await Self.known(bench) == [:])
            // Without a Database Hash nothing tells that an update brought what was missing (2B34, 2A52): after the daily
            // check it is looked for once.
            #expect(await bench.peripheral.traces.last?.pdus.count == 6)
            try await bench.readAgain()
            #expect(await bench.peripheral.traces.last?.pdus.count == 4)
        }
    }
}
