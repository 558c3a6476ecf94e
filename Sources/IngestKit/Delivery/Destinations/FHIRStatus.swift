import IngestRecords

/// What a record's flags say of its observations, in FHIR's terms. The guide's table of Measurement Status decides, and
/// for what that leaves out the one of the guide for point-of-care devices, whose codes it uses.
struct FHIRStatus: Equatable {
    /// `final`, `preliminary` or `entered-in-error`.
    private(set) var status = "final"
    /// A code of data-absent-reason that stands in place of the values; nil where they count.
    private(set) var absence: String?
    /// Codes of measurement-status.
    private(set) var interpretations: [String] = []
    /// Whether it is a setting of the device.
    private(set) var isSetting = false
    /// The part of the body, in words.
    private(set) var site: String?
    /// What has no place of its own.
    private(set) var others: [String] = []

    init(_ record: RecordContent) {
        let bits = FHIRTerms.status(of: record.kind)?.bits ?? [:]
        // Bits are an observation of their own.
        for flag in record.flags where bits[flag] == nil { add(flag) }
    }

    private mutating func add(_ flag: String) {
        switch flag {
        case "status-invalid", "invalid-measurement-detected":
            absence = "error"
            status = "entered-in-error"
        case "status-not-available", "measurement-unavailable":
            absence = absence ?? "not-performed"
        case "status-questionable", "questionable-measurement-detected":
            interpretations.append("questionable")
        case "status-calibrating", "calibration-ongoing":
            interpretations.append("calibration-ongoing")
        case "status-early-estimate", "early-estimated-data":
            interpretations.append("early-indication")
            if status == "final" { status = "preliminary" }
        case "validated-data": interpretations.append("validated-data")
        case "measurement-ongoing": interpretations.append("msmt-ongoing")
        case "status-threshold-error":
            interpretations.append("in-alarm")
            others.append(flag)
        case "status-threshold-disabled":
            interpretations.append("alarm-inhibited")
            others.append(flag)
        case "status-setting": isSetting = true
        // What a location is not known for says nothing, and what a glucose concentration is of is in its code.
        case "location-not-available": break
        case _ where flag.hasPrefix("type-"): break
        case _ where FHIRTerms.coded[flag] != nil || FHIRTerms.typesByFlag[flag] != nil: break
        case _ where Self.supplement(flag) != nil: break
        case _ where flag.hasPrefix("location-"): site = String(flag.dropFirst(9)).replacing("-", with: " ")
        default: others.append(flag)
        }
    }

    /// The code of a flag that describes a value further.
    static func supplement(_ flag: String) -> UInt32? {
        switch flag {
        case "modality-fast": 150580
        case "modality-slow": 150584
        case "modality-spot": 150588
        default: flag.hasPrefix("supplemental-mdc-") ? UInt32(flag.dropFirst(17)) : nil
        }
    }
}
