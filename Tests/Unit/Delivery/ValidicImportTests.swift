import TestSupport
import Testing

@testable import IngestDelivery

/// The form in Validic's first API of what was imported from a phone or written by hand.
@Suite struct ValidicImportTests {
    /// What the fake keeps, as `MEMBER NUMBER` in the order of the names.
    private static func kept(_ record: RecordContent) throws -> (form: String, members: [String])? {
        guard let form = ValidicRecord(record) else { return nil }
        let fake = FakeValidicV1()
        let json = "application/json"
        let place = form.path(organization: FakeValidicV1.organization, userID: FakeValidicV1.userID)
        let answer = fake.answer(
            TestReceiver.Received(
                target: "POST " + place, headers: ["content-type": json, "accept": json],
                body: form.body(token: "token-1")))
        #expect(answer.status == 201, "\(answer.body)")
        let kept = try #require(fake.kept.first)
        let members = kept.members.filter { !["timestamp", "utc_offset", "extras"].contains($0.key) }
        return (kept.form, members.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" })
    }

    @Test(arguments: [
        ("asleep-deep", ["deep_sleep", "sleep_duration"]),
        ("asleep-core", ["light_sleep", "sleep_duration"]),
        ("asleep-rem", ["rem_sleep", "sleep_duration"]), ("asleep", ["sleep_duration"]),
        ("awake", ["awake_duration"]), ("in-bed", []),
    ])
    func aStageIsASleepOfInformConnect(flag: String, metrics: [String]) throws {
        let record = try JunctionImportTests.record(.sleep, "duration 600.5 s", flags: [flag])
        #expect(Validic.hasForm(record) == !metrics.isEmpty)
        let body = Validic.body(of: record, sourceType: "ingestd")
        #expect((body == nil) == metrics.isEmpty)
        guard let body else { return }
        #expect(try FakeValidic.check(body, type: "sleep") == record.id)
        let expected = metrics.map { #"{"type":"\#($0)","origin":"unknown","unit":"s","value":600.5}"# }
        let text = String(decoding: body, as: UTF8.self)
        #expect(text.contains("\"metrics\":[\(expected.joined(separator: ","))],"))
        #expect(
            text.contains(#""start_time":"2026-11-20T09:15:00Z","end_time":"2026-11-20T09:25:00Z","#))
        #expect(text.hasSuffix(#""type":"sleep","version":"1.0"}"#))
    }

    @Test(arguments: [
        (["activity-running"], "Running", "running"), (["activity-hand-cycling"], "Hand Cycling", "biking"),
        (["activity-rowing"], "Rowing", "cardio"), (["activity-yoga"], "Yoga", "other"),
        (["activity-traditional-strength-training"], "Traditional Strength Training", "strength"),
        ([], "Other", "other"),
    ])
    func aWorkoutIsOneOfInformConnect(flags: [String], name: String, category: String) throws {
        let record = try JunctionImportTests.record(
            .workout, "duration 31.5 min,active-energy 286.4 kcal,distance-walking-running 5.21 km",
            flags: flags)
        let body = try #require(Validic.body(of: record, sourceType: "ingestd"))
        #expect(try FakeValidic.check(body, type: "workout") == record.id)
        let text = String(decoding: body, as: UTF8.self)
        let head =
            #""end_time":"2026-11-20T09:25:00Z","utc_offset":0,"offset_origin":"source","name":"\#(name)","#
        let metrics = [
            #"[{"type":"active_duration","origin":"unknown","unit":"s","value":1890}"#,
            #"{"type":"active_energy_burned","origin":"unknown","unit":"kcal","value":286.4}"#,
            #"{"type":"distance","origin":"unknown","unit":"m","value":5210}]"#,
        ].joined(separator: ",")
        let expected = head + "\"category\":\"\(category)\",\"metrics\":" + metrics
        #expect(text.contains(expected), "\(text)")
        #expect(text.hasSuffix(#""type":"workout","version":"1.0"}"#))
        #expect(Validic.Resource(record).path == "/connect/provider/data/workouts")
    }

    @Test func theSumsOfADayAreASummaryOfInformConnect() throws {
        let day = try JunctionImportTests.record(
            .activity, "day-active-energy 418.4 kJ,day-exercise-time 12.5 min,day-stand-hours 9 h",
            start: "2026-11-20T00:00:00+01:00", end: "2026-11-21T00:00:00+01:00")
        #expect(Validic.hasForm(day) && !ValidicRecord.hasForm(day))
        let body = try #require(Validic.body(of: day, sourceType: "ingestd"))
        #expect(try FakeValidic.check(body, type: "summary") == day.id)
        let text = String(decoding: body, as: UTF8.self)
        #expect(
            text.contains(
                #""start_time":"2026-11-19T23:00:00Z","end_time":"2026-11-20T22:59:59Z","#
                    + #""utc_offset":3600,"offset_origin":"source","#
                    + #""metrics":[{"type":"active_energy_burned","origin":"unknown","unit":"kcal","value":100.00},"#
                    + #"{"type":"active_duration","origin":"unknown","unit":"s","value":750}],"#))
        #expect(text.hasSuffix(#""type":"summary","version":"1.0"}"#))
        #expect(Validic.Resource(day).path == "/connect/provider/data/summaries")
    }

    @Test func aRestingHeartRateIsAMeasurementOfInformConnectAndOtherActivityIsNone() throws {
        let resting = try JunctionImportTests.record(.activity, "resting-heart-rate 58 /min")
        #expect(Validic.hasForm(resting))
        let body = try #require(Validic.body(of: resting, sourceType: "ingestd"))
        #expect(try FakeValidic.check(body) == resting.id)
        #expect(
            String(decoding: body, as: UTF8.self).contains(
                #"{"type":"resting_heart_rate","origin":"unknown","unit":"bpm","value":58}"#))
        let steps = try JunctionImportTests.record(.activity, "steps 812 1")
        #expect(!Validic.hasForm(steps) && Validic.body(of: steps, sourceType: "ingestd") == nil)
    }

    @Test(
        arguments: [
            (
                .workout, "duration 31.5 min,active-energy 286.4 kcal,distance-walking-running 5.21 km",
                ["activity-running"], "fitness",
                [
                    "calories 286.4", "distance 5210", "duration 1890",
                    #"start_time "2026-11-20T09:15:00+00:00""#,
                    #"type "Running""#,
                ]
            ),
            (.sleep, "duration 2700 s", ["asleep-deep"], "sleep", ["deep 2700", "total_sleep 2700"]),
            (.sleep, "duration 600 s", ["asleep-core"], "sleep", ["light 600", "total_sleep 600"]),
            (.sleep, "duration 600 s", ["asleep-rem"], "sleep", ["rem 600", "total_sleep 600"]),
            (.sleep, "duration 600 s", ["asleep"], "sleep", ["total_sleep 600"]),
            (.sleep, "duration 600 s", ["awake"], "sleep", ["awake 600"]),
            (.nutrition, "energy 418.4 kJ", [], "nutrition", ["calories 100.00"]),
            (.nutrition, "carbohydrate 42.5 g", [], "nutrition", ["carbohydrates 42.5"]),
            (.nutrition, "sodium 1.2 g", [], "nutrition", ["sodium 1200"]),
            (.nutrition, "water 0.25 L", [], "nutrition", ["water 250"]),
            (
                .nutrition, "energy 640 kcal", ["meal-dinner"], "nutrition",
                ["calories 640", #"meal "dinner""#]
            ),
            (.activity, "resting-heart-rate 58 /min", [], "biometrics", ["resting_heartrate 58"]),
            (.laboratory, "total-cholesterol 182 mg/dL", [], "biometrics", ["total_cholesterol 182"]),
            (.laboratory, "hdl-cholesterol 51 mg/dL", [], "biometrics", ["hdl 51"]),
            (.laboratory, "ldl-cholesterol 110.0 mg/dL", [], "biometrics", ["ldl 110.0"]),
            (.laboratory, "uric-acid 5.1 mg/dL", [], "biometrics", ["uric_acid 5.1"]),
            (.laboratory, "blood-calcium 9.4 mg/dL", [], "biometrics", ["blood_calcium 9.4"]),
            (.laboratory, "blood-magnesium 2.1 mg/dL", [], "biometrics", ["blood_magnesium 2.1"]),
            (.laboratory, "blood-potassium 4.1 mmol/L", [], "biometrics", ["blood_potassium 4.1"]),
            (.laboratory, "blood-sodium 140 mmol/L", [], "biometrics", ["blood_sodium 140"]),
            (.laboratory, "blood-chromium 0.8 ug/L", [], "biometrics", ["blood_chromium 0.8"]),
            (.laboratory, "blood-zinc 88 ug/dL", [], "biometrics", ["blood_zinc 88"]),
            (.laboratory, "blood-folic-acid 9 ng/mL", [], "biometrics", ["blood_folic_acid 9"]),
            (.laboratory, "blood-vitamin-b12 410 pg/mL", [], "biometrics", ["blood_vitamin_b12 410"]),
            (.laboratory, "vitamin-d 31 ng/mL", [], "biometrics", ["vitamin_d 31"]),
            (.laboratory, "ferritin 88 ng/mL", [], "biometrics", ["ferritin 88"]),
            (.laboratory, "crp 1.2 mg/L", [], "biometrics", ["crp 1.2"]),
            (.laboratory, "hs-crp 0.70 mg/L", [], "biometrics", ["hscrp 0.70"]),
            (.laboratory, "interleukin-6 2 pg/mL", [], "biometrics", ["il6 2"]),
            (.laboratory, "creatine-kinase 120 U/L", [], "biometrics", ["creatine_kinase 120"]),
            (.laboratory, "testosterone 480 ng/dL", [], "biometrics", ["testosterone 480"]),
            (.laboratory, "tsh 2.31 m[IU]/L", [], "biometrics", ["tsh 2.31"]),
            (.laboratory, "white-cell-count 6500 /uL", [], "biometrics", ["white_cell_count 6500"]),
            (.laboratory, "triglycerides 120 mg/dL", [], "diabetes", ["triglyceride 120"]),
            (.laboratory, "c-peptide 1.9 ng/mL", [], "diabetes", ["c_peptide 1.9"]),
        ] as [(RecordKind, String, [String], String, [String])])
    func whatWasImportedHasItsForm(
        kind: RecordKind, values: String, flags: [String], form: String, members: [String]
    ) throws {
        let record = try JunctionImportTests.record(kind, values, flags: flags)
        let kept = try #require(try Self.kept(record))
        #expect(kept.form == form)
        #expect(kept.members == members)
        #expect(!ValidicRecord.kindsInPart.contains(kind) || ValidicRecord.hasForm(record))
    }

    @Test func theHardwareStandsInTheExtras() throws {
        let record = try JunctionImportTests.record(.sleep, "duration 600 s", flags: ["asleep"])
        let form = try #require(ValidicRecord(record))
        #expect(
            String(decoding: form.body(token: "t"), as: UTF8.self).contains(#""extras":{"model":"Watch6,1"}"#)
        )
    }

    @Test(
        arguments: [
            (.sleep, "duration 600 s", ["in-bed"]), (.nutrition, "calcium 100 mg", []),
            (.activity, "steps 812 1", []), (.laboratory, "total-cholesterol 4.7 mmol/L", []),
            (.glucoseContext, "carbohydrate 30 g", ["health-no-issues"]),
            (.nutrition, "calcium 100 mg", ["meal-dinner"]),
        ] as [(RecordKind, String, [String])])
    func whatHasNoPlaceIsPassedOver(kind: RecordKind, values: String, flags: [String]) throws {
        let record = try JunctionImportTests.record(kind, values, flags: flags)
        #expect(!ValidicRecord.kinds.contains(kind) || ValidicRecord.kindsInPart.contains(kind))
        #expect(!ValidicRecord.kindsInPart.contains(kind) || !ValidicRecord.hasForm(record))
    }
}
