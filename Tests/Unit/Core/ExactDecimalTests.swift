import Testing

@testable import IngestCore

@Suite struct ExactDecimalTests {
    @Test(
        arguments: [
            (0, 0, "0"), (0, 5, "0"), (0, -2, "0.00"), (7, 0, "7"), (-7, 0, "-7"), (12, 2, "1200"),
            (-12, 2, "-1200"), (3660, -2, "36.60"), (366, -1, "36.6"), (5, -1, "0.5"), (-5, -3, "-0.005"),
            (100, -2, "1.00"), (100, -3, "0.100"),
            (Int64.min, 0, "-9223372036854775808"), (Int64.max, -19, "0.9223372036854775807"),
            (1, 127, "1" + String(repeating: "0", count: 127)),
            (1, -128, "0." + String(repeating: "0", count: 127) + "1"),
        ] as [(Int64, Int8, String)])
    func digitsAreWrittenOut(coefficient: Int64, exponent: Int8, text: String) {
        #expect(ExactDecimal(coefficient: coefficient, exponent: exponent).description == text)
    }

    @Test func theTextHasABound() {
        #expect(ExactDecimal(coefficient: .min, exponent: 127).description.utf8.count == 147)
        #expect(ExactDecimal(coefficient: .min, exponent: -128).description.utf8.count == 131)
    }

    @Test func precisionIsPartOfTheValue() {
        #expect(ExactDecimal(coefficient: 366, exponent: -1) != ExactDecimal(coefficient: 3660, exponent: -2))
    }
}
