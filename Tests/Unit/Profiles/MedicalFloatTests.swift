import Testing

@testable import IngestProfiles

@Suite struct MedicalFloatTests {
    @Test(
        arguments: [
            (0xF16E, "36.6"),  // mantissa 366, exponent -1
            (0x0000, "0"), (0x008A, "138"), (0x0FFF, "-1"),
            (0x200C, "1200"),  // mantissa 12, exponent 2
            (0xF000, "0.0"), (0x2000, "0"),
            (0xE005, "0.05"), (0xEFFB, "-0.05"),
            (0x07FD, "2045"), (0x0803, "-2045"),  // the neighbours of the special values
            (0xF7FF, "204.7"), (0xF800, "-204.8"),  // their mantissas beside another exponent
            (0x77FD, "20450000000"), (0x87FD, "0.00002045"),  // the ends of the range
        ] as [(UInt16, String)])
    func sfloatKeepsItsDigits(raw: UInt16, text: String) {
        guard case .exact(let number) = MedicalFloat.sfloat(raw) else {
            Issue.record("no number")
            return
        }
        #expect(number.description == text)
    }

    @Test(
        arguments: [
            (0x07FF, AbsentReason.notANumber), (0x0800, .notAtThisResolution), (0x07FE, .positiveInfinity),
            (0x0802, .negativeInfinity), (0x0801, .reserved),
        ] as [(UInt16, AbsentReason)])
    func specialSFLOATIsAbsent(raw: UInt16, reason: AbsentReason) {
        #expect(MedicalFloat.sfloat(raw) == .absent(reason))
    }

    @Test(
        arguments: [
            (0xFE00_00C8, "2.00"), (0xFF00_016E, "36.6"), (0xFE00_0E4C, "36.60"), (0x0000_0025, "37"),
            (0x0200_000C, "1200"), (0xFFFF_FFFF, "-0.1"), (0x007F_FFFD, "8388605"), (0x0080_0003, "-8388605"),
            (0xFF7F_FFFF, "838860.7"), (0x7F00_0000, "0"),
            (0x7F00_0001, "1" + String(repeating: "0", count: 127)),
            (0x8000_0001, "0." + String(repeating: "0", count: 127) + "1"),
        ] as [(UInt32, String)])
    func floatKeepsItsDigits(raw: UInt32, text: String) {
        guard case .exact(let number) = MedicalFloat.float(raw) else {
            Issue.record("no number")
            return
        }
        #expect(number.description == text)
    }

    @Test(
        arguments: [
            (0x007F_FFFF, AbsentReason.notANumber), (0x0080_0000, .notAtThisResolution),
            (0x007F_FFFE, .positiveInfinity), (0x0080_0002, .negativeInfinity), (0x0080_0001, .reserved),
        ] as [(UInt32, AbsentReason)])
    func specialFLOATIsAbsent(raw: UInt32, reason: AbsentReason) {
        #expect(MedicalFloat.float(raw) == .absent(reason))
    }

    @Test func everySFLOATIsTheNumberThatItsPartsMake() {
        for raw in UInt16.min...UInt16.max {
            guard case .exact(let number) = MedicalFloat.sfloat(raw) else { continue }
            var mantissa = Int64(raw & 0x0FFF)
            if mantissa > 0x07FF { mantissa -= 0x1000 }
            var exponent = Int8(raw >> 12)
            if exponent > 7 { exponent -= 16 }
            #expect(number == ExactDecimal(coefficient: mantissa, exponent: exponent))
        }
    }
}
