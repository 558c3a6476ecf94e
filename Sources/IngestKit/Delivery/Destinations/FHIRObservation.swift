import IngestRecords

/// What one Observation says, before it is written.
struct FHIRObservation: Equatable {
    enum Value: Equatable {
        /// A number as JSON, and its unit in UCUM.
        case quantity(String, unit: String)
        /// A code of data-absent-reason.
        case absent(String)
        /// An MDC code.
        case coded(UInt32)
        /// The bits of a status that are set, by their numbers in the guide's code system ASN1ToHL7.
        case bits([Int])
        case components([Component])
        /// In words, where no code is known.
        case text(String)

        /// The same without its numbers.
        func absent(_ reason: String) -> Value {
            guard case .components(let components) = self else { return .absent(reason) }
            return .components(components.map { Component(code: $0.code, value: .absent(reason)) })
        }
    }

    struct Component: Equatable {
        let code: UInt32
        let value: Value
    }

    /// What was measured: by the guide's codes, or, where it has none, by LOINC.
    enum Code: Equatable {
        case mdc(UInt32)
        case loinc(String)

        var text: String {
            switch self {
            case .mdc(let code): String(code)
            case .loinc(let code): code
            }
        }
    }

    let code: Code
    var value: Value
    var supplements: [UInt32] = []
    /// How long it took, in seconds, where that is a value of its own in the record.
    var seconds: Int64?
    /// What tells it from the other observations of its record.
    var key = ""

    /// The profile of the guide that it follows.
    var profile: String {
        switch value {
        case .quantity, .absent: FHIRSystem.profile("PhdNumericObservation")
        case .coded, .text: FHIRSystem.profile("PhdCodedEnumerationObservation")
        case .bits: FHIRSystem.profile("PhdBitsEnumerationObservation")
        case .components: FHIRSystem.profile("PhdCompoundNumericObservation")
        }
    }

    /// Its LOINC codes beside its MDC code, where it is in a unit that these are for.
    var loincs: [String] {
        guard case .mdc(let code) = code else { return [] }
        return Self.loincs(code, value)
    }

    /// Systems and codes; none where it has no LOINC code, or none of a category.
    var categories: [(system: String, code: String)] {
        switch code {
        case .mdc(let code):
            guard !loincs.isEmpty, let category = FHIRTerms.term(code)?.category else { return [] }
            return [(FHIRSystem.category, category)]
        case .loinc(let code):
            return FHIRLaboratory.hasCode(code)
                ? [(FHIRSystem.category, "laboratory")] : FHIRActivity.categories(of: code)
        }
    }

    static func loincs(_ code: UInt32, _ value: Value) -> [String] {
        let known = FHIRTerms.term(code)?.loincs ?? []
        // Nothing tells whether an absent value would be one of mass or of substance.
        if case .absent = value, Set(known.map(\.units)).count > 1 { return [] }
        return known.filter { loinc in
            func fits(_ value: Value) -> Bool {
                switch value {
                case .quantity(_, let unit): loinc.units.contains(unit)
                case .absent: true
                case .coded, .bits, .text: false
                case .components(let components): components.allSatisfy { fits($0.value) }
                }
            }
            return fits(value)
        }.map(\.code)
    }
}

// MARK: - From a record

extension FHIRObservation {
    /// The observations of a record, in the order of its measurements; empty where none of them has a form.
    static func observations(of record: RecordContent) -> [FHIRObservation] {
        var found = FHIRActivity.observations(of: record) + FHIRLaboratory.observations(of: record)
        let pressures = record.values.filter { isPressure($0.code) }
        if !pressures.isEmpty { found.append(bloodPressure(pressures)) }
        for value in record.values where !isPressure(value.code) {
            guard let general = value.code ?? FHIRTerms.codesByType[value.type] else { continue }
            let code =
                record.flags.lazy.compactMap { FHIRTerms.code(of: value.type, by: $0) }.first ?? general
            found.append(
                FHIRObservation(
                    code: .mdc(code), value: self.value(of: value, code: code),
                    supplements: supplements(of: value.type, in: record),
                    seconds: code == FHIRTerms.exercise ? exerciseSeconds(of: record) : nil))
        }
        if let absence = FHIRStatus(record).absence {
            found = found.map { observation in
                var absent = observation
                absent.value = observation.value.absent(absence)
                return absent
            }
        }
        found += record.flags.compactMap { FHIRTerms.coded[$0] }
            .map { FHIRObservation(code: .mdc($0.code), value: .coded($0.value)) }
        if let status = FHIRTerms.status(of: record.kind), !found.isEmpty {
            let bits = record.flags.compactMap { status.bits[$0] }.sorted()
            if !bits.isEmpty { found.append(FHIRObservation(code: .mdc(status.code), value: .bits(bits))) }
        }
        var counts: [String: Int] = [:]
        return found.map { observation in
            var named = observation
            let key = ([observation.code.text] + observation.supplements.map(String.init)).joined(
                separator: "-")
            let count = counts[key, default: 0] + 1
            counts[key] = count
            named.key = count == 1 ? key : "\(key).\(count)"
            return named
        }
    }

    private static func exerciseSeconds(of record: RecordContent) -> Int64? {
        record.values.first { $0.type == "exercise-duration" }?.number.flatMap { Int64($0) }
    }

    private static func isPressure(_ code: UInt32?) -> Bool {
        [FHIRTerms.systolic, FHIRTerms.diastolic, FHIRTerms.meanPressure].contains(code)
    }

    /// R4's blood pressure has both pressures, known or not.
    private static func bloodPressure(_ values: [RecordContent.Value]) -> FHIRObservation {
        var components = values.compactMap { value in
            value.code.map { Component(code: $0, value: self.value(of: value, code: $0)) }
        }
        for code in [FHIRTerms.systolic, FHIRTerms.diastolic]
        where !components.contains(where: { $0.code == code }) {
            components.append(Component(code: code, value: .absent("unknown")))
        }
        return FHIRObservation(code: .mdc(FHIRTerms.bloodPressure), value: .components(components))
    }

    /// The device's digits and unit, but for what R4 allows another unit alone.
    private static func value(of value: RecordContent.Value, code: UInt32) -> Value {
        guard let number = value.number else {
            return .absent(value.absent?.fhirCode ?? "unknown")
        }
        let unit =
            switch (isPressure(code), code, value.unit) {
            case (true, _, "kPa"): "mm[Hg]"
            case (_, FHIRTerms.height, "m"), (_, FHIRTerms.height, "mm"): "cm"
            case (_, FHIRTerms.height, "[ft_i]"): "[in_i]"
            case (_, FHIRTerms.weight, "[stone_av]"), (_, FHIRTerms.weight, "[oz_av]"): "[lb_av]"
            case (_, _, "/s"): "/min"
            default: value.unit
            }
        guard let converted = value.number(in: unit) else { return .quantity(number, unit: value.unit) }
        return .quantity(converted, unit: unit)
    }

    private static func supplements(of type: String, in record: RecordContent) -> [UInt32] {
        var codes: [UInt32] = []
        if let modality = FHIRTerms.modalities[type] { codes.append(modality) }
        // A spot check by its characteristic.
        if record.characteristic == "2A5E", ["spo2", "pulse-rate"].contains(type) { codes.append(150588) }
        codes += record.flags.compactMap(FHIRStatus.supplement)
        return codes
    }
}

extension AbsentReason {
    /// What FHIR calls it; it has no code for a value outside of what the field can say, nor for a reserved one. Above
    /// and below what the device can measure is what IEEE 11073-20601 has its infinities for.
    fileprivate var fhirCode: String {
        switch self {
        case .notANumber: "not-a-number"
        case .positiveInfinity, .aboveDeviceRange: "positive-infinity"
        case .negativeInfinity, .belowDeviceRange: "negative-infinity"
        case .notAtThisResolution, .reserved, .markedUnusable: "error"
        case .notMeasured: "not-performed"
        }
    }
}
