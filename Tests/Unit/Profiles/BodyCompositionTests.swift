import TestSupport
import Testing

@testable import IngestProfiles

@Suite struct BodyCompositionTests {
    private func decode(_ bytes: [UInt8]) throws -> Reading {
        try Profile.bodyComposition.decode(bytes, of: 0x2A9C)
    }

    private func assemble(_ packets: [UInt8]...) throws -> Profile.Assembly {
        try Profile.bodyComposition.assemble(packets, of: 0x2A9C)
    }

    private static let time = DateTimeBytes.sample
    private static let everything: [UInt8] =
        [0xFE, 0x0F]  // flags: all but imperial and multiple packet
        + [0xC8, 0x00]  // body fat 20.0 %
        + DateTimeBytes.sample  // 2026-11-20 09:14:57
        + [3]  // user id
        + [0x40, 0x1F]  // basal metabolism 8000 kJ
        + [0x90, 0x01]  // muscle percentage 40.0 %
        + [0x58, 0x1B]  // muscle mass 35.000 kg
        + [0xE0, 0x2E]  // fat free mass 60.000 kg
        + [0x88, 0x2C]  // soft lean mass 57.000 kg
        + [0x40, 0x1F]  // body water mass 40.000 kg
        + [0x88, 0x13]  // impedance 500.0 Ohm
        + [0x98, 0x3A]  // weight 75.000 kg
        + [0xD6, 0x06]  // height 1.750 m

    private static let reading = Reading(
        kind: .bodyComposition,
        measurements: [
            measured("body-fat", 188748, 200, exponent: -1, "%"),
            measured("basal-metabolism", nil, 8000, "kJ"),
            measured("muscle-percentage", nil, 400, exponent: -1, "%"),
            measured("muscle-mass", nil, 35_000, exponent: -3, "kg"),
            measured("fat-free-mass", 188756, 60_000, exponent: -3, "kg"),
            measured("soft-lean-mass", 188760, 57_000, exponent: -3, "kg"),
            measured("body-water-mass", 188764, 40_000, exponent: -3, "kg"),
            measured("impedance", nil, 5000, exponent: -1, "Ohm"),
            measured("weight", 188736, 75_000, exponent: -3, "kg"),
            measured("height", 188740, 1750, exponent: -3, "m"),
        ],
        deviceTime: DeviceTime(year: 2026, month: 11, day: 20, hours: 9, minutes: 14, seconds: 57),
        user: 3)

    @Test func everyFieldIsRead() throws {
        #expect(try decode(Self.everything) == Self.reading)
        #expect(Self.everything.count == Profile.bodyComposition.longestPayload)
    }

    @Test func poundsAndInchesStayPoundsAndInches() throws {
        // flags: imperial, weight, height; 30.0 %; 165.02 lb; 69.1 in
        #expect(
            try decode([0x01, 0x0C, 0x2C, 0x01, 0x76, 0x40, 0xB3, 0x02]).measurements == [
                measured("body-fat", 188748, 300, exponent: -1, "%"),
                measured("weight", 188736, 16_502, exponent: -2, "[lb_av]"),
                measured("height", 188740, 691, exponent: -1, "[in_i]"),
            ])
    }

    @Test func anUnsuccessfulMeasurementHasNoBodyFat() throws {
        // flags: time stamp, user id; unsuccessful; 2026-11-20 09:14:57; unknown user
        let reading = try decode([0x06, 0x00, 0xFF, 0xFF] + Self.time + [0xFF])
        #expect(reading.measurements.map(\.value) == [.absent(.notANumber)])
        #expect(reading.flags == ["unknown-user"] && reading.deviceTime != nil)
    }

    @Test(
        arguments: [
            (1, 7, nil), (2, 1, nil), (3, 2, "basal-metabolism"), (4, 2, "muscle-percentage"),
            (5, 2, "muscle-mass"), (6, 2, "fat-free-mass"), (7, 2, "soft-lean-mass"),
            (8, 2, "body-water-mass"), (9, 2, "impedance"), (10, 2, "weight"), (11, 2, "height"),
            (13, 0, nil), (14, 0, nil), (15, 0, nil),
        ] as [(UInt16, Int, String?)])
    func eachFlagAloneTakesItsField(bit: UInt16, size: Int, type: String?) throws {
        let flags = UInt16(1) << bit
        // flags; 20.0 %; the field's bytes
        let bytes: [UInt8] =
            [UInt8(flags & 0xFF), UInt8(flags >> 8), 0xC8, 0x00] + [UInt8](repeating: 1, count: size)
        #expect(try decode(bytes).measurements.map(\.type) == ["body-fat"] + [type].compactMap(\.self))
        #expect(throws: DecodeError.self) { try decode(Array(bytes.dropLast())) }
    }

    private static let first: [UInt8] =
        [0x3E, 0x10, 0xC8, 0x00] + DateTimeBytes.sample + [3, 0x40, 0x1F, 0x90, 0x01, 0x58, 0x1B]
    private static let second: [UInt8] = [
        0xC0, 0x1F, 0xC8, 0x00, 0xE0, 0x2E, 0x88, 0x2C, 0x40, 0x1F, 0x88, 0x13, 0x98, 0x3A, 0xD6, 0x06,
    ]

    @Test func twoPacketsMakeOneReadingWithEveryFieldOnce() throws {
        #expect(try assemble(Self.first) == .incomplete)
        #expect(try assemble(Self.first, Self.second) == .complete(Self.reading))
        #expect(try decode(Self.first).flags == ["multiple-packet"])
    }

    @Test func onePacketIsAWholeReading() throws {
        #expect(try assemble(Self.everything) == .complete(Self.reading))
    }

    @Test(
        arguments: [
            [0x00, 0x0C, 0xC8, 0x00, 0x98, 0x3A, 0xD6, 0x06],  // no multiple packet flag
            [0x00, 0x1C, 0xC9, 0x00, 0x98, 0x3A, 0xD6, 0x06],  // another body fat percentage
            [0x01, 0x1C, 0xC8, 0x00, 0x98, 0x3A, 0xD6, 0x06],  // other units
            [0x08, 0x10, 0xC8, 0x00, 0x40, 0x1F],  // a field that the first has
            [0x04, 0x10, 0xC8, 0x00, 4],  // another user
            [0x02, 0x10, 0xC8, 0x00, 0xEA, 0x07, 11, 20, 9, 14, 58],  // another time
        ] as [[UInt8]])
    func whatContradictsTheFirstPacketIsAnotherMeasurement(packet: [UInt8]) throws {
        #expect(try assemble(Self.first, packet) == .unrelated)
    }

    @Test func aThirdPacketIsAnotherMeasurement() throws {
        #expect(try assemble(Self.first, Self.second, Self.first) == .unrelated)
    }

    @Test func aBadSecondPacketIsAnError() {
        #expect(throws: DecodeError.truncated(field: "height", needed: 2, had: 1)) {
            try assemble(Self.first, Array(Self.second.dropLast()))
        }
    }

    @Test func featuresAreFlagsAndResolutionsMeasurements() throws {
        // all features; resolution 0.1 kg, 0.005 m
        #expect(
            try Profile.bodyComposition.decode([0xFF, 0x1F, 0x01, 0x00], of: 0x2A9B)
                == Reading(
                    kind: .feature,
                    measurements: [
                        measured("weight-resolution", nil, 1, exponent: -1, "kg"),
                        measured("height-resolution", nil, 5, exponent: -3, "m"),
                    ],
                    flags: [
                        "time-stamp", "multiple-users", "basal-metabolism", "muscle-percentage",
                        "muscle-mass", "fat-free-mass", "soft-lean-mass", "body-water-mass", "impedance",
                        "weight", "height",
                    ]))
    }
}

/// A Date Time of the tests: 2026-11-20 09:14:57.
enum DateTimeBytes {
    static let sample: [UInt8] = [0xEA, 0x07, 11, 20, 9, 14, 57]
}
