import TestSupport
import Testing

@testable import IngestProfiles

@Suite struct WeightScaleTests {
    private func decode(_ bytes: [UInt8]) throws -> Reading {
        try Profile.weightScale.decode(bytes, of: 0x2A9D)
    }

    @Test func everyFieldIsRead() throws {
        let reading = try decode([
            0x0E,  // flags: time stamp, user id, BMI and height
            0x7B, 0x3A,  // 14971 × 0.005 kg
            0xEA, 0x07, 11, 20, 9, 14, 57,  // 2026-11-20 09:14:57
            2,  // user id
            0xF2, 0x00,  // BMI 24.2
            0xDB, 0x06,  // height 1.755 m
        ])
        #expect(
            reading
                == Reading(
                    kind: .weight,
                    measurements: [
                        measured("weight", 188736, 74_855, exponent: -3, "kg"),
                        measured("bmi", 188752, 242, exponent: -1, "kg/m2"),
                        measured("height", 188740, 1755, exponent: -3, "m"),
                    ],
                    deviceTime: DeviceTime(
                        year: 2026, month: 11, day: 20, hours: 9, minutes: 14, seconds: 57),
                    user: 2))
    }

    @Test func poundsAndInchesStayPoundsAndInches() throws {
        // flags: imperial, BMI and height; 165.02 lb; BMI 24.2; 69.1 in
        let reading = try decode([0x09, 0x76, 0x40, 0xF2, 0x00, 0xB3, 0x02])
        #expect(
            reading.measurements == [
                measured("weight", 188736, 16_502, exponent: -2, "[lb_av]"),
                measured("bmi", 188752, 242, exponent: -1, "kg/m2"),
                measured("height", 188740, 691, exponent: -1, "[in_i]"),
            ])
    }

    @Test(
        arguments: [(1, "0.005"), (2_000, "10.000"), (14_000, "70.000"), (65_534, "327.670")]
            as [(UInt16, String)])
    func kilogramsCountInStepsOfFiveGrams(steps: UInt16, text: String) throws {
        let reading = try decode([0x00, UInt8(steps & 0xFF), UInt8(steps >> 8)])
        guard case .exact(let number)? = reading.measurements.first?.value else {
            Issue.record("no number")
            return
        }
        #expect(number.description == text)
    }

    @Test(arguments: [(0x00, "kg"), (0x01, "[lb_av]")] as [(UInt8, String)])
    func anUnsuccessfulMeasurementHasNoWeight(flags: UInt8, unit: String) throws {
        #expect(
            try decode([flags, 0xFF, 0xFF]).measurements == [
                Measurement(type: "weight", code: 188736, value: .absent(.notANumber), unit: unit)
            ])
    }

    @Test func theUnknownUserIsAGuest() throws {
        // flags: user id; 70 kg; 255
        let reading = try decode([0x04, 0xB0, 0x36, 0xFF])
        #expect(reading.user == nil && reading.flags == ["unknown-user"])
    }

    @Test(
        arguments: [
            (0x02, 7, "time stamp"), (0x04, 1, "user id"), (0x08, 4, "height"), (0xF0, 0, "weight"),
        ] as [(UInt8, Int, String)])
    func eachFlagAloneTakesItsField(flags: UInt8, size: Int, field: String) throws {
        // flags; 70 kg; the field's bytes
        let bytes: [UInt8] = [flags, 0xB0, 0x36] + [UInt8](repeating: 1, count: size)
        _ = try decode(bytes)
        #expect {
            try decode(Array(bytes.dropLast()))
        } throws: { error in
            guard case .truncated(let name, _, _) = error as? DecodeError else { return false }
            return name == field
        }
    }

    @Test(
        arguments: [
            // all features, resolution 0.005 kg, 0.001 m
            (
                [0xBF, 0x01, 0, 0],
                [
                    measured("weight-resolution", nil, 5, exponent: -3, "kg"),
                    measured("height-resolution", nil, 1, exponent: -3, "m"),
                ], ["time-stamp", "multiple-users", "bmi"]
            ),
            // resolution 0.5 kg, 0.01 m
            (
                [0x88, 0x00, 0, 0],
                [
                    measured("weight-resolution", nil, 5, exponent: -1, "kg"),
                    measured("height-resolution", nil, 1, exponent: -2, "m"),
                ], []
            ),
            ([0, 0, 0, 0], [], []),  // not specified
            ([0x40, 0xFE, 0xFF, 0xFF], [], []),  // reserved
        ] as [([UInt8], [Measurement], [String])])
    func featuresAreFlagsAndResolutionsMeasurements(
        bytes: [UInt8], measurements: [Measurement], flags: [String]
    ) throws {
        #expect(
            try Profile.weightScale.decode(bytes, of: 0x2A9E)
                == Reading(kind: .feature, measurements: measurements, flags: flags))
    }
}
