import FoundationEssentials
import TestSupport
import Testing

@testable import IngestDelivery
@testable import IngestRecords

/// The form that records have at Validic.
@Suite struct ValidicFormTests {
    static func record(
        _ kind: RecordKind, _ values: [(type: String, coefficient: Int64, exponent: Int8, unit: String)],
        source: RecordTime.Source = .device, id: String = "1f3c0d6e-6a52-5b0e-9c38-4c1d5a0e7b21"
    ) throws -> Record {
        Record(
            id: RecordID(text: id), kind: kind, stage: .live,
            time: RecordTime(
                value: "2026-11-20T09:15:00+01:00", source: source, device: nil, clockOffsetSeconds: nil,
                received: "2026-11-20T08:15:04Z"),
            measurements: values.map {
                Measurement(
                    type: $0.type, code: nil,
                    value: .exact(ExactDecimal(coefficient: $0.coefficient, exponent: $0.exponent)),
                    unit: $0.unit)
            },
            flags: [], sequence: nil, user: nil, subject: "patient-17",
            device: DeviceBlock(
                peripheralID: 1001, address: try #require(BluetoothAddress("F1:F1:F1:F1:F1:F1")), alias: nil,
                manufacturer: "Beurer", model: "BM 77"),
            gateway: "box", raw: RawPayload(characteristic: 0x2A35, bytes: [0x1E]), isSimulated: false)
    }

    private static func body(_ record: Record) throws -> String? {
        let content = try #require(RecordContent(json: record.json))
        return Validic.body(of: content, sourceType: "ingestd").map { String(decoding: $0, as: UTF8.self) }
    }

    @Test func anEntryIsNotADevices() throws {
        var entry = SampleEntries.glucose
        for (origin, expected) in [(RecordEntry.Origin.manual, "manual"), (.appleHealth, "unknown")] {
            entry.origin = origin
            entry.name = origin.namePrefix + "glucose"
            let record = try #require(EnteredRecord(entry, gateway: "box", received: 1_795_166_107))
            let content = try #require(RecordContent(json: record.body))
            let body = try #require(Validic.body(of: content, sourceType: "ingestd"))
            let text = String(decoding: body, as: UTF8.self)
            #expect(text.contains("\"metrics\":[{\"type\":\"blood_glucose\",\"origin\":\"\(expected)\","))
            #expect(try FakeValidic.check(body) == record.id.text)
        }
    }

    @Test func theDocumentsRequestIsWhatIsSent() throws {
        let body = try #require(
            try Self.body(
                Self.record(
                    .bloodPressure,
                    [
                        ("systolic", 138, 0, "mm[Hg]"), ("diastolic", 875, -1, "mm[Hg]"),
                        ("mean-arterial-pressure", 100, 0, "mm[Hg]"), ("pulse-rate", 72, 0, "/min"),
                    ])))
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        let document = try String(
            contentsOf: root.appending(path: "docs/destinations/validic.md"), encoding: .utf8)
        #expect(document.contains("\n\(body)\n"))
        #expect(try FakeValidic.check(Array(body.utf8)) == "1f3c0d6e-6a52-5b0e-9c38-4c1d5a0e7b21")
    }

    @Test(
        arguments: [
            (
                RecordKind.bloodPressure, "systolic", 160, -1, "kPa",
                #""systolic","origin":"device","unit":"mmHg","value":120.0}"#
            ),
            (
                .bloodPressure, "diastolic", 11, 0, "kPa",
                #""diastolic","origin":"device","unit":"mmHg","value":83}"#
            ),
            (.bodyTemperature, "body-temperature", 3660, -2, "Cel", #""unit":"C","value":36.60}"#),
            (.bodyTemperature, "body-temperature", 986, -1, "[degF]", #""unit":"C","value":37.00}"#),
            (.bodyTemperature, "body-temperature", 987, -1, "[degF]", #""unit":"C","value":37.06}"#),
            (.bodyTemperature, "body-temperature", 10, 0, "[degF]", #""unit":"C","value":-12.2}"#),
            (.weight, "weight", 15432, -2, "[lb_av]", #""unit":"kg","value":69.998}"#),
            (
                .weight, "weight", 70005, -3, "kg",
                #""body_weight","origin":"device","unit":"kg","value":70.005}"#
            ),
            (.weight, "bmi", 225, -1, "kg/m2", #""bmi","origin":"device","unit":"kg/m2","value":22.5}"#),
            (
                .glucose, "glucose", 54, -1, "mmol/L",
                #""blood_glucose","origin":"device","unit":"mmol/L","value":5.4}"#
            ),
            (.glucose, "glucose", 12, 1, "mg/dL", #""unit":"mg/dL","value":120}"#),
            (.pulseOximetry, "spo2", 97, 0, "%", #""spo2","origin":"device","unit":"percent","value":97}"#),
            (.heartRate, "heart-rate", 61, 0, "/min", #""pulse","origin":"device","unit":"bpm","value":61}"#),
        ] as [(RecordKind, String, Int64, Int8, String, String)])
    func aValueHasItsDigitsAndUnit(
        kind: RecordKind, type: String, coefficient: Int64, exponent: Int8, unit: String, expected: String
    ) throws {
        let body = try #require(try Self.body(Self.record(kind, [(type, coefficient, exponent, unit)])))
        #expect(body.contains(expected), "\(body)")
        _ = try FakeValidic.check(Array(body.utf8))
    }

    @Test func aTimeThatIsAnUpperBoundSaysSo() throws {
        let body = try #require(
            try Self.body(Self.record(.heartRate, [("heart-rate", 61, 0, "/min")], source: .unknown)))
        #expect(body.contains(#""user_notes":[{"type":"message","value":"The time is not known"#))
        _ = try FakeValidic.check(Array(body.utf8))
    }

    @Test(arguments: [
        ("meal-preprandial", "before"), ("meal-postprandial", "after"), ("meal-fasting", "fasting"),
        ("meal-casual", "random"),
    ])
    func aMealIsANote(flag: String, expected: String) throws {
        var entry = SampleEntries.glucose
        entry.flags = [flag]
        let record = try #require(EnteredRecord(entry, gateway: "box", received: 1_795_166_107))
        let content = try #require(RecordContent(json: record.body))
        let body = try #require(Validic.body(of: content, sourceType: "ingestd"))
        let note = #""user_notes":[{"type":"relationship_to_meal","value":"\#(expected)"}]"#
        #expect(String(decoding: body, as: UTF8.self).contains(note))
        #expect(try FakeValidic.check(body) == record.id.text)
    }

    @Test func whatHasNoFormIsNotSent() throws {
        #expect(try Self.body(Self.record(.bodyComposition, [("weight", 70, 0, "kg")])) == nil)
        #expect(try Self.body(Self.record(.weight, [("height", 180, -2, "m")])) == nil)
        var absent = try Self.record(.glucose, [("glucose", 54, -1, "mmol/L")])
        absent.measurements[0].value = .absent(.notANumber)
        #expect(try Self.body(absent) == nil)
    }

    @Test(arguments: ["type-control-solution", "data-for-demonstration", "status-test-data"])
    func aTestIsNobodysMeasurement(flag: String) throws {
        var record = try Self.record(.glucose, [("glucose", 97, 0, "mg/dL")])
        record.flags = ["location-finger", flag]
        let content = try #require(RecordContent(json: record.json))
        #expect(content.reasonNotToFile(under: "patient-17") == "is no measurement of a person (\(flag))")
        record.flags = ["location-finger"]
        #expect(RecordContent(json: record.json)?.reasonNotToFile(under: "patient-17") == nil)
    }

    @Test(arguments: ["invalid-measurement-detected", "status-invalid"])
    func whatTheDeviceMarkedAsInvalidIsNobodysMeasurement(flag: String) throws {
        var record = try Self.record(.pulseOximetry, [("spo2", 97, 0, "%")])
        record.flags = ["measurement-ongoing", flag]
        let content = try #require(RecordContent(json: record.json))
        #expect(
            content.reasonNotToFile(under: "patient-17") == "is marked as invalid by the device (\(flag))")
    }

    @Test func aDayThatBeginsInAnotherZoneIsTheDayInUTC() throws {
        var record = try Self.record(.heartRate, [("heart-rate", 61, 0, "/min")])
        record.time.value = "2027-01-01T00:30:00+05:30"
        let body = try #require(try Self.body(record))
        #expect(
            body.contains(#""start_time":"2026-12-31T19:00:00Z""#) && body.contains(#""utc_offset":19800"#))
        record.time.value = "2026-12-31T20:30:00-03:30"
        #expect(try Self.body(record)?.contains(#""start_time":"2027-01-01T00:00:00Z""#) == true)
    }

    @Test func theFakeRefusesWhatTheSpecificationDoesNotHave() throws {
        let good = try #require(try Self.body(Self.record(.heartRate, [("heart-rate", 61, 0, "/min")])))
        for (part, other) in [
            (#""version":"1.0""#, #""version":"1.0","extra":1"#), (#""value":61"#, #""value":"61""#),
            (#""unit":"bpm""#, #""unit":"/min""#), (#""id":null,"#, ""),
            (#""type":"measurement""#, #""type":1"#),
        ] {
            let bad = good.replacing(part, with: other)
            #expect(bad != good)
            #expect(throws: FakeValidic.Fault.self) { try FakeValidic.check(Array(bad.utf8)) }
        }
    }
}
