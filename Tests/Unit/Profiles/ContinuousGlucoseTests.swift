import TestSupport
import Testing

@testable import IngestProfiles

@Suite struct ContinuousGlucoseTests {
    private func decode(_ bytes: [UInt8]) throws -> Reading {
        try Profile.continuousGlucose.decode(bytes, of: 0x2AA7)
    }

    private static let full: [UInt8] = [
        15,  // size
        0xE3,  // flags: trend, quality, warning, calibration and status octets
        0xD2, 0xE4,  // glucose 12.34 mg/dL
        0x05, 0x00,  // time offset 5 min
        0x02,  // status: battery low
        0x04,  // calibration: recommended
        0x3F,  // warning: all but a result that is too low or too high
        0x02, 0xF0,  // trend 0.2 mg/dL/min
        0xE5, 0xF3,  // quality 99.7 %
        0x49, 0x36,  // E2E-CRC
    ]

    @Test func everyFieldIsRead() throws {
        #expect(
            try decode(Self.full)
                == Reading(
                    kind: .continuousGlucose,
                    measurements: [
                        measured("glucose", 160020, 1234, exponent: -2, "mg/dL"),
                        measured("trend", nil, 2, exponent: -1, "mg/dL/min"),
                        measured("quality", nil, 997, exponent: -1, "%"),
                    ],
                    timeOffsetMinutes: 5,
                    flags: [
                        "device-battery-low", "calibration-recommended",
                        "lower-than-patient-low", "higher-than-patient-high", "lower-than-hypo",
                        "higher-than-hyper", "rate-of-decrease-exceeded", "rate-of-increase-exceeded",
                    ]))
        #expect(Self.full.count == Profile.continuousGlucose.longestPayload)
    }

    @Test func theSmallestRecordHasConcentrationAndOffset() throws {
        // size; flags: none; 12e1 mg/dL; 65535 min
        let reading = try decode([6, 0, 0x0C, 0x10, 0xFF, 0xFF])
        #expect(reading.measurements == [measured("glucose", 160020, 12, exponent: 1, "mg/dL")])
        #expect(reading.timeOffsetMinutes == 65_535 && reading.deviceTime == nil)
        #expect(reading.flags.isEmpty)
    }

    @Test(
        arguments: [
            (0x01, 2, 2), (0x02, 2, 2), (0x1C, 0, 1), (0x20, 1, 1), (0x40, 1, 1), (0x80, 1, 1),
        ] as [(UInt8, Int, Int)])
    func eachFlagAloneTakesItsField(flags: UInt8, size: Int, measurements: Int) throws {
        // size; flags; 12e1 mg/dL; 6 min; the field's bytes
        func record(_ size: Int) -> [UInt8] {
            [UInt8(6 + size), flags, 0x0C, 0x10, 6, 0] + [UInt8](repeating: 1, count: size)
        }
        #expect(try decode(record(size)).measurements.count == measurements)
        guard size > 0 else { return }
        #expect(throws: DecodeError.self) { try decode(record(size - 1)) }
    }

    @Test func everyStatusBitIsAFlagAndReservedOnesAreNone() throws {
        func flags(_ status: [UInt8]) throws -> [String] {
            try decode([9, 0xE0, 0x0C, 0x10, 6, 0] + status).flags
        }
        #expect(
            try flags([0xFF, 0xFF, 0xFF]) == [
                "session-stopped", "device-battery-low", "sensor-type-incorrect", "sensor-malfunction",
                "device-specific-alert", "general-device-fault", "time-synchronization-required",
                "calibration-not-allowed", "calibration-recommended", "calibration-required",
                "sensor-temperature-too-high", "sensor-temperature-too-low", "calibration-pending",
                "lower-than-patient-low", "higher-than-patient-high", "lower-than-hypo",
                "higher-than-hyper", "rate-of-decrease-exceeded", "rate-of-increase-exceeded",
                "sensor-result-too-low", "sensor-result-too-high",
            ])
        #expect(try flags([0xC0, 0x80, 0x00]) == [])
        for bit in 0..<24 where ![6, 7, 15].contains(bit) {
            var status: [UInt8] = [0, 0, 0]
            status[bit / 8] = 1 << UInt8(bit % 8)
            #expect(try flags(status).count == 1)
        }
    }

    @Test func theChecksumMustFit() throws {
        // size; flags: none; 12e1 mg/dL; 6 min; E2E-CRC
        let record: [UInt8] = [8, 0, 0x0C, 0x10, 6, 0, 0x59, 0x6F]
        #expect(try decode(record).timeOffsetMinutes == 6)
        for bit in 0..<UInt8(16) {
            var wrong = record
            wrong[6 + Int(bit / 8)] ^= 1 << (bit % 8)
            #expect(throws: DecodeError.checksumMismatch(field: "E2E-CRC")) { try decode(wrong) }
        }
        // The check value of CRC-16/MCRF4XX.
        #expect(EndToEndCRC.checksum(Array("123456789".utf8)) == 0x6F91)
    }

    @Test(
        arguments: [
            // no checksum; a right one; a wrong one
            ([6, 0, 0x0C, 0x10, 6, 0], 6, nil),
            ([8, 0, 0x0C, 0x10, 6, 0, 0x59, 0x6F], 6, 6),
            ([8, 0, 0x0C, 0x10, 6, 0, 0x58, 0x6F], 6, nil),
            // a bit of the flags was changed on the way: the checksum would pass for a trend
            ([8, 1, 0x0C, 0x10, 6, 0, 0x59, 0x6F], 6, nil),
            // fields that the flags promise, and the checksum does not leave room for
            ([8, 1, 0x0C, 0x10, 6, 0, 0x1D, 0x64], 6, nil),
            // too short for one
            ([7, 0, 0x0C, 0x10, 6, 0, 0], 6, nil),
            ([6, 0, 0, 0], nil, nil), ([], nil, nil),
        ] as [([UInt8], Int?, Int?)])
    func aSensorThatSaysSoHasChecksumsAndNoOtherHasOne(bytes: [UInt8], without: Int?, with: Int?) {
        func minutes(_ hasChecksum: Bool) -> Int? {
            try? ContinuousGlucose.decode(bytes, hasChecksum: hasChecksum).timeOffsetMinutes
        }
        #expect(minutes(false) == without)
        #expect(minutes(true) == with)
    }

    @Test func anyBytesAreDecodedOrRefusedWithAndWithoutChecksum() {
        var random = SeededGenerator(seed: 0x2AA7)
        for _ in 0..<10_000 {
            let bytes = (0..<Int(random.next() % 20)).map { _ in UInt8(truncatingIfNeeded: random.next()) }
            _ = try? ContinuousGlucose.decode(bytes, hasChecksum: true)
            _ = try? ContinuousGlucose.decode(bytes, hasChecksum: false)
        }
    }

    @Test func aRecordWithAChecksumIsTheSameWithAndWithoutTheSensorsWord() throws {
        #expect(try ContinuousGlucose.decode(Self.full, hasChecksum: true) == decode(Self.full))
    }

    @Test(
        arguments: [
            // status; run time; hours, flags, over
            ([5, 0, 0, 0, 0], [0x50, 0x01], SensorSession(runTimeHours: 336, flags: [])),
            (
                [5, 0, 1, 0, 0], [0x50, 0x01],
                SensorSession(runTimeHours: 336, flags: ["session-stopped"], isOver: true)
            ),
            // 336 h are 20,160 minutes
            ([0xBF, 0x4E, 0, 0, 0], [0x50, 0x01], SensorSession(runTimeHours: 336, flags: [])),
            (
                [0xC0, 0x4E, 0, 0, 0], [0x50, 0x01], SensorSession(runTimeHours: 336, flags: [], isOver: true)
            ),
            // longer than the status can count; not known
            ([0xFF, 0xFF, 0, 0, 0], [0xFF, 0xFF], SensorSession(runTimeHours: 65_535, flags: [])),
            ([5, 0, 0, 0, 0], [0, 0], SensorSession(runTimeHours: 0, flags: [])),
            (nil, [0x50, 0x01], SensorSession(runTimeHours: 336, flags: [])),
            ([5, 0, 2, 0, 0], nil, SensorSession(flags: ["device-battery-low"])),
            ([5, 0], [1], nil), (nil, nil, nil),
        ] as [([UInt8]?, [UInt8]?, SensorSession?)])
    func aSessionIsOverWhenItWasStoppedOrHasLastedItsTime(
        status: [UInt8]?, runTime: [UInt8]?, session: SensorSession?
    ) {
        #expect(ContinuousGlucose.session(status: status, runTime: runTime) == session)
    }

    @Test func fieldsOfLaterVersionsAreAccepted() throws {
        #expect(try decode([7, 0, 0x0C, 0x10, 6, 0, 1]).timeOffsetMinutes == 6)
        #expect(try decode([9, 0, 0x0C, 0x10, 6, 0, 1, 2, 3]).timeOffsetMinutes == 6)
    }

    @Test func theSizeMustHoldARecordAndThePayloadTheSize() {
        #expect(throws: DecodeError.prohibitedValue(field: "size")) { try decode([5, 0, 0x0C, 0x10, 6]) }
        #expect(throws: DecodeError.truncated(field: "CGM measurement record", needed: 7, had: 5)) {
            try decode([8, 0, 0x0C, 0x10, 6, 0])
        }
    }

    @Test(
        arguments: [
            ([6, 0, 1, 0, 5, 0], [[6, 0, 1, 0, 5, 0]]),
            (
                [6, 0, 1, 0, 5, 0, 8, 0, 0x0C, 0x10, 6, 0, 0x59, 0x6F, 6, 0, 3, 0, 7, 0],
                [[6, 0, 1, 0, 5, 0], [8, 0, 0x0C, 0x10, 6, 0, 0x59, 0x6F], [6, 0, 3, 0, 7, 0]]
            ),
            ([6, 0, 1, 0, 5, 0, 6, 0, 1], [[6, 0, 1, 0, 5, 0], [6, 0, 1]]),  // the second is cut short
            ([6, 0, 1, 0, 5, 0, 0, 9, 9], [[6, 0, 1, 0, 5, 0], [0, 9, 9]]),  // no record
            ([255], [[255]]), ([], [[]]),
        ] as [([UInt8], [[UInt8]])])
    func aPayloadIsCutIntoItsRecords(payload: [UInt8], records: [[UInt8]]) throws {
        #expect(try Profile.continuousGlucose.records(in: payload, of: 0x2AA7) == records)
    }

    @Test func thePiecesOfAnyPayloadAreThePayload() throws {
        var random = SeededGenerator(seed: 0x181F)
        for _ in 0..<10_000 {
            let payload = (0..<Int(random.next() % 40)).map { _ in UInt8(random.next() % 12) }
            #expect(try Profile.continuousGlucose.records(in: payload, of: 0x2AA7).flatMap(\.self) == payload)
        }
    }
}

@Suite struct ContinuousGlucoseSessionTests {
    private func decode(_ characteristic: BluetoothUUID, _ bytes: [UInt8]) throws -> Reading {
        try Profile.continuousGlucose.decode(bytes, of: characteristic)
    }

    @Test(arguments: [false, true])
    func theSessionStartIsAWallTimeWithItsZone(hasChecksum: Bool) throws {
        // 2026-11-20 09:14:57; time zone +1 h; standard time
        let bytes: [UInt8] = [0xEA, 0x07, 11, 20, 9, 14, 57, 4, 0]
        #expect(
            try decode(0x2AAA, bytes + (hasChecksum ? Self.checksum(bytes) : []))
                == Reading(
                    kind: .sessionStartTime,
                    measurements: [
                        measured("time-zone-offset", nil, 60, "min"),
                        measured("dst-offset", nil, 0, "min"),
                    ],
                    deviceTime: DeviceTime(
                        year: 2026, month: 11, day: 20, hours: 9, minutes: 14, seconds: 57),
                    utcOffsetSeconds: 3_600))
        #expect(try ContinuousGlucose.sessionStart(bytes)?.time.description == "2026-11-20T09:14:57")
    }

    /// As it is sent.
    private static func checksum(_ bytes: [UInt8]) -> [UInt8] {
        let sum = EndToEndCRC.checksum(bytes)
        return [UInt8(sum & 0xFF), UInt8(sum >> 8)]
    }

    @Test(
        arguments: [
            (0xD0, 0, .exact(ExactDecimal(coefficient: -720, exponent: 0))),
            (0x38, 0, .exact(ExactDecimal(coefficient: 840, exponent: 0))),
            (0x80, 0, .absent(.notANumber)), (0xCF, 0, .absent(.reserved)), (0x39, 0, .absent(.reserved)),
            (0, 2, .exact(ExactDecimal(coefficient: 30, exponent: 0))),
            (0, 4, .exact(ExactDecimal(coefficient: 60, exponent: 0))),
            (0, 8, .exact(ExactDecimal(coefficient: 120, exponent: 0))),
            (0, 255, .absent(.notANumber)), (0, 3, .absent(.reserved)),
        ] as [(UInt8, UInt8, Measurement.Value)])
    func zonesAndDaylightSavingAreMinutes(zone: UInt8, dst: UInt8, value: Measurement.Value) throws {
        let values = try decode(0x2AAA, [0xEA, 0x07, 11, 20, 9, 14, 57, zone, dst]).measurements.map(\.value)
        #expect(values[zone != 0 ? 0 : 1] == value)
    }

    @Test(
        arguments: [
            // Status, calibration and temperature, warning.
            (0x04, 0, 0, .markedUnusable), (0x08, 0, 0, .markedUnusable), (0x20, 0, 0, .markedUnusable),
            (0, 0x10, 0, .markedUnusable), (0, 0x20, 0, .markedUnusable), (0, 0, 0x40, .belowDeviceRange),
            (0, 0, 0x80, .aboveDeviceRange), (0, 0, 0xC0, .markedUnusable), (0x08, 0, 0x80, .markedUnusable),
            // The session was stopped, the battery is low, an alert; calibration; alarms of the patient.
            (0xD3, 0x4F, 0x3F, nil),
        ] as [(UInt8, UInt8, UInt8, AbsentReason?)])
    func aResultThatTheSensorDisownsIsAbsent(
        status: UInt8, calibration: UInt8, warning: UInt8, reason: AbsentReason?
    ) throws {
        let values = try decode(
            0x2AA7, [13, 0xE3, 0x78, 0x00, 5, 0, status, calibration, warning, 0x02, 0x00, 0x60, 0x00]
        ).measurements.map(\.value)
        guard let reason else {
            #expect(values == [120, 2, 96].map { .exact(ExactDecimal(coefficient: $0, exponent: 0)) })
            return
        }
        #expect(values[..<2] == [.absent(reason), .absent(reason)])
        #expect(values[2] == .exact(ExactDecimal(coefficient: 96, exponent: 0)))
    }

    /// Both have to be known: the wall time has both in it.
    @Test(
        arguments: [
            (4, 0, 3_600), (4, 4, 7_200), (0xEC, 4, -14_400), (0x80, 0, nil), (4, 255, nil), (0x39, 0, nil),
            (4, 3, nil),
        ] as [(UInt8, UInt8, Int?)])
    func theOffsetOfASessionStartIsItsZoneAndDaylightSaving(zone: UInt8, dst: UInt8, offset: Int?) throws {
        let start = try ContinuousGlucose.sessionStart([0xEA, 0x07, 11, 20, 9, 14, 57, zone, dst])
        #expect(start?.utcOffsetSeconds == offset)
    }

    @Test func aSessionStartThatIsNotKnownOrImpossibleIsNone() throws {
        #expect(try ContinuousGlucose.sessionStart([0, 0, 0, 0, 0, 0, 0, 0x80, 255]) == nil)
        #expect(try ContinuousGlucose.sessionStart([0xEA, 0x07, 13, 1, 0, 0, 0, 0, 0]) == nil)
        #expect(throws: DecodeError.truncated(field: "DST offset", needed: 1, had: 0)) {
            try ContinuousGlucose.sessionStart([0xEA, 0x07, 11, 20, 9, 14, 57, 4])
        }
        #expect(throws: DecodeError.checksumMismatch(field: "E2E-CRC")) {
            try ContinuousGlucose.sessionStart([0xEA, 0x07, 11, 20, 9, 14, 57, 4, 0, 1, 2])
        }
    }

    @Test func theRunTimeIsHours() throws {
        #expect(
            try decode(0x2AAB, [0x50, 0x01])
                == Reading(
                    kind: .sessionRunTime, measurements: [measured("session-run-time", nil, 336, "h")]))
        #expect(throws: DecodeError.checksumMismatch(field: "E2E-CRC")) {
            try decode(0x2AAB, [0x50, 0x01, 0, 0])
        }
    }

    @Test func theStatusHasAllThreeOctets() throws {
        // 60 min; battery low; calibration required; above the hyper level
        #expect(
            try decode(0x2AA9, [0x3C, 0x00, 0x02, 0x08, 0x08])
                == Reading(
                    kind: .sensorStatus, timeOffsetMinutes: 60,
                    flags: ["device-battery-low", "calibration-required", "higher-than-hyper"]))
    }

    @Test func theFeatureChecksumCountsOnlyWhereItIsSupported() throws {
        // calibration, quality; interstitial fluid, subcutaneous tissue; no checksum
        #expect(
            try decode(0x2AA8, [0x01, 0x00, 0x01, 0x59, 0xFF, 0xFF])
                == Reading(
                    kind: .feature,
                    flags: [
                        "calibration", "quality", "type-interstitial-fluid",
                        "location-subcutaneous-tissue",
                    ]))
        // E2E-CRC supported
        let bytes: [UInt8] = [0x00, 0x10, 0x00, 0x59]
        let sum = EndToEndCRC.checksum(bytes)
        #expect(try decode(0x2AA8, bytes + [UInt8(sum & 0xFF), UInt8(sum >> 8)]).flags.first == "e2e-crc")
        #expect(throws: DecodeError.checksumMismatch(field: "E2E-CRC")) {
            try decode(0x2AA8, bytes + [0xFF, 0xFF])
        }
        #expect(throws: DecodeError.truncated(field: "E2E-CRC", needed: 2, had: 0)) {
            try decode(0x2AA8, bytes)
        }
    }
}
