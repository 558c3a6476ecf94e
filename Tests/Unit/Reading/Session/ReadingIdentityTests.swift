import QueueTestSupport
import Testing

@testable import IngestProfiles
@testable import IngestReading
@testable import IngestRecords

/// Two different readings never share an id, and one reading never has two, as far as what comes can tell them apart.
@Suite struct ReadingIdentityTests {
    enum Dating: CaseIterable {
        case trusted
        case beforeAnyDevice
        /// Its clock stands, which is known.
        case standing
        /// Its clock stands, which its first reading shows.
        case revealing
        case undated

        var date: DeviceTime? {
            switch self {
            case .trusted: DeviceTime(year: 2026, month: 11, day: 20, hours: 9, minutes: 14, seconds: 57)
            case .beforeAnyDevice: DeviceTime(year: 2000, month: 1, day: 1, hours: 0, minutes: 0, seconds: 0)
            case .standing, .revealing:
                DeviceTime(year: 2019, month: 1, day: 1, hours: 0, minutes: 0, seconds: 0)
            case .undated: nil
            }
        }

        /// Other values that came before, confirmed.
        var before: [Int] {
            switch self {
            case .standing: [350, 351]
            case .revealing: [350]
            default: []
            }
        }
    }

    /// When the second one comes. `lost`: the confirmation of the first did not arrive.
    enum Moment: CaseIterable {
        case sameLink
        case nextLink
        case lostNextLink
        case lostLaterOnNextLink
        case lostAfterTenMinutes
        case lostOtherBoot
    }

    /// Tenths of a degree Celsius.
    private static func temperature(_ tenths: Int, _ date: DeviceTime?) -> [UInt8] {
        [date == nil ? 0x00 : 0x02, UInt8(tenths & 0xFF), UInt8(tenths >> 8), 0x00, 0xFF] + bytes(date)
    }

    private static func bytes(_ date: DeviceTime?) -> [UInt8] {
        guard let date else { return [] }
        return [UInt8(date.year & 0xFF), UInt8(date.year >> 8)]
            + [date.month, date.day, date.hours, date.minutes, date.seconds].map { UInt8($0) }
    }

    /// Sends two readings, and says how many records they became.
    private func records(
        _ dating: Dating, _ second: Int, _ moment: Moment, isIndication: Bool = true
    ) async throws -> Int {
        try await withMemoryDirectory { directory in
            let bench = try await SessionBench(.thermometer, in: directory)
            func payload(_ tenths: Int) -> [UInt8] { Self.temperature(tenths, dating.date) }
            if !dating.before.isEmpty { try await bench.read(dating.before.map(payload)) }
            let before = bench.new.count
            #expect(before == dating.before.count)
            switch moment {
            case .sameLink:
                try await bench.read([payload(366), payload(second)], isIndication: isIndication)
            case .nextLink:
                try await bench.read([payload(366)], isIndication: isIndication)
                bench.clock.advance(by: .seconds(60))
                try await bench.read([payload(second)], isIndication: isIndication)
            case .lostNextLink:
                try await bench.read([payload(366)], isIndication: isIndication, isLost: true)
                bench.clock.advance(by: .seconds(590))
                try await bench.read([payload(second)], isIndication: isIndication)
            case .lostLaterOnNextLink:
                try await bench.read([payload(366)], isIndication: isIndication, isLost: true)
                bench.clock.advance(by: .seconds(60))
                try await bench.read([payload(377), payload(second)], isIndication: isIndication)
            case .lostAfterTenMinutes:
                try await bench.read([payload(366)], isIndication: isIndication, isLost: true)
                bench.clock.advance(by: .seconds(601))
                try await bench.read([payload(second)], isIndication: isIndication)
            case .lostOtherBoot:
                try await bench.read([payload(366)], isIndication: isIndication, isLost: true)
                try await bench.reboot()
                bench.clock.advance(by: .seconds(60))
                try await bench.read([payload(second)], isIndication: isIndication)
            }
            #expect(Set(bench.new).count == bench.new.count)
            #expect(try await bench.store.counts().records == bench.new.count)
            try await bench.store.close()
            return bench.new.count - before - (moment == .lostLaterOnNextLink ? 1 : 0)
        }
    }

    @Test(arguments: Dating.allCases, Moment.allCases)
    func equalBytesAreOneReadingOnlyWhereSomethingSaysSo(dating: Dating, moment: Moment) async throws {
        // A date says it. Without one that says anything it is what devices do whose confirmation was lost: they send
        // it first on their next link, soon. By notification nothing is ever lost so.
        let isOne: Bool =
            switch (dating, moment) {
            // The 37.7 between them shows that the clock stands.
            case (.trusted, .lostLaterOnNextLink): false
            case (.trusted, _), (_, .lostNextLink): true
            default: false
            }
        #expect(try await records(dating, 366, moment) == (isOne ? 1 : 2))
        let isOneNotified = dating == .trusted && moment != .lostLaterOnNextLink
        #expect(try await records(dating, 366, moment, isIndication: false) == (isOneNotified ? 1 : 2))
    }

    @Test(arguments: Dating.allCases, Moment.allCases)
    func otherValuesAreTwoReadings(dating: Dating, moment: Moment) async throws {
        #expect(try await records(dating, 367, moment) == 2)
        #expect(try await records(dating, 367, moment, isIndication: false) == 2)
    }

    /// 36.6 at 2000-01-01T00:00:00, day after day.
    @Test func aThermometerThatStandsAt2000LosesNothing() async throws {
        try await withMemoryDirectory { directory in
            let bench = try await SessionBench(.thermometer, in: directory)
            let payload: [UInt8] = [0x02, 0x6E, 0x01, 0x00, 0xFF, 0xD0, 0x07, 1, 1, 0, 0, 0]
            for _ in 0..<5 {
                try await bench.read([payload])
                bench.clock.advance(by: .seconds(86_400))
            }
            #expect(bench.all.count == 5)
            #expect(Set(bench.new).count == 5)
            try await bench.store.close()
        }
    }

    @Test func idsAreThoseOfTheDocument() async throws {
        try await withMemoryDirectory { directory in
            let bench = try await SessionBench(.thermometer, in: directory)
            func id(_ payload: [UInt8], _ distinction: RecordIdentity.Distinction) -> RecordID {
                RecordIdentity.id(
                    address: SessionBench.device.address,
                    raw: RawPayload(characteristic: 0x2A1C, bytes: payload),
                    distinction: distinction)
            }
            let first = Self.temperature(350, Dating.standing.date)
            let second = Self.temperature(351, Dating.standing.date)
            try await bench.read([first])
            // The confirmation of the first is lost, and so is that of the second.
            try await bench.read([first, second], isLost: true)
            let came = bench.clock.now
            try await bench.read([second])
            let received = id(second, .reception(bootID: "boot-1", came))
            #expect(
                bench.all == [
                    .committed(id(first, .dateInPayload)), .duplicate(id(first, .dateInPayload)),
                    .committed(received), .duplicate(received),
                ])
            // What comes at the same date from here on is new, and at any other: a clock that was set may stand.
            try await bench.read([first])
            try await bench.read([Self.temperature(350, Dating.trusted.date)])
            try await bench.read([Self.temperature(350, Dating.trusted.date)])
            #expect(Set(bench.new).count == 5)
            try await bench.store.close()
        }
    }

    /// A body composition in two packets, whose last one comes again when its confirmation was lost.
    @Test func aValueInPacketsFollowsTheSameRule() async throws {
        try await withMemoryDirectory { directory in
            let bench = try await SessionBench(.bodyComposition, in: directory)
            let date = Self.bytes(Dating.beforeAnyDevice.date)
            // Flags: time stamp, multiple packets, and in the second weight; body fat 20.0 %; 70 kg
            let packets: [[UInt8]] = [
                [0x02, 0x10, 0xC8, 0x00] + date, [0x00, 0x14, 0xC8, 0x00, 0xB0, 0x36],
            ]
            try await bench.read(packets, of: 0x2A9C, isLost: true)
            // The last packet comes again, and then the same another day.
            try await bench.read([packets[1]], of: 0x2A9C)
            #expect(bench.new.count == 1)
            bench.clock.advance(by: .seconds(86_400))
            try await bench.read(packets, of: 0x2A9C)
            #expect(bench.all.count == 3)
            #expect(Set(bench.new).count == 2)
            try await bench.store.close()
        }
    }
}
