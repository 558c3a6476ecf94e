/// Current Time and Date Time (GATT Specification Supplement): what a device's clock says.
enum CurrentTime {
    static let service: BluetoothUUID = 0x1805
    static let characteristic: BluetoothUUID = 0x2A2B
    static let dateTime: BluetoothUUID = 0x2A08

    /// Exact Time 256 (a Day Date Time and 1/256 of seconds), and why the clock was adjusted.
    @Sendable
    static func decode(_ cursor: inout ByteCursor) throws(DecodeError) -> Reading {
        let time = try cursor.dateTime("date time")
        // 1 is Monday; the date says it as well.
        _ = try cursor.uint8("day of week")
        let fractions = try cursor.uint8("fractions of a second")
        var reading = Reading(
            kind: .currentTime,
            measurements: [
                Measurement(
                    type: "fraction", code: nil,
                    // 1/256 s is 0.00390625 s.
                    value: .exact(
                        ExactDecimal(coefficient: Int64(fractions) * 390_625, exponent: -8)
                            .withoutTrailingZeros), unit: "s")
            ],
            flags: StatusBits.names(
                try cursor.uint8("adjust reason"),
                [
                    "manual-time-update", "external-reference-time-update", "change-of-time-zone",
                    "change-of-dst",
                ]))
        reading.apply(time)
        return reading
    }

    @Sendable
    static func decodeDateTime(_ cursor: inout ByteCursor) throws(DecodeError) -> Reading {
        var reading = Reading(kind: .dateTime)
        reading.apply(try cursor.dateTime("date time"))
        return reading
    }
}

extension ExactDecimal {
    /// The same number without zeros at the end of its decimals: for those that come of a base of
    /// two and not of the device's digits.
    var withoutTrailingZeros: ExactDecimal {
        var coefficient = self.coefficient
        var exponent = self.exponent
        while exponent < 0, coefficient % 10 == 0 {
            coefficient /= 10
            exponent += 1
        }
        return ExactDecimal(coefficient: coefficient, exponent: exponent)
    }
}
