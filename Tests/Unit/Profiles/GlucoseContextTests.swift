import TestSupport
import Testing

@testable import IngestProfiles

@Suite struct GlucoseContextTests {
    private func decode(_ bytes: [UInt8]) throws -> Reading {
        try Profile.glucose.decode(bytes, of: 0x2A34)
    }

    @Test func everyFieldIsRead() throws {
        let reading = try decode([
            0xDF,  // flags: all but litres
            0x2A, 0x01,  // sequence number 298
            0xFF,  // extended flags: all reserved
            2, 0x37, 0xD0,  // lunch, 55e-3 kg
            1,  // preprandial
            0x51,  // self, no health issues
            0x08, 0x07, 60,  // exercise 1800 s, 60 %
            1, 0x08, 0xA0,  // rapid acting insulin, 8e-6 kg
            0x3D, 0xF0,  // HbA1c 6.1 %
        ])
        #expect(
            reading
                == Reading(
                    kind: .glucoseContext,
                    measurements: [
                        measured("carbohydrate", 8_417_764, 55, "g"),
                        measured("exercise-duration", nil, 1800, "s"),
                        measured("exercise-intensity", 8_417_760, 60, "%"),
                        measured("medication", 8_417_796, 8, "mg"),
                        measured("hba1c", 160220, 61, exponent: -1, "%"),
                    ],
                    sequence: 298,
                    flags: [
                        "carbohydrate-lunch", "meal-preprandial", "tester-self", "health-no-issues",
                        "medication-rapid-acting-insulin",
                    ]))
    }

    @Test func litresOfMedicationAreMillilitres() throws {
        // flags: medication in litres; sequence 1; short acting insulin, 15e-4 L
        let reading = try decode([0x30, 1, 0, 2, 0x0F, 0xC0])
        #expect(reading.measurements == [measured("medication", 8_417_796, 15, exponent: -1, "mL")])
        #expect(reading.flags == ["medication-short-acting-insulin"])
    }

    @Test func anExerciseLongerThanTheFieldHasNoNumber() throws {
        // flags: exercise; sequence 1; overrun, 100 %
        let reading = try decode([0x08, 1, 0, 0xFF, 0xFF, 100])
        #expect(reading.measurements.map(\.value).first == .absent(.positiveInfinity))
        // 65534 s, 0 %
        #expect(
            try decode([0x08, 1, 0, 0xFE, 0xFF, 0]).measurements == [
                measured("exercise-duration", nil, 65_534, "s"),
                measured("exercise-intensity", 8_417_760, 0, "%"),
            ])
    }

    @Test(
        arguments: [
            (0x00, [], []),
            (0x01, [3, 0x37, 0xD0], ["carbohydrate-dinner"]),
            (0x02, [2], ["meal-postprandial"]),
            (0x04, [0x43], ["tester-lab-test", "health-under-stress"]),
            (0x08, [10, 0, 50], []),
            (0x10, [4, 0x08, 0xA0], ["medication-long-acting-insulin"]),
            (0x20, [], []),  // litres of nothing
            (0x40, [0x3D, 0xF0], []),
            (0x80, [0x00], []),
        ] as [(UInt8, [UInt8], [String])])
    func eachFlagAloneTakesItsField(flags: UInt8, field: [UInt8], names: [String]) throws {
        let bytes: [UInt8] = [flags, 1, 0] + field
        #expect(try decode(bytes).flags == names)
        guard !field.isEmpty else { return }
        #expect(throws: DecodeError.self) { try decode(Array(bytes.dropLast())) }
    }

    @Test func numbersBecomeFlagsAndReservedOnesNone() throws {
        func flags(_ flags: UInt8, _ field: (UInt8) -> [UInt8]) throws -> [[String]] {
            try (UInt8.min...UInt8.max).map { try decode([flags, 1, 0] + field($0)).flags }
        }
        let carbohydrates = try flags(0x01) { [$0, 0, 0] }
        #expect(
            carbohydrates[1...7].map(\.first) == [
                "carbohydrate-breakfast", "carbohydrate-lunch", "carbohydrate-dinner", "carbohydrate-snack",
                "carbohydrate-drink", "carbohydrate-supper", "carbohydrate-brunch",
            ])
        #expect(carbohydrates[0].isEmpty && carbohydrates[8...].allSatisfy(\.isEmpty))
        let meals = try flags(0x02) { [$0] }
        #expect(
            meals[1...5].map(\.first) == [
                "meal-preprandial", "meal-postprandial", "meal-fasting", "meal-casual", "meal-bedtime",
            ])
        #expect(meals[0].isEmpty && meals[6...].allSatisfy(\.isEmpty))
        let medications = try flags(0x10) { [$0, 0, 0] }
        #expect(
            medications[1...5].map(\.first) == [
                "medication-rapid-acting-insulin", "medication-short-acting-insulin",
                "medication-intermediate-acting-insulin", "medication-long-acting-insulin",
                "medication-pre-mixed-insulin",
            ])
        #expect(medications[0].isEmpty && medications[6...].allSatisfy(\.isEmpty))
        let people = try flags(0x04) { [$0] }
        #expect(people[0x11] == ["tester-self", "health-minor-issues"])
        #expect(people[0x22] == ["tester-health-care-professional", "health-major-issues"])
        #expect(people[0x33] == ["tester-lab-test", "health-during-menses"])
        #expect(people[0xFF] == ["tester-not-available", "health-not-available"])
        #expect(people[0x00].isEmpty && people[0x66].isEmpty && people[0xEE].isEmpty)
    }
}
