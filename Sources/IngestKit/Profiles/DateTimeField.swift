/// What a Date Time field says (GATT Specification Supplement).
enum DateTimeField: Equatable {
    /// A full date and time.
    case known(DeviceTime)
    /// Year, month or day is 0: the device does not know its date.
    case unknown
    /// No calendar has this date, or no clock this time.
    case impossible
}

extension ByteCursor {
    /// Seven bytes: year (2), month, day, hours, minutes, seconds.
    mutating func dateTime(_ field: String) throws(DecodeError) -> DateTimeField {
        var part = ByteCursor(Array(try bytes(7, field)))
        let time = DeviceTime(
            year: Int(try part.uint16(field)), month: Int(try part.uint8(field)),
            day: Int(try part.uint8(field)), hours: Int(try part.uint8(field)),
            minutes: Int(try part.uint8(field)), seconds: Int(try part.uint8(field)))
        if time.isPossible { return .known(time) }
        // With the unknown parts filled in, the others must still be possible.
        let filled = DeviceTime(
            year: time.year == 0 ? 2000 : time.year, month: time.month == 0 ? 1 : time.month,
            day: time.day == 0 ? 1 : time.day, hours: time.hours, minutes: time.minutes,
            seconds: time.seconds)
        return filled.isPossible ? .unknown : .impossible
    }
}

extension Reading {
    /// Stands in for a device time that no calendar or clock has: the values are kept all the
    /// same, and the record says why its time is that of reception.
    static let invalidDeviceTimeFlag = "device-time-invalid"

    /// Takes over what a Date Time field says.
    mutating func apply(_ field: DateTimeField) {
        switch field {
        case .known(let time): deviceTime = time
        case .unknown: break
        case .impossible: flags.append(Self.invalidDeviceTimeFlag)
        }
    }
}
