extension Profile {
    /// Blood Pressure Service 1.1.1.
    static let bloodPressure = Profile(
        name: "blood-pressure", kinds: [.bloodPressure],
        sources: [
            Source(
                BloodPressure.measurement, in: 0x1810, successor: EnhancedBloodPressure.measurement),
            Source(EnhancedBloodPressure.measurement, in: 0x1810, isOptional: true),
            Source(EnhancedBloodPressure.record, in: 0x1810, isOptional: true),
        ],
        // Sequence numbers count for each user by themselves, so that a number names no record.
        procedure: .storedRecords(RecordAccess(service: 0x1810, filter: .none, isOptional: true)),
        longestPayload: 20, features: [Source(BloodPressure.feature, in: 0x1810)],
        decoders: [
            BloodPressure.measurement: BloodPressure.decodeMeasurement,
            BloodPressure.intermediateCuffPressure: BloodPressure.decodeIntermediate,
            BloodPressure.feature: BloodPressure.decodeFeature,
            EnhancedBloodPressure.measurement: EnhancedBloodPressure.decodeMeasurement,
            EnhancedBloodPressure.cuffPressure: EnhancedBloodPressure.decodeCuffPressure,
            EnhancedBloodPressure.record: EnhancedBloodPressure.decodeRecord,
        ],
        assemblers: [EnhancedBloodPressure.record: EnhancedBloodPressure.assembleRecord],
        joiners: [EnhancedBloodPressure.record: EnhancedBloodPressure.join],
        namer: EnhancedBloodPressure.name)
}

/// Blood Pressure Measurement, Intermediate Cuff Pressure and Blood Pressure Feature (GATT
/// Specification Supplement).
enum BloodPressure {
    static let measurement: BluetoothUUID = 0x2A35
    /// For displays while the cuff inflates: decoded, and never a record.
    static let intermediateCuffPressure: BluetoothUUID = 0x2A36
    static let feature: BluetoothUUID = 0x2A49

    @Sendable
    static func decodeMeasurement(_ cursor: inout ByteCursor) throws(DecodeError) -> Reading {
        let frame = try BloodPressureFrame(&cursor)
        return Reading(
            frame, kind: .bloodPressure,
            pressures: [
                // MDC_PRESS_BLD_NONINV_SYS, _DIA, _MEAN
                frame.pressure("systolic", code: 150021, frame.systolic),
                frame.pressure("diastolic", code: 150022, frame.diastolic),
                frame.pressure("mean-arterial-pressure", code: 150023, frame.meanArterialPressure),
            ])
    }

    /// The form of a measurement. The pressure in the cuff stands for the systolic one; the other
    /// two are not used.
    @Sendable
    static func decodeIntermediate(_ cursor: inout ByteCursor) throws(DecodeError) -> Reading {
        let frame = try BloodPressureFrame(&cursor)
        return Reading(
            frame, kind: .bloodPressure,
            pressures: [frame.pressure("cuff-pressure", code: nil, frame.systolic)])
    }

    @Sendable
    static func decodeFeature(_ cursor: inout ByteCursor) throws(DecodeError) -> Reading {
        Reading(
            kind: .feature,
            flags: StatusBits.names(
                try cursor.uint16("blood pressure feature"),
                [
                    "body-movement-detection", "cuff-fit-detection", "irregular-pulse-detection",
                    "pulse-rate-range-detection", "measurement-position-detection", "multiple-bonds",
                    "e2e-crc", "user-data-service", "user-facing-time",
                ]))
    }

    /// The set bits of Measurement Status; reserved ones say nothing.
    static func statusFlags(_ status: UInt16) -> [String] {
        var flags = StatusBits.names(status, ["body-movement", "cuff-too-loose", "irregular-pulse"])
        switch status >> 3 & 0b11 {
        case 0b01: flags.append("pulse-rate-exceeds-upper-limit")
        case 0b10: flags.append("pulse-rate-less-than-lower-limit")
        default: break
        }
        if status & 1 << 5 != 0 { flags.append("improper-measurement-position") }
        return flags
    }
}

extension Reading {
    fileprivate init(_ frame: BloodPressureFrame, kind: RecordKind, pressures: [Measurement]) {
        self.init(kind: kind, measurements: pressures)
        if let pulse = frame.pulseRate {
            // MDC_PULS_RATE_NON_INV
            measurements.append(
                Measurement(
                    type: "pulse-rate", code: 149546, value: MedicalFloat.sfloat(pulse), unit: "/min"))
        }
        if let user = frame.userID { applyUser(user) }
        if let status = frame.status { flags += BloodPressure.statusFlags(status) }
        apply(frame.time)
    }

    /// Takes over a user index, in the place of one that came before; 255 is the unknown user.
    mutating func applyUser(_ index: UInt8) {
        user = nil
        flags.removeAll { $0 == Self.unknownUserFlag }
        if index == 0xFF {
            flags.append(Self.unknownUserFlag)
        } else {
            user = Int(index)
        }
    }
}
