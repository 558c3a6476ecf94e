/// Reads the Retry-After header (RFC 9110, section 10.2.3): a number of seconds, or a date.
package enum RetryAfter {
    /// - Parameters:
    ///   - date: the answer's own Date header. Against it a date is read, so that a wrong clock on
    ///     either side does not matter; without it, against `nowSeconds`.
    ///   - nowSeconds: our wall clock, in seconds since 1970-01-01T00:00:00Z.
    /// - Returns: zero or more; nil when there is nothing to be read.
    package static func parse(_ text: String?, date: String?, nowSeconds: Int64) -> Duration? {
        guard let text = text?.trimmed, !text.isEmpty else { return nil }
        if text.utf8.allSatisfy({ 0x30...0x39 ~= $0 }) {
            // More digits than fit are more than any cap.
            return .seconds(Int64(text) ?? Int64(Int32.max))
        }
        guard let moment = secondsSince1970(httpDate: text) else { return nil }
        let reference = date.flatMap { secondsSince1970(httpDate: $0.trimmed) } ?? nowSeconds
        return .seconds(max(0, moment - reference))
    }

    /// Reads an IMF-fixdate (RFC 9110, section 5.6.7): `Sun, 06 Nov 1994 08:49:37 GMT`.
    static func secondsSince1970(httpDate text: String) -> Int64? {
        let parts = text.split(separator: " ")
        guard parts.count == 6, parts[0].hasSuffix(","), parts[5] == "GMT",
            let day = number(parts[1], 1...31), let month = months.firstIndex(of: String(parts[2])),
            let year = number(parts[3], 1970...9999)
        else { return nil }
        let clock = parts[4].split(separator: ":", omittingEmptySubsequences: false)
        guard clock.count == 3, let hours = number(clock[0], 0...23),
            let minutes = number(clock[1], 0...59), let seconds = number(clock[2], 0...60)
        else { return nil }
        let days = daysSince1970(year: year, month: Int64(month) + 1, day: day)
        return days * 86_400 + hours * 3600 + minutes * 60 + seconds
    }

    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    private static func number(_ text: Substring, _ range: ClosedRange<Int64>) -> Int64? {
        guard text.utf8.allSatisfy({ 0x30...0x39 ~= $0 }), let value = Int64(text), range ~= value
        else { return nil }
        return value
    }

    /// Days of the Gregorian calendar, counted in years that begin in March, so that the leap day
    /// is the last.
    private static func daysSince1970(year: Int64, month: Int64, day: Int64) -> Int64 {
        let marchYear = month > 2 ? year : year - 1
        let marchMonth = (month + 9) % 12
        let dayOfYear = (153 * marchMonth + 2) / 5 + day - 1
        let days = marchYear * 365 + marchYear / 4 - marchYear / 100 + marchYear / 400 + dayOfYear
        // 1970-01-01 on the same count.
        return days - 719_468
    }
}

extension String {
    /// Without the blanks and tabs around it.
    fileprivate var trimmed: String {
        let isBlank: (Character) -> Bool = { $0 == " " || $0 == "\t" }
        return String(drop(while: isBlank).reversed().drop(while: isBlank).reversed())
    }
}
