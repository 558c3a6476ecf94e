import TestSupport
import Testing

@testable import IngestProfiles

@Suite struct ThermometerTests {
    private func decode(_ bytes: [UInt8]) throws -> Reading {
        try Profile.thermometer.decode(bytes, of: 0x2A1C)
    }

    @Test func everyFieldIsRead() throws {
        let reading = try decode([
            0x07,  // flags: Fahrenheit, time stamp, temperature type
            0x84, 0x26, 0x00, 0xFE,  // 98.60
            0xEA, 0x07, 11, 20, 9, 14, 57,  // 2026-11-20 09:14:57
            3,  // ear
        ])
        #expect(
            reading
                == Reading(
                    kind: .bodyTemperature,
                    measurements: [measured("body-temperature", 150364, 9860, exponent: -2, "[degF]")],
                    deviceTime: DeviceTime(
                        year: 2026, month: 11, day: 20, hours: 9, minutes: 14, seconds: 57),
                    flags: ["site-ear"]))
    }

    @Test func celsiusIsTheUnitWithoutTheFlag() throws {
        // flags: none; 36.6
        let reading = try decode([0x00, 0x6E, 0x01, 0x00, 0xFF])
        #expect(reading.measurements == [measured("body-temperature", 150364, 366, exponent: -1, "Cel")])
        #expect(reading.deviceTime == nil)
    }

    @Test func notANumberIsNoTemperature() throws {
        // flags: none; NaN
        let reading = try decode([0x00, 0xFF, 0xFF, 0x7F, 0x00])
        #expect(reading.measurements.map(\.value) == [.absent(.notANumber)])
    }

    @Test(
        arguments: [
            (0, []), (1, ["site-armpit"]), (2, ["site-body"]), (3, ["site-ear"]), (4, ["site-finger"]),
            (5, ["site-gastrointestinal-tract"]), (6, ["site-mouth"]), (7, ["site-rectum"]),
            (8, ["site-toe"]), (9, ["site-tympanum"]), (10, []), (255, []),
        ] as [(UInt8, [String])])
    func temperatureTypeBecomesAFlag(type: UInt8, flags: [String]) throws {
        // flags: temperature type; 36.6; the type
        #expect(try decode([0x04, 0x6E, 0x01, 0x00, 0xFF, type]).flags == flags)
    }

    @Test func anInvalidTimeKeepsValueAndSite() throws {
        // flags: time stamp and type; 36.6; month 13; mouth
        let reading = try decode([0x06, 0x6E, 0x01, 0x00, 0xFF, 0xEA, 0x07, 13, 1, 0, 0, 0, 6])
        #expect(reading.measurements.count == 1)
        #expect(reading.flags == ["site-mouth", "device-time-invalid"])
    }

    @Test func anIntermediateTemperatureHasTheSameForm() throws {
        // flags: temperature type; 36.6; mouth
        let bytes: [UInt8] = [0x04, 0x6E, 0x01, 0x00, 0xFF, 6]
        #expect(try Profile.thermometer.decode(bytes, of: 0x2A1E) == (try decode(bytes)))
        #expect(!Profile.thermometer.measures(0x2A1E))
    }

    @Test func theTemperatureTypeAloneIsAFeature() throws {
        #expect(
            try Profile.thermometer.decode([6], of: 0x2A1D) == Reading(kind: .feature, flags: ["site-mouth"]))
        #expect(try Profile.thermometer.decode([0], of: 0x2A1D) == Reading(kind: .feature))
    }
}
