import FoundationEssentials
import Testing

@testable import IngestDelivery
@testable import IngestRecords

/// The form that records have in Validic's first API.
@Suite struct ValidicRecordTests {
    private typealias Value = (type: String, coefficient: Int64, exponent: Int8, unit: String)

    private static func body(_ record: Record) throws -> String? {
        let content = try #require(RecordContent(json: record.json))
        return ValidicRecord(content).map { String(decoding: $0.body(token: "token-1"), as: UTF8.self) }
    }

    /// What the fake keeps of a record.
    private static func kept(_ record: Record) throws -> FakeValidicV1.Kept? {
        let content = try #require(RecordContent(json: record.json))
        guard let form = ValidicRecord(content) else { return nil }
        let fake = FakeValidicV1()
        let place = form.path(organization: FakeValidicV1.organization, userID: FakeValidicV1.userID)
        let json = "application/json"
        let answer = fake.answer(
            TestReceiver.Received(
                target: "POST " + place, headers: ["content-type": json, "accept": json],
                body: form.body(token: "token-1")))
        #expect(answer.status == 201, "\(answer.body)")
        return fake.kept.first
    }

    @Test func theDocumentsRequestIsWhatIsSent() throws {
        let record = try ValidicFormTests.record(
            .bloodPressure,
            [
                ("systolic", 138, 0, "mm[Hg]"), ("diastolic", 875, -1, "mm[Hg]"),
                ("mean-arterial-pressure", 100, 0, "mm[Hg]"), ("pulse-rate", 72, 0, "/min"),
            ])
        let body = try #require(try Self.body(record)).replacing("token-1", with: "…")
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        let document = try String(
            contentsOf: root.appending(path: "docs/destinations/validic.md"), encoding: .utf8)
        #expect(document.contains("\n\(body)\n"), "\(body)")
        #expect(try Self.kept(record)?.id == record.id.text)
    }

    @Test(
        arguments: [
            (RecordKind.bloodPressure, "systolic", 138, 0, "mm[Hg]", "biometrics", "systolic", "138"),
            (.bloodPressure, "systolic", 160, -1, "kPa", "biometrics", "systolic", "120.0"),
            (.bloodPressure, "diastolic", 11, 0, "kPa", "biometrics", "diastolic", "83"),
            (.bloodPressure, "pulse-rate", 720, -1, "/min", "biometrics", "resting_heartrate", "72.0"),
            (.pulseOximetry, "spo2", 97, 0, "%", "biometrics", "spo2", "97"),
            (.bodyTemperature, "body-temperature", 3660, -2, "Cel", "biometrics", "temperature", "36.60"),
            (.bodyTemperature, "body-temperature", 985, -1, "[degF]", "biometrics", "temperature", "36.94"),
            (.glucose, "glucose", 97, 0, "mg/dL", "diabetes", "blood_glucose", "97"),
            (.glucose, "glucose", 54, -1, "mmol/L", "diabetes", "blood_glucose", "97.3"),
            (.glucoseContext, "hba1c", 65, -1, "%", "diabetes", "hba1c", "6.5"),
            (.weight, "weight", 72_400, -3, "kg", "weight", "weight", "72.400"),
            (.weight, "weight", 15_950, -2, "[lb_av]", "weight", "weight", "72.348"),
            (.weight, "weight", 160_495, -3, "[lb_av]", "weight", "weight", "72.7993"),
            (.weight, "weight", 114, -1, "[stone_av]", "weight", "weight", "72.39"),
            (.weight, "weight", 13, 0, "[stone_av]", "weight", "weight", "82.6"),
            (.weight, "weight", 25_520, -1, "[oz_av]", "weight", "weight", "72.348"),
            (.weight, "weight", 724, 2, "g", "weight", "weight", "72.400"),
            (.weight, "bmi", 225, -1, "kg/m2", "weight", "bmi", "22.5"),
            (.weight, "height", 1800, -3, "m", "weight", "height", "180.0"),
            (.weight, "height", 710, -1, "[in_i]", "weight", "height", "180.3"),
            (.weight, "height", 591, -2, "[ft_i]", "weight", "height", "180.14"),
            (.bodyComposition, "body-fat", 214, -1, "%", "weight", "fat_percent", "21.4"),
            (.bodyComposition, "fat-free-mass", 56_905, -3, "kg", "weight", "free_mass", "56.905"),
            (.miScale, "weight", 7240, -2, "kg", "weight", "weight", "72.40"),
        ] as [(RecordKind, String, Int64, Int8, String, String, String, String)])
    func aValueHasItsMemberAndUnit(
        kind: RecordKind, type: String, coefficient: Int64, exponent: Int8, unit: String, form: String,
        name: String, number: String
    ) throws {
        let kept = try #require(
            try Self.kept(ValidicFormTests.record(kind, [(type, coefficient, exponent, unit)])))
        #expect(kept.form == form)
        #expect(
            kept.members == [
                name: number, "timestamp": #""2026-11-20T08:15:00+00:00""#, "utc_offset": #""+01:00""#,
                "extras": #"{"manufacturer":"Beurer","model":"BM 77"}"#,
            ])
    }

    @Test(arguments: [
        ("2027-01-01T00:30:00+05:30", "2026-12-31T19:00:00+00:00", "+05:30"),
        ("2026-12-31T20:30:00-03:30", "2027-01-01T00:00:00+00:00", "-03:30"),
    ])
    func theTimeIsInUTCAndHasItsZone(time: String, timestamp: String, offset: String) throws {
        var record = try ValidicFormTests.record(.weight, [("weight", 72, 0, "kg")])
        record.time.value = time
        let kept = try #require(try Self.kept(record))
        #expect(kept.members["timestamp"] == "\"\(timestamp)\"")
        #expect(kept.members["utc_offset"] == "\"\(offset)\"")
    }

    @Test(arguments: [
        ("meal-preprandial", "before"), ("meal-postprandial", "after"), ("meal-fasting", "fasting"),
        ("meal-casual", "random"),
    ])
    func aContextTellsOfTheMeal(flag: String, word: String) throws {
        var record = try ValidicFormTests.record(.glucoseContext, [("carbohydrate", 40, 0, "g")])
        record.flags = ["health-no-issues", flag]
        record.related = RecordID(text: ValidicBench.id(7))
        let kept = try #require(try Self.kept(record))
        #expect(
            kept.members["extras"]
                == #"{"manufacturer":"Beurer","model":"BM 77","relationship_to_meal":"\#(word)","#
                + #""related_activity_id":"\#(ValidicBench.id(7))"}"#)
    }

    @Test func aTimeThatIsAnUpperBoundSaysSo() throws {
        let kept = try #require(
            try Self.kept(
                ValidicFormTests.record(.weight, [("weight", 72, 0, "kg")], source: .unknown)))
        #expect(
            kept.members["extras"]
                == #"{"manufacturer":"Beurer","model":"BM 77","time":"measured then or earlier"}"#)
    }

    @Test(
        arguments: [
            (RecordKind.heartRate, "heart-rate", "/min"), (.pulseOximetry, "pulse-rate", "/min"),
            (.bloodPressure, "mean-arterial-pressure", "mm[Hg]"), (.glucoseContext, "carbohydrate", "g"),
            (.continuousGlucose, "glucose", "mg/dL"), (.weight, "weight", "[oz_tr]"),
            (.bodyComposition, "muscle-mass", "kg"),
        ] as [(RecordKind, String, String)])
    func whatHasNoFormIsNotSent(kind: RecordKind, type: String, unit: String) throws {
        #expect(try Self.body(ValidicFormTests.record(kind, [(type, 60, 0, unit)])) == nil)
    }

    @Test func whatIsAbsentIsLeftOut() throws {
        var record = try ValidicFormTests.record(
            .bloodPressure, [("systolic", 138, 0, "mm[Hg]"), ("diastolic", 87, 0, "mm[Hg]")])
        record.measurements[1].value = .absent(.notANumber)
        #expect(try Self.kept(record)?.members["diastolic"] == nil)
        record.measurements[0].value = .absent(.notANumber)
        #expect(try Self.body(record) == nil)
    }

    @Test func aMemberStandsOnce() throws {
        let kept = try #require(
            try Self.kept(
                ValidicFormTests.record(.weight, [("weight", 72, 0, "kg"), ("weight", 160, 0, "[lb_av]")])))
        #expect(kept.members["weight"] == "72")
    }

    @Test func idsAreOnePartOfThePathEach() throws {
        let content = try #require(
            RecordContent(json: try ValidicFormTests.record(.weight, [("weight", 72, 0, "kg")]).json))
        let form = try #require(ValidicRecord(content))
        #expect(
            form.path(organization: "a/b", userID: "é 1")
                == "/v1/organizations/a%2Fb/users/%C3%A9%201/weight.json")
    }

    @Test func theFakeRefusesWhatIsNotPublic() throws {
        let good = try #require(try Self.body(ValidicFormTests.record(.weight, [("weight", 72, 0, "kg")])))
        let path =
            "POST /v1/organizations/\(FakeValidicV1.organization)/users/\(FakeValidicV1.userID)/weight.json"
        let json = "application/json"
        for (part, other, status) in [
            (#""weight":72"#, #""weight":72,"pulse":60"#, 422), (#""weight":72"#, #""weight":"72""#, 422),
            ("+01:00", "3600", 422), (#","utc_offset":"+01:00""#, "", 422), ("+00:00", "Z", 406),
            ("token-1", "token-2", 401), (#""weight":72"#, #""spo2":97"#, 422),
        ] {
            let bad = good.replacing(part, with: other)
            #expect(bad != good)
            let answer = FakeValidicV1().answer(
                TestReceiver.Received(
                    target: path, headers: ["content-type": json, "accept": json], body: Array(bad.utf8)))
            #expect(answer.status == status, "\(bad)")
        }
    }
}
