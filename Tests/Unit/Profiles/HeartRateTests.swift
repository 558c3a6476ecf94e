import TestSupport
import Testing

@testable import IngestProfiles

@Suite struct HeartRateTests {
    private func decode(_ bytes: [UInt8]) throws -> Reading {
        try Profile.heartRate.decode(bytes, of: 0x2A37)
    }

    @Test func everyFieldIsRead() throws {
        let reading = try decode([
            0x1F,  // flags: 16 bits, contact detected and supported, energy, RR-intervals
            0x2C, 0x01,  // 300 /min
            0x10, 0x27,  // 10000 kJ
            0x00, 0x04,  // 1024/1024 s
            0x9A, 0x03,  // 922/1024 s
            0x01, 0x00,  // 1/1024 s
        ])
        #expect(
            reading
                == Reading(
                    kind: .heartRate,
                    measurements: [
                        measured("heart-rate", 147842, 300, "/min"),
                        measured("energy-expended", 8_454_263, 10_000, "kJ"),
                        measured("rr-interval", nil, 1, "s"),
                        measured("rr-interval", nil, 900_390_625, exponent: -9, "s"),
                        measured("rr-interval", nil, 9_765_625, exponent: -10, "s"),
                    ], flags: ["sensor-contact"]))
    }

    @Test(
        arguments: [
            (0x00, [72], []),
            (0x01, [72, 0], []),
            (0x02, [72], []),  // detected, yet not supported: nothing is known
            (0x06, [72], ["sensor-contact"]),
            (0xE0, [72], []),  // reserved
        ] as [(UInt8, [UInt8], [String])])
    func rateAndContactFollowTheFlags(flags: UInt8, rate: [UInt8], names: [String]) throws {
        let reading = try decode([flags] + rate)
        #expect(reading.measurements == [measured("heart-rate", 147842, 72, "/min")])
        #expect(reading.flags == names)
    }

    /// Straps on a table send 0, or the last rate; one whose sensor cannot tell of contact sends 0 alone.
    @Test(
        arguments: [
            (0x04, [72], ["no-sensor-contact"]), (0x05, [72, 0], ["no-sensor-contact"]),
            (0x04, [0], ["no-sensor-contact"]), (0x06, [0], ["sensor-contact"]), (0x00, [0], []),
            (0x01, [0, 0], []), (0x14, [72, 0x00, 0x04], ["no-sensor-contact"]),
        ] as [(UInt8, [UInt8], [String])])
    func aRateOfNobodyIsNone(flags: UInt8, rest: [UInt8], names: [String]) throws {
        let reading = try decode([flags] + rest)
        #expect(
            reading.measurements.first
                == Measurement(type: "heart-rate", code: 147842, value: .absent(.notMeasured), unit: "/min"))
        #expect(reading.flags == names)
        #expect(reading.isUnmeasured)
        #expect(try !decode([0x06, 1]).isUnmeasured)
    }

    @Test func energyBeyondTheFieldHasNoNumber() throws {
        #expect(try decode([0x08, 72, 0xFF, 0xFF]).measurements.last?.value == .absent(.positiveInfinity))
        #expect(
            try decode([0x08, 72, 0xFE, 0xFF]).measurements.last
                == measured("energy-expended", 8_454_263, 65_534, "kJ"))
    }

    @Test func everyIntervalIsExact() {
        for interval in UInt16.min...UInt16.max {
            let seconds = HeartRate.seconds(interval)
            var scaled = seconds.coefficient * 1024
            for _ in 0..<(-Int(seconds.exponent)) {
                #expect(scaled % 10 == 0)
                scaled /= 10
            }
            #expect(scaled == Int64(interval))
            #expect(seconds.exponent == 0 || seconds.coefficient % 10 != 0)
        }
    }

    @Test(
        arguments: [(0, "0"), (1, "0.0009765625"), (512, "0.5"), (768, "0.75"), (65_535, "63.9990234375")]
            as [(UInt16, String)])
    func intervalsAreSecondsWithoutNeedlessZeros(interval: UInt16, text: String) {
        #expect(HeartRate.seconds(interval).description == text)
    }

    @Test func aSecondWithoutABeatHasNoIntervalAndAnOddByteIsAccepted() throws {
        #expect(try decode([0x10, 72]).measurements.map(\.type) == ["heart-rate"])
        #expect(try decode([0x10, 72, 1]).measurements.map(\.type) == ["heart-rate"])
        #expect(try decode([0x10, 72, 0x00, 0x02, 0xFF]).measurements.count == 2)
    }

    @Test(
        arguments: [
            (0, ["location-other"]), (1, ["location-chest"]), (2, ["location-wrist"]),
            (3, ["location-finger"]), (4, ["location-hand"]), (5, ["location-ear-lobe"]),
            (6, ["location-foot"]), (7, []), (255, []),
        ] as [(UInt8, [String])])
    func locationsAreFlags(location: UInt8, flags: [String]) throws {
        #expect(try Profile.heartRate.decode([location], of: 0x2A38) == Reading(kind: .feature, flags: flags))
    }
}
