/// The flags in front of each blood pressure. The last two are those of the enhanced characteristics.
struct BloodPressureFlags: OptionSet {
    let rawValue: UInt8

    static let kilopascal = BloodPressureFlags(rawValue: 1 << 0)
    static let timeStamp = BloodPressureFlags(rawValue: 1 << 1)
    static let pulseRate = BloodPressureFlags(rawValue: 1 << 2)
    static let userID = BloodPressureFlags(rawValue: 1 << 3)
    static let measurementStatus = BloodPressureFlags(rawValue: 1 << 4)
    static let userFacingTime = BloodPressureFlags(rawValue: 1 << 5)
    static let epochStart2000 = BloodPressureFlags(rawValue: 1 << 6)

    var unit: String { contains(.kilopascal) ? "kPa" : "mm[Hg]" }
}

/// The fields of a Blood Pressure Measurement or Intermediate Cuff Pressure, in the byte order in
/// which they make sense.
///
/// Some cuffs send fields most significant octet first. Beurer's BM 85 was recorded doing so with
/// pulse rate and status, and with a user index between them that its flags do not announce. Such a
/// frame is recognised by what cannot be right as the specification has it, and never by the
/// device's name.
struct BloodPressureFrame {
    private let flags: BloodPressureFlags
    /// SFLOATs, as the next three.
    private(set) var systolic: UInt16
    private(set) var diastolic: UInt16
    private(set) var meanArterialPressure: UInt16
    private(set) var pulseRate: UInt16?
    private(set) var time = DateTimeField.unknown
    private(set) var userID: UInt8?
    private(set) var status: UInt16?

    init(_ cursor: inout ByteCursor) throws(DecodeError) {
        flags = BloodPressureFlags(rawValue: try cursor.uint8("flags"))
        systolic = try cursor.uint16("systolic")
        diastolic = try cursor.uint16("diastolic")
        meanArterialPressure = try cursor.uint16("mean arterial pressure")
        var isSwapped = false
        if flags.contains(.timeStamp), let swappedTime = try decodeTime(&cursor) {
            // A wrong year alone does not say that the pressures are exchanged too.
            isSwapped = !isPossible(systolic) && isPossible(systolic.byteSwapped)
            if isSwapped { time = .known(swappedTime) }
        }
        if flags.contains(.pulseRate) {
            pulseRate = try cursor.uint16("pulse rate")
        }
        // Seen as the specification has it, the pulse would be 0, negative, below 18 or above 2559:
        // the low byte is 0, the high one gives an exponent other than 0 and -1, or no digits.
        let hasSwappedPulse = pulseRate.map { Self.likelyPulses.contains($0.byteSwapped) } ?? false
        if flags.contains(.userID) {
            userID = try cursor.uint8("user id")
        } else if hasSwappedPulse, flags.contains(.measurementStatus), cursor.remaining == 3 {
            userID = try cursor.uint8("user id")
        }
        if flags.contains(.measurementStatus) {
            status = try cursor.uint16("measurement status")
        }
        if isSwapped { swapPressures() }
        if isSwapped || hasSwappedPulse {
            pulseRate = pulseRate?.byteSwapped
            status = status?.byteSwapped
        }
    }

    /// Beats per minute that a cuff can measure; up to 239, so that an SFLOAT with one decimal (its
    /// exponent is 0xF0 in the high byte) is never taken for one of them.
    private static let likelyPulses: ClosedRange<UInt16> = 30...239
    /// The years in which a cuff can have measured, for a date that is wrong as it was sent.
    private static let likelyYears = 2000...2099

    /// - Returns: the date in the other byte order, where that alone gives one.
    private mutating func decodeTime(_ cursor: inout ByteCursor) throws(DecodeError) -> DeviceTime? {
        let stamp = try cursor.bytes(7, "time stamp")
        var asSent = ByteCursor(Array(stamp))
        time = try asSent.dateTime("time stamp")
        guard time == .impossible else { return nil }
        var swapped = ByteCursor(stamp.prefix(2).reversed() + stamp.dropFirst(2))
        guard case .known(let swappedTime) = try swapped.dateTime("time stamp"),
            Self.likelyYears.contains(swappedTime.year)
        else { return nil }
        return swappedTime
    }

    /// Whether a cuff can show it as the first pressure of a reading: 1 to 400 mm[Hg], or 0.1 to 60 kPa.
    private func isPossible(_ raw: UInt16) -> Bool {
        guard case .exact(let value) = MedicalFloat.sfloat(raw) else { return false }
        var thousandths = value.coefficient
        // An SFLOAT's exponent is -8 to 7, so that this neither overflows nor takes long.
        for _ in 0..<max(0, Int(value.exponent) + 3) { thousandths *= 10 }
        for _ in 0..<max(0, -3 - Int(value.exponent)) { thousandths /= 10 }
        return (flags.contains(.kilopascal) ? 100...60_000 : 1_000...400_000).contains(thousandths)
    }

    private mutating func swapPressures() {
        systolic = systolic.byteSwapped
        diastolic = diastolic.byteSwapped
        meanArterialPressure = meanArterialPressure.byteSwapped
    }

    func pressure(_ type: String, code: UInt32?, _ raw: UInt16) -> Measurement {
        Measurement(type: type, code: code, value: MedicalFloat.sfloat(raw), unit: flags.unit)
    }
}
