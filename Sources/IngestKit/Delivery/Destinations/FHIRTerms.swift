import IngestRecords

/// The systems of codes and identifiers that are used in FHIR.
enum FHIRSystem {
    /// IEEE 11073-10101 (MDC); codes are partition × 65536 + term, in decimal.
    static let mdc = "urn:iso:std:iso:11073:10101"
    static let loinc = "http://loinc.org"
    static let ucum = "http://unitsofmeasure.org"
    static let absence = "http://terminology.hl7.org/CodeSystem/data-absent-reason"
    static let category = "http://terminology.hl7.org/CodeSystem/observation-category"
    static let reason = "http://terminology.hl7.org/CodeSystem/v3-ActReason"
    static let identifierType = "http://terminology.hl7.org/CodeSystem/v2-0203"
    static let deviceIdentifierType = "http://terminology.hl7.org/CodeSystem/ContinuaDeviceIdentifiers"
    static let systemID = "urn:oid:1.2.840.10004.1.1.1.0.0.1.0.0.1.2680"
    static let bluetoothAddress = "http://hl7.org/fhir/sid/eui-48/bluetooth"
    /// Bits of a status: their MDC code, a point, and the bit's number.
    static let bits = "http://terminology.hl7.org/CodeSystem/ASN1ToHL7"
    static let measurementStatus = "http://hl7.org/fhir/uv/pocd/CodeSystem/measurement-status"
    /// Names that are URIs.
    static let uri = "urn:ietf:rfc:3986"
    /// Names that this program gives: the namespace of the records' ids.
    static let own = "urn:uuid:02322d06-b248-45e8-8c81-81d8effc6022"

    private static let guide = "http://hl7.org/fhir/uv/phd/"
    static let phdCategory = guide + "CodeSystem/PhdObservationCategories"
    /// The Personal Health Device guide's own identifier of a measurement.
    static let guideIdentifier = profile("PhdBaseObservation")

    static func profile(_ name: String) -> String { guide + "StructureDefinition/" + name }
}

/// What is known of the MDC codes that records have.
enum FHIRTerms {
    struct Term {
        /// The reference identifier.
        let name: String
        /// Where records are filed by it, its LOINC codes.
        var loincs: [LOINC] = []
        /// The category that these belong to, where there is one; a code of observation-category.
        var category: String?

        /// A vital sign of R4, in a unit that R4 allows.
        static func vital(_ name: String, _ loincs: String..., units: Set<String>) -> Term {
            Term(name: name, loincs: loincs.map { LOINC(code: $0, units: units) }, category: "vital-signs")
        }

        static func temperature(_ name: String) -> Term { .vital(name, "8310-5", units: ["Cel", "[degF]"]) }

        /// A concentration, by its mass or its amount of substance.
        static func laboratory(_ name: String, _ codes: KeyValuePairs<String, String>) -> Term {
            Term(
                name: name, loincs: codes.map { LOINC(code: $0.value, units: [$0.key]) },
                category: "laboratory")
        }
    }

    /// A LOINC code, and the units in UCUM that it is for.
    struct LOINC: Equatable {
        let code: String
        let units: Set<String>
    }

    static let bloodPressure: UInt32 = 150020
    static let systolic: UInt32 = 150021
    static let diastolic: UInt32 = 150022
    static let meanPressure: UInt32 = 150023
    static let height: UInt32 = 188740
    static let weight: UInt32 = 188736
    static let supplementalTypes: UInt32 = 68193
    static let exercise: UInt32 = 8_417_760

    static func term(_ code: UInt32) -> Term? { terms[code] }

    private static let pressure: Set = ["mm[Hg]"]
    private static let rate: Set = ["/min"]
    private static let capillaryGlucose: KeyValuePairs = ["mg/dL": "41653-7", "mmol/L": "14743-9"]

    private static let terms: [UInt32: Term] = [
        bloodPressure: .vital("MDC_PRESS_BLD_NONINV", "85354-9", units: pressure),
        systolic: .vital("MDC_PRESS_BLD_NONINV_SYS", "8480-6", units: pressure),
        diastolic: .vital("MDC_PRESS_BLD_NONINV_DIA", "8462-4", units: pressure),
        // A component beside the two that R4's blood pressure has.
        meanPressure: .vital("MDC_PRESS_BLD_NONINV_MEAN", "8478-0", units: pressure),
        149546: .vital("MDC_PULS_RATE_NON_INV", "8867-4", units: rate),
        149530: .vital("MDC_PULS_OXIM_PULS_RATE", "8867-4", units: rate),
        147842: .vital("MDC_ECG_HEART_RATE", "8867-4", units: rate),
        147240: Term(name: "MDC_ECG_TIME_PD_RR_GL"),
        151562: .vital("MDC_RESP_RATE", "9279-1", units: rate),
        150456: .vital("MDC_PULS_OXIM_SAT_O2", "2708-6", "59408-5", units: ["%"]),
        150448: Term(name: "MDC_PULS_OXIM_PERF_REL"),
        150364: .temperature("MDC_TEMP_BODY"),
        150392: .temperature("MDC_TEMP_TYMP"),
        188420: .temperature("MDC_TEMP_RECT"),
        188424: .temperature("MDC_TEMP_ORAL"),
        188428: .temperature("MDC_TEMP_EAR"),
        188432: .temperature("MDC_TEMP_FINGER"),
        188448: .temperature("MDC_TEMP_TOE"),
        188452: .temperature("MDC_TEMP_AXILLA"),
        188456: .temperature("MDC_TEMP_GIT"),
        weight: .vital("MDC_MASS_BODY_ACTUAL", "29463-7", units: ["kg", "g", "[lb_av]"]),
        height: .vital("MDC_LEN_BODY_ACTUAL", "8302-2", units: ["cm", "[in_i]"]),
        188752: .vital("MDC_RATIO_MASS_BODY_LEN_SQ", "39156-5", units: ["kg/m2"]),
        188748: Term(name: "MDC_BODY_FAT", loincs: [LOINC(code: "41982-0", units: ["%"])]),
        188756: Term(name: "MDC_MASS_BODY_FAT_FREE"),
        188760: Term(name: "MDC_MASS_BODY_SOFT_LEAN"),
        188764: Term(name: "MDC_BODY_WATER"),
        160020: Term(name: "MDC_CONC_GLU_GEN"),
        160184: .laboratory("MDC_CONC_GLU_CAPILLARY_WHOLEBLOOD", capillaryGlucose),
        160188: .laboratory("MDC_CONC_GLU_CAPILLARY_PLASMA", capillaryGlucose),
        160192: Term(name: "MDC_CONC_GLU_VENOUS_WHOLEBLOOD"),
        160196: Term(name: "MDC_CONC_GLU_VENOUS_PLASMA"),
        160200: Term(name: "MDC_CONC_GLU_ARTERIAL_WHOLEBLOOD"),
        160204: Term(name: "MDC_CONC_GLU_ARTERIAL_PLASMA"),
        160208: Term(name: "MDC_CONC_GLU_CONTROL"),
        160212: .laboratory("MDC_CONC_GLU_ISF", ["mg/dL": "99504-3", "mmol/L": "105272-9"]),
        160220: .laboratory("MDC_CONC_HBA1C", ["%": "4548-4"]),
        160364: Term(name: "MDC_CONC_GLU_UNDETERMINED_WHOLEBLOOD"),
        160368: Term(name: "MDC_CONC_GLU_UNDETERMINED_PLASMA"),
        150580: Term(name: "MDC_MODALITY_FAST"),
        150584: Term(name: "MDC_MODALITY_SLOW"),
        150588: Term(name: "MDC_MODALITY_SPOT"),
        supplementalTypes: Term(name: "MDC_ATTR_SUPPLEMENTAL_TYPES"),
        exercise: Term(name: "MDC_CTXT_GLU_EXERCISE"),
        8_417_764: Term(name: "MDC_CTXT_GLU_CARB"),
        8_417_768: Term(name: "MDC_CTXT_GLU_CARB_BREAKFAST"),
        8_417_772: Term(name: "MDC_CTXT_GLU_CARB_LUNCH"),
        8_417_776: Term(name: "MDC_CTXT_GLU_CARB_DINNER"),
        8_417_780: Term(name: "MDC_CTXT_GLU_CARB_SNACK"),
        8_417_784: Term(name: "MDC_CTXT_GLU_CARB_DRINK"),
        8_417_788: Term(name: "MDC_CTXT_GLU_CARB_SUPPER"),
        8_417_792: Term(name: "MDC_CTXT_GLU_CARB_BRUNCH"),
        8_417_796: Term(name: "MDC_CTXT_MEDICATION"),
        8_417_800: Term(name: "MDC_CTXT_MEDICATION_RAPIDACTING"),
        8_417_804: Term(name: "MDC_CTXT_MEDICATION_SHORTACTING"),
        8_417_808: Term(name: "MDC_CTXT_MEDICATION_INTERMEDIATEACTING"),
        8_417_812: Term(name: "MDC_CTXT_MEDICATION_LONGACTING"),
        8_417_816: Term(name: "MDC_CTXT_MEDICATION_PREMIX"),
        health: Term(name: "MDC_CTXT_GLU_HEALTH"),
        8_417_824: Term(name: "MDC_CTXT_GLU_HEALTH_MINOR"),
        8_417_828: Term(name: "MDC_CTXT_GLU_HEALTH_MAJOR"),
        8_417_832: Term(name: "MDC_CTXT_GLU_HEALTH_MENSES"),
        8_417_836: Term(name: "MDC_CTXT_GLU_HEALTH_STRESS"),
        8_417_840: Term(name: "MDC_CTXT_GLU_HEALTH_NONE"),
        location: Term(name: "MDC_CTXT_GLU_SAMPLELOCATION"),
        8_417_848: Term(name: "MDC_CTXT_GLU_SAMPLELOCATION_FINGER"),
        8_417_852: Term(name: "MDC_CTXT_GLU_SAMPLELOCATION_AST"),
        8_417_856: Term(name: "MDC_CTXT_GLU_SAMPLELOCATION_EARLOBE"),
        8_417_860: Term(name: "MDC_CTXT_GLU_SAMPLELOCATION_CTRLSOLUTION"),
        meal: Term(name: "MDC_CTXT_GLU_MEAL"),
        8_417_868: Term(name: "MDC_CTXT_GLU_MEAL_PREPRANDIAL"),
        8_417_872: Term(name: "MDC_CTXT_GLU_MEAL_POSTPRANDIAL"),
        8_417_876: Term(name: "MDC_CTXT_GLU_MEAL_FASTING"),
        8_417_880: Term(name: "MDC_CTXT_GLU_MEAL_CASUAL"),
        8_417_908: Term(name: "MDC_CTXT_GLU_MEAL_BEDTIME"),
        8_454_263: Term(name: "MDC_HF_ENERGY"),
        pressureStatus.code: Term(name: "MDC_BLOOD_PRESSURE_MEASUREMENT_STATUS"),
        meterStatus.code: Term(name: "MDC_GLU_METER_DEV_STATUS"),
        sensorStatus.code: Term(name: "MDC_CGM_DEV_STAT"),
        tester: Term(name: "MDC_CTXT_GLU_TESTER"),
        8_417_888: Term(name: "MDC_CTXT_GLU_TESTER_SELF"),
        8_417_892: Term(name: "MDC_CTXT_GLU_TESTER_HCP"),
        8_417_896: Term(name: "MDC_CTXT_GLU_TESTER_LAB"),
    ]

    private static let meal: UInt32 = 8_417_864
    private static let health: UInt32 = 8_417_820
    private static let location: UInt32 = 8_417_844
    private static let tester: UInt32 = 8_417_884

    /// Flags that are an observation of their own: what was observed, and what it is.
    static let coded: [String: (code: UInt32, value: UInt32)] = [
        "meal-preprandial": (meal, 8_417_868), "meal-postprandial": (meal, 8_417_872),
        "meal-fasting": (meal, 8_417_876), "meal-casual": (meal, 8_417_880),
        "meal-bedtime": (meal, 8_417_908),
        "health-minor-issues": (health, 8_417_824), "health-major-issues": (health, 8_417_828),
        "health-during-menses": (health, 8_417_832), "health-under-stress": (health, 8_417_836),
        "health-no-issues": (health, 8_417_840),
        "location-finger": (location, 8_417_848), "location-alternate-site-test": (location, 8_417_852),
        "location-earlobe": (location, 8_417_856), "location-control-solution": (location, 8_417_860),
        "tester-self": (tester, 8_417_888), "tester-health-care-professional": (tester, 8_417_892),
        "tester-lab-test": (tester, 8_417_896),
    ]

    /// Flags that say more exactly of what type a value is: the value's type in a record, and the code. IEEE 11073-20601
    /// has this code as the Metric-Id of the value, and the guide has it in the place of the general one.
    static let typesByFlag: [String: (type: String, code: UInt32)] = [
        "carbohydrate-breakfast": ("carbohydrate", 8_417_768),
        "carbohydrate-lunch": ("carbohydrate", 8_417_772),
        "carbohydrate-dinner": ("carbohydrate", 8_417_776),
        "carbohydrate-snack": ("carbohydrate", 8_417_780),
        "carbohydrate-drink": ("carbohydrate", 8_417_784),
        "carbohydrate-supper": ("carbohydrate", 8_417_788),
        "carbohydrate-brunch": ("carbohydrate", 8_417_792),
        "medication-rapid-acting-insulin": ("medication", 8_417_800),
        "medication-short-acting-insulin": ("medication", 8_417_804),
        "medication-intermediate-acting-insulin": ("medication", 8_417_808),
        "medication-long-acting-insulin": ("medication", 8_417_812),
        "medication-pre-mixed-insulin": ("medication", 8_417_816),
        "site-armpit": ("body-temperature", 188452), "site-body": ("body-temperature", 150364),
        "site-ear": ("body-temperature", 188428), "site-finger": ("body-temperature", 188432),
        "site-gastrointestinal-tract": ("body-temperature", 188456),
        "site-mouth": ("body-temperature", 188424), "site-rectum": ("body-temperature", 188420),
        "site-toe": ("body-temperature", 188448), "site-tympanum": ("body-temperature", 150392),
    ]

    /// The code of a value's type by a flag; nil where the flag says nothing of this type.
    static func code(of type: String, by flag: String) -> UInt32? {
        typesByFlag[flag].flatMap { $0.type == type ? $0.code : nil }
    }

    /// A status whose bits are an observation: its MDC code, and the bits by their flags.
    struct Status {
        let code: UInt32
        let bits: [String: Int]
    }

    /// The status that devices send with a kind of reading, as far as the guide's ASN1ToHL7 has its bits. All of these are
    /// events: a bit that is not set is not told.
    static func status(of kind: RecordKind) -> Status? {
        switch kind {
        case .bloodPressure: pressureStatus
        case .glucose: meterStatus
        case .continuousGlucose: sensorStatus
        default: nil
        }
    }

    private static let pressureStatus = Status(
        code: 8_410_608,
        bits: [
            "body-movement": 0, "cuff-too-loose": 1, "irregular-pulse": 2,
            "pulse-rate-exceeds-upper-limit": 3, "pulse-rate-less-than-lower-limit": 4,
            "improper-measurement-position": 5,
        ])
    // Its bit 11 is not the time fault of Bluetooth's.
    private static let meterStatus = Status(
        code: 8_417_752,
        bits: [
            "device-battery-low": 0, "sensor-malfunction": 1, "sample-size-insufficient": 2,
            "strip-insertion-error": 3, "strip-type-incorrect": 4, "sensor-result-too-high": 5,
            "sensor-result-too-low": 6, "sensor-temperature-too-high": 7, "sensor-temperature-too-low": 8,
            "sensor-read-interrupted": 9, "general-device-fault": 10,
        ])
    private static let sensorStatus = Status(
        code: 8_418_060,
        bits: [
            "session-stopped": 0, "sensor-type-incorrect": 2, "sensor-malfunction": 3,
            "device-specific-alert": 4, "calibration-not-allowed": 7, "calibration-recommended": 8,
            "calibration-required": 9, "sensor-temperature-too-high": 10, "sensor-temperature-too-low": 11,
            "lower-than-patient-low": 12, "higher-than-patient-high": 13, "lower-than-hypo": 14,
            "higher-than-hyper": 15, "rate-of-decrease-exceeded": 16, "rate-of-increase-exceeded": 17,
            "sensor-result-too-low": 18, "sensor-result-too-high": 19,
        ])

    /// How a value was averaged, by its type.
    static let modalities: [String: UInt32] = [
        "spo2-fast": 150580, "pulse-rate-fast": 150580, "spo2-slow": 150584, "pulse-rate-slow": 150584,
    ]

    /// Codes of types whose measurements have none in a record.
    static let codesByType: [String: UInt32] = ["rr-interval": 147240]
}
