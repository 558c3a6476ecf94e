import FoundationEssentials
import TestSupport
import Testing

@testable import IngestDelivery

/// The form that records have at Junction.
@Suite struct JunctionFormTests {
    private static let settings = JunctionSettings(
        user: FakeJunction.user, timeZone: "Europe/London", providers: [1001: "omron_ble"])

    private static func requests(_ records: [Record]) throws -> [JunctionForm.Request] {
        let contents = try records.map { try #require(RecordContent(json: $0.json)) }
        return try JunctionForm.requests(for: contents, settings)
    }

    private static func body(_ record: Record) throws -> String {
        let requests = try requests([record])
        try #require(requests.count == 1)
        let text = String(decoding: requests[0].body, as: UTF8.self)
        _ = try FakeJunction.check(text, resource: requests[0].series.name)
        return text
    }

    private static let cuff: [(type: String, coefficient: Int64, exponent: Int8, unit: String)] = [
        ("systolic", 138, 0, "mm[Hg]"), ("diastolic", 875, -1, "mm[Hg]"),
        ("mean-arterial-pressure", 100, 0, "mm[Hg]"), ("pulse-rate", 72, 0, "/min"),
    ]

    @Test func theDocumentsRequestsAreWhatIsSent() throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        let document = try String(
            contentsOf: root.appending(path: "docs/destinations/junction.md"), encoding: .utf8)
        #expect(
            document.contains(
                "\n" + (try Self.body(ValidicFormTests.record(.bloodPressure, Self.cuff))) + "\n"))
        var weight = try ValidicFormTests.record(
            .weight, [("weight", 72400, -3, "kg"), ("bmi", 225, -1, "kg/m2")])
        weight.stage = .historical
        weight.device.peripheralID = 1003
        #expect(document.contains("\n" + (try Self.body(weight)) + "\n"))
    }

    @Test(
        arguments: [
            (
                .glucose, "glucose", 54, -1, "mmol/L", "glucose",
                #""value":5.4,"unit":"mmol/L","type":"fingerprick""#
            ),
            (.glucose, "glucose", 95, 0, "mg/dL", "glucose", #""value":5.273,"unit":"mmol/L""#),
            (.glucose, "glucose", 12, 1, "mg/dL", "glucose", #""value":6.661,"#),
            (
                .continuousGlucose, "glucose", 100, 0, "mg/dL", "glucose",
                #""value":5.551,"unit":"mmol/L","type":"automatic""#
            ),
            (
                .bodyTemperature, "body-temperature", 3660, -2, "Cel", "temperature",
                #""value":36.60,"unit":"°C","type":"unknown""#
            ),
            (
                .bodyTemperature, "body-temperature", 986, -1, "[degF]", "temperature",
                #""value":37.00,"unit":"°C""#
            ),
            (.pulseOximetry, "spo2", 97, 0, "%", "blood_oxygen", #""value":97,"unit":"%","type":"unknown""#),
            (
                .pulseOximetry, "pulse-rate", 61, 0, "/min", "heartrate",
                #""value":61,"unit":"bpm","type":"unknown""#
            ),
            (.heartRate, "heart-rate", 61, 0, "/min", "heartrate", #""value":61,"unit":"bpm""#),
            (
                .weight, "weight", 70005, -3, "kg", "body",
                #""body_mass":[{"value":70.005,"unit":"kg","type":"scale""#
            ),
            (
                .miScale, "weight", 15432, -2, "[lb_av]", "body",
                #""body_mass":[{"value":69.998,"unit":"kg""#
            ),
            (.weight, "bmi", 225, -1, "kg/m2", "body", #""body_mass_index":[{"value":22.5,"unit":"index""#),
            (
                .bodyComposition, "body-fat", 215, -1, "%", "body",
                #""body_fat_percentage":[{"value":21.5,"unit":"%""#
            ),
            (
                .bodyComposition, "fat-free-mass", 5500, -2, "kg", "body",
                #""lean_body_mass":[{"value":55.00,"unit":"kg""#
            ),
        ] as [(RecordKind, String, Int64, Int8, String, String, String)])
    func aValueHasItsDigitsUnitAndSource(
        kind: RecordKind, type: String, coefficient: Int64, exponent: Int8, unit: String, resource: String,
        expected: String
    ) throws {
        let record = try ValidicFormTests.record(kind, [(type, coefficient, exponent, unit)])
        #expect(try Self.requests([record]).map(\.series.name) == [resource])
        let body = try Self.body(record)
        #expect(body.contains(expected), "\(body)")
    }

    @Test func pressuresInKilopascalsAreMillimetres() throws {
        let body = try Self.body(
            ValidicFormTests.record(
                .bloodPressure, [("systolic", 160, -1, "kPa"), ("diastolic", 11, 0, "kPa")]))
        #expect(body.contains(#""systolic":{"value":120.0,"unit":"mmHg","type":"cuff""#))
        #expect(body.contains(#""diastolic":{"value":83,"#) && !body.contains("pulse"))
    }

    @Test func aRequestHasOneSeriesOneSourceAndOneStage() throws {
        var oximeter = try ValidicFormTests.record(
            .pulseOximetry, [("spo2", 97, 0, "%"), ("pulse-rate", 61, 0, "/min")])
        oximeter.device.peripheralID = 1005
        var stored = oximeter
        stored.stage = .historical
        stored.time.value = "2026-11-19T09:15:00+01:00"
        var older = stored
        older.time.value = "2026-11-18T09:15:00+01:00"
        let cuff = try ValidicFormTests.record(.bloodPressure, Self.cuff)
        let requests = try Self.requests([oximeter, stored, cuff, older, oximeter])
        let texts = requests.map { String(decoding: $0.body, as: UTF8.self) }
        #expect(
            requests.map(\.series)
                == [.bloodOxygen, .heartRate, .bloodOxygen, .heartRate, .bloodPressure])
        #expect(requests.map(\.provider) == ["manual", "manual", "manual", "manual", "omron_ble"])
        #expect(
            texts.map { $0.hasPrefix(#"{"stage":"daily","time_zone":"Europe/London","#) }
                == [true, true, false, false, true])
        #expect(
            texts[2].hasPrefix(
                #"{"stage":"historical","start_date":"2026-11-18T08:15:00Z","end_date":"2026-11-19T08:15:00Z","#
            ))
        // In the order of the records.
        #expect(
            try FakeJunction.check(texts[2], resource: "blood_oxygen").samples.map { $0.key.suffix(20) }
                == ["2026-11-19T08:15:00Z", "2026-11-18T08:15:00Z"])
        // The same batch, the same bytes.
        #expect(try Self.requests([oximeter, stored, cuff, older, oximeter]) == requests)
    }

    @Test func aTimeThatIsAnUpperBoundSaysSo() throws {
        let body = try Self.body(
            ValidicFormTests.record(.heartRate, [("heart-rate", 61, 0, "/min")], source: .unknown))
        #expect(body.contains(#""metadata":{"time":"measured then or earlier"}"#))
    }

    private static func unfit(_ record: Record) throws -> String? {
        do {
            _ = try requests([record])
            return nil
        } catch let error as SetAsideReason {
            return error.text
        }
    }

    @Test func whatIsNobodysOrHasNoFormIsNotSent() throws {
        let noForm = "has no value that this destination has a form for"
        #expect(try Self.unfit(ValidicFormTests.record(.bthome, [("temperature", 21, 0, "Cel")])) == noForm)
        #expect(
            try Self.unfit(ValidicFormTests.record(.bodyComposition, [("muscle-mass", 300, -1, "kg")]))
                == noForm)
        // Half a blood pressure is none.
        #expect(
            try Self.unfit(ValidicFormTests.record(.bloodPressure, [("systolic", 138, 0, "mm[Hg]")]))
                == noForm)
        var absent = try ValidicFormTests.record(.glucose, [("glucose", 54, -1, "mmol/L")])
        absent.measurements[0].value = .absent(.notANumber)
        #expect(try Self.unfit(absent) == noForm)
        var nobodys = try ValidicFormTests.record(.heartRate, [("heart-rate", 61, 0, "/min")])
        nobodys.subject = nil
        #expect(try Self.unfit(nobodys) == "unassigned")
        var control = try ValidicFormTests.record(.glucose, [("glucose", 54, -1, "mmol/L")])
        control.flags = ["type-control-solution", "location-control-solution"]
        #expect(try Self.unfit(control) == "is no measurement of a person (type-control-solution)")
        var invalid = try ValidicFormTests.record(.pulseOximetry, [("spo2", 97, 0, "%")])
        invalid.flags = ["invalid-measurement-detected"]
        #expect(
            try Self.unfit(invalid) == "is marked as invalid by the device (invalid-measurement-detected)")
    }

    @Test func theFakeRefusesWhatTheSDKsDoNotSend() throws {
        let good = try Self.body(ValidicFormTests.record(.heartRate, [("heart-rate", 61, 0, "/min")]))
        for (part, other) in [
            (#""is_final_chunk":true"#, #""is_final_chunk":true,"extra":1"#),
            (#""value":61"#, #""value":"61""#),
            (#""unit":"bpm""#, #""unit":"/min""#), (#""type":"unknown""#, #""type":"wrist""#),
            (#""stage":"daily""#, #""stage":"historical""#), (#""time_zone":"Europe/London","#, ""),
            (#"09:15:00Z"#, #"09:15:00+00:00"#), (#""type":"unknown","#, ""),
        ] {
            let bad = good.replacing("08:15:00Z", with: "09:15:00Z").replacing(part, with: other)
            #expect(bad != good)
            #expect(throws: StrictJSON.Fault.self) {
                try FakeJunction.check(bad, resource: "heartrate")
            }
        }
        #expect(throws: StrictJSON.Fault.self) { try FakeJunction.check(good, resource: "glucose") }
    }
}
