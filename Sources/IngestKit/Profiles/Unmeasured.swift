/// Numbers that devices send where they have measured nothing. They are well-formed, and no living body can have them
/// (docs/records.md). Owners of cuffs, scales and oximeters captured them.
extension Reading {
    /// What is said of something else that is measured, and nothing beside it being absent.
    private static let attendantTypes: Set = [
        "height", "bmi", "measurement-duration", "energy-expended", "rr-interval", "trend", "quality",
    ]

    /// Makes what was not measured absent.
    mutating func disownUnmeasured() {
        for index in measurements.indices {
            // Nearly always there is nothing to do, which takes no look at the type.
            guard case .exact(let number) = measurements[index].value, number.coefficient <= 0,
                Measurement.positiveTypes.contains(measurements[index].type)
            else { continue }
            measurements[index].value = .absent(.notMeasured)
        }
    }

    /// Whether the payload says that nothing was measured at all. It is no reading then, and makes no record.
    package var isUnmeasured: Bool {
        var isAny = false
        for index in measurements.indices {
            if case .absent(.notMeasured) = measurements[index].value { isAny = true }
        }
        guard isAny else { return false }
        let own = measurements.filter { !Self.attendantTypes.contains($0.type) }
        return (own.isEmpty ? measurements : own).allSatisfy { $0.value == .absent(.notMeasured) }
    }
}
