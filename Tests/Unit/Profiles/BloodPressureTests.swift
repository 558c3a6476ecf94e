import TestSupport
import Testing

@testable import IngestProfiles

@Suite struct BloodPressureTests {
    private func decode(_ bytes: [UInt8]) throws -> Reading {
        try Profile.bloodPressure.decode(bytes, of: 0x2A35)
    }

    @Test func everyFieldIsRead() throws {
        let reading = try decode([
            0x1E,  // flags: mmHg, time stamp, pulse rate, user id, measurement status
            0x8A, 0x00,  // systolic 138
            0x55, 0x00,  // diastolic 85
            0x5F, 0xF4,  // mean arterial pressure: mantissa 0x45F = 1119, exponent -1
            0xE8, 0x07, 6, 15, 17, 17, 27,  // 2024-06-15 17:17:27
            0x48, 0x00,  // pulse rate 72
            1,  // user id
            0x04, 0x00,  // status: irregular pulse
        ])
        #expect(
            reading
                == Reading(
                    kind: .bloodPressure,
                    measurements: [
                        measured("systolic", 150021, 138, "mm[Hg]"),
                        measured("diastolic", 150022, 85, "mm[Hg]"),
                        measured("mean-arterial-pressure", 150023, 1119, exponent: -1, "mm[Hg]"),
                        measured("pulse-rate", 149546, 72, "/min"),
                    ],
                    deviceTime: DeviceTime(
                        year: 2024, month: 6, day: 15, hours: 17, minutes: 17, seconds: 27),
                    user: 1, flags: ["irregular-pulse"]))
    }

    @Test func kilopascalsStayKilopascals() throws {
        let reading = try decode([
            0x01,  // flags: kPa
            0xB8, 0xF0,  // systolic 18.4
            0x71, 0xF0,  // diastolic 11.3
            0xFF, 0x07,  // mean arterial pressure: not a number
        ])
        #expect(
            reading.measurements == [
                measured("systolic", 150021, 184, exponent: -1, "kPa"),
                measured("diastolic", 150022, 113, exponent: -1, "kPa"),
                Measurement(
                    type: "mean-arterial-pressure", code: 150023, value: .absent(.notANumber), unit: "kPa"),
            ])
        #expect(reading.deviceTime == nil && reading.user == nil && reading.flags.isEmpty)
    }

    @Test(
        arguments: [
            (0x0000, []), (0x0001, ["body-movement"]), (0x0002, ["cuff-too-loose"]),
            (0x0004, ["irregular-pulse"]), (0x0008, ["pulse-rate-exceeds-upper-limit"]),
            (0x0010, ["pulse-rate-less-than-lower-limit"]),
            (0x0018, []),  // reserved range
            (0x0020, ["improper-measurement-position"]),
            (0xFFC0, []),  // reserved bits
            (
                0x002F,
                [
                    "body-movement", "cuff-too-loose", "irregular-pulse", "pulse-rate-exceeds-upper-limit",
                    "improper-measurement-position",
                ]
            ),
        ] as [(UInt16, [String])])
    func statusBitsBecomeFlags(status: UInt16, flags: [String]) throws {
        let bytes: [UInt8] = [
            0x10,  // flags: measurement status
            0x78, 0x00, 0x50, 0x00, 0x5A, 0x00,  // 120, 80, 90
            UInt8(status & 0xFF), UInt8(status >> 8),
        ]
        #expect(try decode(bytes).flags == flags)
    }

    @Test(arguments: [(0, 0, []), (254, 254, []), (255, nil, ["unknown-user"])] as [(UInt8, Int?, [String])])
    func userIndexNamesASlotOrAGuest(index: UInt8, user: Int?, flags: [String]) throws {
        // flags: user id; 120, 80, 90; the user index
        let reading = try decode([0x08, 0x78, 0x00, 0x50, 0x00, 0x5A, 0x00, index])
        #expect(reading.user == user)
        #expect(reading.flags == flags)
    }

    @Test(
        arguments: [
            // year (2), month, day, hours, minutes, seconds
            ([0xE8, 0x07, 2, 29, 23, 59, 59], "2024-02-29T23:59:59", []),
            ([0x2E, 0x06, 1, 1, 0, 0, 0], "1582-01-01T00:00:00", []),
            ([0x0F, 0x27, 12, 31, 0, 0, 0], "9999-12-31T00:00:00", []),
            ([0, 0, 0, 0, 0, 0, 0], nil, []),  // nothing known
            ([0, 0, 6, 15, 17, 17, 27], nil, []),  // year unknown
            ([0xE8, 0x07, 0, 15, 17, 17, 27], nil, []),  // month unknown
            ([0xE8, 0x07, 6, 0, 17, 17, 27], nil, []),  // day unknown
            ([0xE8, 0x07, 13, 15, 17, 17, 27], nil, ["device-time-invalid"]),
            ([0xE7, 0x07, 2, 29, 17, 17, 27], nil, ["device-time-invalid"]),  // 2023 has no leap day
            ([0xE8, 0x07, 4, 31, 17, 17, 27], nil, ["device-time-invalid"]),
            ([0xE8, 0x07, 6, 15, 24, 17, 27], nil, ["device-time-invalid"]),
            ([0xE8, 0x07, 6, 15, 17, 60, 27], nil, ["device-time-invalid"]),
            ([0xE8, 0x07, 6, 15, 17, 17, 60], nil, ["device-time-invalid"]),
            ([0x2D, 0x06, 6, 15, 17, 17, 27], nil, ["device-time-invalid"]),  // 1581
            ([0x10, 0x27, 6, 15, 17, 17, 27], nil, ["device-time-invalid"]),  // 10000
            ([0, 0, 6, 15, 25, 17, 27], nil, ["device-time-invalid"]),  // unknown year, impossible hour
            ([0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF], nil, ["device-time-invalid"]),
        ] as [([UInt8], String?, [String])])
    func badDatesNeverLoseTheValues(date: [UInt8], time: String?, flags: [String]) throws {
        // flags: time stamp; 120, 80, 90; the date
        let reading = try decode([0x02, 0x78, 0x00, 0x50, 0x00, 0x5A, 0x00] + date)
        #expect(reading.deviceTime?.description == time)
        #expect(reading.flags == flags)
        #expect(reading.measurements.count == 3)
    }

    @Test func bytesAfterTheLastFieldAreAccepted() throws {
        // flags: three reserved bits; 120, 80, 90; two bytes of a later version
        let reading = try decode([0xE0, 0x78, 0x00, 0x50, 0x00, 0x5A, 0x00, 0xAB, 0xCD])
        #expect(reading.measurements.map(\.type) == ["systolic", "diastolic", "mean-arterial-pressure"])
    }

    @Test func missingFieldsAreNamed() {
        // flags: pulse rate; 120, 80, 90; half a pulse rate
        #expect(throws: DecodeError.truncated(field: "pulse rate", needed: 2, had: 1)) {
            try decode([0x04, 0x78, 0x00, 0x50, 0x00, 0x5A, 0x00, 0x48])
        }
        #expect(throws: DecodeError.truncated(field: "flags", needed: 1, had: 0)) { try decode([]) }
    }

    /// Recorded from a Beurer BM 85: pulse rate and status most significant octet first, and a user
    /// index between them that the flags do not announce.
    @Test(
        arguments: [
            (
                [0x56, 106, 0, 71, 0, 0, 0, 0xEA, 7, 8, 11, 18, 31, 0, 0, 63, 0, 0, 0],
                [106, 71, nil, 63], "2026-08-11T18:31:00", 0, []
            ),
            (
                [0x56, 119, 0, 70, 0, 0, 0, 0xEA, 7, 8, 11, 20, 57, 0, 0, 87, 1, 0, 64],
                [119, 70, nil, 87], "2026-08-11T20:57:00", 1, []
            ),
            (
                [0x56, 118, 0, 80, 0, 0, 0, 0xEA, 7, 8, 11, 20, 27, 0, 0, 60, 0, 0, 4],
                [118, 80, nil, 60], "2026-08-11T20:27:00", 0, ["irregular-pulse"]
            ),
        ] as [([UInt8], [Int64?], String, Int, [String])])
    func swappedPulseAndStatusAreRecognised(
        bytes: [UInt8], values: [Int64?], time: String, user: Int, flags: [String]
    ) throws {
        let reading = try decode(bytes)
        #expect(
            reading.measurements.map(\.value)
                == values.map {
                    // The mean pressure is not measured.
                    $0.map { .exact(ExactDecimal(coefficient: $0, exponent: 0)) } ?? .absent(.notMeasured)
                })
        #expect(reading.deviceTime?.description == time)
        #expect(reading.user == user && reading.flags == flags)
    }

    @Test func aFrameWhoseDateIsOnlyPossibleTheOtherWayRoundIsSwappedWhole() throws {
        let reading = try decode([
            0x1E,  // flags: mmHg, time stamp, pulse rate, user id, measurement status
            0, 138, 0, 85, 0, 102,  // 138, 85, 102
            0x07, 0xEA, 11, 20, 9, 14, 57,  // 2026-11-20 09:14:57
            0, 72, 1, 0, 4,  // 72 /min, user 1, irregular pulse
        ])
        #expect(
            reading.measurements == [
                measured("systolic", 150021, 138, "mm[Hg]"), measured("diastolic", 150022, 85, "mm[Hg]"),
                measured("mean-arterial-pressure", 150023, 102, "mm[Hg]"),
                measured("pulse-rate", 149546, 72, "/min"),
            ])
        #expect(reading.deviceTime?.description == "2026-11-20T09:14:57")
        #expect(reading.user == 1 && reading.flags == ["irregular-pulse"])
    }

    /// 120, 80, 93 and 72 /min; the years 8 and 55,559 as they were sent, 2048 and 2009 the other way round.
    @Test(arguments: [[0x08, 0x00, 11, 20, 14, 9, 0], [0x07, 0xD9, 8, 11, 18, 31, 0]] as [[UInt8]])
    func pressuresThatAreRightAreNotExchangedForAWrongYear(date: [UInt8]) throws {
        let reading = try decode([0x1E, 120, 0, 80, 0, 93, 0] + date + [72, 0, 1, 4, 0])
        #expect(
            reading.measurements == [
                measured("systolic", 150021, 120, "mm[Hg]"), measured("diastolic", 150022, 80, "mm[Hg]"),
                measured("mean-arterial-pressure", 150023, 93, "mm[Hg]"),
                measured("pulse-rate", 149546, 72, "/min"),
            ])
        #expect(reading.deviceTime == nil && reading.user == 1)
        #expect(reading.flags == ["irregular-pulse", "device-time-invalid"])
    }

    @Test func nothingThatMakesSenseAsSentIsSwapped() throws {
        // 120, 80, 90, and every pulse rate that is a number of beats, or absent
        for raw in UInt16.min...UInt16.max {
            let pulse = MedicalFloat.sfloat(raw)
            if case .exact(let number) = pulse {
                let scale = [0: 1.0, -1: 0.1][Int(number.exponent)]
                guard let scale, number.coefficient > 0, Double(number.coefficient) * scale < 400 else {
                    continue
                }
            }
            let reading = try decode([
                0x14, 120, 0, 80, 0, 90, 0, UInt8(raw & 0xFF), UInt8(raw >> 8), 4, 0, 0xAA,
            ])
            #expect(reading.measurements.last?.value == pulse)
            #expect(reading.user == nil && reading.flags == ["irregular-pulse"])
        }
        // A date that is possible as sent, or neither way.
        for year in [[0xEA, 0x07], [0x0A, 0x0A], [0xFF, 0xFF], [0x2D, 0x06]] as [[UInt8]] {
            let reading = try decode([0x02, 120, 0, 80, 0, 90, 0] + year + [11, 20, 9, 14, 57])
            #expect(reading.measurements.first == measured("systolic", 150021, 120, "mm[Hg]"))
        }
    }

    @Test func theIntermediatePressureStandsAlone() throws {
        // flags: kPa, pulse rate; 12.5; not used; not used; 72
        let reading = try Profile.bloodPressure.decode(
            [0x05, 0x7D, 0xF0, 0xFF, 0x07, 0xFF, 0x07, 0x48, 0x00], of: 0x2A36)
        #expect(
            reading
                == Reading(
                    kind: .bloodPressure,
                    measurements: [
                        measured("cuff-pressure", nil, 125, exponent: -1, "kPa"),
                        measured("pulse-rate", 149546, 72, "/min"),
                    ]))
        #expect(!Profile.bloodPressure.measures(0x2A36))
    }

    @Test func featuresAreFlags() throws {
        // body movement, cuff fit, multiple bonds, user facing time, reserved bits
        #expect(
            try Profile.bloodPressure.decode([0x23, 0xFF], of: 0x2A49)
                == Reading(
                    kind: .feature,
                    flags: [
                        "body-movement-detection", "cuff-fit-detection", "multiple-bonds",
                        "user-facing-time",
                    ]))
    }

    @Test func theLongestPayloadNeedsNoMTUExchange() {
        // Of 2B34, which counts seconds twice.
        #expect(Profile.bloodPressure.longestPayload == 1 + 6 + 4 + 2 + 1 + 2 + 4)
        #expect(Profile.bloodPressure.longestPayload <= Profile.payloadOfDefaultMTU)
    }
}
