/// A moment that somebody wrote: `2026-11-20T09:15`, with seconds or without, a `T` or a blank, and an offset from UTC,
/// `Z`, or neither, which is the gateway's zone.
package struct EntryTime: Sendable, Equatable {
    /// Seconds since 1970.
    package let instant: Int64
    /// How far its clock is ahead of UTC, in seconds.
    package let utcOffset: Int
    /// Whether the wall time, written without an offset, never occurs: the clocks were put forward then.
    package private(set) var isSkipped = false

    package init(instant: Int64, utcOffset: Int) {
        self.instant = instant
        self.utcOffset = utcOffset
    }

    /// Nil for what is no moment. Of a wall time that occurs twice it is the earlier one, of one that never occurs that
    /// by the offset from before the change.
    /// - Parameter zone: of a wall time without an offset; nil if such a one is no moment.
    package init?(_ text: String, in zone: TimeZoneRules?) {
        var cursor = text.utf8[...]
        guard let date = Self.numbers(&cursor, widths: [4, 2, 2], separator: "-"),
            Self.take("T", from: &cursor) || Self.take(" ", from: &cursor),
            let clock = Self.numbers(&cursor, widths: [2, 2], separator: ":")
        else { return nil }
        var seconds = 0
        if Self.take(":", from: &cursor) {
            guard let number = Self.number(&cursor, width: 2) else { return nil }
            seconds = number
        }
        let wall = DeviceTime(
            year: date[0], month: date[1], day: date[2], hours: clock[0], minutes: clock[1], seconds: seconds)
        let isLocal = cursor.isEmpty
        guard wall.isPossible, let offset = Self.offset(&cursor, at: wall.wallSeconds, in: zone) else {
            return nil
        }
        if isLocal, case .skipped? = zone?.offset(atWall: wall.wallSeconds) { isSkipped = true }
        utcOffset = offset
        instant = wall.wallSeconds - Int64(offset)
    }

    /// With its offset: `2026-11-20T09:15:07+01:00`. Reads as the same moment.
    package var text: String { ReadingTime.text(instant, offset: utcOffset) }

    /// What is left is an offset, or nothing.
    private static func offset(
        _ cursor: inout Substring.UTF8View, at wall: Int64, in zone: TimeZoneRules?
    ) -> Int? {
        if cursor.isEmpty {
            switch zone?.offset(atWall: wall) {
            case .only(let offset)?, .skipped(let offset)?, .repeated(let offset, _)?: return offset
            case nil: return nil
            }
        }
        if take("Z", from: &cursor) { return cursor.isEmpty ? 0 : nil }
        // Apple's exports have a blank before it.
        _ = take(" ", from: &cursor)
        let isWest = take("-", from: &cursor)
        guard isWest || take("+", from: &cursor), let hours = number(&cursor, width: 2) else { return nil }
        _ = take(":", from: &cursor)
        guard let minutes = number(&cursor, width: 2), cursor.isEmpty, hours < 24, minutes < 60 else {
            return nil
        }
        return (isWest ? -1 : 1) * (hours * 3600 + minutes * 60)
    }

    private static func numbers(
        _ cursor: inout Substring.UTF8View, widths: [Int], separator: Unicode.Scalar
    ) -> [Int]? {
        var found: [Int] = []
        for width in widths {
            if !found.isEmpty, !take(separator, from: &cursor) { return nil }
            guard let number = number(&cursor, width: width) else { return nil }
            found.append(number)
        }
        return found
    }

    private static func number(_ cursor: inout Substring.UTF8View, width: Int) -> Int? {
        var number = 0
        for _ in 0..<width {
            guard let digit = cursor.popFirst(), (0x30...0x39).contains(digit) else { return nil }
            number = number * 10 + Int(digit - 0x30)
        }
        return number
    }

    private static func take(_ character: Unicode.Scalar, from cursor: inout Substring.UTF8View) -> Bool {
        guard cursor.first == UInt8(ascii: character) else { return false }
        cursor.removeFirst()
        return true
    }
}
