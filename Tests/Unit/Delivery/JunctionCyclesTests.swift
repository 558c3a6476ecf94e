import FoundationEssentials
import TestSupport
import Testing

@testable import IngestDelivery
@testable import IngestRecords

/// Menstrual cycles, which Junction takes whole and which come here day by day.
@Suite struct JunctionCyclesTests {
    private static let start = "menstrual-cycle-start"

    /// What a phone's export has of a day: at noon of UTC, in a zone that is far ahead.
    private static func json(
        _ day: String, _ flags: [String], _ number: Int, temperature: String? = nil,
        time: String = "T01:00:00+13:00", program: String? = nil
    ) -> String {
        let values = temperature.map { "basal-body-temperature \($0) Cel" } ?? ""
        return JunctionImportTests.json(
            .reproductiveHealth, values, flags: flags, start: day + time, end: nil,
            id: "00000000-0000-5000-8000-" + padded(number, 12), program: program)
    }

    private static func entry(_ json: String) throws -> JunctionCycles.Entry {
        let record = try #require(RecordContent(json: json))
        return try #require(JunctionCycles.entry(of: record))
    }

    /// Of the days that the fake has as `2026-11-01`, and the date in the zone is a day later.
    private static let period = [
        json("2026-11-02", ["menstrual-flow-medium", start], 1),
        json("2026-11-03", ["menstrual-flow-light"], 2),
        json("2026-11-04", ["menstrual-flow-none"], 3),
    ]

    private func body(_ cycles: [JunctionCycles.Cycle]) -> String {
        var text = JSONText()
        text.beginArray()
        for cycle in cycles { text.value(cycle, provider: "apple_health_kit", bundle: "ingestd") }
        text.endArray()
        return text.string
    }

    @Test func aCycleBeginsWithAMarkedFlowAndEndsBeforeTheNext() throws {
        let others = [
            Self.json("2026-11-16", ["cervical-mucus-quality-egg-white"], 4),
            Self.json("2026-11-17", ["ovulation-test-result-luteinizing-hormone-surge"], 5),
            Self.json("2026-11-18", ["sexual-activity", "protection-not-used"], 6),
            Self.json("2026-11-19", ["sexual-activity"], 7),
            Self.json("2026-11-20", ["intermenstrual-bleeding"], 8),
            Self.json("2026-11-21", [], 9, temperature: "36.55"),
            Self.json("2026-11-30", ["menstrual-flow-heavy", Self.start], 10),
            // Of no cycle.
            Self.json("2026-10-20", ["menstrual-flow-heavy"], 11),
        ]
        let all = JunctionCycles().adding(try (others + Self.period).map(Self.entry))
        let text = body(all.cycles)
        #expect(
            text
                == #"[{"source_bundle":"ingestd","cycle":{"period_start":"2026-11-01","period_end":"2026-11-03","#
                + #""cycle_end":"2026-11-28","menstrual_flow":[{"date":"2026-11-01","flow":"medium"},"#
                + #"{"date":"2026-11-02","flow":"light"},{"date":"2026-11-03","flow":"none"}],"#
                + #""cervical_mucus":[{"date":"2026-11-15","quality":"egg_white"}],"#
                + #""intermenstrual_bleeding":[{"date":"2026-11-19"}],"contraceptive":[],"detected_deviations":[],"#
                + #""ovulation_test":[{"date":"2026-11-16","test_result":"luteinizing_hormone_surge"}],"#
                + #""home_pregnancy_test":[],"home_progesterone_test":[],"#
                + #""sexual_activity":[{"date":"2026-11-17","protection_used":false},"#
                + #"{"date":"2026-11-18","protection_used":null}],"#
                + #""basal_body_temperature":[{"date":"2026-11-20","value":36.55}],"#
                + #""source":{"provider":"apple_health_kit","type":"app","app_id":"ingestd"}}},"#
                + #"{"source_bundle":"ingestd","cycle":{"period_start":"2026-11-29","period_end":"2026-11-29","#
                + #""cycle_end":null,"menstrual_flow":[{"date":"2026-11-29","flow":"heavy"}],"cervical_mucus":[],"#
                + #""intermenstrual_bleeding":[],"contraceptive":[],"detected_deviations":[],"ovulation_test":[],"#
                + #""home_pregnancy_test":[],"home_progesterone_test":[],"sexual_activity":[],"#
                + #""basal_body_temperature":[],"#
                + #""source":{"provider":"apple_health_kit","type":"app","app_id":"ingestd"}}}]"#)
    }

    /// In whatever order it comes, and however often.
    @Test func theOrderOfTheRecordsDoesNotMatter() throws {
        let entries = try Self.period.map(Self.entry)
        let one = JunctionCycles().adding(entries)
        var other = JunctionCycles()
        for entry in entries.reversed() + entries { other = other.adding([entry]) }
        #expect(one == other && one.cycles(with: [], after: other).isEmpty)
        #expect(one.cycles(with: [], after: JunctionCycles()).count == 1)
        // What comes again is posted again.
        #expect(one.cycles(with: [entries[1]], after: other).count == 1)
    }

    /// A flow that somebody else's program noted, at an hour of the day, counts for the day by its own clock.
    @Test func anHourIsOfTheDayInItsZone() throws {
        let json = Self.json("2026-11-02", ["menstrual-flow-light", Self.start], 1, time: "T00:30:00+01:00")
        #expect(
            body(JunctionCycles().adding([try Self.entry(json)]).cycles)
                .contains(#""period_start":"2026-11-02""#))
    }

    @Test func aSecondMarkOfTheSameDayBeginsNoOtherCycle() throws {
        let twice = [1, 2].map { Self.json("2026-11-02", ["menstrual-flow-light", Self.start], $0) }
        #expect(JunctionCycles().adding(try twice.map(Self.entry)).cycles.count == 1)
    }

    /// A value that HealthKit may have one day is left out, and the record counts for the rest.
    @Test func aWordThatJunctionDoesNotHaveIsLeftOut() throws {
        let json = Self.json("2026-11-03", ["menstrual-flow-torrential"], 2)
        let all = JunctionCycles().adding(try [Self.period[0], json].map(Self.entry))
        #expect(!body(all.cycles).contains("torrential") && all.cycles.count == 1)
    }

    /// A flow whose word is not known begins a cycle all the same.
    @Test func aMarkedFlowBeginsACycleWhateverItsWord() throws {
        let json = Self.json("2026-11-02", ["menstrual-flow-torrential", Self.start], 2)
        #expect(
            body(JunctionCycles().adding([try Self.entry(json)]).cycles)
                .contains(
                    #""period_start":"2026-11-01","period_end":"2026-11-01","cycle_end":null,"menstrual_flow":[],"#
                ))
    }

    /// Of two flows of a day the one that begins a period comes first, and the period before ends earlier.
    @Test func thePeriodBeforeEndsBeforeTheNext() throws {
        let next = [
            Self.json("2026-11-30", ["menstrual-flow-light"], 4),
            Self.json("2026-11-30", ["menstrual-flow-light", Self.start], 5),
        ]
        let cycles = JunctionCycles().adding(try (Self.period + next).map(Self.entry)).cycles
        #expect(cycles.count == 2)
        #expect(body(cycles).contains(#""period_end":"2026-11-03","cycle_end":"2026-11-28""#))
    }

    @Test func eachProgramHasCyclesOfItsOwn() throws {
        let other = Self.json("2026-11-03", ["menstrual-flow-light", Self.start], 9, program: "Cycle diary")
        let all = JunctionCycles().adding(try (Self.period + [other]).map(Self.entry))
        #expect(all.cycles.count == 2 && body(all.cycles).ranges(of: #""cycle_end":null"#).count == 2)
    }

    private static func entry(id: String, day: Int64, isStart: Bool = false) -> JunctionCycles.Entry {
        JunctionCycles.Entry(
            id: id, day: day, lastDay: day, program: "", said: ["intermenstrual_bleeding": ""],
            isFlow: isStart, isStart: isStart)
    }

    @Test func theEarliestDaysGoWholeAndForGood() throws {
        let entries = (0..<6_100).map { Self.entry(id: "\($0)", day: Int64($0 / 2), isStart: $0 % 56 == 0) }
        let all = JunctionCycles().adding(entries)
        #expect(all.entries.count == 6_000 && all.entries.first?.day == 50 && all.lastGone == 49)
        let more = all.adding([Self.entry(id: "a", day: 4_000)])
        // The day of the one too many goes whole.
        #expect(more.entries.count == 5_999 && more.entries.first?.day == 51)
        let again = more.adding([Self.entry(id: "0", day: 28, isStart: true)])
        #expect(again == more)
    }

    /// The largest that is kept can be read back: PrivateFile takes 2 MiB.
    @Test func theLargestIsBounded() throws {
        let entries = try (0..<6_000).map { number in
            try Self.entry(
                Self.json("2026-11-03", ["menstrual-flow-unspecified", Self.start], number, program: "Diary"))
        }
        let size = try JSONEncoder().encode(JunctionCycles().adding(entries)).count
        #expect(size < 1_500_000, "\(size)")
    }

    @Test(arguments: [
        #"{"entries":[{"day":9223372036854775807,"flow":true,"id":"x","last":1,"program":"","said":{},"start":true}]}"#,
        #"{"entries":[{"day":1,"flow":true,"id":"x","last":1,"program":"","said":{"menstrual_flow":"}"},"start":true}]}"#,
        #"{"entries":7}"#, "[]",
    ])
    func whatIsNoEntryIsLeftOut(_ json: String) throws {
        #expect(try JSONDecoder().decode(JunctionCycles.self, from: Data(json.utf8)) == JunctionCycles())
    }

    @Test func whatIsKeptIsReadBack() throws {
        let all = JunctionCycles().adding(try Self.period.map(Self.entry))
        #expect(try JSONDecoder().decode(JunctionCycles.self, from: JSONEncoder().encode(all)) == all)
    }

    /// Over a restart too; and not over a sign-out.
    @Test func whatComesLaterIsPostedWithWhatCameBefore() async throws {
        let bench = JunctionBench()
        try await bench.run { place in
            func deliver(_ records: [String], _ session: JunctionSession) async -> DeliveryAnswer {
                await Junction(session: session).deliver(OutgoingBatch(gateway: "box", records: records))
            }
            let first = await bench.session(place)
            #expect(await deliver([Self.period[0]], first) == .taken(httpStatus: 200))
            let second = await bench.session(place)
            #expect(await deliver([Self.period[1]], second) == .taken(httpStatus: 200))
            let flows =
                #""menstrual_flow":[{"date":"2026-11-01","flow":"medium"},{"date":"2026-11-02","flow":"light"}]"#
            #expect(bench.fake.bodies.count == 2 && bench.fake.bodies[1].contains(flows))
            // What comes again, by `records --resend`, is posted again.
            #expect(await deliver([Self.period[1]], second) == .taken(httpStatus: 200))
            #expect(bench.fake.bodies.count == 3 && bench.fake.bodies[2].contains(flows))
            await second.signOut()
            #expect(bench.vault.text == nil)
            #expect(await deliver([Self.period[1]], second) == .taken(httpStatus: 200))
            #expect(bench.fake.bodies.count == 3 && bench.fake.faults.isEmpty)
        }
    }

    @Test func withoutRoomOnTheDiskNothingCountsAsTaken() async throws {
        let bench = JunctionBench()
        try await bench.run { place in
            let session = await bench.session(place)
            let batch = OutgoingBatch(gateway: "box", records: Self.period)
            bench.vault.fill(true)
            guard case .unavailable = await Junction(session: session).deliver(batch) else {
                Issue.record("what could not be kept was taken")
                return
            }
            bench.vault.fill(false)
            #expect(await Junction(session: session).deliver(batch) == .taken(httpStatus: 200))
            #expect(bench.vault.text?.contains(#""\"none\"""#) == true)
        }
    }
}
