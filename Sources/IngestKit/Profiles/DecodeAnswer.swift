/// The answer of `ingestd decode` to one payload.
package struct DecodeAnswer: Sendable, Equatable {
    /// One JSON object on one line, without a line feed.
    package let json: String
    package let isDecoded: Bool

    /// - Parameter hex: the payload in hexadecimal digits; blanks between bytes are allowed.
    package init(characteristic: BluetoothUUID, hex: String) {
        self.init(hex: hex) { bytes throws(DecodeError) in
            let records = try Profiles.records(in: bytes, of: characteristic)
            let first = try Profiles.decode(
                characteristic: characteristic, bytes: records.count > 1 ? records[0] : bytes)
            return (
                first,
                records.dropFirst().map { record in
                    Result { () throws(DecodeError) in
                        try Profiles.decode(characteristic: characteristic, bytes: record)
                    }
                }
            )
        }
    }

    /// - Parameters:
    ///   - hex: an advert's whole data, or the value of one service data structure, in hexadecimal
    ///     digits; blanks between bytes are allowed.
    ///   - key: the bind key, for encrypted ones.
    ///   - address: the device's, which encrypted ones may need.
    package init(
        advertisement hex: String, key: BindKey? = nil, address: BluetoothAddress? = nil
    ) {
        self.init(hex: hex) { bytes throws(DecodeError) in
            (try BroadcastFormats.decode(bytes, key: key, address: address), [])
        }
    }

    /// Most answers are shorter, in bytes: the text is not copied as it grows.
    private static let usualLength = 512

    /// - Parameter decode: gives the first record's reading, and those of the records after it, where
    ///   one value holds several.
    private init(
        hex: String,
        decode: ([UInt8]) throws(DecodeError) -> (Reading, further: [Result<Reading, DecodeError>])
    ) {
        var text = JSONText()
        text.reserve(Self.usualLength)
        if let bytes = Hex.bytes(hex) {
            do throws(DecodeError) {
                let (reading, further) = try decode(bytes)
                text.append(reading, further: further)
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

    /// - Parameter further: each is answered in an object of its own, a bad one too.
    fileprivate mutating func append(
        _ reading: Reading, further: [Result<Reading, DecodeError>] = []
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
            for record in further {
                switch record {
                case .success(let reading): append(reading)
                case .failure(let error): append(failure: error.description)
                }
            }
            endArray()
        }
        endObject()
    }
}
