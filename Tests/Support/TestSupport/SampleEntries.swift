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
}
