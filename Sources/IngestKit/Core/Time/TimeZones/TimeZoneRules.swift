import FoundationEssentials

/// The offsets of one time zone from UTC, at every moment, as a TZif file tells them (RFC 8536).
package struct TimeZoneRules: Sendable, Equatable {
    /// What a wall time means in a zone whose clocks are changed.
    package enum WallOffset: Sendable, Equatable {
        /// It occurs once.
        case only(Int)
        /// It occurs twice, because the clocks were put back: `first` is the earlier occurrence.
        case repeated(first: Int, second: Int)
        /// It never occurs, because the clocks were put forward: the offset from before the change,
        /// as RFC 5545 (3.3.5) reads such a time.
        case skipped(Int)
    }

    /// Seconds since 1970 from which on an offset holds, ascending, and that offset in seconds.
    struct Transition: Equatable {
        let instant: Int64
        let offset: Int
    }

    package static let utc = TimeZoneRules(firstOffset: 0, transitions: [], later: nil)

    /// What holds before the first transition.
    private let firstOffset: Int
    private let transitions: [Transition]
    /// What holds from the last transition on; nil: the last transition's own offset.
    private let later: PosixTimeZone?
    /// Every offset that the zone ever has, ascending, each once.
    private let offsets: [Int]

    init(firstOffset: Int, transitions: [Transition], later: PosixTimeZone?) {
        self.firstOffset = firstOffset
        self.transitions = transitions
        self.later = later
        self.offsets = Set([firstOffset] + transitions.map(\.offset) + (later?.offsets ?? [])).sorted()
    }

    /// Seconds east of UTC at a moment.
    /// - Parameter instant: seconds since 1970-01-01T00:00:00Z.
    package func offset(at instant: Int64) -> Int {
        var low = 0
        var high = transitions.count
        while low < high {
            let middle = (low + high) / 2
            if transitions[middle].instant <= instant { low = middle + 1 } else { high = middle }
        }
        if low == transitions.count, let later { return later.offset(at: instant) }
        return low == 0 ? firstOffset : transitions[low - 1].offset
    }

    /// Seconds east of UTC for a wall time.
    /// - Parameter wall: seconds from 1970-01-01T00:00:00 on the same clock, in years 1582 to 9999.
    package func offset(atWall wall: Int64) -> WallOffset {
        // An offset fits if it holds at the moment that it makes of the wall time.
        let fitting = offsets.filter { offset(at: wall &- Int64($0)) == $0 }
        // The larger offset makes the earlier moment.
        if let first = fitting.last, let second = fitting.first {
            return first == second ? .only(first) : .repeated(first: first, second: second)
        }
        // In a gap each of the two offsets leads to the side where the other one holds.
        for after in offsets {
            let before = offset(at: wall &- Int64(after))
            if before < after, offset(at: wall &- Int64(before)) == after { return .skipped(before) }
        }
        return .skipped(offset(at: wall))
    }
}

extension TimeZoneRules {
    /// Where the system has its time zone database.
    package static let database = "/usr/share/zoneinfo"

    /// The rules of a zone by its name in the database, `Europe/London`.
    ///
    /// `UTC` and `Etc/UTC` need no database.
    package static func load(
        _ name: String, from directory: String = database
    ) throws(TimeZoneError) -> TimeZoneRules {
        if name == "UTC" || name == "Etc/UTC" { return .utc }
        // tzdata's names are made of these characters; no part of one is `.` or `..`.
        let isName =
            !name.isEmpty && name.utf8.count <= 64
            && name.utf8.allSatisfy { character in
                switch character {
                case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "/"), UInt8(ascii: "_"),
                    UInt8(ascii: "-"), UInt8(ascii: "+"):
                    true
                default: false
                }
            } && name.utf8.first != UInt8(ascii: "/")
        guard isName, let contents = FileManager.default.contents(atPath: "\(directory)/\(name)") else {
            throw .unknown(name: name)
        }
        return try TimeZoneRules(tzif: Array(contents))
    }

    /// The rules of a TZif file.
    init(file: String) throws(TimeZoneError) {
        guard let contents = FileManager.default.contents(atPath: file) else { throw .unknown(name: file) }
        try self.init(tzif: Array(contents))
    }

    /// The rules of the system's zone; UTC where none is set or its file cannot be used, as the C
    /// library has it (tzset(3)).
    package static func ofSystem(path: String = "/etc/localtime") -> TimeZoneRules {
        guard let contents = FileManager.default.contents(atPath: path) else { return .utc }
        return (try? TimeZoneRules(tzif: Array(contents))) ?? .utc
    }
}
