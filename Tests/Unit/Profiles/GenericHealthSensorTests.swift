import TestSupport
import Testing

@testable import IngestProfiles

@Suite struct GenericHealthSensorTests {
    private func decode(_ bytes: [UInt8]) throws -> Reading {
        try Profile.genericHealthSensor.decode(bytes, of: 0x2B8B)
    }

    private func assemble(_ packets: [[UInt8]]) throws -> Profile.Assembly {
        try Profile.genericHealthSensor.assemble(packets, of: 0x2B8B)
    }

    /// Published by a maker of sensors, without a segmentation header.
    private static let spotCheck: [UInt8] = [
        0x01, 0x1B, 0x00,  // class: numeric; length 27
        0x63, 0x00,  // flags: type, time stamp, patient, supplemental information
        0xB8, 0x4B, 0x02, 0x00,  // MDC_PULS_OXIM_SAT_O2
        0x22, 0x72, 0x9D, 0x2B, 0x29, 0x00, 0x00, 0x06, 0x00,  // UTC, 2021-11-20 11:50:10, cellular
        0x01,  // patient 1
        0x01, 0x3C, 0x4C, 0x02, 0x00,  // MDC_MODALITY_SPOT
        0x20, 0x02,  // MDC_DIM_PERCENT
        0x62, 0x00, 0x00, 0x00,  // 98
    ]

    private static let spotCheckReading = Reading(
        kind: .pulseOximetry, measurements: [measured("spo2", 150456, 98, "%")],
        deviceTime: DeviceTime(year: 2021, month: 11, day: 20, hours: 11, minutes: 50, seconds: 10),
        user: 1, flags: ["device-time-utc", "modality-spot"])

    @Test func aPublishedObservationIsReadWithAndWithoutHeader() throws {
        #expect(try decode(Self.spotCheck) == Self.spotCheckReading)
        // first and last segment, counter 5
        #expect(try decode([0x17] + Self.spotCheck) == Self.spotCheckReading)
        #expect(try assemble([Self.spotCheck]) == .complete(Self.spotCheckReading))
        #expect(try assemble([[0x17] + Self.spotCheck]) == .complete(Self.spotCheckReading))
    }

    @Test func aBundleSharesItsTimeAndBecomesOneReading() throws {
        let reading = try decode([
            0x03,  // first and last segment, counter 0
            0xFF, 0x2F, 0x00,  // class: bundle; length 47
            0x42, 0x00,  // flags: time stamp, supplemental information
            0x22, 0x72, 0x9D, 0x2B, 0x29, 0x00, 0x00, 0x06, 0x00,  // UTC, 2021-11-20 11:50:10
            0x01, 0x3C, 0x4C, 0x02, 0x00,  // MDC_MODALITY_SPOT
            2,  // two observations
            0x01, 0x0C, 0x00, 0x01, 0x00,  // numeric; length 12; flags: type
            0xB8, 0x4B, 0x02, 0x00, 0x20, 0x02, 0x62, 0x00, 0x00, 0x00,  // SpO2 98 %
            0x01, 0x0C, 0x00, 0x01, 0x00,  // numeric; length 12; flags: type
            0x1A, 0x48, 0x02, 0x00, 0xA0, 0x0A, 0x48, 0x00, 0x00, 0x00,  // pulse rate 72 /min
        ])
        #expect(
            reading
                == Reading(
                    kind: .pulseOximetry,
                    measurements: [
                        measured("spo2", 150456, 98, "%"), measured("pulse-rate", 149530, 72, "/min"),
                    ],
                    deviceTime: DeviceTime(
                        year: 2021, month: 11, day: 20, hours: 11, minutes: 50, seconds: 10),
                    flags: ["device-time-utc", "modality-spot"]))
    }

    @Test func everyFieldIsPassedInItsOrder() throws {
        let body: [UInt8] =
            [0xFF, 0x03]  // flags: all
            + [0x5C, 0x4B, 0x02, 0x00]  // MDC_TEMP_BODY
            + [0x30, 0x11, 0xCC, 0x92, 0x32, 0x00, 0x00, 0x01, 0x04]  // local time, counter, NTP, +1 h
            + [0x0F, 0x00, 0x00, 0xFF]  // duration 1.5 s
            + [0x61, 0x40]  // status: invalid, early estimate, manually entered, threshold error
            + [0x07, 0, 0, 0]  // observation id
            + [0xFF]  // patient unknown
            + [0x02, 0x3C, 0x4C, 0x02, 0x00, 0x01, 0, 0, 0]  // spot, and a code without name
            + [0x01, 0x09, 0, 0, 0]  // derived from
            + [0x01, 0x0A, 0, 0, 0]  // member of
            + [0x01, 0x01, 0, 0, 0, 0x02, 0x00, 0x04, 0xAA, 0xBB]  // one TLV of two bytes
            + [0xA0, 0x17]  // MDC_DIM_DEGC
            + [0x6E, 0x01, 0x00, 0xFF]  // 36.6
        let reading = try decode([0x01, UInt8(body.count), 0x00] + body)
        #expect(reading.kind == .bodyTemperature)
        #expect(
            reading.measurements == [
                // The status calls it invalid.
                Measurement(
                    type: "body-temperature", code: 150364, value: .absent(.markedUnusable), unit: "Cel"),
                measured("measurement-duration", nil, 15, exponent: -1, "s"),
            ])
        #expect(reading.user == nil)
        #expect(
            reading.flags == [
                "status-invalid", "status-early-estimate", "status-manually-entered",
                "status-threshold-error", "unknown-user", "modality-spot", "supplemental-mdc-1",
            ])
        #expect(reading.deviceTime?.description == "2026-11-20T09:14:57")
        for length in 0..<body.count {
            #expect(throws: DecodeError.self) {
                try decode([0x01, UInt8(length), 0x00] + body.prefix(length))
            }
        }
    }

    /// A numeric observation of a type, with the other flags' fields.
    private static func numeric(_ flags: UInt16, type: UInt32, fields: [UInt8] = []) -> [UInt8] {
        let code = (0..<4).map { UInt8(type >> (8 * $0) & 0xFF) }
        let body = [UInt8(flags & 0xFF), UInt8(flags >> 8)] + code + fields + [0x00, 0x02, 7, 0, 0, 0]
        return [0x01, UInt8(body.count), 0x00] + body
    }

    @Test(
        arguments: [
            (147842, .heartRate, "heart-rate"), (149546, .bloodPressure, "pulse-rate"),
            (160184, .glucose, "glucose"), (188736, .weight, "weight"),
            (188748, .bodyComposition, "body-fat"), (151562, .healthObservation, "respiratory-rate"),
            (163840, .healthObservation, "mdc-163840"),
            (.max, .healthObservation, "mdc-4294967295"),
        ] as [(UInt32, RecordKind, String)])
    func typesDecideTheKind(code: UInt32, kind: RecordKind, type: String) throws {
        let reading = try decode(Self.numeric(1, type: code))
        #expect(reading.kind == kind)
        #expect(reading.measurements == [measured(type, code, 7, "1")])
    }

    @Test func valuesOfSeveralKindsAreAHealthObservation() throws {
        let heart = Self.numeric(1, type: 147842)
        let weight = Self.numeric(1, type: 188736)
        let body: [UInt8] = [0, 0, 2] + heart + weight
        let reading = try decode([0xFF, UInt8(body.count), 0] + body)
        #expect(reading.kind == .healthObservation)
        #expect(reading.measurements.map(\.type) == ["heart-rate", "weight"])
    }

    @Test func whatAllMembersOfABundleSayOfThemselvesIsSaidOnce() throws {
        // Early estimate, spot; body temperature 36.6 Cel.
        let member: [UInt8] =
            [0x49, 0x00, 0x5C, 0x4B, 0x02, 0x00, 0x20, 0x00, 0x01, 0x3C, 0x4C, 0x02, 0x00]
            + [0xA0, 0x17, 0x6E, 0x01, 0x00, 0xFF]
        let framed = [0x01, UInt8(member.count), 0x00] + member
        let body = [0x00, 0x00, 2] + framed + framed
        let reading = try decode([0x03, 0xFF, UInt8(body.count), 0x00] + body)
        #expect(reading.measurements.count == 2)
        #expect(reading.flags == ["status-early-estimate", "modality-spot"])
    }

    @Test func whatMembersSayOfThemselvesTakesThePlaceOfWhatTheBundleSays() throws {
        // Patient 1, fast; body temperature 36.6 Cel.
        let member: [UInt8] =
            [0x61, 0x00, 0x5C, 0x4B, 0x02, 0x00, 0x01, 0x01, 0x34, 0x4C, 0x02, 0x00]
            + [0xA0, 0x17, 0x6E, 0x01, 0x00, 0xFF]
        let framed = [0x01, UInt8(member.count), 0x00] + member
        // An unknown patient, spot.
        let body = [0x60, 0x00, 0xFF, 0x01, 0x3C, 0x4C, 0x02, 0x00, 2] + framed + framed
        let reading = try decode([0x03, 0xFF, UInt8(body.count), 0x00] + body)
        #expect(reading.user == 1)
        #expect(reading.flags == ["modality-fast"])
    }

    /// Of an elapsed time: its flags, and what is read of it. All are of one moment, 09:14:57.
    private static let stamps: [(flags: UInt8, time: String?, said: [String])] = [
        (0x22, "2026-11-20T09:14:57", ["device-time-utc"]), (0x20, "2026-11-20T09:14:57", []),
        (0x21, nil, ["time-tick-counter"]), (0x00, "2026-11-20T09:14:57", ["time-not-current"]),
    ]

    @Test(arguments: stamps.indices, stamps.indices)
    func theTimeStampOfMembersTakesThePlaceOfTheBundles(outer: Int, inner: Int) throws {
        func stamp(_ index: Int) -> [UInt8] {
            [Self.stamps[index].flags, 0x11, 0xCC, 0x92, 0x32, 0, 0, 0, 0]
        }
        let member = Self.numeric(3, type: 150364, fields: stamp(inner))
        let body = [0x02, 0x00] + stamp(outer) + [2] + member + member
        let reading = try decode([0xFF, UInt8(body.count), 0x00] + body)
        #expect(reading.deviceTime?.description == Self.stamps[inner].time)
        #expect(reading.flags == Self.stamps[inner].said)
        #expect(reading.measurements.count == 2)
    }

    /// Of a bundle, what its own status is, and that of each member.
    @Test func aStatusHoldsForTheValuesOfItsObservation() throws {
        func member(_ status: UInt8?) -> [UInt8] {
            let body =
                [status == nil ? 0x01 : 0x09, 0x00] + [0x5C, 0x4B, 0x02, 0x00]
                + (status.map { [$0, 0x00] } ?? [])
                + [0xA0, 0x17, 0x6E, 0x01, 0x00, 0xFF]
            return [0x01, UInt8(body.count), 0x00] + body
        }
        func absences(_ status: UInt8?, _ members: [UInt8?]) throws -> [Bool] {
            let body: [UInt8] =
                [status == nil ? 0x00 : 0x08, 0x00] + (status.map { [$0, 0x00] } ?? []) + [
                    UInt8(members.count)
                ]
                + members.flatMap(member)
            return try decode([0xFF, UInt8(body.count), 0x00] + body).measurements.map {
                $0.value == .absent(.markedUnusable)
            }
        }
        // Invalid, not available; questionable, calibrating, of a test.
        #expect(
            try absences(nil, [nil, 0x01, 0x04, 0x02, 0x08, 0x10]) == [
                false, true, true, false, false, false,
            ])
        #expect(try absences(0x04, [nil, 0x02]) == [true, true])
        #expect(try absences(0x02, [nil, 0x01]) == [false, true])
    }

    @Test func unitsWithoutEntryKeepTheirNumber() throws {
        #expect(HealthNomenclature.unit(3872) == "mm[Hg]")
        #expect(HealthNomenclature.unit(0) == "{mdc-262144}")
        #expect(HealthNomenclature.unit(.max) == "{mdc-327679}")
    }

    @Test(
        arguments: [
            // flags, value (6), source, offset
            ([0x20, 0x11, 0xCC, 0x92, 0x32, 0x00, 0x00, 7, 0], "2026-11-20T09:14:57", []),  // local
            ([0x30, 0x11, 0xCC, 0x92, 0x32, 0x00, 0x00, 7, 32], "2026-11-20T09:14:57", []),  // local, +8 h
            ([0x30, 0x11, 0xCC, 0x92, 0x32, 0x00, 0x00, 7, 0x80], "2026-11-20T09:14:57", []),  // no offset
            (
                [0x32, 0x11, 0xCC, 0x92, 0x32, 0x00, 0x00, 7, 0x80], "2026-11-20T09:14:57",
                ["device-time-utc"]
            ),
            ([0x22, 0x11, 0xCC, 0x92, 0x32, 0x00, 0x00, 1, 4], "2026-11-20T09:14:57", ["device-time-utc"]),
            ([0x32, 0x11, 0xCC, 0x92, 0x32, 0x00, 0x00, 1, 4], "2026-11-20T10:14:57", []),  // UTC, +1 h
            ([0x32, 0x11, 0xCC, 0x92, 0x32, 0x00, 0x00, 1, 0xFA], "2026-11-20T07:44:57", []),  // -1.5 h
            ([0x24, 0xAA, 0xF8, 0xBB, 0xF9, 0x01, 0x00, 7, 0], "2026-11-20T09:14:57", []),  // 100 ms
            ([0x28, 0x4F, 0x26, 0x6D, 0x8D, 0xC5, 0x00, 7, 0], "2026-11-20T09:14:57", []),  // 1 ms
            ([0x2C, 0x1F, 0x7F, 0x43, 0x86, 0xB7, 0x07, 7, 0], "2026-11-20T09:14:57", []),  // 100 µs
            ([0x21, 1, 0, 0, 0, 0, 0, 0, 0], nil, ["time-tick-counter"]),
            ([0x00, 0x11, 0xCC, 0x92, 0x32, 0x00, 0x00, 6, 0], "2026-11-20T09:14:57", []),  // was set
            ([0x00, 0x11, 0xCC, 0x92, 0x32, 0x00, 0x00, 4, 0], "2026-11-20T09:14:57", ["time-not-current"]),
            ([0x20, 255, 255, 255, 255, 255, 255, 0, 0], nil, ["device-time-invalid"]),
        ] as [([UInt8], String?, [String])])
    func timeStampsAreWallTimesWhereTheyCanBe(stamp: [UInt8], time: String?, flags: [String]) throws {
        let reading = try decode(Self.numeric(3, type: 147842, fields: stamp))
        #expect(reading.deviceTime?.description == time)
        #expect(reading.flags == flags)
        #expect(reading.isOfEarlierTimeline == (time != nil && stamp[0] & 0x20 == 0))
        let isSaid = stamp[0] & 0x10 != 0 && stamp[8] != 0x80
        #expect(reading.utcOffsetSeconds == (isSaid ? Int(Int8(bitPattern: stamp[8])) * 900 : nil))
        let clock = try Profile.genericHealthSensor.decode(stamp + [0, 0], of: 0x2BF2)
        let isClock = !flags.contains("time-not-current")
        #expect(clock.kind == .currentTime && clock.deviceTime == (isClock ? reading.deviceTime : nil))
        #expect(clock.utcOffsetSeconds == (isClock ? reading.utcOffsetSeconds : nil))
        #expect(clock.flags == flags)
    }

    /// Between the two the clock was set, so that the stored one is of an earlier timeline; it was synchronised.
    @Test func anObservationHasOneNameLiveAndStored() throws {
        func member(_ flags: UInt8) -> [UInt8] {
            Self.numeric(3, type: 147842, fields: [flags, 0x11, 0xCC, 0x92, 0x32, 0, 0, 6, 0])
        }
        func bundle(_ flags: UInt8) -> [UInt8] {
            let body =
                [0x02, 0x00, flags, 0x11, 0xCC, 0x92, 0x32, 0, 0, 6, 0, 2] + member(flags) + member(flags)
            return [0xFF, UInt8(body.count), 0x00] + body
        }
        func name(_ bytes: [UInt8], of characteristic: BluetoothUUID) -> RawPayload? {
            Profile.genericHealthSensor.name(of: RawPayload(characteristic: characteristic, bytes: bytes))
        }
        for form in [member, bundle] {
            #expect(name([7, 0, 0, 0] + form(0x02), of: 0x2BDD) == name(form(0x22), of: 0x2B8B))
            #expect(name(form(0x22), of: 0x2B8B)?.bytes == form(0x22))
            // Cut off anywhere, and still no trap.
            for count in 0..<form(0x02).count {
                _ = name(Array(form(0x02).prefix(count)), of: 0x2B8B)
            }
        }
        let undated: [UInt8] = [1, 12, 0, 1, 0, 0x00, 0x80, 2, 0, 0xA0, 0x0A, 72, 0, 0, 0]
        #expect(name(undated, of: 0x2B8B)?.bytes == undated)
        #expect(name(undated, of: 0x2A35)?.characteristic == 0x2A35)
    }

    @Test func aCompoundHasAMeasurementForEachComponent() throws {
        let body: [UInt8] =
            [0x01, 0x00, 0x04, 0x4A, 0x02, 0x00]  // flags: type; MDC_PRESS_BLD_NONINV
            + [2]
            + [0x05, 0x4A, 0x02, 0x00, 1, 0x20, 0x0F, 120, 0, 0, 0]  // systolic, numeric, mmHg, 120
            + [0x06, 0x4A, 0x02, 0x00, 1, 0x20, 0x0F, 0xFF, 0xFF, 0x7F, 0]  // diastolic: not a number
        let reading = try decode([0x07, UInt8(body.count), 0x00] + body)
        #expect(
            reading
                == Reading(
                    kind: .bloodPressure,
                    measurements: [
                        measured("systolic", 150021, 120, "mm[Hg]"),
                        Measurement(
                            type: "diastolic", code: 150022, value: .absent(.notANumber), unit: "mm[Hg]"),
                    ]))
    }

    @Test(
        arguments: [
            (2, [0x05, 0, 2, 0], ["value-mdc-131077"]),  // discrete
            (5, [2, 1, 0, 3, 0, 2, 0, 3, 0], ["value-mdc-196609", "value-mdc-196610"]),  // events
            (3, [2, 0, 0x41, 0x42], ["value-in-raw"]),  // string
            (4, [1, 2, 3], ["value-in-raw"]),  // sample array
            (6, [1, 0xFF, 0xFF, 0x01], ["value-in-raw"]),  // state
            (8, [0], ["value-in-raw"]),  // TLV
            (7, [1, 1, 0, 0, 0, 2, 9, 0, 0, 0], ["value-mdc-9"]),  // compound of a discrete
            (7, [1, 1, 0, 0, 0, 3, 1, 0, 0x41], ["value-in-raw"]),  // compound of a string
        ] as [(UInt8, [UInt8], [String])])
    func otherValuesAreFlagsOrStayRaw(form: UInt8, value: [UInt8], flags: [String]) throws {
        // flags: type; MDC 1
        let body: [UInt8] = [0x01, 0x00, 1, 0, 0, 0] + value
        #expect(
            try decode([form, UInt8(body.count), 0x00] + body)
                == Reading(kind: .healthObservation, flags: flags))
    }

    @Test func unknownClassesAndNestedBundlesAreErrors() {
        #expect(throws: DecodeError.prohibitedValue(field: "observation class")) {
            try decode([0x03, 0x09, 0x02, 0x00, 0, 0])
        }
        #expect(throws: DecodeError.prohibitedValue(field: "observation class")) {
            try decode([0xFF, 0x08, 0x00, 0, 0, 1, 0xFF, 0x02, 0x00, 0, 0])
        }
        // a number of nothing
        #expect(throws: DecodeError.prohibitedValue(field: "observation flags")) {
            try decode([0x01, 0x08, 0x00, 0, 0, 0x00, 0x02, 7, 0, 0, 0])
        }
    }

    @Test func bytesAfterAnObservationAreAccepted() throws {
        #expect(try decode(Self.spotCheck + [0xAB]) == Self.spotCheckReading)
        #expect(try decode([0x03] + Self.spotCheck + [0xAB]) == Self.spotCheckReading)
    }

    @Test func segmentsAreJoinedInTheirOrder() throws {
        // counters 62, 63, 0
        let packets = [
            [0xF9] + Self.spotCheck.prefix(10), [0xFC] + Self.spotCheck[10..<20],
            [0x02] + Self.spotCheck[20...],
        ]
        #expect(try assemble([packets[0]]) == .incomplete)
        #expect(try assemble(Array(packets.prefix(2))) == .incomplete)
        #expect(try assemble(packets) == .complete(Self.spotCheckReading))
        // One is missing, and one begins anew.
        #expect(try assemble([packets[0], packets[2]]) == .unrelated)
        #expect(try assemble([packets[0], packets[0]]) == .unrelated)
        #expect(try assemble(packets + [[0x04, 1]]) == .unrelated)
        #expect(try assemble([packets[0], []]) == .unrelated)
    }

    @Test func segmentsWithoutEndAreRefused() {
        let packets = (0..<200).map { number in
            [UInt8(number % 64) << 2 | (number == 0 ? 1 : 0)] + [UInt8](repeating: 0, count: 511)
        }
        #expect(throws: DecodeError.self) { try assemble(packets) }
    }

    @Test func storedObservationsBeginWithTheirNumber() throws {
        var expected = Self.spotCheckReading
        expected.sequence = 4_294_967_295
        let observation: [UInt8] = [0xFF, 0xFF, 0xFF, 0xFF] + Self.spotCheck
        let profile = Profile.genericHealthSensor
        #expect(try profile.decode([0x03] + observation, of: 0x2BDD) == expected)
        #expect(try profile.decode(observation, of: 0x2BDD) == expected)
        #expect(
            try profile.assemble([[0x01] + observation.prefix(9), [0x06] + observation[9...]], of: 0x2BDD)
                == .complete(expected))
    }
}
