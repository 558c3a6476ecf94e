/// The number formats of IEEE 11073-20601: a decimal mantissa and exponent, so that the device's
/// digits come through exactly. The five special values are whole words (exponent 0); a mantissa
/// of the same bits beside another exponent is an ordinary number.
enum MedicalFloat {
    /// SFLOAT-Type: 4 bits of exponent, 12 bits of mantissa, both in two's complement.
    static func sfloat(_ raw: UInt16) -> Measurement.Value {
        switch raw {
        case 0x07FF: .absent(.notANumber)
        case 0x0800: .absent(.notAtThisResolution)
        case 0x07FE: .absent(.positiveInfinity)
        case 0x0802: .absent(.negativeInfinity)
        case 0x0801: .absent(.reserved)
        default:
            // Shifting left and back again extends the sign of the 12-bit mantissa.
            .exact(
                ExactDecimal(
                    coefficient: Int64(Int16(bitPattern: raw << 4) >> 4),
                    exponent: Int8(Int16(bitPattern: raw) >> 12)))
        }
    }

    /// FLOAT-Type: 8 bits of exponent, 24 bits of mantissa, both in two's complement.
    static func float(_ raw: UInt32) -> Measurement.Value {
        switch raw {
        case 0x007F_FFFF: .absent(.notANumber)
        case 0x0080_0000: .absent(.notAtThisResolution)
        case 0x007F_FFFE: .absent(.positiveInfinity)
        case 0x0080_0002: .absent(.negativeInfinity)
        case 0x0080_0001: .absent(.reserved)
        default:
            .exact(
                ExactDecimal(
                    coefficient: Int64(Int32(bitPattern: raw << 8) >> 8),
                    exponent: Int8(truncatingIfNeeded: Int32(bitPattern: raw) >> 24)))
        }
    }
}

extension ByteCursor {
    /// A medfloat16 (GATT Specification Supplement).
    mutating func sfloat(_ field: String) throws(DecodeError) -> Measurement.Value {
        MedicalFloat.sfloat(try uint16(field))
    }

    /// A medfloat32 (GATT Specification Supplement).
    mutating func float(_ field: String) throws(DecodeError) -> Measurement.Value {
        MedicalFloat.float(try uint32(field))
    }
}
