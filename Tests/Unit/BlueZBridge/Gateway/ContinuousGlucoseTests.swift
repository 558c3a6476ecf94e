import BlueZBridge
import PeripheralSimulator
import Testing

@testable import IngestCore
@testable import IngestProfiles
@testable import IngestQueue
@testable import IngestRecords
@testable import IngestStorage

/// A continuous glucose sensor, through the whole gateway.
@Suite(.timeLimit(.minutes(15)))
struct ContinuousGlucoseTests {
    private static let start = DeviceTime(year: 2026, month: 11, day: 19, hours: 22, minutes: 30, seconds: 0)

    /// A record each 5 min.
    private static func sensor(
        _ count: Int = 24, _ change: (inout ContinuousGlucoseSensor) -> Void = { _ in }
    ) -> ContinuousGlucoseSensor {
        var sensor = ContinuousGlucoseSensor(
            sessionStart: start, (1...count).map { .init(UInt16($0 * 5), 100 + Int16($0)) })
        change(&sensor)
        return sensor
    }

    private static func requests(_ bench: GatewayBench) async -> [[UInt8]] {
        await bench.peripheral.sensor(ContinuousGlucoseSensor.self).requests
    }

    private static func run(
        _ sensor: ContinuousGlucoseSensor, entry: GatewayBench.Entry = .init(),
        _ body: (GatewayBench) async throws -> Void
    ) async throws {
        try await GatewayBench.run(sensor: sensor, as: "continuous-glucose", entry: entry, body)
    }

    @Test(arguments: [false, true])
    func timesCountFromTheSessionsStart(hasChecksums: Bool) async throws {
        try await Self.run(Self.sensor { $0.script.hasChecksums = hasChecksums }) { bench in
            try await bench.readOnce()
            #expect(bench.kinds() == [.continuousGlucose: 24])
            let times = bench.noted.committed.all.compactMap { $0.time.device?.description }
            #expect(times.first == "2026-11-19T22:35:00")
            #expect(times.last == "2026-11-20T00:30:00")
            #expect(Set(times).count == 24)
            #expect(bench.noted.committed.all.allSatisfy { $0.time.source == .device })
            #expect(bench.count(of: "read-failed") == 0)
        }
    }

    /// The simulated sensor's feature: interstitial fluid, subcutaneous tissue.
    @Test func whatTheSensorSamplesIsInEachRecord() async throws {
        try await Self.run(Self.sensor(2)) { bench in
            try await bench.readOnce()
            for record in bench.noted.committed.all {
                #expect(record.measurements.map(\.code) == [160212])
                #expect(record.flags == ["type-interstitial-fluid", "location-subcutaneous-tissue"])
            }
        }
    }

    /// The gateway's zone is UTC.
    @Test func theSensorsOwnOffsetDatesItsRecords() async throws {
        let sensor = Self.sensor(2) { ($0.timeZone, $0.daylightSaving) = (-20, 4) }
        try await Self.run(sensor) { bench in
            try await bench.readOnce()
            #expect(
                bench.noted.committed.all.map(\.time.value) == [
                    "2026-11-19T22:35:00-04:00", "2026-11-19T22:40:00-04:00",
                ])
            #expect(
                bench.noted.committed.all.compactMap { $0.time.device?.description } == [
                    "2026-11-19T22:35:00", "2026-11-19T22:40:00",
                ])
        }
    }

    /// Neither its records nor their dates are to be had; the values come all the same.
    @Test func valuesOfASensorWithoutAControlPointComeThoughItsStartCannotBeRead() async throws {
        let sensor = Self.sensor(1) {
            $0.script.hasControlPoint = false
            $0.script.showsStart = false
            $0.measure(.init(705, 140))
        }
        try await Self.run(sensor) { bench in
            try await bench.readOnce()
            let record = try #require(bench.noted.committed.all.first)
            #expect(bench.noted.committed.all.count == 1)
            #expect(record.measurements.map(\.code) == [160212])
        }
    }

    /// The service requires the control point; what the sensor says of its session and its features holds without.
    @Test func valuesOfASensorWithoutAControlPointAreDatedAndCodedByItsSession() async throws {
        let sensor = Self.sensor(1) {
            $0.script.hasControlPoint = false
            $0.script.hasChecksums = true
            $0.timeZone = 4
            $0.measure(.init(705, 140))
        }
        try await Self.run(sensor) { bench in
            try await bench.readOnce()
            #expect(await Self.requests(bench).isEmpty)
            let record = try #require(bench.noted.committed.all.first)
            #expect(bench.noted.committed.all.count == 1)
            #expect(record.measurements.map(\.code) == [160212])
            #expect(record.flags == ["type-interstitial-fluid", "location-subcutaneous-tissue"])
            #expect(record.time.value == "2026-11-20T10:15:00+01:00")
            #expect(record.stage == .live)
        }
    }

    @Test func nextReadTakesOnlyWhatIsNew() async throws {
        try await Self.run(Self.sensor()) { bench in
            try await bench.readOnce()
            await bench.peripheral.change(ContinuousGlucoseSensor.self) { $0.measure(.init(125, 140)) }
            try await bench.readAgain()
            #expect(bench.kinds() == [.continuousGlucose: 25])
            #expect(await Self.requests(bench) == [StoredRecordsTests.all, StoredRecordsTests.from(120)])
            #expect(try await bench.outbox() == [String](repeating: "read", count: 25))
        }
    }

    @Test func sensorThatDoesNotKnowItsSessionsStartIsReadOnceAllTheSame() async throws {
        let unknown = DeviceTime(year: 0, month: 0, day: 0, hours: 0, minutes: 0, seconds: 0)
        let sensor = ContinuousGlucoseSensor(
            sessionStart: unknown, (1...24).map { .init(UInt16($0 * 5), 100 + Int16($0)) })
        try await Self.run(sensor) { bench in
            try await bench.readOnce()
            await bench.peripheral.change(ContinuousGlucoseSensor.self) { $0.measure(.init(125, 140)) }
            try await bench.readAgain()
            #expect(bench.kinds() == [.continuousGlucose: 25])
            #expect(await Self.requests(bench) == [StoredRecordsTests.all, StoredRecordsTests.from(120)])
            // What it counts tells when it was: 5 min from one to the next, and the last when it was read.
            let records = bench.noted.committed.all
            #expect(records.allSatisfy { $0.time.source == .device && $0.time.device == nil })
            let contents = records.compactMap { RecordContent(json: $0.json) }
            let (moments, received) = (contents.map(\.time), contents.map(\.receivedSeconds))
            #expect(zip(moments.prefix(24).dropFirst(), moments).allSatisfy { $0 - $1 == 300 })
            #expect(
                (0...5).contains(received[23] - moments[23]) && (0...5).contains(received[24] - moments[24]))
        }
    }

    /// A sensor without CGM Status tells nothing.
    @Test func withoutAStatusNothingTellsWhenItWas() throws {
        #expect(ContinuousGlucose.minutes(status: nil) == nil)
        #expect(ContinuousGlucose.minutes(status: [0x78, 0]) == nil)
        #expect(ContinuousGlucose.minutes(status: [0x78, 0, 0, 0, 0]) == 120)
    }

    @Test func severalRecordsInANotificationAreRecordsEach() async throws {
        try await Self.run(Self.sensor { $0.script.recordsPerNotification = 3 }) { bench in
            try await bench.readOnce()
            #expect(bench.kinds() == [.continuousGlucose: 24])
            #expect(Set(bench.noted.committed.all.map(\.raw.bytes.count)) == [6])
        }
    }

    @Test func recordWithAWrongChecksumIsKeptUndecodedAndTheOthersAreTaken() async throws {
        let sensor = Self.sensor {
            $0.script.hasChecksums = true
            $0.script.wrongChecksums = [15]
        }
        try await Self.run(sensor) { bench in
            try await bench.readOnce()
            #expect(bench.kinds() == [.continuousGlucose: 23, .undecoded: 1])
            #expect(try await bench.outbox().count { $0 == "decode-error" } == 1)
            #expect(bench.count(of: "read-failed") == 0)
        }
    }

    @Test(arguments: [true, false])
    func sessionThatIsOverIsReadWithoutWaitingForMore(isStopped: Bool) async throws {
        let sensor = Self.sensor { sensor in
            sensor.isStopped = isStopped
            // The last of the 24 values is of the 120th minute.
            if !isStopped { sensor.runTime = 2 }
        }
        try await Self.run(sensor) { bench in
            // The clock stands: any wait for a value would last.
            await bench.readUntilDropped()
            #expect(bench.kinds() == [.continuousGlucose: 24])
            #expect(bench.count(of: "read-failed") == 0)
            let memory = try await bench.store.devices.recall(DeviceAddress(RadioBench.pinned, .random))
            let session = try #require(memory?.sensorSession)
            #expect(session.isOver)
            #expect(session.flags == (isStopped ? ["session-stopped"] : []))
            #expect(session.runTimeHours == (isStopped ? 336 : 2))
            // Another session is read as any is.
            await bench.peripheral.change(ContinuousGlucoseSensor.self) { sensor in
                sensor.startSession(
                    at: DeviceTime(year: 2026, month: 11, day: 20, hours: 8, minutes: 0, seconds: 0))
                sensor.measure(.init(5, 101))
            }
            try await bench.readAgain()
            #expect(bench.kinds() == [.continuousGlucose: 25])
            let later = try await bench.store.devices.recall(DeviceAddress(RadioBench.pinned, .random))
            #expect(later?.sensorSession?.isOver == false)
        }
    }

    @Test func sensorsWordDecidesWhetherTwoOctetsAreAChecksum() async throws {
        // Without the feature they are fields of a later version.
        var plain = Self.sensor(3)
        plain.script.addsOctets = 2
        try await Self.run(plain) { bench in
            try await bench.readOnce()
            #expect(bench.kinds() == [.continuousGlucose: 3])
        }
        // With it, a record whose checksum got lost is not to be trusted.
        let cut = Self.sensor(3) {
            $0.script.hasChecksums = true
            $0.script.lacksChecksums = [10]
        }
        try await Self.run(cut) { bench in
            try await bench.readOnce()
            #expect(bench.kinds() == [.continuousGlucose: 2, .undecoded: 1])
        }
    }

    @Test func linkBrokenInTheMiddleLosesNothing() async throws {
        try await Self.run(Self.sensor { $0.script.breaksAfter = 10 }) { bench in
            await bench.readUntilDropped()
            await bench.told("read-failed")
            #expect(bench.kinds() == [.continuousGlucose: 10])
            try await bench.readAgain()
            #expect(bench.kinds() == [.continuousGlucose: 24])
            #expect(try await bench.outbox() == [String](repeating: "read", count: 24))
        }
    }

    @Test func newSessionIsReadFromItsBeginning() async throws {
        try await Self.run(Self.sensor()) { bench in
            try await bench.readOnce()
            await bench.peripheral.change(ContinuousGlucoseSensor.self) { sensor in
                sensor.startSession(
                    at: DeviceTime(year: 2026, month: 11, day: 20, hours: 8, minutes: 0, seconds: 0))
                // The same minutes and values as before.
                for count in 1...10 { sensor.measure(.init(UInt16(count * 5), 100 + Int16(count))) }
            }
            try await bench.readAgain()
            #expect(bench.kinds() == [.continuousGlucose: 34])
            #expect(await Self.requests(bench) == [StoredRecordsTests.all, StoredRecordsTests.all])
        }
    }

    @Test func sensorThatRefusesFiltersIsReadWhole() async throws {
        try await Self.run(Self.sensor { $0.script.filterRefusal = 0x04 }) { bench in
            try await bench.readOnce()
            await bench.peripheral.change(ContinuousGlucoseSensor.self) { $0.measure(.init(125, 140)) }
            try await bench.readAgain()
            try await bench.readAgain()
            #expect(bench.kinds() == [.continuousGlucose: 25])
            let all = StoredRecordsTests.all
            #expect(await Self.requests(bench) == [all, StoredRecordsTests.from(120), all, all])
        }
    }

    @Test func sessionBelongsToThePersonSinceWhen() async throws {
        let entry = GatewayBench.Entry(subject: "patient-17", since: "2026-11-20")
        try await Self.run(Self.sensor(), entry: entry) { bench in
            try await bench.readOnce()
            let midnight = bench.noted.committed.all.partition(by: "2026-11-20T00:00:00")
            #expect(midnight.before.allSatisfy { $0.subject == nil })
            #expect(midnight.after.allSatisfy { $0.subject == "patient-17" })
            #expect(midnight.before.count == 17)
            #expect(midnight.after.count == 7)
        }
    }
}

extension [Record] {
    /// By their devices' times.
    fileprivate func partition(by time: String) -> (before: [Record], after: [Record]) {
        (
            filter { ($0.time.device?.description ?? "") < time },
            filter { ($0.time.device?.description ?? "") >= time }
        )
    }
}
