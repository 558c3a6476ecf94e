/// The characteristics that show a device's clock, and what is written to set it.
package enum DeviceClock {
    /// Elapsed Time Service.
    static let elapsedTimeService: BluetoothUUID = 0x183F
    /// Adjust Reason: External Reference Time Update (GATT Specification Supplement, Current Time).
    private static let externalReference: UInt8 = 1 << 1

    /// Whether the gateway can set a clock that this characteristic shows.
    package static func canSet(_ characteristic: BluetoothUUID) -> Bool {
        characteristic == CurrentTime.dateTime || characteristic == CurrentTime.characteristic
    }

    /// The value that sets a clock to this wall time; nil where none is defined or known to be taken.
    /// - Parameter nanoseconds: of the second that `time` names, 0 to 999 999 999.
    package static func setting(
        _ characteristic: BluetoothUUID, to time: DeviceTime, nanoseconds: Int64
    ) -> [UInt8]? {
        let year = UInt16(time.year)
        let dateTime =
            [UInt8(truncatingIfNeeded: year), UInt8(year >> 8)]
            + [time.month, time.day, time.hours, time.minutes, time.seconds].map { UInt8($0) }
        switch characteristic {
        case CurrentTime.dateTime: return dateTime
        case CurrentTime.characteristic:
            let fractions = UInt8(truncatingIfNeeded: nanoseconds * 256 / 1_000_000_000)
            return dateTime + [time.dayOfWeek, fractions, externalReference]
        default: return nil
        }
    }
}

extension Profile {
    /// Where a peripheral of this profile may show its clock: the Current Time Service, Date Time
    /// beside the measurement, as some makers have it, and for health sensors Elapsed Time.
    package var clocks: [Source] {
        switch procedure {
        case .broadcast, .oneTouchVerio: return []
        case .measurements, .storedRecords, .stream, .observations: break
        }
        var services: [BluetoothUUID] = []
        for source in sources where !services.contains(source.service) { services.append(source.service) }
        return [Source(CurrentTime.characteristic, in: CurrentTime.service)]
            + services.map { Source(CurrentTime.dateTime, in: $0) }
            + (procedure == .observations
                ? [Source(ElapsedTime.currentElapsedTime, in: DeviceClock.elapsedTimeService)] : [])
    }
}

extension DeviceTime {
    /// 1 is Monday, 7 Sunday (GATT Specification Supplement, Day of Week).
    fileprivate var dayOfWeek: UInt8 {
        // 1970-01-01, day 0, was a Thursday.
        let day = (wallSeconds / 86_400 + (wallSeconds % 86_400 < 0 ? -1 : 0) + 3) % 7
        return UInt8(day < 0 ? day + 7 : day) + 1
    }
}
