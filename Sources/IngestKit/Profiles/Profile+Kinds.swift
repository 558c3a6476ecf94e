package import IngestRecords

extension Profile {
    /// The kinds of records that its peripherals measure; nil where they may measure anything. Their battery,
    /// which makes no record of its own, is none of them.
    package var measuredKinds: Set<RecordKind>? {
        switch name {
        case "blood-pressure": [.bloodPressure]
        case "body-composition": [.bodyComposition, .weight]
        case "continuous-glucose": [.continuousGlucose]
        case "glucose": [.glucose, .glucoseContext]
        case "heart-rate": [.heartRate]
        case "onetouch-verio": [.glucose]
        case "pulse-oximeter": [.pulseOximetry]
        case "thermometer": [.bodyTemperature]
        case "weight-scale": [.weight]
        case "bthome": [.bthome]
        case "mi-scale": [.miScale]
        case "mibeacon": [.mibeacon]
        default: nil
        }
    }
}
