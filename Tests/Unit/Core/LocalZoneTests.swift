import FoundationEssentials
import TestSupport
import Testing

@testable import IngestCore

@Suite struct LocalZoneTests {
    /// A zone an hour ahead of UTC, or two.
    private static func write(_ hours: Int, to file: String) throws {
        let bytes = tzif(offsets: [Int32(hours) * 3_600], transitions: [], footer: "<Z>-\(hours)")
        try Data(bytes).write(to: URL(fileURLWithPath: file), options: .atomic)
    }

    @Test func aNewVersionOfTheFileIsUsedWithinAnHour() async throws {
        try await withTemporaryDirectory { directory in
            let (file, clock) = (directory + "/zone", DrivenClock())
            try Self.write(1, to: file)
            let zone = LocalZone(try TimeZoneRules(file: file), file: file, now: { clock.now })
            #expect(zone.rules.offset(at: 0) == 3_600)
            try Self.write(2, to: file)
            clock.advance(by: LocalZone.lookInterval - .milliseconds(1))
            #expect(zone.rules.offset(at: 0) == 3_600)
            clock.advance(by: .milliseconds(1))
            #expect(zone.rules.offset(at: 0) == 7_200)
        }
    }

    /// An update takes a file away for a moment, or a disk breaks off in it.
    @Test(arguments: [nil, Data("TZif2".utf8)])
    func theRulesStayWhileTheFileCannotBeRead(_ broken: Data?) async throws {
        try await withTemporaryDirectory { directory in
            let (file, clock) = (directory + "/zone", DrivenClock())
            try Self.write(1, to: file)
            let zone = LocalZone(try TimeZoneRules(file: file), file: file, now: { clock.now })
            try FileManager.default.removeItem(atPath: file)
            if let broken { try broken.write(to: URL(fileURLWithPath: file)) }
            for _ in 0..<2 {
                #expect(zone.rules.offset(at: 0) == 3_600)
                clock.advance(by: LocalZone.lookInterval)
            }
            try Self.write(2, to: file)
            #expect(zone.rules.offset(at: 0) == 7_200)
        }
    }
}
