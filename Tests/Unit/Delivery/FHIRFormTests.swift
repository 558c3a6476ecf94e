import FoundationEssentials
import TestSupport
import Testing

@testable import IngestDelivery
@testable import IngestRecords

/// The form that records have in FHIR.
@Suite struct FHIRFormTests {
    private static let glucose = measurement("glucose", 160020, 54, -1, "mmol/L")
    static let heartRate = measurement("heart-rate", 147842, 61, 0, "/min")

    static func measurement(
        _ type: String, _ code: UInt32?, _ coefficient: Int64, _ exponent: Int8, _ unit: String
    ) -> Measurement {
        Measurement(
            type: type, code: code,
            value: .exact(ExactDecimal(coefficient: coefficient, exponent: exponent)), unit: unit)
    }

    static func record(
        _ kind: RecordKind, _ measurements: [Measurement], flags: [String] = [],
        source: RecordTime.Source = .received, device: DeviceTime? = nil, clockOffset: Int? = nil,
        characteristic: BluetoothUUID = 0x2B8B, id: String = "1f3c0d6e-6a52-5b0e-9c38-4c1d5a0e7b21"
    ) throws -> Record {
        Record(
            id: RecordID(text: id), kind: kind, stage: .live,
            time: RecordTime(
                value: "2026-11-20T09:15:00+01:00", source: source, device: device,
                clockOffsetSeconds: clockOffset, received: "2026-11-20T08:15:04Z"),
            measurements: measurements, flags: flags, sequence: nil, user: nil, subject: "patient-17",
            device: DeviceBlock(
                peripheralID: 1001, address: try #require(BluetoothAddress("F1:F1:F1:F1:F1:F1")), alias: nil),
            gateway: "ward-3-box-1", raw: RawPayload(characteristic: characteristic, bytes: [0x1E]),
            isSimulated: false)
    }

    private static let shown = DeviceTime(year: 2026, month: 11, day: 20, hours: 9, minutes: 13, seconds: 30)

    /// What the samples of the kinds do not have.
    private static func specials() throws -> [Record] {
        let temperature = measurement("body-temperature", 150364, 3660, -2, "Cel")
        func absent(_ reason: AbsentReason) -> Measurement {
            var measurement = temperature
            measurement.value = .absent(reason)
            return measurement
        }
        let spo2 = measurement("spo2", 150456, 98, 0, "%")
        let unknown = measurement("mdc-163840", 163840, 1, 2, "{mdc-262656}")
        return [
            try record(.bodyTemperature, AbsentReason.allCases.map(absent), characteristic: 0x2A1C),
            try record(.pulseOximetry, [spo2], flags: ["status-invalid", "status-questionable"]),
            try record(.pulseOximetry, [spo2], flags: ["measurement-unavailable"]),
            try record(
                .pulseOximetry, [spo2],
                flags: [
                    "status-questionable", "status-early-estimate", "status-threshold-error", "modality-fast",
                ]),
            try record(.pulseOximetry, [spo2], flags: ["supplemental-mdc-150588"]),
            try record(.healthObservation, [unknown], flags: ["status-setting", "value-in-raw"]),
            try record(
                .healthObservation, [unknown, measurement("measurement-duration", nil, 905, -1, "s")],
                source: .device, device: DeviceTime(wallSeconds: shown.wallSeconds + 90)),
            try record(
                .healthObservation, [unknown, measurement("measurement-duration", nil, 905, -1, "s")]),
            try record(.heartRate, [heartRate], source: .unknown),
            // Corrected, by a clock that is 90 s behind; not believed; as it is.
            try record(.bodyTemperature, [temperature], source: .device, device: shown, clockOffset: -90),
            try record(.bodyTemperature, [temperature], device: shown),
            try record(
                .bodyTemperature, [temperature], source: .device,
                device: DeviceTime(wallSeconds: shown.wallSeconds + 90), clockOffset: 0,
                characteristic: 0x2A1C),
            try record(
                .heartRate,
                [heartRate] + [922, 931].map { measurement("rr-interval", nil, $0, -3, "s") },
                flags: ["sensor-contact", "location-chest"], characteristic: 0x2A37),
            try record(.bloodPressure, [measurement("systolic", 150021, 120, 0, "mm[Hg]")]),
            try record(
                .bloodPressure,
                [
                    measurement("systolic", 150021, 120, 0, "mm[Hg]"),
                    measurement("diastolic", 150022, 80, 0, "mm[Hg]"),
                ],
                flags: ["status-invalid"]),
            try record(.glucose, [measurement("glucose", 160184, 54, -1, "mmol/L")], characteristic: 0x2A18),
            try record(
                .continuousGlucose, [measurement("glucose", 160212, 97, 0, "mg/dL")],
                flags: ["type-interstitial-fluid", "location-subcutaneous-tissue"], characteristic: 0x2AA7),
            try record(
                .continuousGlucose, [measurement("glucose", 160212, 54, -1, "mmol/L")], characteristic: 0x2AA7
            ),
            try record(
                .continuousGlucose,
                [
                    Measurement(
                        type: "glucose", code: 160212, value: .absent(.aboveDeviceRange), unit: "mg/dL")
                ],
                characteristic: 0x2AA7),
            try record(.glucoseContext, [], flags: ["meal-bedtime"], characteristic: 0x2A34),
            try record(.bodyTemperature, [temperature], flags: ["site-mouth"], characteristic: 0x2A1C),
            try record(.healthObservation, [measurement("respiratory-rate", 151562, 16, 0, "/min")]),
            try record(
                .continuousGlucose, [measurement("glucose", 160212, 97, 0, "mg/dL")],
                flags: ["lower-than-hypo", "calibration-pending"], characteristic: 0x2AA7),
        ]
    }

    /// Of every kind, from the records of every kind.
    private static func records() throws -> [RecordContent] {
        let path = Repository.root + "/Tests/System/Webhook/records.ndjson"
        let lines = try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n").map(String.init)
        let all = lines + (try specials().map(\.json))
        let read = try all.map { line in
            var content = try #require(RecordContent(json: line))
            if content.subject == nil { content.subject = "patient-17" }
            return content
        }
        // Entered by hand, at once and over a span of time.
        let entered = try [glucose, heartRate].map { measurement in
            var content = try #require(RecordContent(json: record(.glucose, [measurement]).json))
            content.address = ""
            content.end = measurement == glucose ? nil : content.time + 600
            return content
        }
        return read + entered
    }

    private static func text(_ records: [RecordContent], patientSystem: String? = "urn:oid:2.999.1") -> String
    {
        String(decoding: FHIRBundle(records: records, patientSystem: patientSystem).bytes, as: UTF8.self)
    }

    private static func text(_ record: Record, patientSystem: String? = "urn:oid:2.999.1") throws -> String {
        text([try #require(RecordContent(json: record.json))], patientSystem: patientSystem)
    }

    /// A picture of one black point.
    private static let png = """
        iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNgAAAAAgABSK+kcQAAAABJRU5ErkJggg==
        """

    private static func media(patientSystem: String? = "urn:oid:2.999.1") throws -> String {
        let bytes = try #require(Data(base64Encoded: png))
        let image = try #require(
            EnteredImage(bytes, of: SampleEntries.glucose, gateway: "box", received: 1_795_166_107))
        let record = try #require(RecordContent(json: image.body))
        return String(
            decoding: FHIRMedia(record: record, image: bytes, patientSystem: patientSystem).bytes,
            as: UTF8.self)
    }

    @Test func anImageIsAMediaOfItsObservations() throws {
        let text = try Self.media(patientSystem: nil)
        let entry = SampleEntries.glucose.id(gateway: "box")
        #expect(
            text.contains(
                #""partOf":[{"type":"Observation","identifier":{"system":"urn:ietf:rfc:3986","#
                    + #""value":"urn:uuid:\#(entry)"}}],"status":"completed""#))
        #expect(text.contains(#""subject":{"reference":"Patient/patient-17"}"#))
        #expect(text.contains(#""content":{"contentType":"image/png","data":"\#(Self.png)","size":67,"#))
        #expect(!text.contains(#""resourceType":"Patient""#) && !text.contains(#""resourceType":"Device""#))
        #expect(try Self.media(patientSystem: nil) == text)
    }

    /// In parts, which must make one base64.
    @Test(arguments: [0, 1, 2, 3, 3 << 14, 3 << 14 + 1, 100_000])
    func bytesAreWrittenAsBase64(count: Int) {
        let data = Data((0..<count).map { UInt8(truncatingIfNeeded: $0 / 7) })
        var text = JSONText()
        text.value(base64: data)
        #expect(text.string == "\"\(data.base64EncodedString())\"")
        #expect(text.bytes.count == JSONText.base64Length(of: count) + 2)
    }

    /// `RECORDS=write` writes the file anew. Tests/System/FHIR/run holds it against what the specification and the
    /// guide say.
    @Test func transactionsAreThoseOfTheFile() throws {
        let file = Repository.root + "/Tests/System/FHIR/transactions.ndjson"
        let kinds = try #require(FHIRSettings(url: "").kinds)
        let sent = try Self.records().filter {
            kinds.contains($0.kind) && FHIRBundle.obstacle($0, patientSystem: "urn:oid:2.999.1") == nil
        }
        #expect(Set(sent.map(\.kind)) == kinds.subtracting([.mibeacon, .nutrition]))
        let lines = sent.map { Self.text([$0]) + "\n" }.joined() + (try Self.media()) + "\n"
        if ProcessInfo.processInfo.environment["RECORDS"] == "write" {
            try Data(lines.utf8).write(to: URL(filePath: file))
        }
        let written = try String(contentsOfFile: file, encoding: .utf8).split(separator: "\n")
        #expect(written.count == sent.count + 1)
        for (line, expected) in zip(lines.split(separator: "\n"), written) { #expect(line == expected) }
    }

    @Test func whatHasNoFormIsNotSent() throws {
        for record in try Self.records() where [.bthome, .battery, .undecoded].contains(record.kind) {
            #expect(
                FHIRBundle.obstacle(record, patientSystem: nil)
                    == "has no value that this destination has a form for")
        }
        let scale = Self.measurement("weight", 188736, 7000, -2, "kg")
        let record = try Self.record(
            .mibeacon, [Self.measurement("temperature", nil, 180, -1, "Cel"), scale])
        let text = try Self.text(record)
        #expect(text.contains("29463-7") && !text.contains("Cel"))
    }

    /// A device's clock can be set 16 h ahead of UTC (DST on top of the last zone); FHIR's dateTime ends at 14 h.
    @Test(arguments: [
        ("2026-11-20T09:15:00+14:00", "2026-11-20T09:15:00+14:00"),
        ("2026-11-20T09:15:00-12:00", "2026-11-20T09:15:00-12:00"),
        ("2026-11-20T09:15:00+14:15", "2026-11-19T19:00:00+00:00"),
        ("2026-11-20T09:15:00+16:00", "2026-11-19T17:15:00+00:00"),
    ])
    func aZoneThatFHIRDoesNotHaveIsUTC(value: String, expected: String) throws {
        var record = try Self.record(.heartRate, [Self.heartRate])
        record.time.value = value
        #expect(try Self.text(record).contains(#""effectiveDateTime":"\#(expected)""#))
    }

    @Test func severalRecordsShareTheirDeviceGatewayAndPerson() throws {
        let first = try Self.record(.heartRate, [Self.heartRate], id: "00000000-0000-5000-8000-000000000001")
        var second = try Self.record(.heartRate, [Self.heartRate], id: "00000000-0000-5000-8000-000000000002")
        second.device.address = try #require(BluetoothAddress("F2:F1:F1:F1:F1:F1"))
        second.device.manufacturer = "ACME"
        let contents = try [first, second, first].map { try #require(RecordContent(json: $0.json)) }
        let text = Self.text(Array(contents.prefix(2)))
        #expect(text.ranges(of: #""resourceType":"Patient""#).count == 1)
        #expect(text.ranges(of: #""resourceType":"Device""#).count == 3)
        #expect(text.ranges(of: #""resourceType":"Observation""#).count == 2)
        #expect(text.ranges(of: #""_manufacturer""#).count == 1)
        #expect(Self.text(contents) == Self.text(contents))
        #expect(!Self.text(contents, patientSystem: nil).contains(#""resourceType":"Patient""#))
    }

    @Test(arguments: [
        ("urn:oid:2.999.1", "patient-17", "identifier=urn:oid:2.999.1|patient-17"),
        ("http://h.example/a?b=c&d", "a b", "identifier=http://h.example/a%3Fb%3Dc%26d|a%20b"),
        ("urn:oid:2.999.1", "a|b,c$\\é+", "identifier=urn:oid:2.999.1|a%5C%7Cb%5C%2Cc%5C%24%5C%5C%C3%A9%2B"),
    ])
    func aNameIsSearchedForExactly(system: String, value: String, expected: String) {
        #expect(FHIRBundle.Name(type: "Patient", system: system, value: value).condition == expected)
    }

    @Test(arguments: [
        (Self.measurement("systolic", 150021, 160, -1, "kPa"), #""value":120.0,"unit":"mm[Hg]""#),
        (Self.measurement("height", 188740, 1755, -3, "m"), #""value":175.5,"unit":"cm""#),
        (Self.measurement("height", 188740, 690, -1, "[in_i]"), #""value":69.0,"unit":"[in_i]""#),
        (Self.measurement("body-temperature", 150364, 3660, -2, "Cel"), #""value":36.60,"unit":"Cel""#),
        (Self.measurement("body-temperature", 150364, 986, -1, "[degF]"), #""value":98.6,"unit":"[degF]""#),
        (Self.measurement("weight", 188736, 15432, -2, "[lb_av]"), #""value":154.32,"unit":"[lb_av]""#),
        (Self.measurement("weight", 188736, 114, -1, "[stone_av]"), #""value":159.6,"unit":"[lb_av]""#),
        (Self.measurement("weight", 188736, 2_557, 0, "[oz_av]"), #""value":159.8125,"unit":"[lb_av]""#),
        (Self.measurement("height", 188740, 591, -2, "[ft_i]"), #""value":70.92,"unit":"[in_i]""#),
        (Self.measurement("height", 188740, 1_755, 0, "mm"), #""value":175.5,"unit":"cm""#),
        (Self.measurement("heart-rate", 147842, 105, -2, "/s"), #""value":63.00,"unit":"/min""#),
        (Self.measurement("glucose", 160184, 12, 1, "mg/dL"), #""value":120,"unit":"mg/dL""#),
        (Self.measurement("glucose", 160184, 54, -1, "mmol/L"), #""value":5.4,"unit":"mmol/L""#),
    ])
    func aNumberHasItsDigits(_ measurement: Measurement, _ expected: String) throws {
        #expect(try Self.text(try Self.record(.healthObservation, [measurement])).contains(expected))
    }

    @Test func whatWasImportedSaysWhereItIsFrom() throws {
        var entry = SampleEntries.steps
        entry.kind = .heartRate
        entry.values = [
            .init(
                type: "heart-rate", code: 147842, number: ExactDecimal(coefficient: 62, exponent: 0),
                unit: "/min")
        ]
        entry.subject = "patient-17"
        let record = try #require(EnteredRecord(entry, gateway: "box", received: 1_795_166_104))
        let text = Self.text([try #require(RecordContent(json: record.body))])
        #expect(text.contains(#""device":{"display":"Apple Inc. Watch 10.1"}"#))
        #expect(
            text.contains(
                #""Not read from a device by the gateway: imported from Anna's \"Watch\" 10.1."},"#
                    + #"{"text":"It says: user-entered."}"#))
    }

    @Test func anImportedMealSaysWhereItIsFrom() throws {
        var content = try #require(
            RecordContent(json: try Self.record(.glucose, [Self.glucose], flags: ["meal-fasting"]).json))
        content.address = ""
        let observations = Self.text([content]).split(separator: #""resourceType":"Observation""#).dropFirst()
        #expect(observations.count == 2)
        #expect(observations.allSatisfy { $0.contains("Not read from a device by the gateway") })
    }

    /// It would be another at a gateway in another zone.
    @Test(arguments: [[], ["device-time-utc"]])
    func aTimeInUTCAloneHasNotTheGuidesIdentifier(flags: [String]) throws {
        let record = try Self.record(
            .bloodPressure, [Self.measurement("systolic", 150021, 126, 0, "mm[Hg]")], flags: flags,
            source: .device, device: Self.shown, characteristic: 0x2B34)
        let seconds = Self.shown.wallSeconds - 946_684_800
        #expect(
            Self.text([try #require(RecordContent(json: record.json))]).contains("-\(seconds)")
                == flags.isEmpty)
    }

    /// The guide's code system ASN1ToHL7 has these bits.
    @Test(arguments: [
        (
            RecordKind.bloodPressure,
            [
                "body-movement", "cuff-too-loose", "irregular-pulse", "pulse-rate-exceeds-upper-limit",
                "pulse-rate-less-than-lower-limit", "improper-measurement-position",
            ], "8410608", Array(0...5)
        ),
        (
            .glucose,
            [
                "device-battery-low", "sensor-malfunction", "sample-size-insufficient",
                "strip-insertion-error", "strip-type-incorrect", "sensor-result-too-high",
                "sensor-result-too-low", "sensor-temperature-too-high", "sensor-temperature-too-low",
                "sensor-read-interrupted", "general-device-fault",
            ], "8417752", Array(0...10)
        ),
        (
            .continuousGlucose,
            [
                "session-stopped", "sensor-type-incorrect", "sensor-malfunction", "device-specific-alert",
                "calibration-not-allowed", "calibration-recommended", "calibration-required",
                "sensor-temperature-too-high", "sensor-temperature-too-low", "lower-than-patient-low",
                "higher-than-patient-high", "lower-than-hypo", "higher-than-hyper",
                "rate-of-decrease-exceeded", "rate-of-increase-exceeded", "sensor-result-too-low",
                "sensor-result-too-high",
            ], "8418060", [0, 2, 3, 4, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19]
        ),
    ])
    func aStatusIsAnObservationOfBits(kind: RecordKind, flags: [String], code: String, bits: [Int]) throws {
        let measured =
            kind == .bloodPressure ? Self.measurement("systolic", 150021, 120, 0, "mm[Hg]") : Self.glucose
        for (flag, bit) in zip(flags, bits) {
            let text = try Self.text(try Self.record(kind, [measured], flags: [flag]))
            let component =
                #""component":[{"code":{"coding":[{"system":"http://terminology.hl7.org/CodeSystem/ASN1ToHL7","#
                + #""code":"\#(code).\#(bit)"}]},"valueBoolean":true}]"#
            #expect(text.contains(component) && text.contains("PhdBitsEnumerationObservation"), "\(flag)")
            #expect(!text.contains("The device says"), "\(flag)")
        }
        let all = try Self.text(try Self.record(kind, [measured], flags: flags + ["time-fault"]))
        #expect(all.ranges(of: #""valueBoolean":true"#).count == bits.count)
        #expect(all.contains("The device says: time-fault."))
        // It is of what was measured.
        let name = FHIRBundle.Name(
            type: "Observation", system: FHIRSystem.own,
            value: "1f3c0d6e-6a52-5b0e-9c38-4c1d5a0e7b21-" + (kind == .bloodPressure ? "150020" : "160020"))
        #expect(all.contains(#""derivedFrom":[{"reference":"\#(name.fullURL)","type":"Observation"}]"#))
    }

    @Test(
        arguments: [
            ("body-temperature", 150364, "site-armpit", "188452", "MDC_TEMP_AXILLA"),
            ("body-temperature", 150364, "site-body", "150364", "MDC_TEMP_BODY"),
            ("body-temperature", 150364, "site-ear", "188428", "MDC_TEMP_EAR"),
            ("body-temperature", 150364, "site-finger", "188432", "MDC_TEMP_FINGER"),
            ("body-temperature", 150364, "site-gastrointestinal-tract", "188456", "MDC_TEMP_GIT"),
            ("body-temperature", 150364, "site-mouth", "188424", "MDC_TEMP_ORAL"),
            ("body-temperature", 150364, "site-rectum", "188420", "MDC_TEMP_RECT"),
            ("body-temperature", 150364, "site-toe", "188448", "MDC_TEMP_TOE"),
            ("body-temperature", 150364, "site-tympanum", "150392", "MDC_TEMP_TYMP"),
            ("carbohydrate", 8_417_764, "carbohydrate-lunch", "8417772", "MDC_CTXT_GLU_CARB_LUNCH"),
            (
                "medication", 8_417_796, "medication-rapid-acting-insulin", "8417800",
                "MDC_CTXT_MEDICATION_RAPIDACTING"
            ),
        ] as [(String, UInt32, String, String, String)])
    func whatAFlagSaysOfATypeIsInTheCode(
        type: String, code: UInt32, flag: String, expected: String, name: String
    ) throws {
        let isTemperature = type == "body-temperature"
        let text = try Self.text(
            try Self.record(
                isTemperature ? .bodyTemperature : .glucoseContext,
                [Self.measurement(type, code, 3660, -2, isTemperature ? "Cel" : "g")], flags: [flag]))
        #expect(text.contains(#""code":"\#(expected)","display":"\#(name)"}"#))
        #expect(text.contains("8310-5") == isTemperature)
        #expect(!text.contains("bodySite") && !text.contains("68193") && !text.contains(flag))
    }

    /// The guide, PhdBaseObservation: "Test data should in most cases not be uploaded to a FHIR server".
    @Test(arguments: [
        "status-test-data", "data-for-testing", "data-for-demonstration", "type-control-solution",
        "location-control-solution",
    ])
    func testDataAreNotSent(flag: String) throws {
        let record = try #require(
            RecordContent(json: try Self.record(.glucose, [Self.glucose], flags: [flag]).json))
        #expect(
            FHIRBundle.obstacle(record, patientSystem: nil) == "is no measurement of a person (\(flag))")
    }

    @Test func aUnitThatR4DoesNotAllowIsNoVitalSign() throws {
        let temperature = Self.measurement("body-temperature", 150364, 3098, -1, "K")
        let text = try Self.text(try Self.record(.bodyTemperature, [temperature]))
        #expect(text.contains("150364") && !text.contains("8310-5") && !text.contains("vital-signs"))
    }

    @Test func anObservationThatStandsTwiceInARecordHasTwoNames() throws {
        let text = try Self.text(
            try Self.record(.heartRate, [1, 2].map { Self.measurement("rr-interval", nil, $0, 0, "s") }))
        #expect(text.contains(#"4c1d5a0e7b21-147240""#) && text.contains(#"4c1d5a0e7b21-147240.2""#))
    }
}
