/// IEEE 11073-10101 nomenclature (MDC) that Generic Health Sensor observations use, in the project's
/// names.
enum HealthNomenclature {
    /// What an observation type is called here.
    struct Term {
        var kind: RecordKind
        var type: String
    }

    /// - Parameter code: partition × 65536 + term.
    static func term(_ code: UInt32) -> Term {
        if let (kind, type) = known[code] { return Term(kind: kind, type: type) }
        return Term(kind: .healthObservation, type: "mdc-\(code)")
    }

    private static let known: [UInt32: (RecordKind, String)] = [
        147842: (.heartRate, "heart-rate"),
        149530: (.pulseOximetry, "pulse-rate"),
        150448: (.pulseOximetry, "pulse-amplitude-index"),
        150456: (.pulseOximetry, "spo2"),
        149546: (.bloodPressure, "pulse-rate"),
        150021: (.bloodPressure, "systolic"),
        150022: (.bloodPressure, "diastolic"),
        150023: (.bloodPressure, "mean-arterial-pressure"),
        150364: (.bodyTemperature, "body-temperature"),
        151562: (.healthObservation, "respiratory-rate"),
        160020: (.glucose, "glucose"),
        160184: (.glucose, "glucose"),
        160188: (.glucose, "glucose"),
        160192: (.glucose, "glucose"),
        160196: (.glucose, "glucose"),
        160200: (.glucose, "glucose"),
        160204: (.glucose, "glucose"),
        160208: (.glucose, "glucose"),
        160212: (.glucose, "glucose"),
        160364: (.glucose, "glucose"),
        160368: (.glucose, "glucose"),
        188736: (.weight, "weight"),
        188740: (.weight, "height"),
        188752: (.weight, "bmi"),
        188748: (.bodyComposition, "body-fat"),
        188756: (.bodyComposition, "fat-free-mass"),
        188760: (.bodyComposition, "soft-lean-mass"),
        188764: (.bodyComposition, "body-water-mass"),
    ]

    /// A unit in UCUM; one without entry is an annotation with its number.
    /// - Parameter term: of partition 4, MDC_DIM.
    static func unit(_ term: UInt16) -> String { units[term] ?? "{mdc-\(262_144 + UInt32(term))}" }

    private static let units: [UInt16: String] = [
        512: "1",  // MDC_DIM_DIMLESS
        544: "%",  // MDC_DIM_PERCENT
        1280: "m",  // MDC_DIM_X_M
        1297: "cm",  // MDC_DIM_CENTI_M
        1376: "[in_i]",  // MDC_DIM_INCH
        1600: "L",  // MDC_DIM_X_L
        1618: "mL",  // MDC_DIM_MILLI_L
        1728: "g",  // MDC_DIM_X_G
        1731: "kg",  // MDC_DIM_KILO_G
        1746: "mg",  // MDC_DIM_MILLI_G
        1760: "[lb_av]",  // MDC_DIM_LB
        1952: "kg/m2",  // MDC_DIM_KG_PER_M_SQ
        2130: "mg/dL",  // MDC_DIM_MILLI_G_PER_DL
        2176: "s",  // MDC_DIM_SEC
        2194: "ms",  // MDC_DIM_MILLI_SEC
        2208: "min",  // MDC_DIM_MIN
        2240: "h",  // MDC_DIM_HR
        2272: "d",  // MDC_DIM_DAY
        2720: "/min",  // MDC_DIM_BEAT_PER_MIN
        2784: "/min",  // MDC_DIM_RESP_PER_MIN
        3843: "kPa",  // MDC_DIM_KILO_PASCAL
        3872: "mm[Hg]",  // MDC_DIM_MMHG
        4416: "[degF]",  // MDC_DIM_FAHR
        4722: "mmol/L",  // MDC_DIM_MILLI_MOLE_PER_L
        6048: "Cel",  // MDC_DIM_DEGC
    ]

    /// The flag for a supplemental type: how a value was averaged, or the code.
    static func supplementalFlag(_ code: UInt32) -> String {
        switch code {
        case 150580: "modality-fast"
        case 150584: "modality-slow"
        case 150588: "modality-spot"
        default: "supplemental-mdc-\(code)"
        }
    }

    /// The bits of Measurement Status.
    static let statusNames: [String?] = [
        "status-invalid", "status-questionable", "status-not-available", "status-calibrating",
        "status-test-data", "status-early-estimate", "status-manually-entered", "status-setting",
        nil, nil, nil, nil, nil, nil, "status-threshold-error", "status-threshold-disabled",
    ]
    /// Those that leave no value: invalid, and not available.
    static let unusableStatus: UInt16 = 1 << 0 | 1 << 2
}
