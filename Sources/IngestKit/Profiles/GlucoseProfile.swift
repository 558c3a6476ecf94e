extension Profile {
    /// Glucose Service 1.0.1.
    static let glucose = Profile(
        name: "glucose", kinds: [.glucose, .glucoseContext],
        sources: [
            Source(Glucose.measurement, in: 0x1808),
            Source(GlucoseContext.characteristic, in: 0x1808, isOptional: true),
        ],
        procedure: .storedRecords(RecordAccess(service: 0x1808, filter: .sequenceNumber, isOptional: false)),
        longestPayload: 17, features: [Source(Glucose.feature, in: 0x1808)],
        decoders: [
            Glucose.measurement: Glucose.decodeMeasurement,
            GlucoseContext.characteristic: GlucoseContext.decode,
            Glucose.feature: Glucose.decodeFeature,
        ], namer: Glucose.name)
}

/// Glucose Measurement and Glucose Feature (GATT Specification Supplement).
enum Glucose {
    static let measurement: BluetoothUUID = 0x2A18
    static let feature: BluetoothUUID = 0x2A51

    private struct Flags: OptionSet {
        let rawValue: UInt8

        static let timeOffset = Flags(rawValue: 1 << 0)
        static let concentration = Flags(rawValue: 1 << 1)
        static let molesPerLitre = Flags(rawValue: 1 << 2)
        static let sensorStatus = Flags(rawValue: 1 << 3)
        static let contextFollows = Flags(rawValue: 1 << 4)
    }

    /// A meal can be marked on a meter after the measurement. The measurement is the same one then, so that it is named
    /// without the flag that says that a context follows.
    @Sendable
    static func name(of raw: RawPayload) -> RawPayload {
        guard raw.characteristic == measurement, let octet = raw.bytes.first else { return raw }
        var named = raw
        named.bytes[0] = Flags(rawValue: octet).subtracting(.contextFollows).rawValue
        return named
    }

    @Sendable
    static func decodeMeasurement(_ cursor: inout ByteCursor) throws(DecodeError) -> Reading {
        let flags = Flags(rawValue: try cursor.uint8("flags"))
        var reading = Reading(kind: .glucose, sequence: Int(try cursor.uint16("sequence number")))
        let baseTime = try cursor.dateTime("base time")
        if flags.contains(.timeOffset) {
            reading.applyTimeOffset(try cursor.uint16("time offset"))
        }
        if flags.contains(.concentration) {
            let value = try cursor.sfloat("glucose concentration")
            let sample = GlucoseSample(try cursor.uint8("type and sample location"))
            reading.measurements.append(
                Measurement(
                    type: "glucose", code: sample.concentrationCode,
                    // kg/L to mg/dL, or mol/L to mmol/L.
                    value: value.movedByPowerOfTen(flags.contains(.molesPerLitre) ? 3 : 5),
                    unit: flags.contains(.molesPerLitre) ? "mmol/L" : "mg/dL"))
            reading.flags += sample.flags
        }
        if flags.contains(.sensorStatus) {
            let status = try cursor.uint16("sensor status annunciation")
            reading.flags += StatusBits.names(status, statusNames)
            if let reason = absence(status) {
                for index in reading.measurements.indices {
                    reading.measurements[index].value = .absent(reason)
                }
            }
        }
        if flags.contains(.contextFollows) { reading.flags.append(Reading.contextFollowsFlag) }
        reading.apply(baseTime)
        return reading
    }

    /// Why the result beside a Sensor Status Annunciation is none; nil where it is one. Bits 1 to 10 mark it: what went
    /// wrong, and 5 and 6 a result beyond what the device can process, for which meters send the end of their range.
    private static func absence(_ status: UInt16) -> AbsentReason? {
        let tooHigh: UInt16 = 1 << 5
        let tooLow: UInt16 = 1 << 6
        return switch status & 0b111_1111_1110 {
        case 0: nil
        case tooHigh: .aboveDeviceRange
        case tooLow: .belowDeviceRange
        default: .markedUnusable
        }
    }

    private static let statusNames: [String?] = [
        "device-battery-low", "sensor-malfunction", "sample-size-insufficient", "strip-insertion-error",
        "strip-type-incorrect", "sensor-result-too-high", "sensor-result-too-low",
        "sensor-temperature-too-high", "sensor-temperature-too-low", "sensor-read-interrupted",
        "general-device-fault", Reading.timeFaultFlag,
    ]

    @Sendable
    static func decodeFeature(_ cursor: inout ByteCursor) throws(DecodeError) -> Reading {
        Reading(
            kind: .feature,
            flags: StatusBits.names(
                try cursor.uint16("glucose feature"),
                [
                    "low-battery-detection", "sensor-malfunction-detection", "sensor-sample-size",
                    "sensor-strip-insertion-error-detection", "sensor-strip-type-error-detection",
                    "sensor-result-high-low-detection", "sensor-temperature-high-low-detection",
                    "sensor-read-interrupt-detection", "general-device-fault", "time-fault",
                    "multiple-bonds",
                ]))
    }
}

/// What was sampled, and where: a nibble each (Glucose Measurement and CGM Feature).
struct GlucoseSample {
    private let type: UInt8
    private let location: UInt8

    /// CGM Feature alone has the subcutaneous tissue among its locations.
    private let isSensor: Bool

    /// - Parameter isSensor: whether it is of a continuous sensor.
    init(_ octet: UInt8, isSensor: Bool = false) {
        type = octet & 0x0F
        location = octet >> 4
        self.isSensor = isSensor
    }

    /// `type-…` and `location-…`; reserved numbers say nothing.
    var flags: [String] { [typeFlag, locationFlag].compactMap(\.self) }

    /// By the number of the type: its flag, and MDC_CONC_GLU_….
    private static let types: [UInt8: (flag: String, code: UInt32)] = [
        1: ("type-capillary-whole-blood", 160184),  // MDC_CONC_GLU_CAPILLARY_WHOLEBLOOD
        2: ("type-capillary-plasma", 160188),  // MDC_CONC_GLU_CAPILLARY_PLASMA
        3: ("type-venous-whole-blood", 160192),  // MDC_CONC_GLU_VENOUS_WHOLEBLOOD
        4: ("type-venous-plasma", 160196),  // MDC_CONC_GLU_VENOUS_PLASMA
        5: ("type-arterial-whole-blood", 160200),  // MDC_CONC_GLU_ARTERIAL_WHOLEBLOOD
        6: ("type-arterial-plasma", 160204),  // MDC_CONC_GLU_ARTERIAL_PLASMA
        7: ("type-undetermined-whole-blood", 160364),  // MDC_CONC_GLU_UNDETERMINED_WHOLEBLOOD
        8: ("type-undetermined-plasma", 160368),  // MDC_CONC_GLU_UNDETERMINED_PLASMA
        9: ("type-interstitial-fluid", 160212),  // MDC_CONC_GLU_ISF
        10: ("type-control-solution", 160208),  // MDC_CONC_GLU_CONTROL
    ]

    /// Of glucose in general (MDC_CONC_GLU_GEN) for a reserved type.
    var concentrationCode: UInt32 { Self.types[type]?.code ?? 160020 }

    /// The code of the type that has this flag; nil for any other flag.
    static func concentrationCode(of flag: String) -> UInt32? {
        types.values.first { $0.flag == flag }?.code
    }

    private var typeFlag: String? { Self.types[type]?.flag }

    private var locationFlag: String? {
        switch location {
        case 1: "location-finger"
        case 2: "location-alternate-site-test"
        case 3: "location-earlobe"
        case 4: "location-control-solution"
        case 5 where isSensor: "location-subcutaneous-tissue"
        case 15: "location-not-available"
        default: nil
        }
    }
}

extension Reading {
    /// Takes over a Time Offset: signed minutes, or one of the two words beside its range.
    fileprivate mutating func applyTimeOffset(_ raw: UInt16) {
        switch raw {
        case 0x7FFF: flags.append(Self.timeOffsetOverrunFlag)
        case 0x8000: flags.append(Self.timeOffsetUnderrunFlag)
        default: timeOffsetMinutes = Int(Int16(bitPattern: raw))
        }
    }
}

extension Measurement.Value {
    /// The same digits in a unit that is 10^`power` times smaller; absent values stay absent.
    /// - Precondition: the value is an SFLOAT, whose exponent leaves room.
    func movedByPowerOfTen(_ power: Int) -> Measurement.Value {
        guard case .exact(let number) = self else { return self }
        return .exact(
            ExactDecimal(
                coefficient: number.coefficient, exponent: Int8(clamping: Int(number.exponent) + power)))
    }

    /// A whole number.
    static func whole(_ number: some FixedWidthInteger & UnsignedInteger) -> Measurement.Value {
        .exact(ExactDecimal(coefficient: Int64(clamping: number), exponent: 0))
    }
}
