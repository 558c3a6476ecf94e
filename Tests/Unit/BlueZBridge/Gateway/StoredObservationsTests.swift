import PeripheralSimulator
import Testing

@testable import IngestCore
@testable import IngestEvents
@testable import IngestPeripherals
@testable import IngestRecords

/// What a generic health sensor has stored, read through the whole gateway: every observation once.
@Suite(.timeLimit(.minutes(15)))
struct StoredObservationsTests {
    static let all: [UInt8] = [0x07, 0x01]
    private static let allPlain: [UInt8] = [0x01, 0x01]

    static func from(_ number: UInt32, operation: UInt8 = 0x07) -> [UInt8] {
        [operation, 0x03, 0x01] + (0..<4).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
    }

    /// 2026-11-20T09:00:00Z in seconds since 2000-01-01: before the gateway knew the device.
    private static let observed: UInt64 = 1_795_165_200 - 946_684_800

    static func observation(_ value: Int32) -> HealthSensor.Observation {
        .numeric(type: 150_456, unit: 544, value: value, seconds: observed + UInt64(value))
    }

    /// A sensor that has stored so many, one a second, as 1, 2, ….
    static func sensor(
        _ count: Int32, live: [Int32]? = [], firstNumber: UInt32 = 1,
        _ change: (inout HealthSensor) -> Void = { _ in }
    ) -> HealthSensor {
        var sensor = HealthSensor(
            live?.map(observation), stored: (0..<count).map { observation($0 + 1) }, firstNumber: firstNumber)
        change(&sensor)
        return sensor
    }

    /// Runs the gateway on this sensor. Whatever the case: nothing is asked to be deleted.
    private static func run(
        _ sensor: HealthSensor, entry: GatewayBench.Entry = .init(),
        _ body: (GatewayBench) async throws -> Void
    ) async throws {
        try await GatewayBench.run(sensor: sensor, as: "generic-health-sensor", entry: entry) { bench in
            try await body(bench)
            #expect(await bench.healthSensor.deletions == 0)
            #expect(bench.kinds()[.undecoded] == nil)
        }
    }

    // MARK: What is new

    @Test(arguments: [1, 4, 19, 200], [1, 0xFFFF, 0x7FFF_FFFE] as [UInt32])
    func firstReadTakesAllAndTheNextOnlyWhatIsNew(segmentLength: Int, firstNumber: UInt32) async throws {
        let sensor = Self.sensor(5, firstNumber: firstNumber) { $0.segmentLength = segmentLength }
        try await Self.run(sensor) { bench in
            try await bench.readOnce()
            #expect(bench.values == [1, 2, 3, 4, 5])
            #expect(bench.noted.committed.all.map(\.sequence) == (0..<5).map { Int(firstNumber) + $0 })
            #expect(await bench.healthSensor.requests == [Self.all])
            await bench.peripheral.change(HealthSensor.self) { sensor in
                for value in 6...7 { sensor.store(Self.observation(Int32(value))) }
            }
            try await bench.readAgain()
            #expect(bench.values == [1, 2, 3, 4, 5, 6, 7])
            #expect(await bench.healthSensor.requests.last == Self.from(firstNumber + 4))
            try await bench.readAgain()
            #expect(await bench.healthSensor.requests.last == Self.from(firstNumber + 6))
            #expect(try await bench.outbox() == [String](repeating: "read", count: 7))
            #expect(bench.count(of: "read-failed") == 0)
            #expect(bench.noted.committed.all.allSatisfy { $0.time.source == .device })
        }
    }

    @Test func emptyMemoryIsNoFailure() async throws {
        try await Self.run(Self.sensor(0)) { bench in
            try await bench.readOnce()
            await bench.peripheral.change(HealthSensor.self) { $0.store(Self.observation(1)) }
            try await bench.readAgain()
            #expect(bench.values == [1])
            #expect(await bench.healthSensor.requests == [Self.all, Self.all])
            #expect(bench.count(of: "read-failed") == 0)
        }
    }

    @Test func whatItObservesComesAfterWhatItHasStored() async throws {
        try await Self.run(Self.sensor(3, live: [95, 96])) { bench in
            try await bench.readOnce()
            #expect(bench.values == [1, 2, 3, 95, 96])
            #expect(await bench.healthSensor.observations.isEmpty)
            #expect(bench.noted.releases.all.last?.records.first?.device.serial == "N-0001")
        }
    }

    @Test func sensorThatOnlyStoresIsRead() async throws {
        try await Self.run(Self.sensor(3, live: nil)) { bench in
            try await bench.readOnce()
            #expect(bench.values == [1, 2, 3])
            #expect(bench.count(of: "read-failed") == 0)
            #expect(bench.noted.releases.all.last?.records.first?.device.serial == "N-0001")
        }
    }

    @Test func observationThatIsGivenLiveAndStoredIsOneRecord() async throws {
        try await Self.run(Self.sensor(0, live: [95])) { bench in
            try await bench.readOnce()
            #expect(bench.values == [95])
            await bench.peripheral.change(HealthSensor.self) { $0.store(Self.observation(95)) }
            try await bench.readAgain()
            #expect(bench.values == [95])
            #expect(try await bench.outbox() == ["read"])
        }
    }

    // MARK: Other memories

    @Test func sensorWithoutCombinedReportIsAskedForAPlainOne() async throws {
        try await Self.run(Self.sensor(3) { $0.script.hasPlainReport = true }) { bench in
            try await bench.readOnce()
            try await bench.readAgain()
            #expect(bench.values == [1, 2, 3])
            #expect(
                await bench.healthSensor.requests
                    == [Self.all, Self.allPlain, Self.from(3), Self.from(3, operation: 0x01)])
            #expect(bench.count(of: "read-failed") == 0)
        }
    }

    @Test func sensorThatRefusesFiltersIsReadWholeAndRemembered() async throws {
        try await Self.run(Self.sensor(3) { $0.script.filterRefusal = 0x04 }) { bench in
            for _ in 0..<3 { try await bench.readAgain() }
            #expect(bench.values == [1, 2, 3])
            #expect(await bench.healthSensor.requests == [Self.all, Self.from(3), Self.all, Self.all])
        }
    }

    @Test func memoryThatWasBegunAnewIsReadWhole() async throws {
        try await Self.run(Self.sensor(3)) { bench in
            try await bench.readOnce()
            await bench.peripheral.change(HealthSensor.self) { sensor in
                sensor.reset()
                for value in 11...15 { sensor.store(Self.observation(Int32(value))) }
            }
            try await bench.readAgain()
            #expect(bench.values.sorted() == [1, 2, 3, 11, 12, 13, 14, 15])
            #expect(await bench.healthSensor.requests == [Self.all, Self.from(3), Self.all])
            #expect(try await bench.outbox() == [String](repeating: "read", count: 8))
        }
    }

    @Test func historyStaysInTheSensorAndIsToldOfOnce() async throws {
        try await Self.run(Self.sensor(4), entry: .init(history: .none)) { bench in
            try await bench.readOnce()
            try await bench.readAgain()
            #expect(bench.values.isEmpty)
            let skipped = bench.events.all.filter { $0.entry.name == "history-skipped" }
            #expect(skipped.map { $0.value(.count) } == ["4"])
        }
    }

    // MARK: Reports that do not come to their end

    @Test(arguments: 1...11)
    func linkBrokenInTheMiddleKeepsWhatCameAndTheNextReadTakesTheRest(segments: Int) async throws {
        // Two segments each.
        try await Self.run(Self.sensor(6) { $0.script.breaksAfter = segments }) { bench in
            await bench.readUntilDropped()
            await bench.told("read-failed")
            #expect(bench.values == [1, 2, 3, 4, 5, 6].prefix(segments / 2).map(\.self))
            try await bench.readAgain()
            #expect(bench.values == [1, 2, 3, 4, 5, 6])
            let last = UInt32(segments / 2)
            #expect(await bench.healthSensor.requests == [Self.all, last == 0 ? Self.all : Self.from(last)])
            #expect(try await bench.outbox() == [String](repeating: "read", count: 6))
        }
    }

    @Test func markStaysWhereItWasWhenALaterReportBreaks() async throws {
        try await Self.run(Self.sensor(3)) { bench in
            try await bench.readOnce()
            await bench.peripheral.change(HealthSensor.self) { sensor in
                for value in 4...8 { sensor.store(Self.observation(Int32(value))) }
                sensor.script.breaksAfter = 5
            }
            await bench.pause()
            await bench.readUntilDropped()
            await bench.told("read-failed")
            try await bench.readAgain()
            #expect(bench.values == [1, 2, 3, 4, 5, 6, 7, 8])
            #expect(await bench.healthSensor.requests == [Self.all, Self.from(3), Self.from(4)])
            try await bench.readAgain()
            #expect(await bench.healthSensor.requests.last == Self.from(8))
        }
    }

    @Test func reportThatIsShortOfARecordIsAFailureAndReadAgain() async throws {
        try await Self.run(Self.sensor(4, live: [95]) { $0.script.losesFirst = true }) { bench in
            try await bench.readOnce()
            await bench.told("read-failed")
            // What it observes is taken all the same.
            #expect(bench.values == [2, 3, 4, 95])
            try await bench.readAgain()
            #expect(bench.values == [2, 3, 4, 95, 1])
            #expect(await bench.healthSensor.requests == [Self.all, Self.all])
            #expect(bench.count(of: "read-failed") == 1)
        }
    }

    @Test func busySensorGivesWhatItObservesAndIsAFailure() async throws {
        try await Self.run(Self.sensor(2, live: [95]) { $0.script.busyAnswers = 1 }) { bench in
            try await bench.readOnce()
            await bench.told("read-failed")
            #expect(bench.values == [95])
            try await bench.readAgain()
            #expect(bench.values == [95, 1, 2])
            #expect(bench.count(of: "read-failed") == 1)
        }
    }
}

extension GatewayBench {
    var healthSensor: HealthSensor {
        get async { await peripheral.sensor(HealthSensor.self) }
    }

    /// The numbers that were committed, in order: whole ones, of one measurement each.
    var values: [Int] {
        noted.committed.all.flatMap(\.measurements).compactMap { measurement in
            if case .exact(let number) = measurement.value { Int(number.description) } else { nil }
        }
    }
}
