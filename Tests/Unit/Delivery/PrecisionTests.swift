import TestSupport
import Testing

@testable import IngestDelivery
@testable import IngestRecords

/// What a device sent, what the queue holds and what each destination gets: the same digits, or a documented conversion
/// with as many decimals as it says.
@Suite struct PrecisionTests {
    /// A value in another unit is (value - minus) × by / over, with so many decimals more.
    private struct Conversion {
        var minus: Int128 = 0
        var by: Int128 = 1
        var over: Int128 = 1
        var moreDecimals = 0
    }

    private static let conversions: [String: Conversion] = [
        // BIPM, The International System of Units, 8th edition, table 8: 133.322387415 Pa.
        "kPa mm[Hg]": Conversion(by: 1_000_000_000_000, over: 133_322_387_415),
        "[degF] Cel": Conversion(minus: 32, by: 5, over: 9, moreDecimals: 1),
        // International pound and yard: 0.45359237 kg, 0.9144 m.
        "[lb_av] kg": Conversion(by: 45_359_237, over: 100_000_000, moreDecimals: 1),
        "[stone_av] kg": Conversion(by: 14 * 45_359_237, over: 100_000_000, moreDecimals: 1),
        "[oz_av] kg": Conversion(by: 45_359_237, over: 1_600_000_000, moreDecimals: 2),
        "[stone_av] [lb_av]": Conversion(by: 14), "[oz_av] [lb_av]": Conversion(over: 16, moreDecimals: 4),
        "g kg": Conversion(over: 1_000, moreDecimals: 3), "[in_i] cm": Conversion(by: 254, over: 100),
        "[ft_i] cm": Conversion(by: 3_048, over: 100), "[ft_i] [in_i]": Conversion(by: 12),
        "m cm": Conversion(by: 100, moreDecimals: -2), "mm cm": Conversion(over: 10, moreDecimals: 1),
        "/s /min": Conversion(by: 60),
        // Glucose has 180.156 g/mol.
        "mmol/L mg/dL": Conversion(by: 180_156, over: 10_000),
        "mg/dL mmol/L": Conversion(by: 10_000, over: 180_156, moreDecimals: 3),
    ]

    /// A kind of value in one unit, and what stands before it in the text for each destination, with the unit there; nil: it
    /// is not sent there.
    private struct Row: Sendable, CustomTestStringConvertible {
        let kind: RecordKind
        let type: String
        let code: UInt32
        let unit: String
        var record = "\"value\":"
        var fhir: String?
        var junction: (String, String)?
        var inform: (String, String)?
        var first: (String, String)?
        var spike: (String, String)?

        var testDescription: String { "\(kind.rawValue) \(type) \(unit)" }
    }

    private static func pressure(_ unit: String) -> Row {
        Row(
            kind: .bloodPressure, type: "systolic", code: 150021, unit: unit, fhir: "mm[Hg]",
            junction: ("\"systolic\":{\"value\":", "mm[Hg]"), inform: ("mmHg\",\"value\":", "mm[Hg]"),
            first: ("\"systolic\":", "mm[Hg]"))
    }

    private static func glucose(_ unit: String) -> Row {
        Row(
            kind: .glucose, type: "glucose", code: 160184, unit: unit, fhir: unit,
            junction: ("\"value\":", "mmol/L"),
            inform: ("\"value\":", unit), first: ("\"blood_glucose\":", "mg/dL"),
            spike: ("\"avg_value\":", "mg/dL"))
    }

    private static func weight(_ unit: String, fhir: String) -> Row {
        Row(
            kind: .weight, type: "weight", code: 188736, unit: unit, fhir: fhir,
            junction: ("\"value\":", "kg"),
            inform: ("\"value\":", "kg"), first: ("\"weight\":", "kg"),
            spike: ("\"weight_kg\":{\"value\":", "kg"))
    }

    private static func height(_ unit: String, fhir: String) -> Row {
        Row(
            kind: .weight, type: "height", code: 188740, unit: unit, fhir: fhir, first: ("\"height\":", "cm"),
            spike: ("\"height_cm\":{\"value\":", "cm"))
    }

    private static func rate(_ unit: String) -> Row {
        Row(
            kind: .heartRate, type: "heart-rate", code: 147842, unit: unit, fhir: "/min",
            junction: ("\"value\":", "/min"), inform: ("\"value\":", "/min"),
            spike: ("\"avg_hr\":", "/min"))
    }

    private static func breathing(_ unit: String) -> Row {
        Row(
            kind: .healthObservation, type: "respiratory-rate", code: 151562, unit: unit, fhir: "/min",
            junction: ("\"value\":", "/min"), spike: ("\"avg_value\":", "/min"))
    }

    private static let rows: [Row] = [
        pressure("mm[Hg]"), pressure("kPa"), glucose("mg/dL"), glucose("mmol/L"),
        weight("kg", fhir: "kg"), weight("g", fhir: "g"), weight("[lb_av]", fhir: "[lb_av]"),
        weight("[stone_av]", fhir: "[lb_av]"), weight("[oz_av]", fhir: "[lb_av]"),
        height("m", fhir: "cm"), height("cm", fhir: "cm"), height("mm", fhir: "cm"),
        height("[in_i]", fhir: "[in_i]"),
        height("[ft_i]", fhir: "[in_i]"), rate("/min"), rate("/s"), breathing("/min"), breathing("/s"),
        Row(
            kind: .bodyTemperature, type: "body-temperature", code: 150364, unit: "Cel", fhir: "Cel",
            junction: ("\"value\":", "Cel"), inform: ("\"value\":", "Cel"), first: ("\"temperature\":", "Cel")
        ),
        Row(
            kind: .bodyTemperature, type: "body-temperature", code: 150364, unit: "[degF]", fhir: "[degF]",
            junction: ("\"value\":", "Cel"), inform: ("\"value\":", "Cel"), first: ("\"temperature\":", "Cel")
        ),
        Row(
            kind: .pulseOximetry, type: "spo2", code: 150456, unit: "%", fhir: "%",
            junction: ("\"value\":", "%"),
            inform: ("\"value\":", "%"), first: ("\"spo2\":", "%"), spike: ("\"avg\":", "%")),
        Row(
            kind: .bodyComposition, type: "body-fat", code: 188748, unit: "%", fhir: "%",
            junction: ("\"value\":", "%"),
            first: ("\"fat_percent\":", "%"), spike: ("\"bodyfat_percentage\":{\"value\":", "%")),
        Row(
            kind: .weight, type: "bmi", code: 188752, unit: "kg/m2", fhir: "kg/m2",
            junction: ("\"value\":", "kg/m2"),
            inform: ("\"value\":", "kg/m2"), first: ("\"bmi\":", "kg/m2"),
            spike: ("\"BMI\":{\"value\":", "kg/m2")),
    ]

    @Test(arguments: rows)
    private func eachDestinationGetsTheNumberThatTheDeviceSent(row: Row) throws {
        var random = SeededGenerator(seed: UInt64(row.code) &* 31 &+ UInt64(row.unit.utf8.count))
        for _ in 0..<200 {
            let sent = ExactDecimal(
                coefficient: Int64.random(in: 1...99_999, using: &random),
                exponent: Int8.random(in: -4...1, using: &random))
            var record = try ValidicFormTests.record(
                row.kind, [(row.type, sent.coefficient, sent.exponent, row.unit)])
            record.measurements[0].code = row.code
            if row.kind == .bloodPressure {
                var diastolic = record.measurements[0]
                (diastolic.type, diastolic.code) = ("diastolic", 150022)
                record.measurements.append(diastolic)
            }
            try check(record.json, after: row.record, in: row.unit, sent, row)
            let content = try #require(RecordContent(json: record.json))
            let fhir = String(
                decoding: FHIRBundle(records: [content], patientSystem: nil).bytes, as: UTF8.self)
            try check(fhir, after: "\"value\":", in: row.fhir, sent, row)
            let settings = JunctionSettings(
                user: FakeJunction.user, timeZone: "Europe/London", providers: [:])
            if let (start, unit) = row.junction {
                let request = try #require(try JunctionForm.requests(for: [content], settings).first)
                try check(String(decoding: request.body, as: UTF8.self), after: start, in: unit, sent, row)
            }
            if let (start, unit) = row.inform {
                let body = try #require(Validic.body(of: content, sourceType: "ingestd"))
                try check(String(decoding: body, as: UTF8.self), after: start, in: unit, sent, row)
            }
            if let (start, unit) = row.first {
                let body = try #require(ValidicRecord(content)).body(token: "t")
                try check(String(decoding: body, as: UTF8.self), after: start, in: unit, sent, row)
            }
            if let (start, unit) = row.spike {
                let body = try #require(SpikeNotification(content)).body
                try check(String(decoding: body, as: UTF8.self), after: start, in: unit, sent, row)
            }
        }
    }

    /// The number that stands behind `start` is what was sent, in this unit: exactly, or the nearest that has the decimals
    /// which its conversion gives it.
    private func check(
        _ text: String, after start: String, in unit: String?, _ sent: ExactDecimal, _ row: Row
    ) throws {
        guard let unit else { return }
        // Texts are called values too.
        let found = text.ranges(of: start).lazy.map { place in
            String(text[place.upperBound...].prefix { "-.0123456789".contains($0) })
        }
        let digits = try #require(found.first { !$0.isEmpty }, "\(row) \(start) \(text)")
        let got = try #require(ExactDecimal(json: digits), "\(row) \(digits)")
        // As it stands in the record: a positive exponent is written out.
        let own = try #require(ExactDecimal(json: sent.description))
        guard unit != row.unit else {
            #expect(digits == sent.description, "\(row)")
            return
        }
        let conversion = try #require(Self.conversions["\(row.unit) \(unit)"], "\(row) \(unit)")
        #expect(
            Int(-got.exponent) == max(Int(-own.exponent) + conversion.moreDecimals, 0),
            "\(row) \(sent) \(digits)")
        // 2 |got - exact| is at most one unit of the last place, all times over × 10^(decimals of both).
        let (mine, theirs) = (Self.power(-own.exponent), Self.power(-got.exponent))
        let exact = (Int128(own.coefficient) - conversion.minus * mine) * conversion.by * theirs
        let distance = Int128(got.coefficient) * conversion.over * mine - exact
        #expect(2 * distance.magnitude <= (conversion.over * mine).magnitude, "\(row) \(sent) \(digits)")
    }

    private static func power(_ exponent: Int8) -> Int128 {
        (0..<max(exponent, 0)).reduce(Int128(1)) { power, _ in power * 10 }
    }
}
