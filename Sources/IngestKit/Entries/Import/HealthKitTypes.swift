/// What can be chosen of an Apple Health export: the subscription sets of Validic's mobile library, by its names.
package enum HealthKitSet: String, Sendable, CaseIterable, Hashable {
    case routine
    case diabetes
    case weight
    case fitness
    case sleep
    case basicNutrition = "basic-nutrition"
    case reproductiveHealth = "reproductive-health"
    case biometrics
}

/// What a type of HealthKit's samples becomes (docs/import.md).
struct HealthKitType: Sendable, Equatable {
    let set: HealthKitSet
    let kind: RecordKind
    /// Of the measurement; of a category whose value is a word, what its flags begin with.
    let type: String
    /// The MDC code.
    var code: UInt32?

    private static let quantity = "HKQuantityTypeIdentifier"
    private static let category = "HKCategoryTypeIdentifier"

    static let systolic = quantity + "BloodPressureSystolic"
    static let diastolic = quantity + "BloodPressureDiastolic"
    static let bloodPressure = "HKCorrelationTypeIdentifierBloodPressure"

    /// By HealthKit's identifiers; blood pressures and workouts are elements of their own.
    static let quantities: [String: HealthKitType] = [
        quantity + "StepCount": Self(set: .routine, kind: .activity, type: "steps"),
        quantity + "DistanceWalkingRunning": Self(
            set: .routine, kind: .activity, type: "distance-walking-running"),
        quantity + "DistanceWheelchair": Self(
            set: .routine, kind: .activity, type: "distance-wheelchair"),
        quantity + "PushCount": Self(set: .routine, kind: .activity, type: "wheelchair-pushes"),
        quantity + "FlightsClimbed": Self(set: .routine, kind: .activity, type: "flights-climbed"),
        quantity + "ActiveEnergyBurned": Self(set: .routine, kind: .activity, type: "active-energy"),
        quantity + "BasalEnergyBurned": Self(set: .routine, kind: .activity, type: "basal-energy"),
        quantity + "AppleExerciseTime": Self(set: .routine, kind: .activity, type: "exercise-time"),
        quantity + "BloodGlucose": Self(set: .diabetes, kind: .glucose, type: "glucose", code: 160_020),
        quantity + "BodyMass": Self(set: .weight, kind: .weight, type: "weight", code: 188_736),
        quantity + "Height": Self(set: .weight, kind: .weight, type: "height", code: 188_740),
        quantity + "BodyMassIndex": Self(set: .weight, kind: .weight, type: "bmi", code: 188_752),
        quantity + "BodyFatPercentage": Self(
            set: .weight, kind: .bodyComposition, type: "body-fat", code: 188_748),
        quantity + "LeanBodyMass": Self(
            set: .weight, kind: .bodyComposition, type: "fat-free-mass", code: 188_756),
        quantity + "DistanceCycling": Self(set: .fitness, kind: .activity, type: "distance-cycling"),
        quantity + "NikeFuel": Self(set: .fitness, kind: .activity, type: "nike-fuel"),
        quantity + "VO2Max": Self(set: .fitness, kind: .activity, type: "vo2-max"),
        // What a watch works out of a day, and no measurement of a heart rate.
        quantity + "RestingHeartRate": Self(
            set: .biometrics, kind: .activity, type: "resting-heart-rate"),
        quantity + "HeartRateVariabilitySDNN": Self(
            set: .biometrics, kind: .activity, type: "heart-rate-variability-sdnn"),
        quantity + "RespiratoryRate": Self(
            set: .biometrics, kind: .healthObservation, type: "respiratory-rate", code: 151_562),
        quantity + "HeartRate": Self(set: .biometrics, kind: .heartRate, type: "heart-rate", code: 147_842),
        quantity + "BodyTemperature": Self(
            set: .biometrics, kind: .bodyTemperature, type: "body-temperature", code: 150_364),
        quantity + "OxygenSaturation": Self(
            set: .biometrics, kind: .pulseOximetry, type: "spo2", code: 150_456),
        systolic: Self(set: .biometrics, kind: .bloodPressure, type: "systolic", code: 150_021),
        diastolic: Self(set: .biometrics, kind: .bloodPressure, type: "diastolic", code: 150_022),
        quantity + "BasalBodyTemperature": Self(
            set: .reproductiveHealth, kind: .reproductiveHealth, type: "basal-body-temperature"),
        quantity + "DietaryEnergyConsumed": food("energy"), quantity + "DietaryProtein": food("protein"),
        quantity + "DietaryCarbohydrates": food("carbohydrate"), quantity + "DietaryFatTotal": food("fat"),
        quantity + "DietaryFatSaturated": food("saturated-fat"), quantity + "DietarySugar": food("sugar"),
        quantity + "DietaryFiber": food("fiber"), quantity + "DietaryCholesterol": food("cholesterol"),
        quantity + "DietarySodium": food("sodium"), quantity + "DietaryPotassium": food("potassium"),
        quantity + "DietaryCalcium": food("calcium"), quantity + "DietaryIron": food("iron"),
        quantity + "DietaryWater": food("water"),
    ]

    /// Quantities that a workout sums up and that are not imported as samples: the measurement of each.
    static let workoutSums: [String: String] = [
        quantity + "DistanceSwimming": "distance-swimming",
        quantity + "SwimmingStrokeCount": "swimming-strokes",
        quantity + "DistanceRowing": "distance-rowing",
        quantity + "DistancePaddleSports": "distance-paddle-sports",
        quantity + "DistanceSkatingSports": "distance-skating-sports",
        quantity + "DistanceCrossCountrySkiing": "distance-cross-country-skiing",
        quantity + "DistanceDownhillSnowSports": "distance-downhill-snow-sports",
    ]

    static let categories: [String: HealthKitType] = [
        category + "SleepAnalysis": Self(set: .sleep, kind: .sleep, type: "duration"),
        category + "MindfulSession": Self(set: .routine, kind: .activity, type: "mindful-time"),
        category + "AppleStandHour": Self(set: .routine, kind: .activity, type: "stand-hour"),
        category + "MenstrualFlow": cycle("menstrual-flow"),
        category + "IntermenstrualBleeding": cycle("intermenstrual-bleeding"),
        category + "CervicalMucusQuality": cycle("cervical-mucus-quality"),
        category + "OvulationTestResult": cycle("ovulation-test-result"),
        category + "SexualActivity": cycle("sexual-activity"),
    ]

    /// Of a workout itself.
    static let workout = Self(set: .fitness, kind: .workout, type: "duration")

    /// The sums that HealthKit makes of a day. Their measurements have names of their own: whoever adds up samples does not
    /// add a sum to them.
    static let day = Self(set: .routine, kind: .activity, type: "day")

    private static func food(_ type: String) -> Self {
        Self(set: .basicNutrition, kind: .nutrition, type: type)
    }

    private static func cycle(_ type: String) -> Self {
        Self(set: .reproductiveHealth, kind: .reproductiveHealth, type: type)
    }
}

/// A unit as HealthKit writes it, in UCUM.
enum HealthKitUnit {
    /// - Parameter type: of the measurement.
    /// - Returns: the unit, and by which power of ten the number changes: HealthKit's percentages are fractions. Nil for a
    ///   unit that is not known, or in which nobody measures this.
    static func ucum(_ text: String, of type: String) -> (unit: String, exponent: Int8)? {
        guard let found = ucum(text, type), units[type]?.contains(found.unit) ?? true else { return nil }
        return found
    }

    /// With the molar mass, which not every export writes with the same digits: mmol<180.15588000005408>/L.
    private static func isMolar(_ text: String) -> Bool {
        text.hasPrefix("mmol<") && text.hasSuffix(">/L")
            && text.dropFirst(5).dropLast(3).utf8.allSatisfy { $0 == 0x2E || (0x30...0x39).contains($0) }
    }

    /// The unit in the name of a record: as it stands in the export, but for the molar mass.
    static func name(_ text: String) -> String { isMolar(text) ? "mmol/L" : text }

    private static func ucum(_ text: String, _ type: String) -> (unit: String, exponent: Int8)? {
        if text == "%" { return ("%", 2) }
        // HealthKit has it without a unit, and means kilograms per square metre (HKQuantityTypeIdentifier, bodyMassIndex).
        if text == "count", type == "bmi" { return ("kg/m2", 0) }
        if isMolar(text) { return ("mmol/L", 0) }
        return codes[text].map { ($0, 0) }
    }

    /// Of the types that are measured on a body: a number in another unit would pass for one of these.
    private static let units: [String: Set<String>] = {
        let masses: Set = ["kg", "g", "[lb_av]", "[oz_av]", "[stone_av]"]
        let (rates, pressures): (Set, Set) = (["/min", "/s"], ["mm[Hg]", "kPa"])
        return [
            "systolic": pressures, "diastolic": pressures, "heart-rate": rates, "respiratory-rate": rates,
            "glucose": ["mg/dL", "mmol/L"], "body-temperature": ["Cel", "[degF]"], "spo2": ["%"],
            "weight": masses, "fat-free-mass": masses, "body-fat": ["%"], "bmi": ["kg/m2"],
            "height": ["m", "cm", "mm", "[in_i]", "[ft_i]"],
        ]
    }()

    private static let codes: [String: String] = [
        "count": "1", "count/min": "/min", "count/s": "/s", "mg/dL": "mg/dL", "mmol/L": "mmol/L",
        "mmHg": "mm[Hg]",
        "kPa": "kPa", "degC": "Cel", "degF": "[degF]", "kg": "kg", "g": "g", "mg": "mg", "mcg": "ug",
        "lb": "[lb_av]", "oz": "[oz_av]", "st": "[stone_av]", "m": "m", "cm": "cm", "mm": "mm", "km": "km",
        "in": "[in_i]", "ft": "[ft_i]", "yd": "[yd_i]", "mi": "[mi_i]", "Cal": "kcal", "kcal": "kcal",
        "kJ": "kJ", "J": "J", "s": "s", "min": "min", "hr": "h", "d": "d", "L": "L", "mL": "mL",
        "ms": "ms", "mL/min\u{B7}kg": "mL/(kg.min)",
        "fl_oz_us": "[foz_us]", "fl_oz_imp": "[foz_br]", "cup_us": "[cup_us]", "pt_us": "[pt_us]",
    ]
}
