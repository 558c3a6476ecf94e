/// The rule for all years after a TZif file's last transition: the TZ variable of POSIX (IEEE Std
/// 1003.1, 8.3), with the hours that RFC 8536 (3.3.1) adds.
struct PosixTimeZone: Equatable, Sendable {
    /// A day of every year on which the clocks are changed.
    enum Day: Equatable {
        /// `Jn`: 1 to 365, 29 February never counted.
        case julian(Int)
        /// `n`: 0 to 365, 29 February counted.
        case zeroBased(Int)
        /// `Mm.w.d`: weekday (0 is Sunday) of a week; week 5 is the last.
        case weekday(month: Int, week: Int, weekday: Int)

        /// Days from 1 January of `year`.
        func index(in year: Int) -> Int {
            switch self {
            case .julian(let day):
                return day - 1 + (day >= 60 && DeviceTime.isLeap(year) ? 1 : 0)
            case .zeroBased(let day):
                return day
            case .weekday(let month, let week, let weekday):
                let start = DeviceTime.days(beforeMonth: month, of: year)
                // 1970-01-01 was a Thursday.
                let weekdayOfFirst = mod(DeviceTime.days(beforeYear: year) + start + 4, 7)
                var day = mod(weekday - weekdayOfFirst, 7) + (week - 1) * 7
                if day >= DeviceTime.days(inMonth: month, of: year) { day -= 7 }
                return start + day
            }
        }

        private func mod(_ number: Int, _ divisor: Int) -> Int {
            let rest = number % divisor
            return rest < 0 ? rest + divisor : rest
        }
    }

    /// When the clocks are changed, in seconds from midnight of `day` on the clock in force before.
    struct Change: Equatable {
        let day: Day
        let time: Int
    }

    struct DaylightSaving: Equatable {
        let offset: Int
        let start: Change
        let end: Change
    }

    /// Seconds east of UTC.
    let standardOffset: Int
    let daylightSaving: DaylightSaving?

    var offsets: [Int] { [standardOffset] + (daylightSaving.map { [$0.offset] } ?? []) }

    /// Seconds east of UTC at a moment, in seconds since 1970.
    func offset(at instant: Int64) -> Int {
        guard let daylightSaving else { return standardOffset }
        // Outside of these years no clock is changed; no reading is from there.
        guard let local = DeviceTime(wallSeconds: instant &+ Int64(standardOffset)) else {
            return standardOffset
        }
        let start = moment(of: daylightSaving.start, in: local.year, offset: standardOffset)
        let end = moment(of: daylightSaving.end, in: local.year, offset: daylightSaving.offset)
        let isSaving =
            start < end ? (start..<end).contains(instant) : !(end..<start).contains(instant)
        return isSaving ? daylightSaving.offset : standardOffset
    }

    private func moment(of change: Change, in year: Int, offset: Int) -> Int64 {
        let day = DeviceTime.days(beforeYear: year) + change.day.index(in: year)
        return Int64(day * 86_400 + change.time - offset)
    }
}

extension PosixTimeZone {
    /// Reads `GMT0BST,M3.5.0/1,M10.5.0`; nil for anything else than a rule in this form.
    init?(_ text: [UInt8]) {
        var reader = PosixReader(text)
        guard reader.passName(), let standard = reader.offset() else { return nil }
        standardOffset = -standard
        if reader.isAtEnd {
            daylightSaving = nil
            return
        }
        guard reader.passName() else { return nil }
        // Without an offset of its own it is one hour ahead.
        var offset = standardOffset + 3600
        if !reader.isAt(",") {
            guard let written = reader.offset() else { return nil }
            offset = -written
        }
        guard reader.pass(","), let start = reader.change(), reader.pass(","),
            let end = reader.change(), reader.isAtEnd
        else { return nil }
        daylightSaving = DaylightSaving(offset: offset, start: start, end: end)
    }
}

/// Reads the parts of a TZ text, each bounded.
private struct PosixReader {
    private var rest: ArraySlice<UInt8>

    init(_ text: [UInt8]) {
        rest = text[...]
    }

    var isAtEnd: Bool { rest.isEmpty }

    func isAt(_ character: Unicode.Scalar) -> Bool {
        rest.first == UInt8(ascii: character)
    }

    mutating func pass(_ character: Unicode.Scalar) -> Bool {
        guard isAt(character) else { return false }
        rest = rest.dropFirst()
        return true
    }

    /// Three letters or more, or anything between `<` and `>`.
    mutating func passName() -> Bool {
        if pass("<") {
            rest = rest.drop { $0 != UInt8(ascii: ">") }
            return pass(">")
        }
        let name = rest.prefix { character in
            switch character {
            case 0x41...0x5A, 0x61...0x7A: true
            default: false
            }
        }
        rest = rest.dropFirst(name.count)
        return name.count >= 3
    }

    /// An offset, west of Greenwich positive: at most 24 hours.
    mutating func offset() -> Int? { seconds(hours: 0...24) }

    /// `[+-]hh[:mm[:ss]]` in seconds.
    private mutating func seconds(hours: ClosedRange<Int>) -> Int? {
        let sign = pass("-") ? -1 : 1
        if sign == 1 { _ = pass("+") }
        guard let hour = number(hours) else { return nil }
        var minute = 0
        var second = 0
        if pass(":") {
            guard let written = number(0...59) else { return nil }
            minute = written
            if pass(":") {
                guard let written = number(0...59) else { return nil }
                second = written
            }
        }
        return sign * (hour * 3600 + minute * 60 + second)
    }

    /// A day and a time; 02:00:00 where none is given. RFC 8536 allows a week either way.
    mutating func change() -> PosixTimeZone.Change? {
        guard let day = day() else { return nil }
        var time = 2 * 3600
        if pass("/") {
            guard let written = seconds(hours: 0...167) else { return nil }
            time = written
        }
        return PosixTimeZone.Change(day: day, time: time)
    }

    private mutating func day() -> PosixTimeZone.Day? {
        if pass("J") { return number(1...365).map { .julian($0) } }
        guard pass("M") else { return number(0...365).map { .zeroBased($0) } }
        guard let month = number(1...12), pass("."), let week = number(1...5), pass("."),
            let weekday = number(0...6)
        else { return nil }
        return .weekday(month: month, week: week, weekday: weekday)
    }

    private mutating func number(_ range: ClosedRange<Int>) -> Int? {
        let digits = rest.prefix { (0x30...0x39).contains($0) }
        guard (1...3).contains(digits.count) else { return nil }
        rest = rest.dropFirst(digits.count)
        let value = digits.reduce(0) { $0 * 10 + Int($1 - 0x30) }
        return range.contains(value) ? value : nil
    }
}
