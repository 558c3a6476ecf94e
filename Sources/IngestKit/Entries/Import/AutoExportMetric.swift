/// What a metric of the app Health Auto Export is in HealthKit (docs/import.md). Its names are of the app's own server,
/// HealthyApps/health-auto-export-server, MetricName.ts.
struct AutoExportMetric: Sendable, Equatable {
    enum Form: Sendable, Equatable {
        /// `qty`; of a heart rate `Min`, `Avg` and `Max`.
        case quantity
        /// The same in percent, where HealthKit has fractions.
        case percentage
        case bloodPressure
        case sleep
        case sexualActivity
    }

    /// HealthKit's identifier.
    let type: String
    var form = Form.quantity
    /// Whether it adds up: the app summarises it as a sum, and has an average of all others.
    var isSum = false

    static let heartRate = "heart_rate"

    /// By the app's names.
    static let known: [String: AutoExportMetric] = [
        "step_count": sum("StepCount"),
        "walking_running_distance": sum("DistanceWalkingRunning"),
        "wheelchair_distance": sum("DistanceWheelchair"),
        "wheelchair_push_count": sum("PushCount"),
        "flights_climbed": sum("FlightsClimbed"),
        "active_energy": sum("ActiveEnergyBurned"),
        "basal_energy_burned": sum("BasalEnergyBurned"),
        "apple_exercise_time": sum("AppleExerciseTime"),
        "cycling_distance": sum("DistanceCycling"),
        "blood_glucose": value("BloodGlucose"),
        "weight_body_mass": value("BodyMass"),
        "height": value("Height"),
        "body_mass_index": value("BodyMassIndex"),
        "body_fat_percentage": value("BodyFatPercentage", .percentage),
        "lean_body_mass": value("LeanBodyMass"),
        "vo2_max": value("VO2Max"),
        "resting_heart_rate": value("RestingHeartRate"),
        "heart_rate_variability": value("HeartRateVariabilitySDNN"),
        "respiratory_rate": value("RespiratoryRate"),
        heartRate: value("HeartRate"),
        "body_temperature": value("BodyTemperature"),
        "blood_oxygen_saturation": value("OxygenSaturation", .percentage),
        "basal_body_temperature": value("BasalBodyTemperature"),
        "blood_pressure": Self(type: HealthKitType.bloodPressure, form: .bloodPressure),
        "sleep_analysis": Self(type: "HKCategoryTypeIdentifierSleepAnalysis", form: .sleep),
        "sexual_activity": Self(type: "HKCategoryTypeIdentifierSexualActivity", form: .sexualActivity),
        "dietary_energy": sum("DietaryEnergyConsumed"),
        "protein": sum("DietaryProtein"),
        "carbohydrates": sum("DietaryCarbohydrates"),
        "total_fat": sum("DietaryFatTotal"),
        "saturated_fat": sum("DietaryFatSaturated"),
        "dietary_sugar": sum("DietarySugar"),
        "fiber": sum("DietaryFiber"),
        "cholesterol": sum("DietaryCholesterol"),
        "sodium": sum("DietarySodium"),
        "potassium": sum("DietaryPotassium"),
        "calcium": sum("DietaryCalcium"),
        "iron": sum("DietaryIron"),
        "dietary_water": sum("DietaryWater"),
    ]

    private static func sum(_ name: String) -> Self {
        Self(type: "HKQuantityTypeIdentifier" + name, isSum: true)
    }

    private static func value(_ name: String, _ form: Form = .quantity) -> Self {
        Self(type: "HKQuantityTypeIdentifier" + name, form: form)
    }

    /// The app's words for what HealthKit's samples of sleep are.
    static let sleep = [
        "Core": "AsleepCore", "Deep": "AsleepDeep", "REM": "AsleepREM", "Asleep": "AsleepUnspecified",
        "Unspecified": "AsleepUnspecified", "In Bed": "InBed", "InBed": "InBed", "Awake": "Awake",
    ]

    /// The app's words for when a glucose was measured, and HKBloodGlucoseMealTime's numbers.
    static let meals = ["Before Meal": "1", "After Meal": "2"]

    /// The app's spellings of units, in HealthKit's.
    static func unit(_ text: String) -> String {
        switch text {
        case "bpm": "count/min"
        case "steps": "count"
        case "ml/(kg\u{B7}min)", "mL/(kg\u{B7}min)": "mL/min\u{B7}kg"
        default: text
        }
    }

    /// HealthKit's identifier of a workout by the app's name for it, as far as the two are alike; a name in another
    /// language than English is `Other`.
    static func workout(_ name: String) -> String {
        let words = name.split(separator: " ")
        let isEnglish = !words.isEmpty && name.utf8.allSatisfy { $0 < 0x80 }
        let short = words.filter { !["Outdoor", "Indoor", "Pool", "Open", "Water"].contains($0) }
        let activity =
            switch short.last {
            case _ where !isEnglish: "Other"
            case "Run" where short.count == 1: "Running"
            case "Walk" where short.count == 1: "Walking"
            case "Cycle" where short.count == 1: "Cycling"
            case "Swim" where short.count == 1: "Swimming"
            default: (short.isEmpty ? words : short).joined()
            }
        return "HKWorkoutActivityType" + activity
    }
}
