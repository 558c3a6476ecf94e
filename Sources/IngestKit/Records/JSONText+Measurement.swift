extension JSONText {
    /// - Parameter withCode: records carry the MDC code; the `decode` command does not.
    package mutating func value(_ measurement: Measurement, withCode: Bool) {
        beginObject()
        member("type", measurement.type)
        if withCode, let code = measurement.code { member("code", String(code)) }
        key("value")
        switch measurement.value {
        case .exact(let number):
            value(number)
        case .absent(let reason):
            null()
            member("absent", reason.rawValue)
        }
        member("unit", measurement.unit)
        endObject()
    }
}
