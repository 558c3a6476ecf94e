/// A wall time on a device: no zone. Bluetooth Date Time (GATT Specification Supplement 3.70).
public struct DeviceTime: Sendable, Hashable, Codable {
    /// 1582 to 9999.
    public var year: Int
    public var month: Int
    public var day: Int
    public var hours: Int
    public var minutes: Int
    public var seconds: Int

    public init(year: Int, month: Int, day: Int, hours: Int, minutes: Int, seconds: Int) {
        self.year = year
        self.month = month
        self.day = day
        self.hours = hours
        self.minutes = minutes
        self.seconds = seconds
    }
}
