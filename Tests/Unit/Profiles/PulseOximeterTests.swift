import TestSupport
import Testing

@testable import IngestProfiles

@Suite struct PulseOximeterTests {
    private func spotCheck(_ bytes: [UInt8]) throws -> Reading {
        try Profile.pulseOximeter.decode(bytes, of: 0x2A5E)
    }

    private func continuous(_ bytes: [UInt8]) throws -> Reading {
        try Profile.pulseOximeter.decode(bytes, of: 0x2A5F)
    }

    @Test func everyFieldOfASpotCheckIsRead() throws {
        let reading = try spotCheck([
            0x0F,  // flags: time stamp, measurement status, device status, pulse amplitude index
            0x61, 0x00,  // SpO2 97 %
            0x48, 0x00,  // pulse rate 72 /min
            0xEA, 0x07, 11, 20, 9, 14, 57,  // 2026-11-20 09:14:57
            0x80, 0x01,  // measurement status: validated, fully qualified
            0x20, 0x20, 0x00,  // device status: low perfusion, sensor displaced
            0x23, 0xF0,  // pulse amplitude index 3.5 %
        ])
        #expect(
            reading
                == Reading(
                    kind: .pulseOximetry,
                    measurements: [
                        measured("spo2", 150456, 97, "%"),
                        measured("pulse-rate", 149530, 72, "/min"),
                        measured("pulse-amplitude-index", 150448, 35, exponent: -1, "%"),
                    ],
                    deviceTime: DeviceTime(
                        year: 2026, month: 11, day: 20, hours: 9, minutes: 14, seconds: 57),
                    flags: [
                        "validated-data", "fully-qualified-data", "low-perfusion-detected",
                        "sensor-displaced",
                    ]))
    }

    /// Bit 9 of the measurement status alone tells the stored form from the live one.
    @Test(
        arguments: [
            ("0361004800EA070B14090E398001", "0361004800EA070B14090E398003"),
            ("02610048008001", "02610048008003"),
            ("066100480080010B0000", "066100480080030B0000"),
        ])
    func aSpotCheckHasOneNameLiveAndStored(live: String, stored: String) throws {
        func name(_ hex: String) throws -> RawPayload? {
            Profile.pulseOximeter.name(
                of: RawPayload(characteristic: 0x2A5E, bytes: try #require(Hex.bytes(hex))))
        }
        #expect(try name(live) == name(stored))
        #expect(try name(live)?.bytes == Hex.bytes(live))
        // No status, one that is cut off, another characteristic: as it came.
        for hex in ["0061004800", "0261004800", "0361004800EA070B14090E39", ""] {
            #expect(try name(hex)?.bytes == Hex.bytes(hex))
        }
        let continuous = RawPayload(characteristic: 0x2A5F, bytes: [0x04, 0x61, 0, 0x48, 0, 0x80, 0x03])
        #expect(Profile.pulseOximeter.name(of: continuous) == continuous)
    }

    @Test func everyFieldOfAContinuousMeasurementIsRead() throws {
        let bytes: [UInt8] = [
            0x1F,  // flags: fast, slow, measurement status, device status, pulse amplitude index
            0x61, 0x00, 0x48, 0x00,  // 97 %, 72 /min
            0x60, 0x00, 0x49, 0x00,  // fast: 96 %, 73 /min
            0xCF, 0xF3, 0xFF, 0x07,  // slow: 97.5 %, not a number
            0x20, 0x00,  // measurement status: ongoing
            0x00, 0x02, 0x00,  // device status: signal analysis ongoing
            0x23, 0xF0,  // pulse amplitude index 3.5 %
        ]
        #expect(
            try continuous(bytes)
                == Reading(
                    kind: .pulseOximetry,
                    measurements: [
                        measured("spo2", 150456, 97, "%"), measured("pulse-rate", 149530, 72, "/min"),
                        measured("spo2-fast", 150456, 96, "%"),
                        measured("pulse-rate-fast", 149530, 73, "/min"),
                        measured("spo2-slow", 150456, 975, exponent: -1, "%"),
                        Measurement(
                            type: "pulse-rate-slow", code: 149530, value: .absent(.notANumber),
                            unit: "/min"),
                        measured("pulse-amplitude-index", 150448, 35, exponent: -1, "%"),
                    ], flags: ["measurement-ongoing", "signal-analysis-ongoing"]))
        #expect(bytes.count == Profile.pulseOximeter.longestPayload)
    }

    @Test(
        arguments: [
            (0x00, 0, 2, []), (0x01, 7, 2, []), (0x02, 2, 2, ["fully-qualified-data"]),
            (0x04, 3, 2, ["extended-display-update-ongoing", "questionable-pulse-detected"]),
            (0x08, 2, 3, []), (0x10, 0, 2, ["device-clock-not-set"]), (0xE0, 0, 2, []),
        ] as [(UInt8, Int, Int, [String])])
    func eachFlagOfASpotCheckAloneTakesItsField(
        flags: UInt8, size: Int, measurements: Int, names: [String]
    ) throws {
        // flags; 97 %; 72 /min; the field's bytes
        let bytes: [UInt8] = [flags, 0x61, 0, 0x48, 0] + [UInt8](repeating: 1, count: size)
        let reading = try spotCheck(bytes)
        #expect(reading.measurements.count == measurements)
        #expect(reading.flags.filter { $0 != "device-time-invalid" } == names)
        #expect(throws: DecodeError.self) { try spotCheck(Array(bytes.dropLast())) }
    }

    @Test(
        arguments: [
            (0x01, 4, ["spo2", "pulse-rate", "spo2-fast", "pulse-rate-fast"]),
            (0x02, 4, ["spo2", "pulse-rate", "spo2-slow", "pulse-rate-slow"]),
            (0x04, 2, ["spo2", "pulse-rate"]), (0x08, 3, ["spo2", "pulse-rate"]),
            (0x10, 2, ["spo2", "pulse-rate", "pulse-amplitude-index"]), (0xE0, 0, ["spo2", "pulse-rate"]),
        ] as [(UInt8, Int, [String])])
    func eachFlagOfAContinuousMeasurementAloneTakesItsField(
        flags: UInt8, size: Int, types: [String]
    ) throws {
        let bytes: [UInt8] = [flags, 0x61, 0, 0x48, 0] + [UInt8](repeating: 1, count: size)
        #expect(try continuous(bytes).measurements.map(\.type) == types)
        #expect(throws: DecodeError.self) { try continuous(Array(bytes.dropLast())) }
    }

    @Test func aClockThatWasNeverSetGivesNoDate() throws {
        // flags: time stamp, clock not set; 97 %; 72 /min; 2026-11-20 09:14:57
        let reading = try spotCheck([0x11, 0x61, 0, 0x48, 0, 0xEA, 7, 11, 20, 9, 14, 57])
        #expect(reading.deviceTime == nil)
        #expect(reading.flags == ["device-clock-not-set"])
    }

    @Test func everyStatusBitIsAFlagAndReservedOnesAreNone() throws {
        func status(_ measurement: UInt16, _ device: UInt32) throws -> [String] {
            // flags: both; 97 %; 72 /min
            try spotCheck([
                0x06, 0x61, 0, 0x48, 0, UInt8(measurement & 0xFF), UInt8(measurement >> 8),
                UInt8(device & 0xFF), UInt8(device >> 8 & 0xFF), UInt8(device >> 16 & 0xFF),
            ]).flags
        }
        #expect(try status(0x001F, 0xFF0000) == [])
        #expect(
            try status(0xFFFF, 0) == [
                "measurement-ongoing", "early-estimated-data", "validated-data", "fully-qualified-data",
                "data-from-measurement-storage", "data-for-demonstration", "data-for-testing",
                "calibration-ongoing", "measurement-unavailable", "questionable-measurement-detected",
                "invalid-measurement-detected",
            ])
        #expect(
            try status(0, 0xFFFFFF) == [
                "extended-display-update-ongoing", "equipment-malfunction-detected",
                "signal-processing-irregularity-detected", "inadequate-signal-detected",
                "poor-signal-detected", "low-perfusion-detected", "erratic-signal-detected",
                "nonpulsatile-signal-detected", "questionable-pulse-detected", "signal-analysis-ongoing",
                "sensor-interference-detected", "sensor-unconnected-to-user", "unknown-sensor-connected",
                "sensor-displaced", "sensor-malfunctioning", "sensor-disconnected",
            ])
        for bit in 0..<16 {
            #expect(try status(1 << UInt16(bit), 0).count == (bit < 5 ? 0 : 1))
            #expect(try status(0, 1 << UInt32(bit)).count == 1)
        }
    }

    @Test func featuresNameTheStatusBitsThatFollow() throws {
        // all features; validated data; low perfusion
        #expect(
            try Profile.pulseOximeter.decode([0xFF, 0xFF, 0x80, 0x00, 0x20, 0x00, 0x00], of: 0x2A60)
                == Reading(
                    kind: .feature,
                    flags: [
                        "measurement-status", "device-and-sensor-status", "measurement-storage",
                        "time-stamp", "spo2-pulse-rate-fast", "spo2-pulse-rate-slow",
                        "pulse-amplitude-index", "multiple-bonds", "validated-data-supported",
                        "low-perfusion-detected-supported",
                    ]))
        // time stamp alone: nothing follows
        #expect(
            try Profile.pulseOximeter.decode([0x08, 0x00], of: 0x2A60)
                == Reading(kind: .feature, flags: ["time-stamp"]))
    }
}
