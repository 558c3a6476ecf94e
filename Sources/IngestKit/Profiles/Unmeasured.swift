/// Numbers that devices send where they have measured nothing. They are well-formed, and no living body can have them
/// (docs/records.md). Owners of cuffs, scales and oximeters captured them.
extension Reading {
    /// Of these a body has more than 0.
    private static let positiveTypes: Set = [
        "systolic", "diastolic", "mean-arterial-pressure",
        "pulse-rate", "pulse-rate-fast", "pulse-rate-slow", "heart-rate",
        "spo2", "spo2-fast", "spo2-slow",
        "glucose",
        "weight", "height", "bmi", "basal-metabolism",
        "body-fat", "muscle-percentage", "muscle-mass", "fat-free-mass", "soft-lean-mass", "body-water-mass",
        "impedance", "impedance-low", "impedance-high",
    ]
    /// What is said of something else that is measured, and nothing beside it being absent.
    private static let attendantTypes: Set = [
        "height", "bmi", "measurement-duration", "energy-expended", "rr-interval", "trend", "quality",
    ]

    /// The same, with what was not measured absent.
    var withoutUnmeasured: Reading {
        // Nearly always there is nothing to do, which takes no look at the types.
        guard measurements.contains(where: \.isNotPositive) else { return self }
        var reading = self
        for index in measurements.indices
        where measurements[index].isNotPositive && Self.positiveTypes.contains(measurements[index].type) {
            reading.measurements[index].value = .absent(.notMeasured)
        }
        return reading
    }

    /// Whether the payload says that nothing was measured at all. It is no reading then, and makes no record.
    package var isUnmeasured: Bool {
        guard measurements.contains(where: \.isUnmeasured) else { return false }
        let own = measurements.filter { !Self.attendantTypes.contains($0.type) }
        return (own.isEmpty ? measurements : own).allSatisfy(\.isUnmeasured)
    }
}

extension Measurement {
    fileprivate var isNotPositive: Bool {
        if case .exact(let number) = value { number.coefficient <= 0 } else { false }
    }
    fileprivate var isUnmeasured: Bool { value == .absent(.notMeasured) }
}
