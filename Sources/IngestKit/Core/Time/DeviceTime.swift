/// A wall time on a device: no zone. Bluetooth Date Time (GATT Specification Supplement 3.70).
package struct DeviceTime: Sendable, Hashable, Codable {
    /// 1582 to 9999.
    package var year: Int
    package var month: Int
    package var day: Int
    package var hours: Int
    package var minutes: Int
    package var seconds: Int

    package init(year: Int, month: Int, day: Int, hours: Int, minutes: Int, seconds: Int) {
        self.year = year
        self.month = month
        self.day = day
        self.hours = hours
        self.minutes = minutes
        self.seconds = seconds
    }

    /// Whether no clock that was set shows this. Clocks that nobody has set begin at 2000 or before.
    package var isOfNoSetClock: Bool { year < 2010 }
}
