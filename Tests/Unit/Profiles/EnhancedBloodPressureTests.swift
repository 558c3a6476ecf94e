import TestSupport
import Testing

@testable import IngestCore
@testable import IngestProfiles
@testable import IngestRecords

@Suite struct EnhancedBloodPressureTests {
    private static let systolicToMean: [UInt8] = [0x8A, 0x00, 0x55, 0x00, 0x66, 0x00]
    /// 2026-11-20 09:14:57, in seconds since 2000-01-01T00:00:00: 848,481,297.
    private static let moment: [UInt8] = [0x11, 0xCC, 0x92, 0x32]
    private static let time = DeviceTime(year: 2026, month: 11, day: 20, hours: 9, minutes: 14, seconds: 57)

    private static let pressures = [
        measured("systolic", 150021, 138, "mm[Hg]"), measured("diastolic", 150022, 85, "mm[Hg]"),
        measured("mean-arterial-pressure", 150023, 102, "mm[Hg]"),
    ]

    private func decode(_ bytes: [UInt8], of characteristic: BluetoothUUID = 0x2B34) throws -> Reading {
        try Profile.bloodPressure.decode(bytes, of: characteristic)
    }

    @Test func everyFieldIsRead() throws {
        let reading = try decode(
            [0x5E] + Self.systolicToMean + Self.moment + [0x48, 0x00, 1, 0x04, 0x00])
        #expect(
            reading
                == Reading(
                    kind: .bloodPressure,
                    measurements: Self.pressures + [measured("pulse-rate", 149546, 72, "/min")],
                    deviceTime: Self.time, user: 1, flags: ["irregular-pulse", "device-time-utc"]))
    }

    @Test func withoutFlagsThereAreThePressuresAlone() throws {
        let reading = try decode([0x00] + Self.systolicToMean)
        #expect(reading == Reading(kind: .bloodPressure, measurements: Self.pressures))
    }

    @Test func kilopascalsStayKilopascals() throws {
        let reading = try decode([0x01, 0xB8, 0xF0, 0x71, 0xF0, 0xFF, 0x07])
        #expect(reading.measurements.map(\.unit) == ["kPa", "kPa", "kPa"])
        #expect(reading.measurements[0] == measured("systolic", 150021, 184, exponent: -1, "kPa"))
        #expect(reading.measurements[2].value == .absent(.notANumber))
    }

    /// Bit 6: from which year the seconds count.
    @Test(
        arguments: [
            (
                0x42, [0x11, 0xCC, 0x92, 0x32] as [UInt8],
                DeviceTime(year: 2026, month: 11, day: 20, hours: 9, minutes: 14, seconds: 57)
            ),
            (
                0x02, [0x11, 0x8E, 0xAA, 0xEE],
                DeviceTime(year: 2026, month: 11, day: 20, hours: 9, minutes: 14, seconds: 57)
            ),
            (0x42, [0, 0, 0, 0], DeviceTime(year: 2000, month: 1, day: 1, hours: 0, minutes: 0, seconds: 0)),
            (
                0x02, [0xFF, 0xFF, 0xFF, 0xFF],
                DeviceTime(year: 2036, month: 2, day: 7, hours: 6, minutes: 28, seconds: 15)
            ),
            (
                0x42, [0xFF, 0xFF, 0xFF, 0xFF],
                DeviceTime(year: 2136, month: 2, day: 7, hours: 6, minutes: 28, seconds: 15)
            ),
        ] as [(UInt8, [UInt8], DeviceTime)])
    func timesCountFromTheirEpoch(flags: UInt8, seconds: [UInt8], time: DeviceTime) throws {
        #expect(try decode([flags] + Self.systolicToMean + seconds).deviceTime == time)
    }

    @Test func theTimeOfTheDisplayIsTheDevicesTime() throws {
        let later: [UInt8] = [0x21, 0xDA, 0x92, 0x32]
        let reading = try decode([0x62] + Self.systolicToMean + Self.moment + later)
        #expect(reading.deviceTime?.wallSeconds == Self.time.wallSeconds + 3_600)
        // The time stamp is UTC.
        #expect(reading.utcOffsetSeconds == 3_600 && reading.flags.isEmpty)
        // It may be there alone, of a zone that the cuff does not say.
        let alone = try decode([0x60] + Self.systolicToMean + Self.moment)
        #expect(alone.deviceTime == Self.time && alone.utcOffsetSeconds == nil && alone.flags.isEmpty)
    }

    @Test func aTimeStampAloneIsUTC() throws {
        let reading = try decode([0x42] + Self.systolicToMean + Self.moment)
        #expect(reading.deviceTime == Self.time)
        #expect(reading.utcOffsetSeconds == nil && reading.flags == ["device-time-utc"])
    }

    /// One of the two clocks was not set then.
    @Test(
        arguments: [
            (-12 * 3_600, true), (14 * 3_600, true), (5 * 3_600 + 45 * 60, true), (0, true),
            (-12 * 3_600 - 900, false), (14 * 3_600 + 900, false), (3_601, false),
        ] as [(Int64, Bool)])
    func aDistanceThatNoZoneHasIsNone(seconds: Int64, isZone: Bool) throws {
        let shown = UInt32(848_481_297 + seconds)
        let bytes = [0, 8, 16, 24].map { UInt8(shown >> $0 & 0xFF) }
        let reading = try decode([0x62] + Self.systolicToMean + Self.moment + bytes)
        #expect(reading.utcOffsetSeconds == (isZone ? Int(seconds) : nil))
        #expect(reading.deviceTime?.wallSeconds == Self.time.wallSeconds + seconds)
    }

    /// 0, and the last second of 2009.
    @Test(arguments: [[0, 0, 0, 0], [0x7F, 0xF7, 0xCF, 0x12]] as [[UInt8]])
    func aDisplayThatWasNeverSetLeavesTheTimeToTheTimeStamp(shown: [UInt8]) throws {
        let reading = try decode([0x62] + Self.systolicToMean + Self.moment + shown)
        #expect(reading.deviceTime == Self.time && reading.utcOffsetSeconds == nil)
        #expect(reading.flags == ["device-time-utc"])
        #expect(try decode([0x60] + Self.systolicToMean + shown).deviceTime?.isOfNoSetClock == true)
    }

    /// Both are corrected by the clock, which shows 2000 too.
    @Test func ofTwoClocksThatWereNeverSetTheDisplaysIsTaken() throws {
        let reading = try decode([0x62] + Self.systolicToMean + [0, 0, 0, 0] + [10, 0, 0, 0])
        #expect(reading.deviceTime?.isOfNoSetClock == true && reading.deviceTime?.seconds == 10)
        #expect(reading.flags.isEmpty)
    }

    @Test func aUserThatTheDeviceDoesNotKnowIsNone() throws {
        let reading = try decode([0x08] + Self.systolicToMean + [0xFF])
        #expect(reading.user == nil && reading.flags == ["unknown-user"])
    }

    @Test(
        arguments: [
            ([], "flags"), ([0x00, 0x8A, 0x00, 0x55, 0x00, 0x66], "mean-arterial-pressure"),
            ([0x02, 0x8A, 0x00, 0x55, 0x00, 0x66, 0x00, 1, 2, 3], "time stamp"),
            ([0x04, 0x8A, 0x00, 0x55, 0x00, 0x66, 0x00, 1], "pulse rate"),
            ([0x08, 0x8A, 0x00, 0x55, 0x00, 0x66, 0x00], "user id"),
            ([0x10, 0x8A, 0x00, 0x55, 0x00, 0x66, 0x00, 1], "measurement status"),
            ([0x20, 0x8A, 0x00, 0x55, 0x00, 0x66, 0x00, 1, 2, 3], "user facing time"),
        ] as [([UInt8], String)])
    func aFieldThatIsPromisedAndMissingIsAnError(bytes: [UInt8], field: String) {
        #expect {
            try decode(bytes)
        } throws: { error in
            guard case .truncated(let found, _, _) = error as? DecodeError else { return false }
            return found == field
        }
    }

    @Test func theCuffsPressureHasOneNumber() throws {
        let reading = try decode([0x44, 0x7D, 0xF0, 0x48, 0x00], of: 0x2B35)
        #expect(
            reading.measurements == [
                measured("cuff-pressure", nil, 125, exponent: -1, "mm[Hg]"),
                measured("pulse-rate", 149546, 72, "/min"),
            ])
    }

    // MARK: Stored records

    private static let live: [UInt8] = [0x42] + systolicToMean + moment

    @Test func aRecordHoldsAReadingAndItsNumber() throws {
        let reading = try decode([0x03, 0x07, 0x01, 0x34, 0x2B] + Self.live, of: 0x2B36)
        var expected = try decode(Self.live)
        expected.sequence = 0x0107
        #expect(reading == expected)
        // A plain measurement is kept in the same way.
        let plain = try decode([0x03, 0x07, 0x01, 0x35, 0x2A, 0x00] + Self.systolicToMean, of: 0x2B36)
        #expect(plain.measurements == Self.pressures && plain.sequence == 0x0107)
    }

    @Test func segmentsMakeUpARecord() throws {
        let whole: [UInt8] = [0x07, 0x01, 0x34, 0x2B] + Self.live
        let packets = [
            [0x01] + whole.prefix(9), [0x04] + whole.dropFirst(9).prefix(5), [0x0A] + whole.dropFirst(14),
        ]
        .map { Array($0) }
        #expect(try Profile.bloodPressure.assemble(Array(packets.prefix(1)), of: 0x2B36) == .incomplete)
        #expect(try Profile.bloodPressure.assemble(Array(packets.prefix(2)), of: 0x2B36) == .incomplete)
        guard case .complete(let reading) = try Profile.bloodPressure.assemble(packets, of: 0x2B36) else {
            Issue.record("it is not whole")
            return
        }
        #expect(reading.measurements == Self.pressures && reading.sequence == 0x0107)
        #expect(Profile.bloodPressure.join(packets, of: 0x2B36) == whole)
        #expect(try Profile.bloodPressure.assemble([packets[0], packets[2]], of: 0x2B36) == .unrelated)
    }

    @Test func aRecordIsNamedAsTheReadingThatCameLive() throws {
        let name = RawPayload(characteristic: 0x2B34, bytes: Self.live)
        for tail in [[], [0x12, 0x34]] as [[UInt8]] {
            let raw = RawPayload(
                characteristic: 0x2B36, bytes: [0x07, 0x01, 0x34, 0x2B] + Self.live + tail)
            #expect(Profile.bloodPressure.name(of: raw) == name)
        }
        // What stands behind the last field is a part of the live reading too.
        for tail in [[0x99], [0x99, 0x12, 0x34]] as [[UInt8]] {
            let raw = RawPayload(
                characteristic: 0x2B36, bytes: [0x07, 0x01, 0x34, 0x2B] + Self.live + tail)
            #expect(
                Profile.bloodPressure.name(of: raw)
                    == RawPayload(characteristic: 0x2B34, bytes: Self.live + [0x99]))
        }
        let live = RawPayload(characteristic: 0x2B34, bytes: Self.live)
        #expect(Profile.bloodPressure.name(of: live) == live)
        let other = RawPayload(characteristic: 0x2B36, bytes: [0x07, 0x01, 0x37, 0x2B, 1])
        #expect(Profile.bloodPressure.name(of: other) == other)
    }

    @Test(
        arguments: [
            [0x03], [0x03, 0x07, 0x01], [0x03, 0x07, 0x01, 0x34, 0x2B], [0x03, 0x07, 0x01, 0x37, 0x2B, 1],
            [0x01, 0x07, 0x01, 0x34, 0x2B], [], [0x03, 0x07, 0x01, 0x36, 0x2B, 0x03, 0x07, 0x01, 0x34, 0x2B],
            [0x03] + [UInt8](repeating: 0, count: 65),
        ] as [[UInt8]])
    func whatHoldsNoReadingIsAnError(bytes: [UInt8]) {
        #expect(throws: DecodeError.self) { try decode(bytes, of: 0x2B36) }
    }
}
