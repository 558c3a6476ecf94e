extension Profile {
    /// Body Composition Service 1.0, whose peripherals send the weight there or by the Weight Scale
    /// Service.
    static let bodyComposition = Profile(
        name: "body-composition", kinds: [.bodyComposition, .weight],
        sources: [
            Source(BodyComposition.measurement, in: 0x181B),
            Source(WeightScale.measurement, in: 0x181D, isOptional: true),
        ],
        longestPayload: 30,
        features: [Source(BodyComposition.feature, in: 0x181B), Source(WeightScale.feature, in: 0x181D)],
        decoders: [
            BodyComposition.measurement: BodyComposition.decodeMeasurement,
            BodyComposition.feature: BodyComposition.decodeFeature,
            WeightScale.measurement: WeightScale.decodeMeasurement,
            WeightScale.feature: WeightScale.decodeFeature,
        ],
        assemblers: [BodyComposition.measurement: BodyComposition.assemble])
}

/// Body Composition Measurement and Body Composition Feature (GATT Specification Supplement).
enum BodyComposition {
    static let measurement: BluetoothUUID = 0x2A9C
    static let feature: BluetoothUUID = 0x2A9B
    /// A packet of a measurement that takes two.
    static let multiplePacketFlag = "multiple-packet"

    private struct Flags: OptionSet {
        let rawValue: UInt16

        static let imperial = Flags(rawValue: 1 << 0)
        static let timeStamp = Flags(rawValue: 1 << 1)
        static let userID = Flags(rawValue: 1 << 2)
        static let basalMetabolism = Flags(rawValue: 1 << 3)
        static let musclePercentage = Flags(rawValue: 1 << 4)
        static let muscleMass = Flags(rawValue: 1 << 5)
        static let fatFreeMass = Flags(rawValue: 1 << 6)
        static let softLeanMass = Flags(rawValue: 1 << 7)
        static let bodyWaterMass = Flags(rawValue: 1 << 8)
        static let impedance = Flags(rawValue: 1 << 9)
        static let weight = Flags(rawValue: 1 << 10)
        static let height = Flags(rawValue: 1 << 11)
        static let multiplePacket = Flags(rawValue: 1 << 12)

        /// The optional fields, each in one of the packets.
        static let measured: Flags = [
            .basalMetabolism, .musclePercentage, .muscleMass, .fatFreeMass, .softLeanMass,
            .bodyWaterMass, .impedance, .weight, .height,
        ]
    }

    @Sendable
    static func decodeMeasurement(_ cursor: inout ByteCursor) throws(DecodeError) -> Reading {
        try Packet(&cursor).reading
    }

    /// A measurement too long for one packet comes in two consecutive ones, both with the Multiple
    /// Packet Measurement flag. The second repeats the body fat percentage and has the fields that
    /// the first has not; its time stamp and user are the first's.
    @Sendable
    static func assemble(_ packets: [[UInt8]]) throws(DecodeError) -> Profile.Assembly {
        var decoded: [Packet] = []
        for bytes in packets {
            var cursor = ByteCursor(bytes)
            decoded.append(try Packet(&cursor))
        }
        guard let first = decoded.first, let last = decoded.last else { return .incomplete }
        switch decoded.count {
        case 1:
            return first.flags.contains(.multiplePacket) ? .incomplete : .complete(first.reading)
        case 2:
            return last.continues(first) ? .complete(first.joined(with: last)) : .unrelated
        default:
            return .unrelated
        }
    }

    /// One packet, and what it says.
    private struct Packet {
        let flags: Flags
        let bodyFat: UInt16
        private(set) var reading: Reading

        init(_ cursor: inout ByteCursor) throws(DecodeError) {
            flags = Flags(rawValue: try cursor.uint16("flags"))
            bodyFat = try cursor.uint16("body fat percentage")
            reading = Reading(
                kind: .bodyComposition,
                measurements: [
                    // MDC_BODY_FAT
                    Measurement(
                        type: "body-fat", code: 188748,
                        value: bodyFat == ScaleUnits.unsuccessful
                            ? .absent(.notANumber) : .tenths(bodyFat), unit: "%")
                ])
            var time = DateTimeField.unknown
            if flags.contains(.timeStamp) {
                time = try cursor.dateTime("time stamp")
            }
            if flags.contains(.userID) {
                reading.applyUser(try cursor.uint8("user id"))
            }
            try decodeMeasured(&cursor)
            if flags.contains(.multiplePacket) { reading.flags.append(multiplePacketFlag) }
            reading.apply(time)
        }

        private mutating func decodeMeasured(_ cursor: inout ByteCursor) throws(DecodeError) {
            let units = ScaleUnits(isImperial: flags.contains(.imperial))
            if flags.contains(.basalMetabolism) {
                add("basal-metabolism", .whole(try cursor.uint16("basal metabolism")), "kJ")
            }
            if flags.contains(.musclePercentage) {
                add("muscle-percentage", .tenths(try cursor.uint16("muscle percentage")), "%")
            }
            // MDC_MASS_BODY_FAT_FREE, MDC_MASS_BODY_SOFT_LEAN, MDC_BODY_WATER
            let masses: [(Flags, String, UInt32?)] = [
                (.muscleMass, "muscle-mass", nil), (.fatFreeMass, "fat-free-mass", 188756),
                (.softLeanMass, "soft-lean-mass", 188760), (.bodyWaterMass, "body-water-mass", 188764),
            ]
            for (flag, type, code) in masses where flags.contains(flag) {
                reading.measurements.append(units.mass(type, code: code, try cursor.uint16(type)))
            }
            if flags.contains(.impedance) {
                add("impedance", .tenths(try cursor.uint16("impedance")), "Ohm")
            }
            if flags.contains(.weight) {
                reading.measurements.append(
                    units.mass("weight", code: ScaleUnits.weightCode, try cursor.uint16("weight")))
            }
            if flags.contains(.height) {
                reading.measurements.append(units.height(try cursor.uint16("height")))
            }
        }

        /// What the nomenclature has no certain code for.
        private mutating func add(_ type: String, _ value: Measurement.Value, _ unit: String) {
            reading.measurements.append(Measurement(type: type, code: nil, value: value, unit: unit))
        }

        /// Whether this is the second packet of what `first` began: fields that contradict it, or
        /// that it had already, are another measurement's.
        func continues(_ first: Packet) -> Bool {
            flags.contains(.multiplePacket) && first.flags.contains(.multiplePacket)
                && flags.contains(.imperial) == first.flags.contains(.imperial)
                && bodyFat == first.bodyFat
                && flags.intersection(.measured).isDisjoint(with: first.flags)
                && (!flags.contains(.timeStamp) || reading.deviceTime == first.reading.deviceTime)
                && (!flags.contains(.userID) || reading.user == first.reading.user)
        }

        func joined(with second: Packet) -> Reading {
            var reading = self.reading
            reading.measurements += second.reading.measurements.dropFirst()
            reading.flags.removeAll { $0 == multiplePacketFlag }
            return reading
        }
    }

    @Sendable
    static func decodeFeature(_ cursor: inout ByteCursor) throws(DecodeError) -> Reading {
        let features = try cursor.uint32("body composition feature")
        return Reading(
            kind: .feature,
            measurements: ScaleResolution.measurements(
                weight: features >> 11 & 0b1111, height: features >> 15 & 0b111),
            flags: StatusBits.names(
                features,
                [
                    "time-stamp", "multiple-users", "basal-metabolism", "muscle-percentage",
                    "muscle-mass", "fat-free-mass", "soft-lean-mass", "body-water-mass", "impedance",
                    "weight", "height",
                ]))
    }
}
