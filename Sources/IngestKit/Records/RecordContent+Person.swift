extension RecordContent {
    /// Why a destination that files everything under one person must not be sent this record, as the reason of
    /// `DeliveryAnswer.unfit`; nil where the record is that person's.
    /// - Parameter user: the person, by the name that records have as `subject`.
    package func reasonNotToFile(under user: String) -> SetAsideReason? {
        if let subject, subject != user { return "is another person's" }
        return reasonNotToFileAtAll
    }

    /// Why a record must not be filed under any person, as the reason of `DeliveryAnswer.unfit`, where the form has no
    /// place to say of the numbers what the device says of them; nil where it may.
    package var reasonNotToFileAtAll: SetAsideReason? {
        guard subject != nil else { return .unassigned }
        if let reason = reasonIsTest { return reason }
        return flags.first(where: Self.invalidFlags.contains).map {
            "is marked as invalid by the device (\($0))"
        }
    }

    /// Why a record is nobody's measurement: it tests the device, or shows what it can do. Nil where it is somebody's.
    package var reasonIsTest: SetAsideReason? {
        flags.first(where: Self.testFlags.contains).map { "is no measurement of a person (\($0))" }
    }

    /// What a device says of readings that are nobody's.
    private static let testFlags = Reading.controlSolutionFlags.union([
        "data-for-demonstration", "data-for-testing", "status-test-data",
    ])

    /// What a device says of numbers that it does not stand for.
    private static let invalidFlags: Set = ["invalid-measurement-detected", "status-invalid"]
}
