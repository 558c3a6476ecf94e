import QueueTestSupport
import Testing

@testable import IngestProfiles
@testable import IngestReading
@testable import IngestRecords

/// Two different stored readings never share an id, and one reading never has two, however often and from wherever a
/// memory is read, as far as what comes can tell them apart.
@Suite struct StoredIdentityTests {
    enum Kind: CaseIterable {
        case numberedGlucose
        case datedSpotCheck
        case undatedSpotCheck
        /// Its date counts from wherever the clock began.
        case spotCheckWithoutClock
        case datedPressure
        case undatedPressure

        var profile: Profile {
            switch self {
            case .numberedGlucose: .glucose
            case .datedSpotCheck, .undatedSpotCheck, .spotCheckWithoutClock: .pulseOximeter
            case .datedPressure, .undatedPressure: .bloodPressure
            }
        }

        var characteristic: BluetoothUUID {
            switch self {
            case .numberedGlucose: 0x2A18
            case .datedSpotCheck, .undatedSpotCheck, .spotCheckWithoutClock: 0x2A5E
            case .datedPressure, .undatedPressure: 0x2A35
            }
        }

        var hasUsers: Bool { self == .datedPressure || self == .undatedPressure }

        /// - Parameters:
        ///   - value: the only number that differs.
        ///   - number: of the reading in the device, by which it is numbered and dated.
        func payload(_ value: UInt8, number: UInt8, user: UInt8 = 1) -> [UInt8] {
            let date: [UInt8] = [0xEA, 0x07, 11, 20, 9, number, 57]
            return switch self {
            // Concentration in kg/L, type and location; in 10^-5.
            case .numberedGlucose: [0x02, number, 0] + date + [value, 0xB0, 0x11]
            case .datedSpotCheck: [0x01, value, 0, 64, 0] + date
            case .undatedSpotCheck: [0x00, value, 0, 64, 0]
            case .spotCheckWithoutClock: [0x11, value, 0, 64, 0, 0xE8, 0x07, 1, 1, 0, 0, 0]
            case .datedPressure: [0x0A, value, 0, 60, 0, 80, 0] + date + [user]
            case .undatedPressure: [0x08, value, 0, 60, 0, 80, 0, user]
            }
        }
    }

    /// When the memory is read for the second time.
    enum Moment: CaseIterable {
        case nextLink
        case nextDay
        case nextBoot
        /// The first transfer broke after its first reading.
        case afterBreak
        case afterBreakInNextBoot

        var isAfterBreak: Bool { self == .afterBreak || self == .afterBreakInNextBoot }
        var isInNextBoot: Bool { self == .nextBoot || self == .afterBreakInNextBoot }
    }

    /// What the memory has then besides.
    enum Addition: CaseIterable {
        case nothing
        /// A reading with the value of the first.
        case equal
        case otherValue
        /// With the first one's value, and at its date if it has one.
        case otherUser
    }

    private static func read(_ memory: [[UInt8]], _ kind: Kind, _ bench: SessionBench, lostAfter: Int? = nil)
        async throws
    {
        try await bench.readMemory(
            memory, of: kind.characteristic, isIndication: kind != .numberedGlucose, lostAfter: lostAfter)
    }

    @Test(arguments: Kind.allCases, Moment.allCases)
    func aReadingIsOneRecordAndAnotherReadingAnother(kind: Kind, moment: Moment) async throws {
        for addition in Addition.allCases where addition != .otherUser || kind.hasUsers {
            try await withMemoryDirectory { directory in
                let bench = try await SessionBench(kind.profile, in: directory)
                var memory = [kind.payload(97, number: 1), kind.payload(98, number: 2)]
                try await Self.read(memory, kind, bench, lostAfter: moment.isAfterBreak ? 1 : nil)
                #expect(bench.new.count == (moment.isAfterBreak ? 1 : 2))
                if moment == .nextDay { bench.clock.advance(by: .seconds(86_400)) }
                if moment.isInNextBoot { try await bench.reboot() }
                switch addition {
                case .nothing: break
                case .equal: memory.append(kind.payload(97, number: 3))
                case .otherValue: memory.append(kind.payload(96, number: 3))
                case .otherUser: memory.append(kind.payload(97, number: 1, user: 2))
                }
                // Once more, when nothing is new.
                for _ in 0..<2 {
                    try await Self.read(memory, kind, bench)
                    #expect(bench.new.count == memory.count, "\(addition)")
                }
                #expect(Set(bench.new).count == bench.new.count, "\(addition)")
                #expect(try await bench.store.counts().records == memory.count, "\(addition)")
                try await bench.store.close()
            }
        }
    }

    /// It comes as soon as it is measured, and then from the memory, where the status may say so.
    @Test(arguments: [false, true])
    func aReadingThatComesLiveAndFromTheMemoryIsOne(hasStatus: Bool) async throws {
        try await withMemoryDirectory { directory in
            let bench = try await SessionBench(.pulseOximeter, in: directory)
            var live = Kind.datedSpotCheck.payload(97, number: 1)
            var stored = live
            if hasStatus {
                live[0] |= 0x02
                stored[0] |= 0x02
                // Fully qualified data, and data from measurement storage.
                live += [0x00, 0x01]
                stored += [0x00, 0x03]
            }
            try await bench.readMemory([stored], of: 0x2A5E, isIndication: true, live: [live])
            try await bench.readMemory([stored], of: 0x2A5E, isIndication: true)
            #expect(bench.new.count == 1)
            #expect(try await bench.store.counts().records == 1)
            try await bench.store.close()
        }
    }
}
