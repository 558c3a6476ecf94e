import IngestRecords

/// What somebody did, ate and how they slept, in FHIR: by LOINC alone, as the guides of personal health devices have no
/// codes for it (docs/destinations/fhir.md, "Where the codes are from").
enum FHIRActivity {
    static let kinds: Set<RecordKind> = [.activity, .workout, .sleep, .nutrition]
    /// Those of which only some records have a form.
    static let kindsInPart: Set<RecordKind> = [.activity, .sleep, .nutrition]

    /// The Physical Activity guide's category beside FHIR's own.
    private static let physicalActivity = (
        system: "http://hl7.org/fhir/us/physical-activity/CodeSystem/pa-temporary-codes",
        code: "PhysicalActivity"
    )
    private static let exercise = "73985-4"
    private static let exerciseDuration = "55411-3"
    private static let walkingDistance = "55430-3"
    private static let exerciseEnergy = "55424-6"

    /// By our types, outside of a workout: the code, and the unit that it is for.
    private static let codes: [String: (loinc: String, unit: String)] = [
        "steps": ("55423-8", "1"), "flights-climbed": ("100304-5", "1"),
        "distance-walking-running": (walkingDistance, "m"), "active-energy": ("41981-2", "kcal"),
        "exercise-time": (exerciseDuration, "min"), "resting-heart-rate": ("40443-4", "/min"),
        "heart-rate-variability-sdnn": ("80404-7", "ms"), "energy": ("9052-2", "kcal"),
    ]
    /// The same within one.
    private static let workoutCodes: [String: (loinc: String, unit: String)] = [
        "duration": (exerciseDuration, "min"), "active-energy": (exerciseEnergy, "kcal"),
        "distance-walking-running": (walkingDistance, "m"),
    ]
    /// By our flags: how long it lasted.
    private static let sleepCodes = [
        "asleep": "93832-4", "asleep-deep": "93831-6", "asleep-core": "93830-8", "asleep-rem": "93829-0",
    ]
    private static let physical: Set = [
        exercise, exerciseDuration, walkingDistance, exerciseEnergy, "55423-8", "100304-5", "41981-2",
    ]

    static func categories(of loinc: String) -> [(system: String, code: String)] {
        // What a watch works out of a heart is none of R4's vital signs.
        guard !["40443-4", "80404-7"].contains(loinc) else { return [] }
        return [(FHIRSystem.category, "activity")] + (physical.contains(loinc) ? [physicalActivity] : [])
    }

    /// Whether something of a record of `kindsInPart` has a form.
    static func hasForm(_ record: RecordContent) -> Bool {
        record.kind == .sleep
            ? record.flags.contains { sleepCodes[$0] != nil }
            : record.values.contains { codes[$0.type] != nil }
    }

    /// In the order of the record; empty for other kinds.
    static func observations(of record: RecordContent) -> [FHIRObservation] {
        switch record.kind {
        case .activity, .nutrition: return record.values.compactMap { observation($0, codes) }
        case .sleep:
            guard let code = record.flags.lazy.compactMap({ sleepCodes[$0] }).first else { return [] }
            return record.values.compactMap { observation($0, ["duration": (code, "s")]) }
        case .workout:
            return [FHIRObservation(code: .loinc(exercise), value: .text(SportName.of(record)))]
                + record.values.compactMap { observation($0, workoutCodes) }
        default: return []
        }
    }

    private static func observation(
        _ value: RecordContent.Value, _ codes: [String: (loinc: String, unit: String)]
    ) -> FHIRObservation? {
        guard let (loinc, unit) = codes[value.type], let number = value.number(in: unit) else { return nil }
        return FHIRObservation(code: .loinc(loinc), value: .quantity(number, unit: unit))
    }
}
