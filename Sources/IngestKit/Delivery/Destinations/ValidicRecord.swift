import IngestRecords

/// A record in the form of Validic's first API (docs/destinations/validic.md). The same record gives the same bytes, but
/// for the token, which is in them when they are sent and at no other time.
struct ValidicRecord: Sendable {
    /// The record types that have something of ours; each is also the last part of the URL, and the name in the body.
    enum Form: String, Sendable {
        case biometrics, diabetes, weight, fitness, nutrition, sleep
    }

    /// The kinds that have a form there, or some of which have one.
    static let kinds: Set<RecordKind> = [
        .activity, .bloodPressure, .bodyComposition, .bodyTemperature, .glucose, .glucoseContext, .laboratory,
        .miScale, .nutrition, .pulseOximetry, .sleep, .weight, .workout,
    ]
    /// Those of them of which only some records have one.
    static let kindsInPart: Set<RecordKind> = [.activity, .glucoseContext, .laboratory, .nutrition, .sleep]

    /// Whether something of a record of these has a form there.
    static func hasForm(_ record: RecordContent) -> Bool { ValidicRecord(record) != nil }

    let form: Form
    /// The record's members, as JSON.
    private let content: [UInt8]

    /// Nil where nothing of the record has a form.
    init?(_ record: RecordContent) {
        guard let form = Form(record), let moment = DeviceTime(wallSeconds: record.time) else {
            return nil
        }
        self.form = form
        let numbers = Self.numbers(of: record, in: form)
        let meal = record.flags.lazy.compactMap { Self.relationshipToMeal[$0] }.first
        guard !numbers.isEmpty || form == .diabetes && meal != nil else { return nil }
        var text = JSONText()
        text.beginObject()
        text.member("activity_id", record.id)
        text.member("timestamp", "\(moment)+00:00")
        text.member("utc_offset", Self.offset(record.utcOffsetSeconds))
        if form == .fitness {
            text.member("type", SportName.of(record))
            text.member("start_time", ReadingTime.text(record.time, offset: record.utcOffsetSeconds))
        }
        if form == .nutrition, let meal = record.flags.lazy.compactMap({ Self.meals[$0] }).first {
            text.member("meal", meal)
        }
        for (name, number) in numbers {
            text.key(name)
            text.value(json: Array(number.utf8))
        }
        text.extras(of: record, meal: meal)
        text.endObject()
        content = text.bytes
    }

    func path(organization: String, userID: String) -> String {
        let places = [organization, userID].map(URLText.percentEncoded)
        return "/v1/organizations/\(places[0])/users/\(places[1])/\(form.rawValue).json"
    }

    func body(token: String) -> [UInt8] {
        var text = JSONText()
        text.beginObject()
        text.member("access_token", token)
        text.key(form.rawValue)
        text.value(json: content)
        text.endObject()
        return text.bytes
    }

    /// The members with numbers, each once, in the order in which the record has them.
    private static func numbers(
        of record: RecordContent, in form: Form
    ) -> [(name: String, number: String)] {
        if form == .sleep {
            let duration = record.values.lazy.filter { $0.type == "duration" }.compactMap {
                $0.number(in: "s")
            }.first
            guard let duration, let names = record.flags.lazy.compactMap({ sleepMembers[$0] }).first else {
                return []
            }
            return names.map { ($0, duration) }
        }
        var found: [(name: String, number: String)] = []
        for value in record.values {
            // What Validic files an upper-arm monitor's pulse as; of a strap or an oximeter it would not be true.
            if value.type == "pulse-rate", record.kind != .bloodPressure { continue }
            guard let (name, unit) = members[form]?[value.type], !found.contains(where: { $0.name == name }),
                let number = value.number(in: unit)
            else { continue }
            found.append((name, number))
        }
        return found
    }

    /// By our types: the names there, and their units in UCUM.
    private static let members: [Form: [String: (name: String, unit: String)]] = [
        .biometrics: [
            "systolic": ("systolic", "mm[Hg]"), "diastolic": ("diastolic", "mm[Hg]"),
            "pulse-rate": ("resting_heartrate", "/min"), "spo2": ("spo2", "%"),
            "body-temperature": ("temperature", "Cel"), "resting-heart-rate": ("resting_heartrate", "/min"),
            "total-cholesterol": ("total_cholesterol", "mg/dL"), "hdl-cholesterol": ("hdl", "mg/dL"),
            "ldl-cholesterol": ("ldl", "mg/dL"), "uric-acid": ("uric_acid", "mg/dL"),
            "blood-calcium": ("blood_calcium", "mg/dL"), "blood-magnesium": ("blood_magnesium", "mg/dL"),
            // A millimole of an ion with one charge is a milliequivalent.
            "blood-potassium": ("blood_potassium", "mmol/L"), "blood-sodium": ("blood_sodium", "mmol/L"),
            "blood-chromium": ("blood_chromium", "ug/L"), "blood-zinc": ("blood_zinc", "ug/dL"),
            "blood-folic-acid": ("blood_folic_acid", "ng/mL"),
            "blood-vitamin-b12": ("blood_vitamin_b12", "pg/mL"), "vitamin-d": ("vitamin_d", "ng/mL"),
            "ferritin": ("ferritin", "ng/mL"), "crp": ("crp", "mg/L"), "hs-crp": ("hscrp", "mg/L"),
            "interleukin-6": ("il6", "pg/mL"), "creatine-kinase": ("creatine_kinase", "U/L"),
            "testosterone": ("testosterone", "ng/dL"), "tsh": ("tsh", "m[IU]/L"),
            "white-cell-count": ("white_cell_count", "/uL"),
        ],
        .diabetes: [
            "glucose": ("blood_glucose", "mg/dL"), "hba1c": ("hba1c", "%"),
            "triglycerides": ("triglyceride", "mg/dL"), "c-peptide": ("c_peptide", "ng/mL"),
        ],
        .weight: [
            "weight": ("weight", "kg"), "height": ("height", "cm"), "bmi": ("bmi", "kg/m2"),
            "body-fat": ("fat_percent", "%"), "fat-free-mass": ("free_mass", "kg"),
        ],
        .fitness: [
            "duration": ("duration", "s"), "active-energy": ("calories", "kcal"),
            "distance": ("distance", "m"),
            "distance-walking-running": ("distance", "m"), "distance-cycling": ("distance", "m"),
            "distance-swimming": ("distance", "m"), "distance-wheelchair": ("distance", "m"),
            "distance-rowing": ("distance", "m"), "distance-paddle-sports": ("distance", "m"),
            "distance-skating-sports": ("distance", "m"), "distance-cross-country-skiing": ("distance", "m"),
            "distance-downhill-snow-sports": ("distance", "m"),
        ],
        .nutrition: [
            "energy": ("calories", "kcal"), "carbohydrate": ("carbohydrates", "g"), "fat": ("fat", "g"),
            "fiber": ("fiber", "g"), "protein": ("protein", "g"), "sodium": ("sodium", "mg"),
            "water": ("water", "mL"),
        ],
    ]

    /// By our flags: the members that get how long it lasted.
    private static let sleepMembers: [String: [String]] = [
        "awake": ["awake"], "asleep": ["total_sleep"], "asleep-core": ["light", "total_sleep"],
        "asleep-deep": ["deep", "total_sleep"], "asleep-rem": ["rem", "total_sleep"],
    ]

    /// By our flags.
    static let relationshipToMeal = [
        "meal-preprandial": "before", "meal-postprandial": "after", "meal-fasting": "fasting",
        "meal-casual": "random",
    ]

    /// By our flags: text there, in our words.
    private static let meals = [
        "meal-breakfast": "breakfast", "meal-lunch": "lunch", "meal-dinner": "dinner", "meal-snack": "snack",
    ]

    /// `+01:00`.
    private static func offset(_ seconds: Int) -> String {
        var text: [UInt8] = []
        text.append(offsetMinutes: seconds / 60)
        return String(decoding: text, as: UTF8.self)
    }
}

extension ValidicRecord.Form {
    fileprivate init?(_ record: RecordContent) {
        switch record.kind {
        case .bloodPressure, .pulseOximetry, .bodyTemperature, .activity: self = .biometrics
        case .laboratory:
            let isOfDiabetes = record.values.contains { ["triglycerides", "c-peptide"].contains($0.type) }
            self = isOfDiabetes ? .diabetes : .biometrics
        case .glucose, .glucoseContext: self = .diabetes
        case .weight, .bodyComposition, .miScale: self = .weight
        case .workout: self = .fitness
        case .nutrition: self = .nutrition
        case .sleep: self = .sleep
        default: return nil
        }
    }
}

extension JSONText {
    /// What Validic's own members have no place for.
    fileprivate mutating func extras(of record: RecordContent, meal: String?) {
        let isUpperBound = record.timeSource == .unknown
        let device = [("manufacturer", record.manufacturer), ("model", record.model)].compactMap {
            name, value in
            value.map { (name, $0) }
        }
        guard meal != nil || record.related != nil || isUpperBound || !device.isEmpty else { return }
        key("extras")
        beginObject()
        for (name, value) in device { member(name, value) }
        if let meal { member("relationship_to_meal", meal) }
        if let related = record.related { member("related_activity_id", related) }
        if isUpperBound { member("time", "measured then or earlier") }
        endObject()
    }
}
