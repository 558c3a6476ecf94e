import TestSupport
import Testing

@testable import IngestProfiles

@Suite struct GlucoseTests {
    private func decode(_ bytes: [UInt8]) throws -> Reading {
        try Profile.glucose.decode(bytes, of: 0x2A18)
    }

    @Test func everyFieldIsRead() throws {
        let reading = try decode([
            0x1B,  // flags: time offset, concentration in kg/L, sensor status, context follows
            0x2A, 0x01,  // sequence number 298
            0xEA, 0x07, 11, 20, 9, 14, 57,  // base time 2026-11-20 09:14:57
            0xFB, 0xFF,  // time offset -5 min
            0x69, 0xB0,  // concentration 105e-5 kg/L
            0x12,  // capillary plasma, finger
            0x01, 0x08,  // battery low, time fault
        ])
        #expect(
            reading
                == Reading(
                    kind: .glucose, measurements: [measured("glucose", 160188, 105, "mg/dL")],
                    deviceTime: DeviceTime(
                        year: 2026, month: 11, day: 20, hours: 9, minutes: 14, seconds: 57),
                    timeOffsetMinutes: -5, sequence: 298,
                    flags: [
                        "type-capillary-plasma", "location-finger", "device-battery-low", "time-fault",
                        "context-follows",
                    ]))
    }

    @Test(
        arguments: [
            (0x02, [0x69, 0xB0], "105", "mg/dL"),  // 105e-5 kg/L
            (0x02, [0x1A, 0xA4], "105.0", "mg/dL"),  // 1050e-6 kg/L: the digit stays
            (0x02, [0x01, 0xD0], "100", "mg/dL"),  // 1e-3 kg/L
            (0x06, [0x3A, 0xC0], "5.8", "mmol/L"),  // 58e-4 mol/L
            (0x06, [0x44, 0xB2], "5.80", "mmol/L"),  // 580e-5 mol/L
            (0x06, [0x05, 0xD0], "5", "mmol/L"),  // 5e-3 mol/L
            (0x06, [0x05, 0x70], "50000000000", "mmol/L"),  // the end of the range
        ] as [(UInt8, [UInt8], String, String)])
    func concentrationsKeepTheirDigits(flags: UInt8, raw: [UInt8], text: String, unit: String) throws {
        // flags; sequence 1; 2026-11-20 09:14:57; the concentration; capillary whole blood, finger
        let measurement = try #require(
            try decode([flags, 1, 0, 0xEA, 0x07, 11, 20, 9, 14, 57] + raw + [0x11]).measurements.first)
        guard case .exact(let number) = measurement.value else {
            Issue.record("no number")
            return
        }
        #expect(number.description == text)
        #expect(measurement.unit == unit)
    }

    @Test func aMeasurementWithoutConcentrationHasItsNumberAndTime() throws {
        // flags: none; sequence 65535; 2026-11-20 09:14:57
        let reading = try decode([0x00, 0xFF, 0xFF, 0xEA, 0x07, 11, 20, 9, 14, 57])
        #expect(reading.measurements.isEmpty)
        #expect(reading.sequence == 65_535)
        #expect(reading.deviceTime != nil && reading.timeOffsetMinutes == nil)
    }

    @Test func notANumberIsNoConcentration() throws {
        // flags: concentration; sequence 1; 2026-11-20 09:14:57; NaN; capillary whole blood, finger
        let reading = try decode([0x02, 1, 0, 0xEA, 0x07, 11, 20, 9, 14, 57, 0xFF, 0x07, 0x11])
        #expect(
            reading.measurements == [
                Measurement(type: "glucose", code: 160184, value: .absent(.notANumber), unit: "mg/dL")
            ])
    }

    @Test(
        arguments: [
            (0x0000, 0, []), (0x0001, 1, []), (0xFFFF, -1, []), (0x7FFE, 32_766, []),
            (0x8001, -32_767, []), (0x7FFF, nil, ["time-offset-overrun"]),
            (0x8000, nil, ["time-offset-underrun"]),
        ] as [(UInt16, Int?, [String])])
    func timeOffsetsAreSignedMinutesOrAFlag(raw: UInt16, minutes: Int?, flags: [String]) throws {
        // flags: time offset; sequence 1; 2026-11-20 09:14:57; the offset
        let reading = try decode([
            0x01, 1, 0, 0xEA, 0x07, 11, 20, 9, 14, 57, UInt8(raw & 0xFF), UInt8(raw >> 8),
        ])
        #expect(reading.timeOffsetMinutes == minutes)
        #expect(reading.flags == flags)
        #expect(reading.deviceTime?.description == "2026-11-20T09:14:57")
    }

    @Test(
        arguments: [
            (0x00, 160020, []),  // both reserved
            (0x11, 160184, ["type-capillary-whole-blood", "location-finger"]),
            (0x22, 160188, ["type-capillary-plasma", "location-alternate-site-test"]),
            (0x33, 160192, ["type-venous-whole-blood", "location-earlobe"]),
            (0x44, 160196, ["type-venous-plasma", "location-control-solution"]),
            (0x65, 160200, ["type-arterial-whole-blood"]),  // location reserved
            (0x55, 160200, ["type-arterial-whole-blood"]),  // reserved here, though not in CGM Feature
            (0xF6, 160204, ["type-arterial-plasma", "location-not-available"]),
            (0xF7, 160364, ["type-undetermined-whole-blood", "location-not-available"]),
            (0xF8, 160368, ["type-undetermined-plasma", "location-not-available"]),
            (0xF9, 160212, ["type-interstitial-fluid", "location-not-available"]),
            (0xFA, 160208, ["type-control-solution", "location-not-available"]),
            (0xFB, 160020, ["location-not-available"]),  // type reserved
        ] as [(UInt8, UInt32, [String])])
    func typeAndLocationBecomeCodeAndFlags(octet: UInt8, code: UInt32, flags: [String]) throws {
        // flags: concentration; sequence 1; 2026-11-20 09:14:57; 105e-5 kg/L; the octet
        let reading = try decode([0x02, 1, 0, 0xEA, 0x07, 11, 20, 9, 14, 57, 0x69, 0xB0, octet])
        #expect(reading.measurements.map(\.code) == [code])
        #expect(reading.flags == flags)
    }

    private static let statusNames = [
        "device-battery-low", "sensor-malfunction", "sample-size-insufficient", "strip-insertion-error",
        "strip-type-incorrect", "sensor-result-too-high", "sensor-result-too-low",
        "sensor-temperature-too-high", "sensor-temperature-too-low", "sensor-read-interrupted",
        "general-device-fault", "time-fault",
    ]

    @Test func everyStatusBitIsAFlagAndReservedOnesAreNone() throws {
        func flags(_ status: UInt16) throws -> [String] {
            // flags: sensor status; sequence 1; 2026-11-20 09:14:57; the status
            try decode([
                0x08, 1, 0, 0xEA, 0x07, 11, 20, 9, 14, 57, UInt8(status & 0xFF), UInt8(status >> 8),
            ]).flags
        }
        for (bit, name) in Self.statusNames.enumerated() {
            #expect(try flags(1 << UInt16(bit)) == [name])
        }
        #expect(try flags(0xFFFF) == Self.statusNames)
        #expect(try flags(0xF000) == [])
    }

    /// Bits 1 to 10 say that the result is none. Meters that show "HI" send the end of their range beside bit 5.
    @Test func aResultThatTheMeterDisownsIsAbsent() throws {
        func value(_ status: UInt16, _ raw: [UInt8] = [0x58, 0xB2]) throws -> Measurement.Value? {
            // flags: concentration, sensor status; sequence 1; 2026-11-20 09:14:57; 600e-5 kg/L; capillary whole
            // blood, finger; the status
            let reading = try decode(
                [0x0A, 1, 0, 0xEA, 0x07, 11, 20, 9, 14, 57] + raw
                    + [0x11, UInt8(status & 0xFF), UInt8(status >> 8)])
            return reading.measurements.first?.value
        }
        let number = Measurement.Value.exact(ExactDecimal(coefficient: 600, exponent: 0))
        for status in UInt16.min...UInt16.max {
            let expected: Measurement.Value =
                switch status & 0x07FE {
                case 0: number
                case 0x0020: .absent(.aboveDeviceRange)
                case 0x0040: .absent(.belowDeviceRange)
                default: .absent(.markedUnusable)
                }
            guard try value(status) == expected else {
                Issue.record("status \(status)")
                return
            }
        }
        // NaN, +INFINITY
        #expect(try value(0x0020, [0xFF, 0x07]) == .absent(.aboveDeviceRange))
        #expect(try value(0x0000, [0xFE, 0x07]) == .absent(.positiveInfinity))
    }

    @Test func aMissingConcentrationIsNamed() {
        // flags: concentration; sequence 1; 2026-11-20 09:14:57; half a concentration
        #expect(throws: DecodeError.truncated(field: "glucose concentration", needed: 2, had: 1)) {
            try decode([0x02, 1, 0, 0xEA, 0x07, 11, 20, 9, 14, 57, 0x69])
        }
    }

    @Test func featuresAreFlags() throws {
        // low battery detection, time fault, multiple bonds, reserved bits
        let reading = try Profile.glucose.decode([0x01, 0xFE], of: 0x2A51)
        #expect(
            reading
                == Reading(kind: .feature, flags: ["low-battery-detection", "time-fault", "multiple-bonds"]))
    }
}
