import TestSupport
import Testing

@testable import IngestCore
@testable import IngestProfiles
@testable import IngestReading
@testable import IngestRecords

/// A bundle is one reading only as far as its members are of one time, person and state.
@Suite struct BundleTests {
    /// UTC, 2026-11-20T09:14:57 and an hour later; synchronised.
    private static let time: [UInt8] = [0x22, 0x11, 0xCC, 0x92, 0x32, 0x00, 0x00, 0x01, 0x00]
    private static let later: [UInt8] = [0x22, 0x21, 0xDA, 0x92, 0x32, 0x00, 0x00, 0x01, 0x00]

    /// A number with what is said of it: the bits of its flags and their octets, in the flags' order.
    private static func number(
        _ type: UInt32, _ unit: UInt16, _ value: UInt8, _ fields: [(bit: Int, octets: [UInt8])] = []
    ) -> [UInt8] {
        observation(
            0x01, [(0, [0, 8, 16, 24].map { UInt8(type >> $0 & 0xFF) })] + fields,
            [UInt8(unit & 0xFF), UInt8(unit >> 8), value, 0, 0, 0])
    }

    private static func observation(
        _ form: UInt8, _ fields: [(bit: Int, octets: [UInt8])], _ value: [UInt8]
    ) -> [UInt8] {
        let flags = fields.reduce(0) { $0 | 1 << $1.bit }
        let body = [UInt8(flags & 0xFF), UInt8(flags >> 8)] + fields.flatMap(\.octets) + value
        return [form, UInt8(body.count), 0] + body
    }

    private static func bundle(
        _ fields: [(bit: Int, octets: [UInt8])], _ members: [[UInt8]]
    ) -> [UInt8] {
        observation(0xFF, fields, [UInt8(members.count)] + members.joined())
    }

    private static func saturation(_ fields: [(bit: Int, octets: [UInt8])] = []) -> [UInt8] {
        number(150_456, 0x0220, 98, fields)
    }

    private static func pulse(_ fields: [(bit: Int, octets: [UInt8])] = []) -> [UInt8] {
        number(147_842, 0x0AA0, 72, fields)
    }

    /// What the value becomes, live in one segment, as a gateway reads it.
    private func readings(_ bytes: [UInt8]) throws -> [Reading] {
        var joining = ValueJoining(
            profile: .genericHealthSensor,
            device: DeviceAddress(BluetoothAddress(value: 0xF1F1_F1F1_F1F1), .random))
        let now = MonotonicInstant(nanoseconds: 1)
        let parts = joining.parts(
            of: ReceivedValue(
                characteristic: GenericHealthSensor.live, value: [0x03] + bytes, isIndication: true,
                received: now), at: now)
        #expect(parts.map(\.isFirst) == parts.indices.map { $0 == 0 })
        // Each is named by bytes that say the same by themselves.
        for part in parts {
            #expect(
                try Profile.genericHealthSensor.decode(part.bytes, of: GenericHealthSensor.live)
                    == part.reading)
        }
        return try parts.map { try #require($0.reading) }
    }

    @Test func whatHoldsForAllIsOneReading() throws {
        let readings = try readings(
            Self.bundle([(1, Self.time), (5, [1])], [Self.saturation(), Self.pulse([(5, [1])])]))
        #expect(readings.count == 1)
        #expect(readings[0].measurements.map(\.type) == ["spo2", "heart-rate"])
        #expect(readings[0].user == 1)
    }

    @Test func twoPersonsAreTwoReadings() throws {
        let readings = try readings(
            Self.bundle([(1, Self.time)], [Self.saturation([(5, [1])]), Self.pulse([(5, [2])])]))
        #expect(readings.map(\.user) == [1, 2])
        #expect(readings.map { $0.measurements.map(\.type) } == [["spo2"], ["heart-rate"]])
        #expect(readings.map(\.kind) == [.pulseOximetry, .heartRate])
        #expect(Set(readings.map(\.deviceTime)).count == 1 && readings[0].deviceTime != nil)
        #expect(readings.map(\.flags) == [["device-time-utc"], ["device-time-utc"]])
    }

    @Test func twoTimesAreTwoReadings() throws {
        let readings = try readings(
            Self.bundle([(5, [1])], [Self.saturation([(1, Self.time)]), Self.pulse([(1, Self.later)])]))
        #expect(readings.map { $0.deviceTime?.hours } == [9, 10])
        #expect(readings.map(\.user) == [1, 1])
        #expect(readings.map(\.flags) == [["device-time-utc"], ["device-time-utc"]])
    }

    @Test func twoDurationsAreTwoReadings() throws {
        let readings = try readings(
            Self.bundle(
                [(1, Self.time)],
                [Self.saturation([(2, [10, 0, 0, 0])]), Self.pulse([(2, [30, 0, 0, 0])])]))
        #expect(
            readings.map(\.measurements.last) == [
                measured("measurement-duration", nil, 10, "s"),
                measured("measurement-duration", nil, 30, "s"),
            ])
    }

    /// SpO2 as a fast and as a slow average, which the supplemental information tells apart.
    @Test func twoModalitiesAreTwoReadings() throws {
        let readings = try readings(
            Self.bundle(
                [(1, Self.time)],
                [
                    Self.saturation([(6, [1, 0x3C, 0x4C, 0x02, 0x00])]),
                    Self.saturation([(6, [1, 0x30, 0x4C, 0x02, 0x00])]),
                ]))
        #expect(readings.count == 2)
        #expect(readings[0].flags.contains("modality-spot") && !readings[1].flags.contains("modality-spot"))
    }

    /// One invalid number takes no good one with it.
    @Test func aMemberThatIsInvalidIsAReadingByItself() throws {
        let readings = try readings(
            Self.bundle(
                [(1, Self.time), (3, [0x02, 0])], [Self.saturation([(3, [0x01, 0])]), Self.pulse()]))
        #expect(
            readings.map { $0.measurements[0].value } == [
                .absent(.markedUnusable), .exact(ExactDecimal(coefficient: 72, exponent: 0)),
            ])
        // The state of the bundle holds for both.
        #expect(readings.map { $0.flags.contains("status-questionable") } == [true, true])
        #expect(readings.map { $0.flags.contains("status-invalid") } == [true, false])
    }

    @Test func storedOnesHaveTheNumberOfAll() throws {
        let bytes =
            [7, 0, 1, 0]
            + Self.bundle([(1, Self.time)], [Self.saturation([(5, [1])]), Self.pulse([(5, [2])])])
        let profile = Profile.genericHealthSensor
        let records = try profile.records(in: bytes, of: GenericHealthSensor.stored)
        let readings = try records.map { try profile.decode($0, of: GenericHealthSensor.stored) }
        #expect(readings.map(\.sequence) == [0x0001_0007, 0x0001_0007])
        #expect(readings.map(\.user) == [1, 2])
    }

    /// Whatever is cut off or too long, the decoder says why.
    @Test func whatCannotBeDividedStaysWhole() throws {
        let bytes = Self.bundle([(1, Self.time)], [Self.saturation([(5, [1])]), Self.pulse([(5, [2])])])
        for count in 0..<bytes.count {
            let cut = Array(bytes.prefix(count))
            #expect(try Profile.genericHealthSensor.records(in: cut, of: GenericHealthSensor.live) == [cut])
        }
    }
}
