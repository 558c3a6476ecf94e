import TestSupport
import Testing

@testable import IngestCore

@Suite struct TimeZoneRulesTests {
    /// London in 2026, with the rule for later years.
    private static func london() throws -> TimeZoneRules {
        try TimeZoneRules(
            tzif: tzif(
                offsets: [0, 3600], transitions: [(1_774_746_000, 1), (1_792_890_000, 0)],
                footer: "GMT0BST,M3.5.0/1,M10.5.0"))
    }

    private static func wall(_ text: String) throws -> Int64 {
        let parts = text.split { !$0.isNumber }.compactMap { Int($0) }
        try #require(parts.count == 6)
        return DeviceTime(
            year: parts[0], month: parts[1], day: parts[2], hours: parts[3], minutes: parts[4],
            seconds: parts[5]
        ).wallSeconds
    }

    @Test(
        arguments: [
            ("2025-06-01T12:00:00", 0),  // before the first transition: type 0
            ("2026-03-29T00:59:59", 0), ("2026-03-29T01:00:00", 3600),
            ("2026-10-25T00:59:59", 3600), ("2026-10-25T01:00:00", 0),
            // From here on the footer rules.
            ("2027-03-28T00:59:59", 0), ("2027-03-28T01:00:00", 3600), ("2027-10-31T00:59:59", 3600),
            ("2027-10-31T01:00:00", 0), ("2099-07-01T00:00:00", 3600), ("2099-12-31T23:59:59", 0),
        ] as [(String, Int)])
    func offsetsHoldFromTheirTransition(utc: String, offset: Int) throws {
        #expect(try Self.london().offset(at: Self.wall(utc)) == offset)
    }

    @Test(
        arguments: [
            ("2026-03-29T00:59:59", .only(0)), ("2026-03-29T01:00:00", .skipped(0)),
            ("2026-03-29T01:59:59", .skipped(0)), ("2026-03-29T02:00:00", .only(3600)),
            ("2026-10-25T00:59:59", .only(3600)), ("2026-10-25T01:00:00", .repeated(first: 3600, second: 0)),
            ("2026-10-25T01:59:59", .repeated(first: 3600, second: 0)), ("2026-10-25T02:00:00", .only(0)),
            ("2030-03-31T01:30:00", .skipped(0)), ("2030-10-27T01:30:00", .repeated(first: 3600, second: 0)),
        ] as [(String, TimeZoneRules.WallOffset)])
    func wallTimesAreReadOnceTwiceOrNever(wall: String, offset: TimeZoneRules.WallOffset) throws {
        #expect(try Self.london().offset(atWall: Self.wall(wall)) == offset)
    }

    @Test(
        arguments: [
            ("UTC0", "2026-07-01T00:00:00", 0), ("<+0545>-5:45", "2026-07-01T00:00:00", 20_700),
            ("<-03>3", "2026-07-01T00:00:00", -10_800),
            // The default time of a change is 02:00.
            ("EST5EDT,M3.2.0,M11.1.0", "2026-03-08T06:59:59", -18_000),
            ("EST5EDT,M3.2.0,M11.1.0", "2026-03-08T07:00:00", -14_400),
            ("EST5EDT,M3.2.0,M11.1.0", "2026-11-01T06:00:00", -18_000),
            // South of the equator summer lies over the new year.
            ("AEST-10AEDT,M10.1.0,M4.1.0/3", "2026-01-01T00:00:00", 39_600),
            ("AEST-10AEDT,M10.1.0,M4.1.0/3", "2026-04-04T16:00:00", 36_000),
            // Half an hour of daylight saving.
            ("<+1030>-10:30<+11>-11,M10.1.0,M4.1.0", "2026-01-01T00:00:00", 39_600),
            // Ireland has winter time as its saving.
            ("IST-1GMT0,M10.5.0,M3.5.0/1", "2026-01-01T00:00:00", 0),
            ("IST-1GMT0,M10.5.0,M3.5.0/1", "2026-07-01T00:00:00", 3600),
            // Times before midnight, and after the day.
            ("<-02>2<-01>,M3.5.0/-1,M10.5.0/0", "2026-03-29T00:59:59", -7200),
            ("<-02>2<-01>,M3.5.0/-1,M10.5.0/0", "2026-03-29T01:00:00", -3600),
            ("IST-2IDT,M3.4.4/26,M10.5.0", "2026-03-26T23:59:59", 7200),
            ("IST-2IDT,M3.4.4/26,M10.5.0", "2026-03-27T00:00:00", 10_800),
            // Saving all year; days by number, with and without 29 February.
            ("XXX3EDT4,0/0,J365/23", "2026-12-31T23:59:59", -14_400),
            ("AAA0BBB,J60/0,J300/0", "2024-02-29T12:00:00", 0),
            ("AAA0BBB,J60/0,J300/0", "2024-03-01T00:00:00", 3600),
            ("AAA0BBB,59/0,J300/0", "2024-02-29T00:00:00", 3600),
        ] as [(String, String, Int)])
    func aZoneMayHaveAFooterOnly(footer: String, utc: String, offset: Int) throws {
        let type: Int32 = footer.hasPrefix("UTC") ? 0 : 60
        let rules = try TimeZoneRules(tzif: tzif(offsets: [type], transitions: [], footer: footer))
        #expect(try rules.offset(at: Self.wall(utc)) == offset)
    }

    @Test func withoutAFooterTheLastOffsetStays() throws {
        let rules = try TimeZoneRules(tzif: tzif(offsets: [0, 7200], transitions: [(1000, 1)], footer: ""))
        #expect(rules.offset(at: 999) == 0)
        #expect(rules.offset(at: 4_000_000_000) == 7200)
        #expect(rules.offset(at: .min) == 0 && rules.offset(at: .max) == 7200)
    }

    @Test func everyTruncationIsMalformed() {
        let file = tzif(offsets: [0, 3600], transitions: [(1000, 1)], footer: "GMT0BST,M3.5.0/1,M10.5.0")
        for length in 0..<file.count {
            #expect(throws: TimeZoneError.malformed) { try TimeZoneRules(tzif: Array(file.prefix(length))) }
        }
    }

    @Test(arguments: [
        tzif(version: 0, offsets: [0], transitions: [], footer: "UTC0"),  // version 1
        tzif(magic: "TZix", offsets: [0], transitions: [], footer: "UTC0"),
        tzif(offsets: [], transitions: [], footer: "UTC0"),
        tzif(offsets: [26 * 3600], transitions: [], footer: "UTC0"),
        tzif(offsets: [-25 * 3600], transitions: [], footer: "UTC0"),
        tzif(offsets: [0], transitions: [(1000, 1)], footer: "UTC0"),  // no such type
        tzif(offsets: [0, 60], transitions: [(1000, 1), (1000, 0)], footer: "UTC0"),  // not ascending
        tzif(counts: 0xFFFF_FFFF, offsets: [0], transitions: [], footer: "UTC0"),
        [UInt8](repeating: 0x54, count: 64 * 1024 + 1),
    ])
    func brokenFilesAreMalformed(file: [UInt8]) {
        #expect(throws: TimeZoneError.malformed) { try TimeZoneRules(tzif: file) }
    }

    @Test(arguments: [
        "X0", "UTC", "UTC25", "UTC0;", "UTC0X", "GMT0BST", "GMT0BST,M3.5.0", "GMT0BST,M13.5.0,M10.5.0",
        "GMT0BST,M3.6.0,M10.5.0", "GMT0BST,M3.5.7,M10.5.0", "GMT0BST,J0,J5", "GMT0BST,366,J5",
        "GMT0BST,M3.5.0/168,M10.5.0", "GMT0BST,M3.5.0,M10.5.0,", "<UTC0", "UTC0:60",
        "UTC99999999999999999999",
    ])
    func brokenFootersAreMalformed(footer: String) {
        let file = tzif(offsets: [0], transitions: [], footer: footer)
        #expect(throws: TimeZoneError.malformed) { try TimeZoneRules(tzif: file) }
    }

    @Test func filesThatCountLeapSecondsAreRefused() {
        let file = tzif(offsets: [0], transitions: [], leapSeconds: 2, footer: "UTC0")
        #expect(throws: TimeZoneError.countsLeapSeconds) { try TimeZoneRules(tzif: file) }
    }

    @Test func mutatedFilesNeverTrap() {
        var random = SeededGenerator(seed: 0x545A_6966)
        let file = tzif(
            offsets: [0, 3600], transitions: [(1_774_746_000, 1), (1_792_890_000, 0)],
            footer: "GMT0BST,M3.5.0/1,M10.5.0")
        var accepted = 0
        for _ in 0..<20_000 {
            var bytes = file
            for _ in 0...random.next() % 3 {
                // The second half holds the second header, the tables and the footer.
                let index = bytes.count / 3 + Int(random.next() % UInt64(bytes.count * 2 / 3))
                bytes[index] = UInt8(random.next() & 0xFF)
            }
            guard let rules = try? TimeZoneRules(tzif: bytes) else { continue }
            accepted += 1
            for instant in [Int64.min, -1, 1_792_890_000, 253_402_300_799, .max] {
                #expect(abs(rules.offset(at: instant)) < 26 * 3600)
                _ = rules.offset(atWall: instant)
            }
        }
        #expect(accepted > 1000)
    }

    @Test(arguments: ["", "/etc/passwd", "../localtime", "Europe/../UTC", "No/Such", "Europe/London\0"])
    func unknownNamesAreErrors(name: String) {
        #expect(throws: TimeZoneError.unknown(name: name)) {
            try TimeZoneRules.load(name, from: "/nonexistent")
        }
    }

    @Test func utcNeedsNoDatabase() throws {
        #expect(try TimeZoneRules.load("UTC", from: "/nonexistent") == .utc)
        #expect(TimeZoneRules.ofSystem(path: "/nonexistent/localtime") == .utc)
        #expect(TimeZoneRules.utc.offset(atWall: 0) == .only(0))
    }
}

/// A TZif file (RFC 8536): an empty block of version 1, then the tables, then the footer.
func tzif(
    magic: String = "TZif", version: UInt8 = 0x32, counts: UInt32? = nil, offsets: [Int32],
    transitions: [(instant: Int64, type: UInt8)], leapSeconds: Int = 0, footer: String
) -> [UInt8] {
    func bigEndian(_ value: some FixedWidthInteger) -> [UInt8] {
        (0..<value.bitWidth / 8).reversed().map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) }
    }
    func header(leap: UInt32, time: UInt32, type: UInt32) -> [UInt8] {
        // isutcnt, isstdcnt, leapcnt, timecnt, typecnt, charcnt
        Array(magic.utf8) + [version] + [UInt8](repeating: 0, count: 15)
            + [0, 0, leap, time, type, 4].flatMap { bigEndian($0) }
    }
    var file = header(leap: 0, time: 0, type: 1) + [0, 0, 0, 0, 0, 0] + Array("UTC\0".utf8)
    file += header(
        leap: UInt32(leapSeconds), time: counts ?? UInt32(transitions.count),
        type: counts ?? UInt32(offsets.count))
    file += transitions.flatMap { bigEndian($0.instant) } + transitions.map(\.type)
    // utoff, isdst, desigidx
    file += offsets.flatMap { bigEndian($0) + [0, 0] }
    file += Array("UTC\0".utf8) + [UInt8](repeating: 0, count: leapSeconds * 12)
    return file + Array("\n\(footer)\n".utf8)
}
