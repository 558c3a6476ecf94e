/// The answer of `ingestd decode` to one payload.
package struct DecodeAnswer: Sendable, Equatable {
    /// One JSON object on one line, without a line feed.
    package let json: String
    package let isDecoded: Bool

    /// - Parameter hex: the payload in hexadecimal digits; blanks between bytes are allowed.
    package init(characteristic: BluetoothUUID, hex: String) {
        self.init(hex: hex) { bytes throws(DecodeError) in
            let records = try Profiles.records(in: bytes, of: characteristic)
            return (records.count > 1 ? records : [bytes]).map { record in
                Result { () throws(DecodeError) in
                    try Profiles.decode(characteristic: characteristic, bytes: record)
                }
            }
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
            [.success(try BroadcastFormats.decode(bytes, key: key, address: address))]
        }
    }

    /// Most answers are shorter, in bytes: the text is not copied as it grows.
    private static let usualLength = 512

    /// - Parameter decode: gives the reading of each record, of which one value may hold several.
    private init(
        hex: String, decode: ([UInt8]) throws(DecodeError) -> [Result<Reading, DecodeError>]
    ) {
        var text = JSONText()
        text.reserve(Self.usualLength)
        if let bytes = Hex.bytes(hex) {
            do throws(DecodeError) {
                let records = try decode(bytes)
                if case .success? = records.first { isDecoded = true } else { isDecoded = false }
                if let first = records.first { text.append(first, further: records.dropFirst()) }
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
        addMembers(of: failure)
        endObject()
    }

    /// - Parameter further: each is answered in an object of its own.
    fileprivate mutating func append(
        _ record: Result<Reading, DecodeError>, further: ArraySlice<Result<Reading, DecodeError>> = []
    ) {
        beginObject()
        switch record {
        case .success(let reading): addMembers(of: reading)
        case .failure(let error): addMembers(of: error.description)
        }
        if !further.isEmpty {
            key("further")
            beginArray()
            for record in further { append(record) }
            endArray()
        }
        endObject()
    }

    private mutating func addMembers(of failure: String) {
        member("ok", false)
        member("error", failure)
    }

    private mutating func addMembers(of reading: Reading) {
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
    }
}
