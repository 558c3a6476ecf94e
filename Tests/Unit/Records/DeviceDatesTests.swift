import FoundationEssentials
import TestSupport
import Testing

@testable import IngestRecords

/// Which dates name readings, and what shows that a clock stands.
@Suite struct DeviceDatesTests {
    /// What a device's dates have shown, which learns from each reading.
    private final class Learner {
        var dates = DeviceDates()

        func name(_ reading: Reading, of characteristic: BluetoothUUID) -> Bool {
            dates.name(reading, of: characteristic)
        }
    }

    private static func date(_ year: Int, seconds: Int = 0) -> DeviceTime {
        DeviceTime(year: year, month: 1, day: 1, hours: 0, minutes: 0, seconds: seconds)
    }

    private static func reading(
        _ values: [String: Int64], _ date: DeviceTime?, user: Int? = nil
    ) -> Reading {
        Reading(
            kind: .weight,
            measurements: values.sorted { $0.key < $1.key }.map { measured($0.key, nil, $0.value, "kg") },
            deviceTime: date, user: user)
    }

    @Test(arguments: [(1582, false), (2000, false), (2009, false), (2010, true), (2026, true), (9999, true)])
    func aDateBeforeAnyDeviceNamesNothing(year: Int, names: Bool) {
        let device = Learner()
        #expect(device.name(Self.reading(["weight": 70], Self.date(year)), of: 0x2A9D) == names)
        #expect(!device.dates.clockStands)
    }

    @Test func withoutADateNothingIsNamedAndNothingLearnt() {
        let device = Learner()
        for date in [nil, DeviceTime(year: 2026, month: 2, day: 30, hours: 0, minutes: 0, seconds: 0)] {
            #expect(!device.name(Self.reading(["weight": 70], date), of: 0x2A9D))
        }
        #expect(device.dates == DeviceDates())
    }

    /// A sensor that counts parts of a second may measure twice in one, and one value in several ways.
    @Test func twoValuesOfOneSecondShowNoClockThatStands() {
        let device = Learner()
        for (fraction, flags, value) in [(0, [], 97), (500, [], 96), (500, ["modality-fast"], 95)]
            as [(Int, [String], Int64)]
        {
            var reading = Self.reading(["spo2": value], Self.date(2026))
            reading.secondFraction = fraction
            reading.flags = flags
            #expect(device.name(reading, of: 0x2B8B))
        }
        #expect(!device.dates.clockStands)
        var reading = Self.reading(["spo2": 94], Self.date(2026))
        reading.secondFraction = 500
        reading.flags = ["modality-fast"]
        #expect(!device.name(reading, of: 0x2B8B) && device.dates.clockStands)
    }

    /// A monitor of several measurements: the pulse of its oximeter and that of its cuff have one name.
    @Test func oneNameOfTwoCodesShowsNoClockThatStands() {
        let device = Learner()
        for (code, value) in [(149530, 72), (149546, 74), (149530, 72)] as [(UInt32, Int64)] {
            let reading = Reading(
                kind: .healthObservation, measurements: [measured("pulse-rate", code, value, "/min")],
                deviceTime: Self.date(2026))
            #expect(device.name(reading, of: 0x2B8B))
        }
        #expect(!device.dates.clockStands)
    }

    /// Two measurements of one second may have taken different times.
    @Test func howLongMeasurementsTookShowsNoClockThatStands() {
        let device = Learner()
        for (type, seconds) in [("body-temperature", 10), ("spo2", 30)] as [(String, Int64)] {
            var reading = Self.reading([type: 36], Self.date(2026))
            reading.measurements.append(measured("measurement-duration", nil, seconds, "s"))
            #expect(device.name(reading, of: 0x2B8B))
        }
        #expect(!device.dates.clockStands)
    }

    /// It sends its last reading again after it was switched to another unit.
    @Test func aSwitchOfTheUnitShowsNoClockThatStands() {
        let device = Learner()
        for (value, unit) in [(366, "Cel"), (979, "[degF]"), (366, "Cel")] as [(Int64, String)] {
            let reading = Reading(
                kind: .bodyTemperature, measurements: [measured("body-temperature", nil, value, unit)],
                deviceTime: Self.date(2026))
            #expect(device.name(reading, of: 0x2A1C))
        }
        #expect(!device.dates.clockStands)
    }

    @Test func aSwitchOfTheUnitHidesNoClockThatStands() {
        let device = Learner()
        let names = ([(366, "Cel"), (979, "[degF]"), (370, "Cel")] as [(Int64, String)]).map { value, unit in
            device.name(
                Reading(
                    kind: .bodyTemperature, measurements: [measured("body-temperature", nil, value, unit)],
                    deviceTime: Self.date(2026)), of: 0x2A1C)
        }
        #expect(names == [true, true, false])
    }

    @Test func aClockStandsWhenOneDateComesWithTwoValuesAndStaysSo() throws {
        let device = Learner()
        let stuck = Self.date(2019)
        #expect(device.name(Self.reading(["weight": 70], stuck), of: 0x2A9D))
        // As if its confirmation had been lost.
        #expect(device.name(Self.reading(["weight": 70], stuck), of: 0x2A9D))
        #expect(!device.dates.clockStands)
        #expect(!device.name(Self.reading(["weight": 71], stuck), of: 0x2A9D))
        #expect(device.dates.clockStands)
        device.dates = try JSONDecoder().decode(DeviceDates.self, from: JSONEncoder().encode(device.dates))
        // The first again, another characteristic, and a date at which it may run again.
        #expect(!device.name(Self.reading(["weight": 70], stuck), of: 0x2A9D))
        #expect(!device.name(Self.reading(["body-fat": 21], Self.date(2026)), of: 0x2A9C))
        #expect(device.dates.clockStands)
    }

    @Test func oneOfTwoValuesThatDiffersIsEnough() {
        let device = Learner()
        let stuck = Self.date(2019)
        #expect(device.name(Self.reading(["systolic": 120, "diastolic": 80], stuck), of: 0x2A35))
        #expect(!device.name(Self.reading(["systolic": 120, "diastolic": 81], stuck), of: 0x2A35))
    }

    @Test func whatMayHaveOneDateShowsNothing() {
        let device = Learner()
        let date = Self.date(2026)
        for (values, date, user, characteristic): ([String: Int64], DeviceTime, Int?, BluetoothUUID) in [
            // Two people in one minute; the parts of one weighing; one that is completed, and the next.
            (["weight": 70], date, 1, 0x2A9D), (["weight": 80], date, 2, 0x2A9D),
            (["weight": 75], date, nil, 0x2A9D),
            (["body-fat": 20, "weight": 71], date, 1, 0x2A9C), (["weight": 70, "bmi": 22], date, 1, 0x2A9D),
            (["weight": 72], Self.date(2026, seconds: 1), 1, 0x2A9D),
        ] {
            #expect(device.name(Self.reading(values, date, user: user), of: characteristic))
        }
        var failed = Self.reading(["weight": 72], Self.date(2026, seconds: 1), user: 1)
        failed.measurements[0].value = .absent(.notANumber)
        #expect(device.name(failed, of: 0x2A9D))
        #expect(!device.dates.clockStands)
    }

    /// Whatever a device sends, what is remembered of it is small.
    @Test func whatIsRememberedIsBounded() throws {
        let device = Learner()
        let values = Dictionary(uniqueKeysWithValues: (0..<200).map { ("mdc-\($0)", Int64($0)) })
        for user in 0..<300 { _ = device.name(Self.reading(values, Self.date(2026), user: user), of: 0x2B8B) }
        #expect(try JSONEncoder().encode(device.dates).count < 8_192)
        // The newest are there.
        #expect(!device.name(Self.reading(["mdc-0": 1], Self.date(2026), user: 299), of: 0x2B8B))
    }
}
