/// What can be written by hand: a name, the units that it is taken in, and what is plausible in each.
package struct EntryForm: Sendable {
    /// A unit, as it is written and as the record has it.
    struct Unit: Sendable {
        /// As somebody writes it; the first is the UCUM code.
        let spellings: [String]
        /// What the record says, by the power of ten between the two: 178 `cm` are 1.78 `m`.
        let recorded: String
        let exponent: Int8
        /// In the record's unit, in hundredths.
        let plausible: ClosedRange<Int64>

        init(
            _ spellings: String..., recorded: String? = nil, exponent: Int8 = 0,
            plausible: ClosedRange<Int64>
        ) {
            self.spellings = spellings
            self.recorded = recorded ?? spellings[0]
            self.exponent = exponent
            self.plausible = plausible
        }
    }

    package let name: String
    let kind: RecordKind
    /// The types of its numbers and their MDC codes: one, or two that are written `120/80`.
    let types: [(type: String, code: UInt32?)]
    /// The first is taken where none is written.
    let units: [Unit]
    /// Bounds of the second number, where there is one.
    var second: [ClosedRange<Int64>] = []
    /// Where numbers of two units look alike: from here on, in hundredths of the first, a whole one without a unit is in
    /// the first. Any other that fits both needs its unit.
    var plainFrom: Int64?
    /// The MDC code of a pulse rate that may stand beside it.
    var pulseCode: UInt32?
    /// What may be said of a meal with it: each word, and its flag.
    var meals: KeyValuePairs<String, String> = [:]

    /// How its units are written, for people.
    package var unitNames: String { units.map { $0.spellings[0] }.joined(separator: " or ") }

    package static func named(_ name: String) -> EntryForm? { all.first { $0.name == name } }
}

extension EntryForm {
    /// Every form, in the order of the documentation (docs/records.md).
    ///
    /// The bounds are wider than what living people have and devices show: they are for slips of the finger and of the
    /// unit.
    package static let all = measured + eaten + laboratory

    private static let measured: [EntryForm] = [
        EntryForm(
            name: "glucose", kind: .glucose, types: [("glucose", 160_020)],
            units: [
                Unit("mg/dL", "mg/dl", plausible: 10_00...1_200_00),
                Unit("mmol/L", "mmol/l", plausible: 60...66_60),
            ],
            // Meters show mg/dL without decimals, and mmol/L with one, up to 33.3.
            plainFrom: 40_00, meals: relationsToMeal),
        EntryForm(
            name: "blood-pressure", kind: .bloodPressure,
            types: [("systolic", 150_021), ("diastolic", 150_022)],
            units: [Unit("mm[Hg]", "mmHg", plausible: 30_00...350_00), Unit("kPa", plausible: 4_00...47_00)],
            second: [15_00...250_00, 2_00...34_00], pulseCode: 149_546),
        EntryForm(
            name: "weight", kind: .weight, types: [("weight", 188_736)],
            units: [
                Unit("kg", plausible: 20...650_00), Unit("[lb_av]", "lb", "lbs", plausible: 50...1_430_00),
            ]),
        EntryForm(
            name: "bmi", kind: .weight, types: [("bmi", 188_752)],
            units: [Unit("kg/m2", plausible: 5_00...150_00)]),
        EntryForm(
            name: "height", kind: .weight, types: [("height", 188_740)],
            units: [
                Unit("m", plausible: 20...2_80),
                Unit("cm", recorded: "m", exponent: -2, plausible: 20...2_80),
                Unit("[in_i]", "in", plausible: 8_00...110_00),
            ]),
        EntryForm(
            name: "body-temperature", kind: .bodyTemperature, types: [("body-temperature", 150_364)],
            units: [
                Unit("Cel", "C", plausible: 25_00...45_00), Unit("[degF]", "F", plausible: 77_00...113_00),
            ]),
        EntryForm(
            name: "spo2", kind: .pulseOximetry, types: [("spo2", 150_456)],
            units: [Unit("%", plausible: 30_00...100_00)], pulseCode: 149_530),
        EntryForm(
            name: "heart-rate", kind: .heartRate, types: [("heart-rate", 147_842)],
            units: [Unit("/min", "bpm", plausible: 15_00...350_00)]),
        EntryForm(
            name: "resting-heart-rate", kind: .activity, types: [("resting-heart-rate", nil)],
            units: [Unit("/min", "bpm", plausible: 15_00...200_00)]),
        percentage("body-fat", of: .bodyComposition, code: 188_748, from: 1_00),
        percentage("muscle-percentage", of: .bodyComposition, code: nil, from: 1_00),
        mass("muscle-mass", code: nil), mass("fat-free-mass", code: 188_756),
        mass("soft-lean-mass", code: 188_760), mass("body-water-mass", code: 188_764),
        EntryForm(
            name: "basal-metabolism", kind: .bodyComposition, types: [("basal-metabolism", nil)],
            units: [Unit("kJ", plausible: 1_000_00...30_000_00)]),
        EntryForm(
            name: "hba1c", kind: .glucoseContext, types: [("hba1c", 160_220)],
            units: [Unit("%", plausible: 2_00...25_00)]),
        EntryForm(
            name: "carbohydrate", kind: .glucoseContext, types: [("carbohydrate", 8_417_764)],
            units: [Unit("g", plausible: 0...1_000_00)]),
        EntryForm(
            name: "medication", kind: .glucoseContext, types: [("medication", 8_417_796)],
            units: [Unit("mg", plausible: 0...10_000_00), Unit("mL", plausible: 0...1_000_00)]),
        EntryForm(
            name: "exercise-duration", kind: .glucoseContext, types: [("exercise-duration", nil)],
            units: [Unit("s", plausible: 0...86_400_00)]),
        percentage("exercise-intensity", of: .glucoseContext, code: 8_417_760, from: 0),
    ]

    static let pulse = Unit("/min", plausible: 15_00...350_00)

    /// The flags of a meter's own context (GSS, "Glucose Measurement Context", Meal).
    private static let relationsToMeal: KeyValuePairs = [
        "before": "meal-preprandial", "after": "meal-postprandial", "fasting": "meal-fasting",
        "random": "meal-casual", "bedtime": "meal-bedtime",
    ]

    private static func percentage(
        _ name: String, of kind: RecordKind, code: UInt32?, from least: Int64
    ) -> EntryForm {
        EntryForm(
            name: name, kind: kind, types: [(name, code)], units: [Unit("%", plausible: least...100_00)])
    }

    private static func mass(_ name: String, code: UInt32?) -> EntryForm {
        EntryForm(
            name: name, kind: .bodyComposition, types: [(name, code)],
            units: [
                Unit("kg", plausible: 20...650_00), Unit("[lb_av]", "lb", "lbs", plausible: 50...1_430_00),
            ])
    }
}
