/// The Elapsed Time structure (GATT Specification Supplement), as the time stamps of Generic Health
/// Sensor observations and Current Elapsed Time carry it.
package struct ElapsedTime {
    package static let currentElapsedTime: BluetoothUUID = 0x2BF2

    private struct Flags: OptionSet {
        let rawValue: UInt8

        static let tickCounter = Flags(rawValue: 1 << 0)
        static let utc = Flags(rawValue: 1 << 1)
        static let offsetUsed = Flags(rawValue: 1 << 4)
        static let currentTimeline = Flags(rawValue: 1 << 5)

        /// How many units of the counter are a second. The Supplement has the number in bits 2 and
        /// 3; ST's published header shifts it by 3, and its recorded time stamps are the same
        /// either way.
        var unitsPerSecond: UInt64 {
            switch rawValue >> 2 & 0b11 {
            case 0: 1
            case 1: 10
            case 2: 1_000
            default: 10_000
            }
        }
    }

    /// Bytes of the structure.
    static let size = 9
    /// 2000-01-01T00:00:00 in seconds since 1970, from which the counter of a clock counts.
    private static let epoch: Int64 = 946_684_800

    private let flags: Flags
    private let counter: UInt64
    private let source: UInt8
    /// Quarters of an hour from UTC.
    private let offset: Int8

    init(_ cursor: inout ByteCursor) throws(DecodeError) {
        flags = Flags(rawValue: try cursor.uint8("time flags"))
        counter =
            UInt64(try cursor.uint32("time value")) | UInt64(try cursor.uint16("time value")) << 32
        source = try cursor.uint8("time synchronization source")
        offset = Int8(bitPattern: try cursor.uint8("time zone and DST offset"))
    }

    private static let tickCounterFlag = "time-tick-counter"

    /// What it says of a reading: the wall time where there is one, and why there is none. It takes the place of what
    /// another one has said, as that of a member of a bundle does.
    func apply(to reading: inout Reading) {
        reading.deviceTime = nil
        reading.utcOffsetSeconds = nil
        reading.secondFraction = nil
        reading.isOfEarlierTimeline = false
        let said = [
            Reading.notCurrentTimeFlag, Self.tickCounterFlag, Reading.utcTimeFlag,
            Reading.invalidDeviceTimeFlag,
        ]
        reading.flags.removeAll { said.contains($0) }
        if flags.contains(.tickCounter) {
            reading.flags.append(Self.tickCounterFlag)
            return
        }
        // The clock was set since, and nobody knows how wrong it was: its time names the reading and is not believed.
        if !flags.contains(.currentTimeline), !isSynchronized {
            reading.flags.append(Reading.notCurrentTimeFlag)
        }
        var seconds = Self.epoch + Int64(counter / flags.unitsPerSecond)
        if flags.contains(.utc) {
            seconds += Int64(offsetSeconds ?? 0)
            if offsetSeconds == nil { reading.flags.append(Reading.utcTimeFlag) }
        }
        if let time = DeviceTime(wallSeconds: seconds) {
            reading.deviceTime = time
            reading.isOfEarlierTimeline = !flags.contains(.currentTimeline)
            reading.utcOffsetSeconds = offsetSeconds
            if flags.unitsPerSecond > 1 { reading.secondFraction = Int(counter % flags.unitsPerSecond) }
        } else {
            reading.flags.append(Reading.invalidDeviceTimeFlag)
        }
    }

    /// Says of a structure, by its first octet, that the clock was not set since.
    static func markCurrent(_ flags: inout UInt8) { flags |= Flags.currentTimeline.rawValue }

    /// The offset from UTC; nil where it is not used, or is one that no zone has: from UTC-12 to UTC+14 and two hours of
    /// daylight saving.
    private var offsetSeconds: Int? {
        flags.contains(.offsetUsed) && (-48...64).contains(offset) ? Int(offset) * 15 * 60 : nil
    }

    /// Network time, satellites, radio, atomic clock or cellular network; not by hand or unknown.
    private var isSynchronized: Bool { [1, 2, 3, 5, 6].contains(source) }

    /// Current Elapsed Time: the structure, and two octets about the clock.
    @Sendable
    static func decode(_ cursor: inout ByteCursor) throws(DecodeError) -> Reading {
        var reading = Reading(kind: .currentTime)
        try ElapsedTime(&cursor).apply(to: &reading)
        // A clock that was set since it showed this shows nothing.
        if reading.flags.contains(Reading.notCurrentTimeFlag) {
            reading.deviceTime = nil
            reading.utcOffsetSeconds = nil
        }
        return reading
    }
}
