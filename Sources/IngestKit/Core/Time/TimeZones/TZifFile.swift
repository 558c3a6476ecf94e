extension TimeZoneRules {
    /// The largest file of the time zone database has 4 KiB; tables for every change until 2037
    /// stay below this too.
    static let maximumFile = 64 * 1024

    /// Reads a TZif file of version 2 or later (RFC 8536, section 3).
    package init(tzif bytes: [UInt8]) throws(TimeZoneError) {
        guard bytes.count <= Self.maximumFile else { throw .malformed }
        let file: TZifFile
        do throws(DecodeError) {
            file = try TZifFile(bytes)
        } catch {
            throw .malformed
        }
        guard !file.countsLeapSeconds else { throw .countsLeapSeconds }
        var later: PosixTimeZone?
        if !file.footer.isEmpty {
            guard let rule = PosixTimeZone(file.footer) else { throw .malformed }
            later = rule
        }
        self.init(firstOffset: file.firstOffset, transitions: file.transitions, later: later)
    }
}

/// The parts of a TZif file that tell offsets.
private struct TZifFile {
    let firstOffset: Int
    let transitions: [TimeZoneRules.Transition]
    let footer: [UInt8]
    let countsLeapSeconds: Bool

    /// The counts of a header, each of them how many entries its table has (3.1).
    private struct Header {
        let version: UInt8
        let universalIndicators: Int
        let standardIndicators: Int
        let leapSeconds: Int
        let transitions: Int
        let types: Int
        let designationBytes: Int

        init(_ cursor: inout ByteCursor) throws(DecodeError) {
            guard try cursor.bytes(4, "magic").elementsEqual("TZif".utf8) else {
                throw .prohibitedValue(field: "magic")
            }
            version = try cursor.uint8("version")
            _ = try cursor.bytes(15, "unused")
            universalIndicators = Int(try cursor.bigEndianUInt32("isutcnt"))
            standardIndicators = Int(try cursor.bigEndianUInt32("isstdcnt"))
            leapSeconds = Int(try cursor.bigEndianUInt32("leapcnt"))
            transitions = Int(try cursor.bigEndianUInt32("timecnt"))
            types = Int(try cursor.bigEndianUInt32("typecnt"))
            designationBytes = Int(try cursor.bigEndianUInt32("charcnt"))
        }

        /// The length of the data block of version 1, whose times have 4 bytes (3.2).
        var lengthOfVersion1: Int {
            transitions * 5 + types * 6 + designationBytes + leapSeconds * 8 + standardIndicators
                + universalIndicators
        }
    }

    init(_ bytes: [UInt8]) throws(DecodeError) {
        var cursor = ByteCursor(bytes)
        let first = try Header(&cursor)
        // ASCII 2, 3, 4: later versions differ in what the footer may say.
        guard first.version >= UInt8(ascii: "2") else { throw .prohibitedValue(field: "version") }
        _ = try cursor.bytes(first.lengthOfVersion1, "version 1 data")

        let header = try Header(&cursor)
        // A count is believed only once the bytes for it are there.
        var times = ByteCursor(Array(try cursor.bytes(header.transitions * 8, "transition times")))
        let indices = try cursor.bytes(header.transitions, "transition types")
        var types = ByteCursor(Array(try cursor.bytes(header.types * 6, "local time types")))
        _ = try cursor.bytes(header.designationBytes, "designations")
        _ = try cursor.bytes(header.leapSeconds * 12, "leap seconds")
        _ = try cursor.bytes(header.standardIndicators + header.universalIndicators, "indicators")

        var offsets: [Int] = []
        while types.remaining > 0 {
            let offset = Int(Int32(bitPattern: try types.bigEndianUInt32("utoff")))
            // 3.2: more than -25 hours and less than 26 hours.
            guard offset > -25 * 3600, offset < 26 * 3600 else { throw .prohibitedValue(field: "utoff") }
            offsets.append(offset)
            _ = try types.bytes(2, "isdst and desigidx")
        }
        // 3.2: local times before the first transition have type 0.
        guard let firstOffset = offsets.first else { throw .prohibitedValue(field: "typecnt") }

        var transitions: [TimeZoneRules.Transition] = []
        transitions.reserveCapacity(header.transitions)
        for index in indices {
            let instant = try times.bigEndianInt64("transition time")
            guard Int(index) < offsets.count, transitions.last.map({ $0.instant < instant }) ?? true else {
                throw .prohibitedValue(field: "transition")
            }
            transitions.append(.init(instant: instant, offset: offsets[Int(index)]))
        }

        let footer = cursor.rest()
        guard footer.first == 0x0A, let end = footer.dropFirst().firstIndex(of: 0x0A) else {
            throw .prohibitedValue(field: "footer")
        }
        self.firstOffset = firstOffset
        self.transitions = transitions
        self.footer = Array(footer[footer.startIndex + 1..<end])
        self.countsLeapSeconds = header.leapSeconds > 0
    }
}
