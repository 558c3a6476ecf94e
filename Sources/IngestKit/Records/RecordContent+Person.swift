extension RecordContent {
    /// Why a destination that files everything under one person must not be sent this record, as the reason of
    /// `DeliveryAnswer.unfit`; nil where the record is that person's.
    /// - Parameter user: the person, by the name that records have as `subject`.
    func reasonNotToFile(under user: String) -> String? {
        guard let subject else { return DeadLetter.unassigned }
        if subject != user { return "is another person's" }
        return flags.first(where: Self.testFlags.contains).map { "is no measurement of a person (\($0))" }
    }

    /// What a device says of readings that are nobody's.
    private static let testFlags = Reading.controlSolutionFlags.union([
        "data-for-demonstration", "data-for-testing", "status-test-data",
    ])
}
