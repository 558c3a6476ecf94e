import PeripheralSimulator
import Testing

@testable import IngestCore
@testable import IngestEvents
@testable import IngestPeripherals
@testable import IngestRecords

/// Which stored readings are taken, and whose they are, through the whole gateway.
@Suite(.timeLimit(.minutes(15)))
struct HistoryTests {
    private static func measured(_ bench: GatewayBench, _ day: Int) -> [Record] {
        bench.noted.committed.all.filter { $0.time.device?.day == day }
    }

    /// 10 records of the day before the gateway knew the device.
    private static func meter() -> GlucoseMeter { StoredRecordsTests.meter(10) }

    private static func skipped(_ bench: GatewayBench) -> [String] {
        bench.events.all.filter { $0.entry.name == "history-skipped" }.compactMap { $0.value(.count) }
    }

    // MARK: History

    @Test func withoutHistoryOnlyWhatIsMeasuredFromNowOnIsTaken() async throws {
        try await StoredRecordsTests.run(Self.meter(), entry: .init(history: .none)) { bench in
            try await bench.readOnce()
            #expect(bench.kinds() == [:])
            #expect(Self.skipped(bench) == ["10"])
            #expect(bench.count(of: "read-failed") == 0)
            await bench.measure(2)
            try await bench.readAgain()
            #expect(bench.kinds() == [.glucose: 2])
            #expect(bench.noted.committed.all.allSatisfy { $0.stage == .live })
            try await bench.readAgain()
            // What was left once is not told of again.
            #expect(Self.skipped(bench) == ["10"])
            #expect(await bench.meter.requests.dropFirst().allSatisfy { $0 != StoredRecordsTests.all })
        }
    }

    @Test func withoutHistoryWhatNothingDatesIsTakenByItsNumber() async throws {
        let undated = DeviceTime(year: 0, month: 0, day: 0, hours: 0, minutes: 0, seconds: 0)
        var meter = GlucoseMeter()
        for _ in 0..<4 { meter.measure(at: undated) }
        try await StoredRecordsTests.run(meter, entry: .init(history: .none)) { bench in
            try await bench.readOnce()
            #expect(bench.kinds() == [:])
            await bench.peripheral.change(GlucoseMeter.self) { _ = $0.measure(at: undated) }
            try await bench.readAgain()
            #expect(bench.kinds() == [.glucose: 1])
            try await bench.readAgain()
            #expect(bench.kinds() == [.glucose: 1])
            #expect(Self.skipped(bench) == ["4"])
            #expect(await bench.meter.requests.dropFirst().allSatisfy { $0 != StoredRecordsTests.all })
        }
    }

    @Test func historyOfSomeDaysLeavesWhatIsOlder() async throws {
        var meter = GlucoseMeter()
        // 91 and 89 days before 20 November, and the day before.
        for (month, day) in [(8, 20), (8, 21), (8, 23), (11, 19)] {
            meter.measure(
                at: DeviceTime(year: 2026, month: month, day: day, hours: 12, minutes: 0, seconds: 0))
        }
        try await StoredRecordsTests.run(
            meter, entry: .init(history: .within(.seconds(90 * 86_400)))
        ) { bench in
            try await bench.readOnce()
            #expect(bench.noted.committed.all.compactMap(\.time.device?.day) == [23, 19])
            #expect(bench.noted.committed.all.allSatisfy { $0.stage == .historical })
            #expect(Self.skipped(bench) == ["2"])
        }
    }

    @Test func contextIsSkippedWithItsGlucose() async throws {
        let meter = StoredRecordsTests.meter(10, context: .init(meal: 1))
        try await StoredRecordsTests.run(meter, entry: .init(history: .none)) { bench in
            try await bench.readOnce()
            #expect(bench.kinds() == [:])
            #expect(try await bench.outbox() == [])
        }
    }

    @Test func anotherHistoryReadsAllAgain() async throws {
        try await StoredRecordsTests.run(Self.meter(), entry: .init(history: .none)) { bench in
            try await bench.readOnce()
            await bench.apply(.init(history: .all))
            try await bench.readAgain()
            #expect(bench.kinds() == [.glucose: 10])
            #expect(await bench.meter.requests == [StoredRecordsTests.all, StoredRecordsTests.all])
        }
    }

    // MARK: Whose they are

    @Test func whatIsFromBeforeTheGatewayKnewTheDeviceIsHistoricalAndNobodys() async throws {
        try await StoredRecordsTests.run(Self.meter(), entry: .init(subject: "patient-17")) { bench in
            await bench.measure(3)
            try await bench.readOnce()
            let before = Self.measured(bench, 19)
            let after = Self.measured(bench, 20)
            #expect(before.count == 10)
            #expect(before.allSatisfy { $0.stage == .historical && $0.subject == nil })
            #expect(after.count == 3)
            #expect(after.allSatisfy { $0.stage == .live && $0.subject == "patient-17" })
        }
    }

    @Test func subjectSinceGivesThePersonWhatIsFromThenOn() async throws {
        var meter = GlucoseMeter()
        for day in [17, 18, 19] { meter.measure(at: StoredRecordsTests.time(0, day: day)) }
        try await StoredRecordsTests.run(
            meter,
            entry: .init(subject: "patient-17", since: "2026-11-18")
        ) { bench in
            try await bench.readOnce()
            #expect(bench.noted.committed.all.map(\.subject) == [nil, "patient-17", "patient-17"])
            #expect(bench.noted.committed.all.allSatisfy { $0.stage == .historical })
        }
    }

    @Test func whatWasMeasuredBeforeTheDeviceCameToAnotherPersonIsNotTheirs() async throws {
        try await StoredRecordsTests.run(Self.meter(), entry: .init(subject: "patient-17")) { bench in
            await bench.measure(1)
            // 10 min later somebody else has it; what it stored meanwhile is read only then.
            await bench.longPause(.seconds(600))
            await bench.apply(.init(subject: "patient-18"))
            await bench.peripheral.change(GlucoseMeter.self) { meter in
                _ = meter.measure(
                    at: DeviceTime(year: 2026, month: 11, day: 20, hours: 9, minutes: 26, seconds: 0))
            }
            try await bench.readOnce()
            #expect(Self.measured(bench, 20).map(\.subject) == [nil, "patient-18"])
        }
    }
}
