import IngestRecords

/// What a laboratory found, in FHIR: by LOINC, whose codes say what the number is of (docs/destinations/fhir.md, "Where
/// the codes are from").
enum FHIRLaboratory {
    /// By our types: the unit in UCUM, and the code for a number in it.
    private static let codes: [String: [String: String]] = [
        "total-cholesterol": ["mg/dL": "2093-3", "mmol/L": "14647-2"],
        "hdl-cholesterol": ["mg/dL": "2085-9", "mmol/L": "14646-4"],
        "ldl-cholesterol": ["mg/dL": "2089-1", "mmol/L": "22748-8"],
        "triglycerides": ["mg/dL": "2571-8", "mmol/L": "14927-8"],
        "blood-calcium": ["mg/dL": "17861-6"],
        "blood-potassium": ["mmol/L": "2823-3"], "blood-sodium": ["mmol/L": "2951-2"],
        "crp": ["mg/L": "1988-5"], "hs-crp": ["mg/L": "30522-7"],
        "tsh": ["m[IU]/L": "3016-3"],
    ]
    private static let all = Set(codes.values.flatMap(\.values))

    static func hasCode(_ loinc: String) -> Bool { all.contains(loinc) }

    /// Whether something of a record has a code there.
    static func hasForm(_ record: RecordContent) -> Bool { !observations(of: record).isEmpty }

    /// In the order of the record; empty for other kinds.
    static func observations(of record: RecordContent) -> [FHIRObservation] {
        guard record.kind == .laboratory else { return [] }
        return record.values.compactMap { value in
            guard let number = value.number, let loinc = codes[value.type]?[value.unit] else { return nil }
            return FHIRObservation(code: .loinc(loinc), value: .quantity(number, unit: value.unit))
        }
    }
}
