import IngestRecords

/// Where samples go at Junction, and in which units, as its SDKs post them (vital-ios: ResourceData.swift,
/// CoreModels+Extensions.swift).
extension JunctionForm {
    /// A resource that data is posted to.
    struct Series: Hashable {
        /// As in the path.
        let name: String
        var isSummary = false

        static let glucose = Series(name: "glucose")
        static let bloodPressure = Series(name: "blood_pressure")
        static let heartRate = Series(name: "heartrate")
        static let bloodOxygen = Series(name: "blood_oxygen")
        static let temperature = Series(name: "temperature")
        static let standHour = Series(name: "stand_hour")
        static let activity = Series(name: "activity", isSummary: true)
        static let body = Series(name: "body", isSummary: true)
        static let meal = Series(name: "meal", isSummary: true)
        static let menstrualCycle = Series(name: "menstrual_cycle", isSummary: true)
        static let profile = Series(name: "profile", isSummary: true)
        static let sleep = Series(name: "sleep", isSummary: true)
        static let workouts = Series(name: "workouts", isSummary: true)

        /// The path of requests for a user.
        func path(user: String) -> String {
            isSummary ? "/v2/summary/\(name)/\(user)" : "/v2/timeseries/\(user)/\(name)"
        }
    }

    /// A unit in Junction's words, and the same in UCUM.
    struct Unit {
        let name: String
        let code: String

        static let percent = Unit(name: "%", code: "%")
        static let bpm = Unit(name: "bpm", code: "/min")
        static let celsius = Unit(name: "\u{B0}C", code: "Cel")
        static let count = Unit(name: "count", code: "1")
        static let gram = Unit(name: "gram", code: "g")
        static let kilocalorie = Unit(name: "kcal", code: "kcal")
        static let kilogram = Unit(name: "kg", code: "kg")
        static let metre = Unit(name: "meter", code: "m")
        static let milligram = Unit(name: "mg", code: "mg")
        static let millilitre = Unit(name: "mL", code: "mL")
        static let mmHg = Unit(name: "mmHg", code: "mm[Hg]")
        static let mmol = Unit(name: "mmol/L", code: "mmol/L")
    }

    /// By our types: the time series.
    static let quantities: [String: (series: Series, unit: Unit)] = [
        "glucose": (.glucose, .mmol), "pulse-rate": (.heartRate, .bpm), "heart-rate": (.heartRate, .bpm),
        "spo2": (.bloodOxygen, .percent), "body-temperature": (.temperature, .celsius),
        "basal-body-temperature": (Series(name: "basal_body_temperature"), .celsius),
        "respiratory-rate": (Series(name: "respiratory_rate"), .bpm),
        "steps": (Series(name: "steps"), .count),
        "flights-climbed": (Series(name: "floors_climbed"), .count),
        "wheelchair-pushes": (Series(name: "wheelchair_push"), .count),
        "distance-walking-running": (Series(name: "distance"), .metre),
        "distance-wheelchair": (Series(name: "distance"), .metre),
        "active-energy": (Series(name: "calories_active"), .kilocalorie),
        "basal-energy": (Series(name: "calories_basal"), .kilocalorie),
        "vo2-max": (Series(name: "vo2_max"), Unit(name: "mL/kg/min", code: "mL/(kg.min)")),
        // HealthKit's standard deviation: the SDKs call its unit so.
        "heart-rate-variability-sdnn": (
            Series(name: "heartrate_variability"), Unit(name: "rmssd", code: "ms")
        ),
        "mindful-time": (Series(name: "mindfulness_minutes"), Unit(name: "minute", code: "min")),
        "water": (Series(name: "water"), .millilitre),
    ]

    /// By our types: the lists of the summary `body`.
    static let bodyLists: [String: (list: String, unit: Unit)] = [
        "weight": ("body_mass", .kilogram), "body-fat": ("body_fat_percentage", .percent),
        "bmi": ("body_mass_index", Unit(name: "index", code: "kg/m2")),
        "waist-circumference": ("waist_circumference", Unit(name: "centimeter", code: "cm")),
        "fat-free-mass": ("lean_body_mass", .kilogram),
    ]

    /// Our types of a day's sums.
    static let daySums: Set = ["day-active-energy", "day-exercise-time"]

    /// By our types: the lists of a meal.
    static let mealLists: [String: (list: String, unit: Unit)] = [
        "energy": ("energy_total", .kilocalorie), "carbohydrate": ("carbohydrates", .gram),
        "fiber": ("fiber", .gram), "sugar": ("sugar", .gram), "fat": ("fat_total", .gram),
        "saturated-fat": ("fat_saturated", .gram), "cholesterol": ("cholesterol", .milligram),
        "protein": ("protein", .gram), "calcium": ("calcium", .milligram), "iron": ("iron", .milligram),
        "potassium": ("potassium", .milligram), "sodium": ("sodium", .milligram),
    ]

    /// By our flags: the list of a sleep, and HealthKit's number (HKCategoryValueSleepAnalysis).
    static let sleepStages: [String: (list: String, number: String)] = [
        "in-bed": ("in_bed_sleep_samples", "0"), "asleep": ("unspecified_sleep_samples", "1"),
        "awake": ("awake_sleep_samples", "2"), "asleep-core": ("light_sleep_samples", "3"),
        "asleep-deep": ("deep_sleep_samples", "4"), "asleep-rem": ("rem_sleep_samples", "5"),
    ]

    /// By our flags: HealthKit's number (HKCategoryValueAppleStandHour).
    static let standHours = ["stand-hour-stood": "0", "stand-hour-idle": "1"]
}
