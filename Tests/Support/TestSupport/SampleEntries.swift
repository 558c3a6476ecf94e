/// Entries that no peripheral sent.
package enum SampleEntries {
    package static let glucose = RecordEntry.manual(
        EntryForm.named("glucose")!,
        [
            RecordEntry.Value(
                type: "glucose", code: 160_020, number: ExactDecimal(coefficient: 540, exponent: -2),
                unit: "mmol/L")
        ], at: EntryTime(instant: 1_795_162_500, utcOffset: 3600), isTimeWritten: true,
        subject: "patient-17")

    /// Out of a laboratory's report.
    package static let cholesterol = RecordEntry.manual(
        EntryForm.named("total-cholesterol")!,
        [
            RecordEntry.Value(
                type: "total-cholesterol", code: nil, number: ExactDecimal(coefficient: 182, exponent: 0),
                unit: "mg/dL")
        ], at: EntryTime(instant: 1_795_162_500, utcOffset: 3600), isTimeWritten: true,
        subject: "patient-17")

    package static let steps = RecordEntry(
        kind: .activity, origin: .appleHealth, start: 1_795_162_500, end: 1_795_163_100, utcOffset: 3600,
        timeSource: .imported,
        values: [
            RecordEntry.Value(
                type: "steps", code: nil, number: ExactDecimal(coefficient: 812, exponent: 0), unit: "1")
        ], flags: ["user-entered"],
        source: RecordEntry.Source(
            name: "Anna's \"Watch\"", version: "10.1", manufacturer: "Apple Inc.", model: "Watch",
            firmware: "10.1"),
        name: "HEALTHKIT|HKQuantityTypeIdentifierStepCount|1795162500|1795163100|812 count|1")

    /// One of each kind that only imports have.
    package static let imported = [
        steps,
        of(
            .workout, type: "HKWorkoutActivityTypeRunning", start: 1_795_150_800, seconds: 1_890,
            [
                value("duration", 315, -1, "min"), value("active-energy", 2_864, -1, "kcal"),
                value("distance-walking-running", 521, -2, "km"),
            ], flags: ["activity-running"], said: "31.5 min"),
        of(
            .sleep, type: "HKCategoryTypeIdentifierSleepAnalysis", start: 1_795_137_000, seconds: 2_700,
            [value("duration", 2_700, 0, "s")], flags: ["asleep-deep"], said: "asleep-deep"),
        of(
            .nutrition, type: "HKQuantityTypeIdentifierDietaryCarbohydrates", start: 1_795_159_800,
            [value("carbohydrate", 425, -1, "g")], flags: ["user-entered"], said: "42.5 g"),
        of(
            .reproductiveHealth, type: "HKCategoryTypeIdentifierMenstrualFlow", start: 1_795_161_600,
            flags: ["menstrual-flow-light", "user-entered"], said: "light"),
    ]

    private static func of(
        _ kind: RecordKind, type: String, start: Int64, seconds: Int64 = 0,
        _ values: [RecordEntry.Value] = [], flags: [String], said: String
    ) -> RecordEntry {
        var entry = steps
        entry.kind = kind
        entry.start = start
        entry.end = seconds == 0 ? nil : start + seconds
        entry.values = values
        entry.flags = flags
        entry.name = "HEALTHKIT|\(type)|\(start)|\(start + seconds)|\(said)|1"
        return entry
    }

    private static func value(
        _ type: String, _ coefficient: Int64, _ exponent: Int8, _ unit: String
    ) -> RecordEntry.Value {
        RecordEntry.Value(
            type: type, code: nil, number: ExactDecimal(coefficient: coefficient, exponent: exponent),
            unit: unit)
    }
}
