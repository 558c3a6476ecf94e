/// The answer of `ingestd decode` to one payload.
public struct DecodeAnswer: Sendable, Equatable {
    /// One JSON object on one line, without a line feed.
    public let json: String
    public let isDecoded: Bool

    /// - Parameter hex: the payload in hexadecimal digits; blanks between bytes are allowed.
    public init(characteristic: BluetoothUUID, hex: some StringProtocol) {
        var text = JSONText()
        if let bytes = Hex.bytes(hex) {
            do throws(DecodeError) {
                let records = try Profiles.records(in: bytes, of: characteristic)
                let reading = try Profiles.decode(characteristic: characteristic, bytes: bytes)
                text.append(reading, further: records.dropFirst(), of: characteristic)
                isDecoded = true
            } catch {
                text.append(failure: error.description)
                isDecoded = false
            }
        } else {
            text.append(failure: "the payload is not an even number of hexadecimal digits")
            isDecoded = false
        }
        json = text.string
    }
}

extension JSONText {
    fileprivate mutating func append(failure: String) {
        beginObject()
        member("ok", false)
        member("error", failure)
        endObject()
    }

    /// - Parameter further: the payloads of the records after the first, where one value holds
    ///   several: each is answered in an object of its own, a bad one too.
    fileprivate mutating func append(
        _ reading: Reading, further: ArraySlice<[UInt8]> = [], of characteristic: BluetoothUUID
    ) {
        beginObject()
        member("ok", true)
        member("kind", reading.kind.rawValue)
        key("measurements")
        beginArray()
        for measurement in reading.measurements { value(measurement, withCode: false) }
        endArray()
        if let time = reading.deviceTime { member("device_time", time.description) }
        if let offset = reading.timeOffsetMinutes { member("time_offset_minutes", offset) }
        if let sequence = reading.sequence { member("sequence", sequence) }
        if let user = reading.user { member("user", user) }
        if !reading.flags.isEmpty { member("flags", reading.flags) }
        if !further.isEmpty {
            key("further")
            beginArray()
            for bytes in further {
                do throws(DecodeError) {
                    let reading = try Profiles.decode(characteristic: characteristic, bytes: bytes)
                    append(reading, of: characteristic)
                } catch {
                    append(failure: error.description)
                }
            }
            endArray()
        }
        endObject()
    }
}
