import TestSupport
import Testing

@testable import IngestProfiles

@Suite struct CurrentTimeTests {
    @Test func everyFieldIsRead() throws {
        let reading = try Profiles.decode(
            characteristic: 0x2A2B,
            bytes: [
                0xEA, 0x07, 11, 20, 9, 14, 57,  // 2026-11-20 09:14:57
                5,  // Friday
                0x80,  // 128/256 s
                0xFF,  // adjust reason: all, and reserved bits
            ])
        #expect(
            reading
                == Reading(
                    kind: .currentTime, measurements: [measured("fraction", nil, 5, exponent: -1, "s")],
                    deviceTime: DeviceTime(
                        year: 2026, month: 11, day: 20, hours: 9, minutes: 14, seconds: 57),
                    flags: [
                        "manual-time-update", "external-reference-time-update", "change-of-time-zone",
                        "change-of-dst",
                    ]))
    }

    @Test(
        arguments: [(0, 0, 0), (1, 390_625, -8), (64, 25, -2), (255, 99_609_375, -8)]
            as [(UInt8, Int64, Int8)])
    func fractionsAreExact(fractions: UInt8, coefficient: Int64, exponent: Int8) throws {
        let bytes: [UInt8] = [0xEA, 0x07, 11, 20, 9, 14, 57, 5, fractions, 0]
        #expect(
            try Profiles.decode(characteristic: 0x2A2B, bytes: bytes).measurements == [
                measured("fraction", nil, coefficient, exponent: exponent, "s")
            ])
    }

    @Test func aClockThatDoesNotKnowItsDateHasNoTime() throws {
        let reading = try Profiles.decode(characteristic: 0x2A2B, bytes: [0, 0, 0, 0, 9, 14, 57, 0, 0, 0])
        #expect(reading.deviceTime == nil && reading.flags.isEmpty)
    }

    @Test func aDateTimeStandsAlone() throws {
        #expect(
            try Profiles.decode(characteristic: 0x2A08, bytes: [0xEA, 0x07, 11, 20, 9, 14, 57])
                == Reading(
                    kind: .dateTime,
                    deviceTime: DeviceTime(
                        year: 2026, month: 11, day: 20, hours: 9, minutes: 14, seconds: 57)))
        #expect(
            try Profiles.decode(characteristic: 0x2A08, bytes: [0xEA, 0x07, 2, 30, 9, 14, 57])
                == Reading(kind: .dateTime, flags: ["device-time-invalid"]))
    }

    /// An image goes where its entry does.
    @Test func whatOnlyDecodeAnswersIsNotDelivered() {
        let kept: Set<RecordKind> = [
            .feature, .racp, .sessionStartTime, .sessionRunTime, .sensorStatus, .currentTime, .dateTime,
            .undecoded, .image,
        ]
        #expect(Set(RecordKind.allCases.filter { !$0.isDelivered }) == kept)
    }
}
