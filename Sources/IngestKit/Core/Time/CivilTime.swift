/// The Gregorian calendar, carried back and forward without end, on whole seconds. A wall time is
/// counted as if its zone were UTC.
extension DeviceTime {
    /// 1582 to 9999: the years that Bluetooth's Date Time can name.
    static let years = 1582...9999

    /// Whether a calendar has this date and a clock this time. There are no leap seconds in
    /// Bluetooth's Date Time.
    package var isPossible: Bool {
        Self.years.contains(year) && (1...12).contains(month)
            && (1...Self.days(inMonth: month, of: year)).contains(day) && (0...23).contains(hours)
            && (0...59).contains(minutes) && (0...59).contains(seconds)
    }

    /// Seconds from 1970-01-01T00:00:00 on the same clock.
    /// - Precondition: `isPossible`.
    package var wallSeconds: Int64 {
        let days = Self.days(beforeYear: year) + Self.days(beforeMonth: month, of: year) + day - 1
        return Int64(days) * 86_400 + Int64(hours * 3_600 + minutes * 60 + seconds)
    }

    /// The wall time so many seconds after 1970-01-01T00:00:00; nil outside of `years`.
    package init?(wallSeconds: Int64) {
        let firstSecond = Int64(Self.days(beforeYear: Self.years.lowerBound)) * 86_400
        let end = Int64(Self.days(beforeYear: Self.years.upperBound + 1)) * 86_400
        guard (firstSecond..<end).contains(wallSeconds) else { return nil }
        let seconds = Int((wallSeconds % 86_400 + 86_400) % 86_400)
        let day = (Int(wallSeconds) - seconds) / 86_400
        let year = Self.year(ofDay: day)
        var rest = day - Self.days(beforeYear: year)
        var month = 1
        while rest >= Self.days(inMonth: month, of: year) {
            rest -= Self.days(inMonth: month, of: year)
            month += 1
        }
        self.init(
            year: year, month: month, day: rest + 1, hours: seconds / 3_600,
            minutes: seconds / 60 % 60, seconds: seconds % 60)
    }

    /// The year that a day, counted from 1970-01-01, lies in.
    static func year(ofDay day: Int) -> Int {
        // 146 097 days are 400 years; the estimate is off by one at most.
        var year = 1970 + (day * 400 - (day < 0 ? 146_096 : 0)) / 146_097
        while days(beforeYear: year) > day { year -= 1 }
        while days(beforeYear: year + 1) <= day { year += 1 }
        return year
    }

    /// Days from 1970-01-01 to the first of January of `year`, which is 1 or later.
    static func days(beforeYear year: Int) -> Int {
        let last = year - 1
        // 719 162 days lie between 0001-01-01 and 1970-01-01.
        return last * 365 + last / 4 - last / 100 + last / 400 - 719_162
    }

    static func days(beforeMonth month: Int, of year: Int) -> Int {
        (1..<month).reduce(0) { $0 + days(inMonth: $1, of: year) }
    }

    /// - Parameter month: 1 to 12.
    static func days(inMonth month: Int, of year: Int) -> Int {
        switch month {
        case 2: isLeap(year) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    static func isLeap(_ year: Int) -> Bool {
        year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
    }
}

extension DeviceTime: CustomStringConvertible {
    /// ISO 8601 without a zone: `2026-11-20T09:14:57`.
    package var description: String {
        var text: [UInt8] = []
        text.reserveCapacity(Self.writtenLength)
        append(to: &text)
        return String(decoding: text, as: UTF8.self)
    }

    /// Appends the same in ASCII.
    package func append(to text: inout [UInt8]) {
        text.append(padded: year, 4)
        text.append(UInt8(ascii: "-"))
        text.append(padded: month, 2)
        text.append(UInt8(ascii: "-"))
        text.append(padded: day, 2)
        text.append(UInt8(ascii: "T"))
        text.append(padded: hours, 2)
        text.append(UInt8(ascii: ":"))
        text.append(padded: minutes, 2)
        text.append(UInt8(ascii: ":"))
        text.append(padded: seconds, 2)
    }

    /// Of a year of four digits.
    private static let writtenLength = 19
}

extension [UInt8] {
    /// Appends an offset from UTC as ISO 8601 writes it: `+02:00`.
    package mutating func append(offsetMinutes minutes: Int) {
        append(minutes < 0 ? UInt8(ascii: "-") : UInt8(ascii: "+"))
        append(padded: abs(minutes) / 60, 2)
        append(UInt8(ascii: ":"))
        append(padded: abs(minutes) % 60, 2)
    }

    /// Appends a number, 0 or more, in ASCII, with at least `count` digits.
    package mutating func append(padded number: Int, _ count: Int) {
        var unit = 1
        for _ in 1..<count { unit *= 10 }
        while number / unit >= 10 { unit *= 10 }
        while unit > 0 {
            append(UInt8(ascii: "0") + UInt8(number / unit % 10))
            unit /= 10
        }
    }
}
