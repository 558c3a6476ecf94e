/// Times as operators read and write them.
package enum OperatorTime {
    /// `2026-11-20 09:15:00`: seconds since 1970 on the wall of a zone.
    /// - Parameter offset: the zone's distance from UTC then, in seconds.
    package static func text(_ instant: Int64, offset: Int) -> String {
        guard let wall = DeviceTime(wallSeconds: instant + Int64(offset)) else { return "unknown" }
        return wall.description.replacing("T", with: " ")
    }

    /// Reads a moment: `2026-11-20` (the midnight with which the day begins), `2026-11-20T09:15`, with seconds or
    /// without, in the zone unless `Z` or an offset such as `+01:00` follows; or a duration before now, such as `7d`.
    /// - Returns: seconds since 1970; nil for anything else.
    package static func read(_ text: String, now: Int64, zone: TimeZoneRules) -> Int64? {
        if let ago = DurationText.read(text) { return now - ago.components.seconds }
        let parts = text.replacing(" ", with: "T").split(separator: "T", omittingEmptySubsequences: false)
        guard let date = parts.first, TextForm.isDate(String(date)), parts.count <= 2 else { return nil }
        var time = parts.count == 2 ? String(parts[1]) : "00:00"
        var offset: Int?
        if time.hasSuffix("Z") {
            offset = 0
            time.removeLast()
        } else if let sign = time.lastIndex(where: { "+-".contains($0) }) {
            let pair = numbers(time[time.index(after: sign)...])
            guard pair.count == 2, pair[0] <= 14, pair[1] < 60 else { return nil }
            offset = (time[sign] == "-" ? -1 : 1) * (pair[0] * 3600 + pair[1] * 60)
            time = String(time[..<sign])
        }
        let clock = numbers(time)
        let day = date.split(separator: "-").compactMap { Int($0) }
        guard day.count == 3, clock.count == 2 || clock.count == 3 else { return nil }
        let wall = DeviceTime(
            year: day[0], month: day[1], day: day[2], hours: clock[0], minutes: clock[1],
            seconds: clock.count == 3 ? clock[2] : 0)
        guard wall.isPossible else { return nil }
        return wall.wallSeconds - Int64(offset ?? Self.offset(of: wall, zone))
    }

    private static func offset(of wall: DeviceTime, _ zone: TimeZoneRules) -> Int {
        switch zone.offset(atWall: wall.wallSeconds) {
        case .only(let offset), .repeated(let offset, _), .skipped(let offset): offset
        }
    }

    /// Numbers of two digits with colons between; empty for anything else.
    private static func numbers(_ text: some StringProtocol) -> [Int] {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        let numbers = parts.compactMap { part in
            part.utf8.count == 2 && part.utf8.allSatisfy { (0x30...0x39).contains($0) } ? Int(part) : nil
        }
        return numbers.count == parts.count ? numbers : []
    }
}
