import IngestRecords
import Testing

@testable import IngestDelivery

/// What a laboratory found, in FHIR.
@Suite struct FHIRLaboratoryTests {
    @Test(
        arguments: [
            ("total-cholesterol 182 mg/dL", "2093-3"), ("total-cholesterol 4.70 mmol/L", "14647-2"),
            ("hdl-cholesterol 51 mg/dL", "2085-9"), ("hdl-cholesterol 1.3 mmol/L", "14646-4"),
            ("ldl-cholesterol 110 mg/dL", "2089-1"), ("ldl-cholesterol 2.8 mmol/L", "22748-8"),
            ("triglycerides 120 mg/dL", "2571-8"), ("triglycerides 1.4 mmol/L", "14927-8"),
            ("blood-calcium 9.4 mg/dL", "17861-6"), ("blood-potassium 4.1 mmol/L", "2823-3"),
            ("blood-sodium 140 mmol/L", "2951-2"), ("crp 1.2 mg/L", "1988-5"),
            ("hs-crp 0.70 mg/L", "30522-7"), ("tsh 2.31 m[IU]/L", "3016-3"),
        ])
    func aFindingIsAnObservationByTheCodeOfItsUnit(values: String, code: String) throws {
        let record = try JunctionImportTests.record(.laboratory, values)
        #expect(FHIRSettings(url: "").hasForm(for: record))
        let text = String(
            decoding: FHIRBundle(records: [record], patientSystem: "urn:oid:2.999.1").bytes, as: UTF8.self)
        #expect(
            text.contains(#""code":{"coding":[{"system":"http://loinc.org","code":"\#(code)"}]}"#), "\(text)")
        let words = values.split(separator: " ")
        #expect(text.contains(#""value":\#(words[1]),"unit":"\#(words[2])""#), "\(text)")
        #expect(text.contains(#""code":"laboratory"}"#), "\(text)")
    }

    @Test(arguments: ["vitamin-d 31 ng/mL", "blood-calcium 2.4 mmol/L", "white-cell-count 6500 /uL"])
    func whatHasNoCodeIsPassedOver(values: String) throws {
        let settings = FHIRSettings(url: "")
        #expect(settings.kindsInPart.contains(.laboratory))
        #expect(!settings.hasForm(for: try JunctionImportTests.record(.laboratory, values)))
    }
}
