import BlueZBridge
import PeripheralSimulator
import QueueTestSupport
import Testing

/// A cuff's clock: compared on each link, told of when it is wrong, set where that is wanted.
@Suite(.timeLimit(.minutes(15)))
struct DeviceClockTests {
    /// Write Request (Core Specification Vol 3 Part F 3.4.5.1).
    private static let write: UInt8 = 0x12

    /// Runs the gateway on a cuff whose own time is right, and whose clock is this.
    private func withCuff(
        _ clock: SimulatedClock?, readings: Int = 1, policy: AllowedPeripheral.ClockPolicy = .observe,
        quirks: [PeripheralModel.Quirk] = [], subject: String? = nil,
        _ body: (GatewayBench) async throws -> Void
    ) async throws {
        var setup = GatewayBench.Setup(
            peripheral: { loop, driven in
                SimulatedPeripheral(
                    device: DeviceAddress(RadioBench.pinned, .random), advert: .cuffAdvert,
                    services: SimulatedService.cuff(serial: "B-0001"),
                    readings: Array(repeating: GatewayBench.Kind.cuff.reading, count: readings), loop: loop,
                    time: { Self.time(of: driven) })
            }, profile: "blood-pressure", service: 0x1810)
        setup.entry.clock = policy
        setup.entry.subject = subject
        setup.quirks = quirks
        try await GatewayBench.run(setup) { bench in
            if let clock { await bench.peripheral.show(clock) }
            try await body(bench)
        }
    }

    /// What a clock that is right shows.
    private static func time(of clock: DrivenClock) -> DeviceTime {
        DeviceTime(wallSeconds: clock.wallNanoseconds / 1_000_000_000) ?? GatewayBench.deviceTime
    }

    private func skews(_ bench: GatewayBench) -> [String] {
        bench.events.all.filter { $0.entry.name == "clock-skew" }.compactMap { $0.value(.error) }
    }

    /// Whether the released record was measured when it was received. Some seconds may pass on a link, and
    /// clocks show whole ones.
    private func isDatedRight(_ record: Record) throws -> Bool {
        func seconds(_ text: String) throws -> Int64 {
            let digits = text.prefix(19).split { !$0.isNumber }.compactMap { Int($0) }
            try #require(digits.count == 6)
            return DeviceTime(
                year: digits[0], month: digits[1], day: digits[2], hours: digits[3], minutes: digits[4],
                seconds: digits[5]
            ).wallSeconds
        }
        return try (-2...5).contains(seconds(record.time.received) - seconds(record.time.value))
    }

    @Test(
        arguments: [
            // Current Time in its service, Date Time beside the measurement; seconds ahead, words or none.
            (0x2A2B, 0x1805, 3_599, "it is 60 min ahead"), (0x2A08, 0x1810, -172_800, "it is 2 days behind"),
            (0x2A2B, 0x1805, -900_000_000, "it is 10416 days behind"),
            // Five minutes; a second more or less is what is seen of a clock that shows whole ones.
            (0x2A08, 0x1810, 299, nil), (0x2A2B, 0x1805, -302, "it is 5 min behind"),
        ] as [(UInt16, UInt16, Int64, String?)])
    func aWrongClockIsCorrectedAndToldOf(
        characteristic: UInt16, service: UInt16, lead: Int64, words: String?
    ) async throws {
        let clock = SimulatedClock(BluetoothUUID(characteristic), in: BluetoothUUID(service), lead: lead)
        try await withCuff(clock, subject: "patient-17") { bench in
            // The patient has had it for longer than clocks of whole seconds can be out.
            await bench.clock.advance(by: .seconds(5), bench.loop)
            try await bench.readOnce()
            let record = try #require(bench.noted.releases.all.flatMap(\.records).first)
            #expect(record.time.source == .device)
            #expect(abs(try #require(record.time.clockOffsetSeconds) - Int(lead)) <= 1)
            #expect(try isDatedRight(record))
            // By its own clock it was measured long before the patient had it.
            #expect(record.subject == "patient-17")
            #expect(record.stage == .live)
            let told = words.map { ["\($0); set it as its manual says, or with \"clock: set\""] } ?? []
            #expect(skews(bench) == told)
            #expect(await bench.peripheral.shownClock?.timesSet == 0)
        }
    }

    @Test func aWrongClockIsToldOfOnceADayAndReadBeforeTheMeasurement() async throws {
        let clock = SimulatedClock(0x2A2B, in: 0x1805, lead: 7_200)
        try await withCuff(clock, readings: 3) { bench in
            try await bench.readOnce()
            try await bench.readAgain()
            #expect(skews(bench).count == 1)
            // Clock and its value, subscription and its answer, measurement, confirmation.
            let trace = try #require(await bench.peripheral.traces.last)
            #expect(trace.pdusToConfirmation == 6)
            await bench.longPause(.seconds(86_400))
            try await bench.readOnce()
            #expect(skews(bench).count == 2)
            let offsets = bench.noted.releases.all.flatMap(\.records).map(\.time.clockOffsetSeconds)
            #expect(offsets.count == 3)
            #expect(offsets.allSatisfy { abs(($0 ?? 0) - 7_200) <= 1 })
        }
    }

    @Test func aClockThatIsToBeSetIsSetAndTheReadingBeforeItIsCorrected() async throws {
        let clock = SimulatedClock(0x2A08, in: 0x1810, lead: -86_400)
        try await withCuff(clock, readings: 2, policy: .set) { bench in
            try await bench.readOnce()
            #expect(await bench.peripheral.shownClock?.timesSet == 1)
            #expect(skews(bench) == ["it is 24 h behind; it was set"])
            try await bench.readAgain()
            // Right now: it is left alone.
            #expect(await bench.peripheral.shownClock?.timesSet == 1)
            let records = bench.noted.releases.all.flatMap(\.records)
            #expect(abs((records.first?.time.clockOffsetSeconds ?? 0) + 86_400) <= 1)
            #expect(abs(records.last?.time.clockOffsetSeconds ?? 99) <= 1)
            for record in records { #expect(try isDatedRight(record)) }
            #expect(skews(bench).count == 1)
        }
    }

    @Test func aClockThatWasNeverSetGivesNoDate() async throws {
        try await withCuff(SimulatedClock(0x2A2B, in: 0x1805, lead: nil), readings: 2, policy: .set) {
            bench in
            try await bench.readOnce()
            try await bench.readAgain()
            #expect(skews(bench) == ["it shows no date; it was set"])
            let times = bench.noted.releases.all.flatMap(\.records).map(\.time)
            #expect(times.map(\.source) == [.received, .device])
            #expect(times.first?.clockOffsetSeconds == nil)
        }
    }

    @Test func aClockThatDoesNotLetItselfBeSetIsTriedOnceADay() async throws {
        let clock = SimulatedClock(0x2A2B, in: 0x1805, lead: 900, isSettable: false)
        try await withCuff(clock, readings: 3, policy: .set) { bench in
            try await bench.readOnce()
            #expect(skews(bench) == ["it is 15 min ahead; the peripheral does not let itself be set"])
            let offset = bench.noted.releases.all.flatMap(\.records).first?.time.clockOffsetSeconds
            #expect(abs((offset ?? 0) - 900) <= 1)
            try await bench.readAgain()
            await bench.longPause(.seconds(86_400))
            try await bench.readOnce()
            // Of the clock's length.
            let tries = await bench.peripheral.traces.map { trace in
                trace.pdus.contains { $0.bytes.first == Self.write && $0.bytes.count == 3 + 10 }
            }
            #expect(tries == [true, false, true])
        }
    }

    @Test(
        arguments: [
            // How its model is, whether it is to be set, how often two links set a clock that is right.
            ([.expectsClock], .set, 2), ([], .set, 0), ([.expectsClock], .observe, 0),
        ] as [([PeripheralModel.Quirk], AllowedPeripheral.ClockPolicy, Int)])
    func aModelThatExpectsItIsSetOnEachLink(
        quirks: [PeripheralModel.Quirk], policy: AllowedPeripheral.ClockPolicy, times: Int
    ) async throws {
        let clock = SimulatedClock(0x2A08, in: 0x1810, lead: 0)
        try await withCuff(clock, readings: 2, policy: policy, quirks: quirks) { bench in
            try await bench.readOnce()
            try await bench.readAgain()
            #expect(await bench.peripheral.shownClock?.timesSet == times)
            #expect(bench.count(of: "read-failed") == 0)
            #expect(skews(bench).isEmpty)
            guard times > 0 else { return }
            // Before it is subscribed to, because it may send as soon as it is.
            let trace = try #require(await bench.peripheral.traces.last)
            let writes = trace.pdus.filter { $0.isFromGateway && $0.bytes.first == Self.write }
            #expect(writes.map { $0.bytes.count } == [3 + 7, 3 + 2])
        }
    }

    @Test func aCuffWithoutAClockIsAskedForItOnce() async throws {
        try await withCuff(nil, readings: 2) { bench in
            try await bench.readOnce()
            try await bench.readAgain()
            let trace = try #require(await bench.peripheral.traces.last)
            #expect(trace.pdus.count == 4)
            #expect(
                bench.noted.releases.all.flatMap(\.records).allSatisfy { $0.time.clockOffsetSeconds == nil })
        }
    }

    @Test(
        arguments: [
            // The clock; PDUs up to the confirmation on two links.
            (0x2A08, 0x1810, [12, 6]), (0x2A2B, 0x1805, [16, 6]),
        ] as [(UInt16, UInt16, [Int])])
    func aCuffThatHangsUpAtOnceHasItsClockComparedOnTheFirstLinkToo(
        characteristic: UInt16, service: UInt16, counts: [Int]
    ) async throws {
        let clock = SimulatedClock(BluetoothUUID(characteristic), in: BluetoothUUID(service), lead: 900)
        try await withCuff(clock, readings: 2) { bench in
            // Right after the confirmation.
            await bench.peripheral.script(counts.map { .dropping(after: $0) })
            await bench.readUntilDropped()
            await bench.pause()
            await bench.readUntilDropped()
            #expect(await bench.peripheral.traces.map(\.pdusToConfirmation) == counts)
            let offsets = bench.noted.releases.all.flatMap(\.records).map(\.time.clockOffsetSeconds)
            #expect(offsets.count == 2 && offsets.allSatisfy { abs(($0 ?? 0) - 900) <= 1 })
            #expect(bench.count(of: "read-failed") == 0)
        }
    }

    @Test func aCuffThatDoesNotWaitForItsConfirmationIsAskedBeforeTheMeasurementTheNextTime() async throws {
        try await withCuff(SimulatedClock(0x2A2B, in: 0x1805, lead: 900), readings: 2) { bench in
            var hasty = LinkBehaviour()
            hasty.hangsUpAfterSending = true
            await bench.peripheral.script([hasty])
            await bench.readUntilDropped()
            for _ in 0..<2 { try await bench.readAgain() }
            #expect(try await bench.outbox() == ["read", "duplicate-ignored", "read"])
            #expect(bench.count(of: "read-failed") == 0)
            // The clock and its service, then as on every link.
            #expect(await bench.peripheral.traces.dropFirst().map(\.pdusToConfirmation) == [10, 6])
            let offset = bench.noted.releases.all.flatMap(\.records).last?.time.clockOffsetSeconds
            #expect(abs((offset ?? 0) - 900) <= 1)
        }
    }

    @Test func aMeterThatHangsUpAfterItsReportHasItsClockComparedOnTheFirstLinkToo() async throws {
        var count: Int?
        // The first run tells when the report is confirmed; in the second that ends the link.
        for isDropped in [false, true] {
            try await StoredRecordsTests.run(StoredRecordsTests.meter(3)) { bench in
                await bench.peripheral.show(SimulatedClock(0x2A2B, in: 0x1805, lead: 900))
                if isDropped {
                    await bench.peripheral.script([.dropping(after: try #require(count))])
                    await bench.readUntilDropped()
                } else {
                    try await bench.readOnce()
                    count = await bench.peripheral.traces.first?.pdusToConfirmation
                }
                await bench.pause()
                let offsets = bench.noted.releases.all.flatMap(\.records).map(\.time.clockOffsetSeconds)
                #expect(offsets.count == 3 && offsets.allSatisfy { $0 != nil })
                #expect(bench.count(of: "read-failed") == 0)
            }
        }
    }

    @Test func aCuffThatHangsUpWhenItsClockIsReadGivesItsReadingsAllTheSame() async throws {
        try await withCuff(SimulatedClock(0x2A2B, in: 0x1805, lead: 0), readings: 4) { bench in
            let afterConfirmation = LinkBehaviour.dropping(after: 4)
            await bench.peripheral.script([
                // Sought before the confirmation: that PDU ends the link, and the reading comes again.
                .dropping(after: 10), afterConfirmation, afterConfirmation, afterConfirmation,
            ])
            await bench.readUntilDropped()
            for _ in 0..<3 {
                await bench.pause()
                await bench.readUntilDropped()
            }
            #expect(bench.count(of: "read-failed") == 0)
            #expect(try await bench.outbox() == ["read", "duplicate-ignored", "read", "read"])
            // A day later it is before the measurement.
            await bench.longPause(.seconds(86_400))
            try await bench.readOnce()
            let record = try #require(bench.noted.releases.all.last?.records.last)
            #expect(try await bench.store.counts().records == 4)
            #expect(abs(try #require(record.time.clockOffsetSeconds)) <= 1)
            #expect(await bench.peripheral.traces.last?.pdusToConfirmation == 10)
        }
    }

    @Test func aLinkThatBreaksAtAKnownClockLosesNeitherTheReadingNorTheClock() async throws {
        try await withCuff(SimulatedClock(0x2A2B, in: 0x1805, lead: 60), readings: 3) { bench in
            try await bench.readOnce()
            await bench.peripheral.script([.dropping(after: 1)])
            await bench.pause()
            await bench.readUntilDropped()
            await bench.told("read-failed")
            #expect(bench.count(of: "read-failed") == 1)
            // The measurement comes first, the clock after it, and then before it again.
            for count in [4, 6] {
                try await bench.readAgain()
                #expect(await bench.peripheral.traces.last?.pdusToConfirmation == count)
            }
            let offsets = bench.noted.releases.all.flatMap(\.records).map(\.time.clockOffsetSeconds)
            #expect(offsets.count == 3 && offsets.allSatisfy { abs(($0 ?? 0) - 60) <= 1 })
        }
    }

    @Test func aLinkThatEndsAtTheClockIsTriedAgain() async throws {
        try await withCuff(SimulatedClock(0x2A2B, in: 0x1805, lead: 0), policy: .set) { bench in
            // The first PDU looks for the clock's service.
            var behaviour = LinkBehaviour()
            behaviour.dropAfter = 1
            await bench.peripheral.script([behaviour])
            await bench.readUntilDropped()
            await bench.told("read-failed")
            #expect(bench.count(of: "read-failed") == 1)
            try await bench.readAgain()
            #expect(bench.noted.releases.all.flatMap(\.records).count == 1)
        }
    }
}
